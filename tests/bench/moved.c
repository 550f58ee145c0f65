/* moved.c: what the split of counts by CPU costs where the kernel is asked for it: the first start of a
 * set, and a reading after a move; run by scripts/bench with and without sspapi in turn.
 *
 *	moved EVENT...		lines "NAME NS"
 *
 * Threads one after the other, on two CPUs: what a process pays once is its first start's.
 */
#define _GNU_SOURCE
#include <papi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS	11
#define MOVES	51

static double starts[THREADS + 1], stays[THREADS * MOVES], moves[THREADS * MOVES];
static cpu_set_t allowed;
static char **events;

static void must(int rc, const char *what)
{
	if (rc == PAPI_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, PAPI_strerror(rc));
	exit(77);
}

static unsigned long self(void)
{
	return (unsigned long)pthread_self();
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double reading(int set)
{
	long long v[64];
	double t = now();

	must(PAPI_read(set, v), "read");
	return now() - t;
}

/* To the n-th of the CPUs that are allowed. */
static void to_cpu(int n)
{
	cpu_set_t one;
	int cpu = 0;

	CPU_ZERO(&one);
	while (!CPU_ISSET(cpu, &allowed) || n-- > 0)
		cpu++;
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		exit(77);
}

/* A set of the calling thread; the start's time. */
static int started(double *took)
{
	int set = PAPI_NULL;
	double t;

	must(PAPI_create_eventset(&set), "create");
	for (int i = 0; events[i]; i++)
		must(PAPI_add_named_event(set, events[i]), events[i]);
	t = now();
	must(PAPI_start(set), "start");
	*took = now() - t;
	return set;
}

static void *thread(void *arg)
{
	long i = (double *)arg - starts;
	int set = started(arg);
	long long v[64];

	for (int m = 0; m < MOVES; m++) {
		to_cpu(m % 2);
		moves[(i - 1) * MOVES + m] = reading(set);
		stays[(i - 1) * MOVES + m] = reading(set);
	}
	must(PAPI_stop(set, v), "stop");
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *name, double *took, int n)
{
	qsort(took, (size_t)n, sizeof(double), by_size);
	printf("%s %.1f\n", name, took[n / 2]);
}

int main(int argc, char **argv)
{
	long long v[64];
	pthread_t t;
	int set;

	events = argv + 1;
	if (argc < 2 || argc > 64)
		return 2;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2 ||
	    PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 77;
	must(PAPI_thread_init(self), "thread_init");
	set = started(&starts[0]);
	printf("the_process's_first_start %.1f\n", starts[0]);
	must(PAPI_stop(set, v), "stop");
	for (int i = 1; i <= THREADS; i++) {
		if (pthread_create(&t, NULL, thread, &starts[i]))
			return 77;
		pthread_join(t, NULL);
	}
	print("a_thread's_first_start", starts + 1, THREADS);
	print("read_where_it_stayed", stays, THREADS * MOVES);
	print("read_after_a_move", moves, THREADS * MOVES);
	return 0;
}
