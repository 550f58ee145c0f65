/*
 * prices: prints the number of user instructions of each PAPI call, by its own counter next to
 * PAPI's: the least of BATCHES batches of CALLS calls, because under -icount other CPUs'
 * instructions are counted as well. Its counter is pinned: otherwise sspapi's took turns with it,
 * and with six events a call took -307.
 * usage: prices EVENT,EVENT...
 * Prints `price PAPI_read 123.4`.
 */
#include <linux/perf_event.h>
#include <papi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCHES 20
#define CALLS 50

static int set = PAPI_NULL, counter;
static long long values[32], cycles;

static long long instructions(void)
{
	long long n;

	if (read(counter, &n, sizeof(n)) != sizeof(n))
		exit(1);
	return n;
}

static void open_counter(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .size = sizeof(attr),
	    .exclude_kernel = 1, .exclude_hv = 1, .pinned = 1,
	};

	counter = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (counter < 0 || instructions() == 0)
		exit(77);
}

static int nothing(void)
{
	return PAPI_OK;
}

static int read_set(void)
{
	return PAPI_read(set, values);
}

static int read_ts(void)
{
	return PAPI_read_ts(set, values, &cycles);
}

static int accum(void)
{
	return PAPI_accum(set, values);
}

static int reset(void)
{
	return PAPI_reset(set);
}

static int start_stop(void)
{
	int ret = PAPI_stop(set, values);

	return ret != PAPI_OK ? ret : PAPI_start(set);
}

static double of(int (*call)(void))
{
	double least = 1e9;

	for (int batch = 0; batch < BATCHES; batch++) {
		long long n = instructions();

		for (int i = 0; i < CALLS; i++)
			if (call() != PAPI_OK)
				exit(1);
		n = instructions() - n;
		if (n < least * CALLS)
			least = (double)n / CALLS;
	}
	return least;
}

static void price(const char *name, int (*call)(void))
{
	double loop = of(nothing), whole = of(call);

	printf("price %s %.1f\n", name, whole - loop);
}

int main(int argc, char **argv)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(1, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_create_eventset(&set) != PAPI_OK)
		return 77;
	for (char *e = strtok(argc > 1 ? argv[1] : "", ","); e; e = strtok(NULL, ","))
		if (PAPI_add_named_event(set, e) != PAPI_OK)
			return 77;
	open_counter();
	if (PAPI_start(set) != PAPI_OK)
		return 1;
	price("PAPI_read", read_set);
	price("PAPI_read_ts", read_ts);
	price("PAPI_accum", accum);
	price("PAPI_reset", reset);
	price("PAPI_start+stop", start_stop);
	return PAPI_stop(set, values) != PAPI_OK;
}
