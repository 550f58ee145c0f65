/*
 * gaps: handlers between PAPI's answer and what a library around it does then.
 *
 *	gaps zeroed N	on top of PAPI_reset a handler counts on the first CPU and moves its thread to the second, N times
 *	gaps thrown N	a handler jumps out of PAPI_read of a thread that moves, and the set is thrown away, N times
 *
 * zeroed prints both CPUs: all that is handed out was counted on the first.
 */
#include "handed.h"

#include <setjmp.h>

#define PAGES	100
#define ROOM	4096l

static char *memory;
static long used;
static volatile sig_atomic_t armed;
static timer_t timer;
static sigjmp_buf out;

static void count_and_move(int sig)
{
	(void)sig;
	if (!armed)
		return;
	armed = 0;
	for (int i = 0; i < PAGES; i++)
		memory[used++ * 4096] = 1;
	pin(1);
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

static void zero_often(long n)
{
	int id = set_with(DEFAULT_EVENT);
	long long value;

	pin(0);
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
		pin(0);
	}
	PAPI_reset(id);
	PAPI_stop(id, &value);
	printf("%d %d\n", nth_cpu(0), nth_cpu(1));
}

static void throw_away(void)
{
	volatile int id = set_with(DEFAULT_EVENT);
	long long value;

	pin(0);
	PAPI_start(id);
	if (!sigsetjmp(out, 1)) {
		armed = 1;
		fire_in(1000 + rand() % 40000);
		for (int i = 0; i < 60 && armed; i++) {
			pin(i & 1);
			PAPI_read(id, &value);
		}
	}
	armed = 0;
	fire_in(0);
	PAPI_stop(id, &value);
	drop_set(id);
}

int main(int argc, char **argv)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	long n = argc > 2 ? atol(argv[2]) : 0;
	int throws = argc > 1 && !strcmp(argv[1], "thrown");

	stay_mapped();
	nth_cpu(0);
	signal(SIGUSR1, throws ? jump : count_and_move);
	memory = new_memory((size_t)ROOM * 4096);
	papi_up();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		return 1;
	if (!throws)
		zero_often(n);
	for (long i = 0; throws && i < n; i++)
		throw_away();
	puts("done");
	return 0;
}
