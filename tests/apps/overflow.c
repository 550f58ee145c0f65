/*
 * overflow: a handler, called every 100 pages, reads the set that overflowed. usage: overflow [-t
 * THRESHOLD] [event...] (The kernel's software events overflow too: no hardware counters needed.)
 */
#include "calls.h"

static struct counted *counted;

static void overflowed(int id, void *at, long long vector, void *context)
{
	long long values[EVENTS];

	(void)at, (void)vector, (void)context;
	if (PAPI_read(id, values) == PAPI_OK)
		handed(counted, "handler", values);
}

static void watch(struct counted *c, int threshold)
{
	int code;

	must("PAPI_event_name_to_code", PAPI_event_name_to_code(c->name[0], &code));
	may("PAPI_overflow", PAPI_overflow(c->id, code, threshold, 0, overflowed));
}

int main(int argc, char **argv)
{
	int threshold = 100, opt;

	while ((opt = getopt(argc, argv, "t:")) != -1)
		threshold = atoi(optarg);
	papi_up();
	counted = counted_new(argc - optind, argv + optind, 1050);
	make_set(counted);
	watch(counted, threshold);
	pin(0);
	prefault();
	must("PAPI_start", PAPI_start(counted->id));
	touch(&counted->arena, 1050);
	end(counted);
	return print_handed(counted, "");
}
