/*
 * quiet: 300 readings of page faults with sync() between them, IDLE seconds of rest, and 20 more:
 * each must be the pages that were touched. usage: quiet [IDLE]
 * Prints "N of M readings exact", and the `handed` sum.
 */
#include "../apps/handed.h"

#define READINGS_BEFORE 300
#define READINGS_AFTER 20
#define EACH 10

static struct counted *c;
static int exact, made;
static int first_wrong;
static long long sum, last, wrong_value;

static void take(long long value, int expected)
{
	made++;
	exact += value == expected;
	if (value != expected && !first_wrong)
		first_wrong = made, wrong_value = value;
	sum += value;
}

static void readings(int n, int with_sync)
{
	long long v[EVENTS] = {0};

	for (int i = 0; i < n; i++) {
		touch(&c->arena, EACH);
		if (with_sync)
			sync();
		if (i % 3) {
			must("PAPI_read", PAPI_read(c->id, v));
			take(v[0] - last, EACH);
			last = v[0];
		} else {
			v[0] = 0;
			must("PAPI_accum", PAPI_accum(c->id, v));
			take(v[0] - last, EACH);
			last = 0;
		}
	}
}

int main(int argc, char **argv)
{
	long long v[EVENTS];

	papi_up();
	c = counted_new(0, NULL, (READINGS_BEFORE + READINGS_AFTER + 1) * EACH);
	make_set(c);
	pin(0);
	prefault();
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	must("PAPI_start", PAPI_start(c->id));
	readings(1, 1);			/* the first use of sync */
	exact = made = 0;
	readings(READINGS_BEFORE, 1);
	sleep(argc > 1 ? atoi(argv[1]) : 0);
	readings(READINGS_AFTER, 0);
	must("PAPI_stop", PAPI_stop(c->id, v));
	sum += v[0] - last;
	if (first_wrong)
		printf("reading %d: %lld faults, %d pages\n", first_wrong, wrong_value, EACH);
	printf("%d of %d readings exact\n", exact, made);
	printf("handed cpu=%d event=perf::PAGE-FAULTS value=%lld\n", nth_cpu(0), sum);
	return 0;
}
