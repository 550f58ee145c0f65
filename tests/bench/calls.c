/* calls.c: what each PAPI call takes, in ns; run by scripts/bench with and without
 * sspapi in turn.
 *
 *	calls ROUNDS EVENT...		one line "NAME NS" for each call
 */

#include "host.h"

#define CLUMP 16
static long long values[64], cycles;
static int set = PAPI_NULL;

#define MEASURE(name, n, call) printf(name " %.3f\n", HOST_MEASURE(n, call))

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A few readings at a time, of which the median: without those that something is made for. */
static double settled(void)
{
	static double took[4001];
	const int n = sizeof(took) / sizeof(*took);

	for (int i = 0; i < n; i++) {
		double t = host_clock(CLOCK_MONOTONIC);

		for (int j = 0; j < CLUMP; j++)
			PAPI_read(set, values);
		took[i] = (host_clock(CLOCK_MONOTONIC) - t) / CLUMP;
	}
	qsort(took, n, sizeof(*took), by_size);
	return took[n / 2];
}

static int measure(long n, int argc, char **argv)
{
	double t = host_clock(CLOCK_MONOTONIC);

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 77;
	printf("init %.0f\n", host_clock(CLOCK_MONOTONIC) - t);
	t = host_clock(CLOCK_MONOTONIC);
	must(PAPI_create_eventset(&set), "create");
	printf("first_set %.0f\n", host_clock(CLOCK_MONOTONIC) - t);
	for (int i = 2; i < argc; i++)
		must(PAPI_add_named_event(set, argv[i]), argv[i]);
	t = host_clock(CLOCK_MONOTONIC);
	must(PAPI_start(set), "start");
	printf("first_start %.0f\n", host_clock(CLOCK_MONOTONIC) - t);
	for (long i = 0; i < n / 10; i++)
		PAPI_read(set, values);
	MEASURE("read", n, PAPI_read(set, values));
	printf("read_without_making_memory %.3f\n", settled());
	printf("read_from_two_places %.3f\n",
	       HOST_MEASURE(n / 2, (PAPI_read(set, values), PAPI_read(set, values))) / 2);
	MEASURE("read_ts", n, PAPI_read_ts(set, values, &cycles));
	MEASURE("accum", n, PAPI_accum(set, values));
	MEASURE("reset", n, PAPI_reset(set));
	must(PAPI_stop(set, values), "stop");
	MEASURE("start_stop", n / 4 + 1, (PAPI_start(set), PAPI_stop(set, values)));
	host_print();
	return 0;
}

/* So many frames lie above the calls. */
__attribute__((noinline)) static int below(int frames, long n, int argc, char **argv)
{
	int rc = frames ? below(frames - 1, n, argc, argv) : measure(n, argc, argv);

	__asm__ volatile("" : "+r"(rc));	/* no tail call */
	return rc;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;

	return n > 0 ? below(8, n, argc, argv) : 2;
}
