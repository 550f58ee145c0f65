/*
 * anywhere.h: a signal at each instruction of a call, one after the other. The program runs itself once more under
 * ptrace; its client makes the call again and again, between two stops, and the tracer lets it run to the next
 * instruction each time, by a breakpoint, so that nothing interrupts it before, and sends SIGUSR1 there. The
 * instructions are learnt on the way, each by one more call that is stepped there. (x86-64 only.)
 * Nested: a SIGUSR2 at each instruction between the two stops that the handler of SIGUSR1 makes itself.
 */
#ifndef ANYWHERE_H
#define ANYWHERE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTRUCTIONS 8192

struct anywhere {
	volatile int handler;	/* what the handler is to do; < 0: there will be no more calls */
	volatile int handled;	/* it has: 1; and the one on top of it: 2 */
	volatile int inner;	/* what the handler's handler is to do; < 0: there is none, and the handler makes no stops */
	volatile int at, inner_at;	/* which instruction, for who wants to know */
	volatile int returned;	/* the client's: from the call, or the handler from its own */
	volatile int inside;	/* the client's: at the handler's first stop */
};

/* The client's two stops around the call. */
__attribute__((noinline, unused)) static void anywhere_stop(void)
{
	syscall(SYS_kill, getpid(), SIGSTOP);
}

#if defined(__x86_64__)
static struct anywhere *anywhere;
static pid_t anywhere_pid;

static inline void anywhere_failed(const char *what)
{
	perror(what);
	if (anywhere_pid)
		kill(anywhere_pid, SIGKILL);
	exit(1);
}

static inline void anywhere_asks(const char *what, int request, unsigned long at, unsigned long data)
{
	if (ptrace(request, anywhere_pid, at, data) < 0)
		anywhere_failed(what);
}

/* It runs on, with this signal, to its next one; < 0: it has ended. */
static inline int anywhere_runs(int request, int signal)
{
	int status;

	anywhere_asks("ptrace", request, 0, (unsigned long)signal);
	if (waitpid(anywhere_pid, &status, 0) < 0)
		anywhere_failed("waitpid");
	if (WIFSTOPPED(status))
		return WSTOPSIG(status);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fprintf(stderr, "the client ended: status %x\n", status);
	return -1 - (status != 0);
}

static inline unsigned long anywhere_pc(void)
{
	struct user_regs_struct r;

	anywhere_asks("registers", PTRACE_GETREGS, 0, (unsigned long)&r);
	return r.rip;
}

static inline unsigned long put_code(unsigned long at, unsigned long code)
{
	long is = ptrace(PTRACE_PEEKTEXT, anywhere_pid, at, NULL);

	anywhere_asks("breakpoint", PTRACE_POKETEXT, at, ((unsigned long)is & ~0xffUL) | code);
	return (unsigned long)is & 0xff;
}

/* To where `at` is for the nth time since the first stop; false: it came to the second. */
static inline int anywhere_reaches(unsigned long at, int nth)
{
	unsigned long code;

	for (; nth; nth--) {
		struct user_regs_struct r;

		if (anywhere_pc() == at && anywhere_runs(PTRACE_SINGLESTEP, 0) != SIGTRAP)
			return 0;
		code = put_code(at, 0xcc);
		if (anywhere_runs(PTRACE_CONT, 0) != SIGTRAP) {
			put_code(at, code);
			return 0;
		}
		put_code(at, code);
		anywhere_asks("registers", PTRACE_GETREGS, 0, (unsigned long)&r);
		r.rip = at;
		anywhere_asks("registers", PTRACE_SETREGS, 0, (unsigned long)&r);
	}
	return 1;
}

/* How often it comes by there until then, from the first one on, where it is. */
static inline int times(const unsigned long *trace, int n)
{
	int times = 0;

	for (int i = 1; i <= n; i++)
		times += trace[i] == trace[n];
	return times;
}

/* To the second stop of this call. */
static inline void anywhere_ends(int signal)
{
	int is = anywhere_runs(PTRACE_CONT, signal);

	while (is == SIGUSR1 || is == SIGUSR2)		/* it was blocked */
		is = anywhere_runs(PTRACE_CONT, is);
	if (is != SIGSTOP) {
		fprintf(stderr, "instruction %d, handler %d, on top of it at %d %d: signal %d\n", anywhere->at, anywhere->handler,
			anywhere->inner_at, anywhere->inner, is);
		kill(anywhere_pid, SIGKILL);
		exit(1);
	}
}

/* The first step only leaves the system call. */
static inline void anywhere_leaves(void)
{
	for (unsigned long at = anywhere_pc(); anywhere_pc() == at;)
		if (anywhere_runs(PTRACE_SINGLESTEP, 0) != SIGTRAP)
			anywhere_failed("step");
}

/* To the first of the next. */
static inline void anywhere_next(int handler)
{
	anywhere->handler = handler;
	anywhere->handled = anywhere->inside = 0;
	anywhere_ends(0);
	anywhere_leaves();
}

static inline int anywhere_here(const unsigned long *trace, int n, int handler)
{
	int reached;

	anywhere_next(handler);
	reached = anywhere_reaches(trace[n], times(trace, n));
	if (reached)
		anywhere_ends(SIGUSR1);
	return reached && anywhere->handled;
}

/* The instruction after trace[n]; 0: it was the last. */
static inline unsigned long anywhere_learn(const unsigned long *trace, int n)
{
	unsigned long next;

	anywhere_next(0);
	if (!anywhere_reaches(trace[n], times(trace, n)))
		return trace[n];	/* another way this time: once more */
	do {
		if (anywhere_runs(PTRACE_SINGLESTEP, 0) != SIGTRAP)
			return 0;
		next = anywhere->returned ? 0 : anywhere_pc();
	} while (next == trace[n]);	/* rep */
	anywhere_ends(0);
	return next;
}

