/*
 * handler-gaps: runs handlers between PAPI's return and the work of a library that wraps it, N
 * times.
 *
 *	zeroed	a handler inside PAPI_reset counts on the first CPU and moves its thread to the
 *		second
 *	thrown	a handler jumps out of PAPI_read of a thread that moves, and the set is destroyed
 *	grown	(x86-64) at one of the first instructions of a PAPI_accum, each in turn, a handler
 *		stops the set, adds events, starts it again and reads it
 *	beside	a set without shadow counters (system calls are filtered by then), of a thread that
 *		counts with another one, is read on the second CPU, reset after a move to the first,
 *		counts there and is read
 *
 * zeroed and beside print both CPUs: all returned counts were made on the first.
 * usage: handler-gaps MODE N
 */
#include "handed.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <sys/prctl.h>
#include <ucontext.h>

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

static void allow_all(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, all };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(77);
}

static void count_beside(long n)
{
	int with = set_with(DEFAULT_EVENT), id;
	long long value;

	PAPI_start(with);
	PAPI_stop(with, &value);
	id = set_with(DEFAULT_EVENT);
	allow_all();
	pin(1);
	PAPI_start(id);
	for (long i = 0; i < n; i++) {
		if (used + PAGES > ROOM) {
			madvise(memory, (size_t)ROOM * 4096, MADV_DONTNEED);
			used = 0;
		}
		for (int cpu = 1; cpu >= 0; cpu--) {
			pin(cpu);
			PAPI_reset(id);
			for (int page = 0; page < PAGES && !cpu; page++)
				memory[used++ * 4096] = 1;
			for (int reads = 0; reads < 2; reads++)
				PAPI_read(id, &value);
		}
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

#ifdef __x86_64__
#define TRAP 0x100l			/* in the flags: a signal after each instruction */
#define SYSCALL "\x0f\x05"
#define STEPS 100		/* more than precede the call of libpapi */

static int grown;
static long step_now, step_of;
static long long sums[64];

static void grow(void)
{
	static const char *const events[] = { "PAGE-FAULTS",	"MINOR-FAULTS",
					      "MAJOR-FAULTS",	"CONTEXT-SWITCHES",
					      "CPU-MIGRATIONS", "ALIGNMENT-FAULTS" };
	static const char *const domains[] = { ":u=1:k=0", ":u=0:k=1", ":u=1:k=1" };
	long long values[64];
	char name[64];
	int n = 0;

	PAPI_stop(grown, values);
	PAPI_cleanup_eventset(grown);
	for (int i = 0; i < 18; i++) {
		snprintf(name, sizeof(name), "perf::%s%s", events[i / 3], domains[i % 3]);
		n += PAPI_add_named_event(grown, name) == PAPI_OK;
	}
	PAPI_start(grown);
	PAPI_read(grown, values);
	if (n < 14)
		exit(77);
}

static void step(int sig, siginfo_t *info, void *context)
{
	greg_t *at = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig, (void)info;
	/* A signal that is blocked when its trap occurs would end the process. */
	while (!memcmp((const void *)at[REG_RIP], SYSCALL, 2) &&
	       at[REG_RAX] == SYS_rt_sigprocmask) {
		if (at[REG_RDX])
			memset((void *)at[REG_RDX], 0, 8);
		at[REG_RAX] = 0;
		at[REG_RIP] += 2;
	}
	if (++step_now != step_of)
		return;
	at[REG_EFL] &= ~TRAP;
	grow();
}

/* From one call site: the last call takes the fast path. */
static int __attribute__((noinline)) accumulate(int steps)
{
	int r;

	step_now = 0;
	if (steps)
		__asm__ volatile("pushf; orq %0, (%%rsp); popf" : : "i"(TRAP) : "memory", "cc");
	r = PAPI_accum(grown, sums);
	__asm__ volatile("pushf; andq %0, (%%rsp); popf" : : "i"(~TRAP) : "memory", "cc");
	return r;
}

static void grow_at_each(long n)
{
	struct sigaction trap = { .sa_sigaction = step, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &trap, NULL);
	for (long i = 0; i < n; i++) {
		long long values[64];

		step_of = 1 + i % STEPS;
		grown = set_with(DEFAULT_EVENT);
		PAPI_start(grown);
		for (int calls = 0; calls < 4; calls++)
			accumulate(calls == 3);
		PAPI_stop(grown, values);
		drop_set(grown);
	}
}
#else
static void grow_at_each(long n)
{
	(void)n;
	exit(77);
}
#endif

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
	if (argc > 1 && !strcmp(argv[1], "grown"))
		grow_at_each(n);
	else if (argc > 1 && !strcmp(argv[1], "beside"))
		count_beside(n);
	else if (!throws)
		zero_often(n);
	for (long i = 0; throws && i < n; i++)
		throw_away();
	puts("done");
	return 0;
}
