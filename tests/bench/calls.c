/* calls.c: what each PAPI call takes, in ns; run by scripts/bench with and without
 * sspapi in turn.
 *
 *	calls ROUNDS EVENT...		one line "NAME NS" for each call
 */
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long values[64], cycles;
static int set = PAPI_NULL;

static double clock_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int rc, const char *what)
{
	if (rc == PAPI_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, PAPI_strerror(rc));
	exit(77);
}

/* CPU time: on a busy machine others' turns are not the call's cost. */
#define MEASURE(name, n, call) do { \
	double t_ = clock_ns(CLOCK_THREAD_CPUTIME_ID); \
	for (long i_ = 0; i_ < (n); i_++) \
		call; \
	printf(name " %.3f\n", (clock_ns(CLOCK_THREAD_CPUTIME_ID) - t_) / (double)(n)); \
} while (0)

static int measure(long n, int argc, char **argv)
{
	double t = clock_ns(CLOCK_MONOTONIC);

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 77;
	printf("init %.0f\n", clock_ns(CLOCK_MONOTONIC) - t);
	t = clock_ns(CLOCK_MONOTONIC);
	must(PAPI_create_eventset(&set), "create");
	printf("first_set %.0f\n", clock_ns(CLOCK_MONOTONIC) - t);
	for (int i = 2; i < argc; i++)
		must(PAPI_add_named_event(set, argv[i]), argv[i]);
	t = clock_ns(CLOCK_MONOTONIC);
	must(PAPI_start(set), "start");
	printf("first_start %.0f\n", clock_ns(CLOCK_MONOTONIC) - t);
	for (long i = 0; i < n / 10; i++)
		PAPI_read(set, values);
	MEASURE("read", n, PAPI_read(set, values));
	MEASURE("read_ts", n, PAPI_read_ts(set, values, &cycles));
	MEASURE("accum", n, PAPI_accum(set, values));
	MEASURE("reset", n, PAPI_reset(set));
	must(PAPI_stop(set, values), "stop");
	MEASURE("start_stop", n / 4 + 1, (PAPI_start(set), PAPI_stop(set, values)));
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