/* The client's calls, with `handlers` kinds of handlers; prints how many instructions had how many signals. */
static inline int anywhere_trace(int handlers, int all)
{
	static unsigned long trace[INSTRUCTIONS];
	long signals = 0, missed = 0;
	int n = 0, rare = 0;

	if (waitpid(anywhere_pid, NULL, 0) < 0)
		anywhere_failed("waitpid");
	anywhere_next(0);
	trace[0] = anywhere_pc();
	for (int tries = 0; n < INSTRUCTIONS - 1; tries++) {
		unsigned long next;

		anywhere->at = n;
		for (int h = all ? 0 : n % handlers; h < handlers && !tries; h += all ? 1 : handlers) {
			int is = anywhere_here(trace, n, h);

			signals += is;
			missed += !is;
		}
		next = anywhere_learn(trace, n);
		if (!next)
			break;
		if (next == trace[n]) {
			/* A busy machine takes the CPU away at each stop, one call in 1024 is timed: what comes then is
			 * another way.  An instruction that was learnt on such a way is forgotten. */
			if (tries < 20)
				continue;
			if (!n || ++rare == 1000) {
				fprintf(stderr, "instruction %d was not reached again\n", n);
				break;
			}
			n--;
			tries = -1;
			continue;
		}
		trace[++n] = next;
		tries = -1;
	}
	anywhere->handler = -1;
	while (anywhere_runs(PTRACE_CONT, 0) >= 0)
		;
	printf("instructions %d signals %ld missed %ld\n", n + 1, signals, missed);
	return 0;
}

/* Until it has returned, one by one, then to its next stop: how many. */
static inline int anywhere_steps(unsigned long *trace)
{
	int n = 0;

	while (n < INSTRUCTIONS && !anywhere->returned) {
		trace[n++] = anywhere_pc();
		if (anywhere_runs(PTRACE_SINGLESTEP, 0) != SIGTRAP)
			anywhere_failed("step");
	}
	anywhere_ends(0);
	return n;
}

/* To the stop of the handler that comes at trace[n] of the next call; false: it did not come, and the call is at its end. */
static inline int anywhere_enters(const unsigned long *trace, int n, int handler, int inner)
{
	anywhere->inner = inner;
	anywhere_next(handler);
	if (!anywhere_reaches(trace[n], times(trace, n)))
		return 0;
	anywhere_ends(SIGUSR1);
	if (anywhere->inside)
		anywhere_leaves();
	return anywhere->inside;
}

/* A handler at trace[n], and one on top of that at each `stride`th instruction of its own, each of `handlers` in turns. */
static inline long anywhere_on_top(const unsigned long *trace, int n, int handler, int handlers, int stride)
{
	static unsigned long inner[INSTRUCTIONS];
	static int turn;
	long handled = 0;
	int k;

	if (!anywhere_enters(trace, n, handler, 0))
		return 0;
	k = anywhere_steps(inner);
	anywhere_ends(0);
	for (int i = turn % stride; i < k; i += stride) {
		anywhere->inner_at = i;
		if (!anywhere_enters(trace, n, handler, turn++ % handlers))
			continue;
		if (anywhere_reaches(inner[i], times(inner, i)))
			anywhere_ends(SIGUSR2);
		anywhere_ends(0);
		handled += anywhere->handled >> 1;
	}
	return handled;
}

/* The same at each 127th instruction of the call, by handlers in turns; all: at each 61st by all of them, at each of their
 * instructions. */
static inline int anywhere_nest(int handlers, int all)
{
	static unsigned long trace[INSTRUCTIONS];
	long signals = 0;
	int n = 0;

	if (waitpid(anywhere_pid, NULL, 0) < 0)
		anywhere_failed("waitpid");
	anywhere->inner = -1;
	anywhere_next(0);
	for (int i = 0; i < 3; i++) {	/* the first calls take other ways */
		anywhere_next(0);
		n = anywhere_steps(trace);
	}
	for (int m = 0, turn = 0; m < n; m += all ? 61 : 127, turn++) {
		anywhere->at = m;
		for (int h = all ? 0 : turn % handlers; h < handlers; h += all ? 1 : handlers)
			signals += anywhere_on_top(trace, m, h, handlers, all ? 1 : 7);
	}
	anywhere->handler = -1;
	while (anywhere_runs(PTRACE_CONT, 0) >= 0)
		;
	printf("instructions %d signals on top of signals %ld\n", n, signals);
	return 0;
}

/* The program once more, as the client: $ANYWHERE is the descriptor of what both see. */
static inline int anywhere_run(char **argv, int handlers, int all, int nested)
{
	int fd = memfd_create("anywhere", 0);
	char number[16];

	if (fd < 0 || ftruncate(fd, sizeof(*anywhere)))
		anywhere_failed("memfd_create");
	anywhere = mmap(NULL, sizeof(*anywhere), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (anywhere == MAP_FAILED)
		anywhere_failed("mmap");
	snprintf(number, sizeof(number), "%d", fd);
	setenv("ANYWHERE", number, 1);
	setenv("LD_BIND_NOW", "1", 1);	/* else the first calls are the loader's, thousands of instructions */
	anywhere_pid = fork();
	if (!anywhere_pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	return nested ? anywhere_nest(handlers, all) : anywhere_trace(handlers, all);
}
#endif
#endif
