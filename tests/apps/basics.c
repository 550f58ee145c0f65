/*
 * basics: each call of the low level once, in the order of a manual's first
 * example: start, read, reset, accum, read_ts, stop, and read when stopped.
 * usage: basics [event...]	exit 77: this machine cannot count the events
 */
#include "calls.h"

static void read_and_reset(struct counted *c)
{
	touch(&c->arena, 100);
	look(c);
	touch(&c->arena, 200);
	look(c);
	must("PAPI_reset", PAPI_reset(c->id));
	zeroed(c);
}

static void accum_twice(struct counted *c)
{
	long long values[EVENTS] = {0}, before[EVENTS];

	for (int i = 0; i < 2; i++) {
		touch(&c->arena, 300 + i);
		memcpy(before, values, sizeof(before));
		must("PAPI_accum", PAPI_accum(c->id, values));
		handed_accum(c, before, values);
	}
}

static void read_ts_and_stop(struct counted *c, long long *values)
{
	long long cycles;

	touch(&c->arena, 50);
	must("PAPI_read_ts", PAPI_read_ts(c->id, values, &cycles));
	handed(c, "PAPI_read_ts", values);
	touch(&c->arena, 400);
	end(c);
}

/* A stopped set returns the same values: nothing new. */
static int same_when_stopped(struct counted *c, const long long *values)
{
	long long again[EVENTS];

	must("PAPI_read", PAPI_read(c->id, again));
	return !memcmp(again, values, c->k * sizeof(*again));
}

int main(int argc, char **argv)
{
	struct counted *c;
	long long values[EVENTS];

	papi_up();
	c = counted_new(argc - 1, argv + 1, 2000);
	make_set(c);
	pin(0);
	prefault();
	may("PAPI_start", PAPI_start(c->id));
	read_and_reset(c);
	accum_twice(c);
	read_ts_and_stop(c, values);
	if (!same_when_stopped(c, values))
		printf("wrong: a stopped set changed\n");
	drop_set(c->id);
	return print_handed(c, "");
}
