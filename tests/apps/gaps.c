/*
 * gaps: handlers between PAPI's answer and what a library around it does then.
 *
 *	gaps zeroed N	on top of PAPI_reset a handler counts on the first CPU and moves its thread to the second, N times
 *	gaps thrown N	a handler jumps out of PAPI_read of a thread that moves, and the set is thrown away, N times
 *
 * zeroed prints both CPUs: all that is handed out was counted on the first.
 */
#include "touch.h"

#include <papi.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGES	100
#define ROOM	4096l

static int cpus[2];
static char *memory;
static long used;
static volatile sig_atomic_t armed;
static timer_t timer;
static sigjmp_buf out;

static void go(int which)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus[which], &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void find_cpus(void)
{
	cpu_set_t set;
	int n = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[n++] = cpu;
}

static void count_and_move(int sig)
{
	(void)sig;
	if (!armed)
		return;
	armed = 0;
	for (int i = 0; i < PAGES; i++)
		memory[used++ * 4096] = 1;
	go(1);
}

static void jump(int sig)
{
	(void)sig;
	if (!armed)
		return;
	armed = 0;
	siglongjmp(out, 1);
}

static void fire_in(long ns)
{
	struct itimerspec t = { .it_value.tv_nsec = ns };

	timer_settime(timer, 0, &t, NULL);
}

static int set_of_faults(void)
{
	int id = PAPI_NULL;

	if (PAPI_create_eventset(&id) != PAPI_OK || PAPI_add_named_event(id, "perf::PAGE-FAULTS") != PAPI_OK)
		exit(1);
	return id;
}

static void zeroed(long n)
{
	int id = set_of_faults();
	long long value;

	go(0);
	PAPI_start(id);
	PAPI_read(id, &value);
	for (long i = 0; i < n; i++) {
		if (used + PAGES > ROOM) {
			madvise(memory, (size_t)ROOM * 4096, MADV_DONTNEED);
			used = 0;
		}
		PAPI_reset(id);
		armed = 1;
		fire_in(1 + rand() % 8000);
		PAPI_reset(id);
		fire_in(0);
		armed = 0;
		PAPI_read(id, &value);
		go(0);
	}
	PAPI_reset(id);
	PAPI_stop(id, &value);
	printf("%d %d\n", cpus[0], cpus[1]);
}

static void throw_away(void)
{
	volatile int id = set_of_faults();
	int gone;
	long long value;

	go(0);
	PAPI_start(id);
	if (!sigsetjmp(out, 1)) {
		armed = 1;
		fire_in(1000 + rand() % 40000);
		for (int i = 0; i < 60 && armed; i++) {
			go(i & 1);
			PAPI_read(id, &value);
		}
	}
	armed = 0;
	fire_in(0);
	PAPI_stop(id, &value);
	gone = id;
	PAPI_cleanup_eventset(gone);
	PAPI_destroy_eventset(&gone);
}

int main(int argc, char **argv)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	long n = argc > 2 ? atol(argv[2]) : 0;
	int throws = argc > 1 && !strcmp(argv[1], "thrown");

	stay_mapped();
	find_cpus();
	signal(SIGUSR1, throws ? jump : count_and_move);
	memory = mmap(NULL, (size_t)ROOM * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		return 1;
	madvise(memory, (size_t)ROOM * 4096, MADV_NOHUGEPAGE);
	if (!throws)
		zeroed(n);
	for (long i = 0; throws && i < n; i++)
		throw_away();
	puts("done");
	return 0;
}
