/*
 * moves: what changing CPU takes while a set runs, and what a reading takes, in ns; run by
 * scripts/bench with each SSPAPI_ATTRIBUTION.
 *
 *	moves ROUNDS EVENT		lines "move NS", "read NS"
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <papi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void go(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;
	int set = PAPI_NULL, cpus[2], found = 0;
	long long values[8];
	cpu_set_t allowed;
	double t;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &allowed))
			cpus[found++] = i;
	if (n <= 0 || found < 2 || PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 77;
	if (PAPI_create_eventset(&set) != PAPI_OK || PAPI_add_named_event(set, argv[2]) != PAPI_OK)
		return 77;
	go(cpus[0]);
	if (PAPI_start(set) != PAPI_OK)
		return 77;
	t = now();
	for (long i = 0; i < n; i++)
		go(cpus[(i + 1) % 2]);
	printf("move %.1f\n", (now() - t) / (double)n);
	t = now();
	for (long i = 0; i < n; i++)
		PAPI_read(set, values);
	printf("read %.1f\n", (now() - t) / (double)n);
	return PAPI_stop(set, values) != PAPI_OK;
}
