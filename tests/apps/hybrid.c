/*
 * hybrid: simulates a machine with cores of two kinds for any program and its children.
 *
 *	own	page faults are the first kind's own event: ENOENT on other CPUs
 *	odd	the same with EINVAL, which some kernels return
 *	general	on other CPUs they are accepted, as PERF_TYPE_HARDWARE is, and counted by that
 *		kind's PMU
 *
 * The first kind is the first CPU of the affinity mask. A counter of page faults on all CPUs
 * (PAPI's) counts on that one only, like a thread's counter of one kind's PMU. A filter stops only
 * perf_event_open; other calls are unaffected. Exit status: the program's; 77, with a reason, if
 * tracing is not allowed.
 * usage: hybrid own|odd|general PROGRAM...
 */
#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ATTR(r)		((r)->rdi)
#define CPU(r)		((r)->rdx)
#define RESULT(r)	((r)->rax)
#elif defined(__aarch64__)
#define ATTR(r)		((r)->regs[0])
#define CPU(r)		((r)->regs[2])
#define RESULT(r)	((r)->regs[0])
#endif

static int first, refusal;

static int skip(const char *what)
{
	fprintf(stderr, "hybrid: %s: %s\n", what, strerror(errno));
	return 77;
}

#ifdef ATTR
static void set_registers(pid_t t, struct user_regs_struct *r)
{
	struct iovec v = { r, sizeof(*r) };

	ptrace(PTRACE_SETREGSET, t, NT_PRSTATUS, &v);
}

static void refuse(pid_t t, struct user_regs_struct *r)
{
#ifdef __x86_64__
	r->orig_rax = (unsigned long)-1;
#else
	int none = -1;
	struct iovec v = { &none, sizeof(none) };

	ptrace(PTRACE_SETREGSET, t, NT_ARM_SYSTEM_CALL, &v);
#endif
	RESULT(r) = (unsigned long)-refusal;
	set_registers(t, r);
}

static void opens(pid_t t)
{
	struct user_regs_struct r;
	struct iovec v = { &r, sizeof(r) };
	unsigned long head[2];
	int cpu;

	if (ptrace(PTRACE_GETREGSET, t, NT_PRSTATUS, &v) < 0)
		return;
	for (unsigned i = 0; i < 2; i++)
		head[i] = (unsigned long)ptrace(PTRACE_PEEKDATA, t, ATTR(&r) + 8 * i, 0);
	if ((unsigned)head[0] != PERF_TYPE_SOFTWARE || head[1] != PERF_COUNT_SW_PAGE_FAULTS)
		return;
	cpu = (int)CPU(&r);
	if (cpu < 0) {
		CPU(&r) = (unsigned long)first;
		set_registers(t, &r);
	} else if (cpu != first && refusal) {
		refuse(t, &r);
	}
}
#else
static void opens(pid_t t)
{
	(void)t;
}
#endif

static int filter(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(*f), f };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
		       ? -1
		       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

static void become(int go, char **argv)
{
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(125);
	if (filter() < 0)
		_exit(skip("seccomp"));
	execvp(argv[0], argv);
	_exit(127);
}

static int follow(pid_t program)
{
	int status, result = 125;
	pid_t t;

	while ((t = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		int event = status >> 16, sig = WSTOPSIG(status);

		if (t <= 0)
			continue;
		if (!WIFSTOPPED(status)) {
			if (t == program)
				result = WIFEXITED(status) ? WEXITSTATUS(status)
							   : 128 + WTERMSIG(status);
			continue;
		}
		if (event == PTRACE_EVENT_SECCOMP)
			opens(t);
		ptrace(PTRACE_CONT, t, 0, event ? 0 : sig);
	}
	return result;
}

int main(int argc, char **argv)
{
	cpu_set_t mask;
	int go[2];
	pid_t program;

	if (argc < 3)
		return 2;
	refusal = strcmp(argv[1], "own") == 0 ? ENOENT : strcmp(argv[1], "odd") == 0 ? EINVAL : 0;
	sched_getaffinity(0, sizeof(mask), &mask);
	while (!CPU_ISSET(first, &mask))
		first++;
	if (pipe(go) < 0)
		return skip("pipe");
	program = fork();
	if (program == 0)
		become(go[0], argv + 2);
	if (program < 0 || ptrace(PTRACE_SEIZE, program, 0,
				  PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
					  PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL) < 0)
		return skip("ptrace");
	if (write(go[1], "g", 1) != 1)
		return skip("write");
	close(go[0]);
	close(go[1]);
	return follow(program);
}
