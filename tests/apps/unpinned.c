/*
 * unpinned: threads that may run on any CPU, each with its own set; knows the pages touched per
 * CPU.
 *
 *	calm	a round: computes for 0.5 ms of CPU time, touches 40 pages, reads
 *	busy	a round: touches up to 31 pages, sometimes yields or sleeps, and reads every tenth
 *		round
 *
 * Prints "touched cpu=N pages=M", "unsure pages=U" (during which the CPU changed), "handed sum=S",
 * and the cost: CPU time of PAPI calls and of the process, in ns, and the number of switches: "cost
 * papi=N cpu=N switches=N".
 * usage: unpinned calm|busy THREADS ROUNDS
 */
#include "handed.h"

#include <sys/resource.h>

#define CPUS 1024
#define THREADS 1024

static long pages_on[CPUS], unsure, sum, papi_ns;
static int rounds, calm;
static pthread_barrier_t all;

static long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

#define COUNTED(call) do { \
	long from_ = now(CLOCK_THREAD_CPUTIME_ID); \
	must(#call, call); \
	__atomic_fetch_add(&papi_ns, now(CLOCK_THREAD_CPUTIME_ID) - from_, __ATOMIC_RELAXED); \
} while (0)

static void touch_here(struct arena *a, int pages)
{
	for (int i = 0; i < pages; i++) {
		int before = sched_getcpu();

		touch(a, 1);
		__atomic_fetch_add(sched_getcpu() == before ? &pages_on[before] : &unsure, 1,
				   __ATOMIC_RELAXED);
	}
}

static void compute(long ns)
{
	long end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void round_of(struct arena *a, int set, int round, unsigned *seed)
{
	long long values[2];

	if (calm) {
		compute(500000);
		touch_here(a, 40);
		COUNTED(PAPI_read(set, values));
		return;
	}
	*seed = *seed * 1103515245u + 12345u;
	touch_here(a, (int)(*seed >> 16) % 32);
	if (*seed >> 20 & 1)
		sched_yield();
	if ((*seed >> 21) % 8 == 0)
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
	if (round % 10 == 0)
		COUNTED(PAPI_read(set, values));
	compute(5000);
}

static void *work(void *arg)
{
	const char *events[] = {DEFAULT_EVENT, "perf::TASK-CLOCK"};
	unsigned seed = (unsigned)(long)arg * 7919 + 1;
	int set = set_with_all(2, events);
	struct arena a;
	long long values[2];

	arena_make(&a, rounds * 40l);
	prefault_stack();
	pthread_barrier_wait(&all);
	COUNTED(PAPI_start(set));
	for (int i = 0; i < rounds; i++)
		round_of(&a, set, i, &seed);
	COUNTED(PAPI_stop(set, values));
	__atomic_fetch_add(&sum, values[0], __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 4 ? atoi(argv[2]) : 0;
	struct rusage u;

	calm = argc == 4 && !strcmp(argv[1], "calm");
	rounds = argc == 4 ? atoi(argv[3]) : 0;
	if (threads < 1 || threads > THREADS || rounds < 1)
		return 2;
	papi_up_threads();
	drop_set(set_with("perf::TASK-CLOCK"));	/* names are looked up by one thread */
	drop_set(set_with(DEFAULT_EVENT));
	prefault();
	pthread_barrier_init(&all, NULL, (unsigned)threads);
	run_threads(threads, work);
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (pages_on[cpu])
			printf("touched cpu=%d pages=%ld\n", cpu, pages_on[cpu]);
	if (getrusage(RUSAGE_SELF, &u))
		die("getrusage");
	printf("unsure pages=%ld\nhanded sum=%ld\n", unsure, sum);
	printf("cost papi=%ld cpu=%ld switches=%ld\n", papi_ns, now(CLOCK_PROCESS_CPUTIME_ID),
	       u.ru_nvcsw + u.ru_nivcsw);
	return 0;
}
