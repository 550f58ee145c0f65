/* instructions.c: how many instructions each PAPI call runs, by the object that they are of,
 * run one by one (ptrace); run by scripts/bench with and without sspapi.
 *
 *	instructions EVENT...		lines "NAME:OBJECT NUMBER" with OBJECT ours, PAPI, other
 *
 * Valgrind would count by function, but has no rseq, so that sspapi takes its slow way there.
 * Here each instruction is followed by a trap, at which the kernel clears the pointer by which sspapi
 * tells that the thread stayed on its CPU: every reading would take the way of one that was moved.  So
 * the thread, which is bound to one CPU, takes its rseq area from the kernel before it is traced, and
 * the pointer stays: what is counted is a reading of a thread that stayed.
 * A system call counts as one.
 */
#include <papi.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ
#endif

#define WARM	2000			/* calls before, of which one in 1024 is timed by sspapi */
#define RUNS	9			/* of which the median counts */

enum { START, STOP, READ, READ_TS, ACCUM, RESET, CALLS };
static const char *const names[CALLS] = { "PAPI_start", "PAPI_stop", "PAPI_read", "PAPI_read_ts", "PAPI_accum",
					  "PAPI_reset" };

/* The tracer counts between these, if it is said to. */
__attribute__((noipa)) static void begin(int counted)
{
	__asm__ volatile("" : : "r"(counted));
}

__attribute__((noipa)) static void end(void)
{
	__asm__ volatile("" ::: "memory");
}

static int set = PAPI_NULL;
static long long values[64], cycles;

/* Each is called from one place, and not jumped to. */
__attribute__((noipa)) static int call(int which)
{
	int rc;

	switch (which) {
	case START:
		rc = PAPI_start(set);
		break;
	case READ:
		rc = PAPI_read(set, values);
		break;
	case READ_TS:
		rc = PAPI_read_ts(set, values, &cycles);
		break;
	case ACCUM:
		rc = PAPI_accum(set, values);
		break;
	case RESET:
		rc = PAPI_reset(set);
		break;
	default:
		rc = PAPI_stop(set, values);
	}
	__asm__ volatile("" : "+r"(rc));
	return rc;
}

/* From one place, too, whether it is counted or not: with callers a site is a path. */
__attribute__((noipa)) static void one(int which, int counted)
{
	int rc;

	begin(counted);
	rc = call(which);
	end();
	if (rc != PAPI_OK)
		_exit(77);
}

/* Each as in a loop of it: after two of its kind. */
__attribute__((noipa)) static void round_of_calls(int counted)
{
	for (int i = 0; i < 3; i++) {
		one(START, counted && i == 2);
		one(STOP, counted && i == 2);
	}
	one(START, 0);
	for (int c = READ; c < CALLS; c++)
		for (int i = 0, n = counted ? 2 : WARM; i <= n; i++)
			one(c, counted && i == n);
	one(STOP, 0);
}

/* From now on nobody clears the pointer.  The area still says which CPU it is.  Where libc registers
 * none, sspapi has no use for it either. */
static int keep_rseq(void)
{
#ifdef HAVE_RSEQ
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	unsigned length = (__rseq_size + 31) & -32u, cpu = area->cpu_id;

	if (__rseq_size == 0)
		return 1;
	if (syscall(SYS_rseq, area, length, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) < 0)
		return 0;
	area->cpu_id_start = area->cpu_id = cpu;
#endif
	return 1;
}

static void child(int n, char **event)
{
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT || PAPI_create_eventset(&set) != PAPI_OK)
		_exit(77);
	for (int i = 0; i < n; i++)
		if (PAPI_add_named_event(set, event[i]) != PAPI_OK)
			_exit(77);
	for (int i = 0; i < 20; i++)
		round_of_calls(0);
	if (!keep_rseq())
		_exit(77);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(77);
	raise(SIGSTOP);
	for (int i = 0; i < RUNS; i++)
		round_of_calls(1);
	_exit(0);
}

#if defined(__x86_64__)
enum { OURS, PAPI, OTHER, KINDS };
static const char *const kinds[KINDS] = { "ours", "PAPI", "other" };
static struct { uint64_t from, to; int kind; } code[512];
static unsigned pieces;

static void read_maps(pid_t pid)
{
	char path[64], line[1024], bits[8];
	unsigned long from, to;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	while (f && pieces < 512 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, bits) == 3 && bits[2] == 'x') {
			code[pieces].from = from;
			code[pieces].to = to;
			code[pieces++].kind = strstr(line, "/libsspapi") ? OURS : strstr(line, "/libpapi.") ? PAPI : OTHER;
		}
	if (f)
		fclose(f);
}

static int kind_of(uint64_t at)
{
	for (unsigned i = 0; i < pieces; i++)
		if (at >= code[i].from && at < code[i].to)
			return code[i].kind;
	return OTHER;
}

static int by_size(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static int trace(pid_t pid)
{
	static int counted[CALLS][KINDS][RUNS];
	struct user_regs_struct r;
	int status, calls = 0, inside = 0;

	waitpid(pid, &status, 0);
	if (!WIFSTOPPED(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	read_maps(pid);
	while (calls < CALLS * RUNS) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
			return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
		ptrace(PTRACE_GETREGS, pid, NULL, &r);
		if (r.rip == (uintptr_t)begin) {
			inside = r.rdi != 0;
		} else if (r.rip == (uintptr_t)end) {
			calls += inside;
			inside = 0;
		} else if (inside) {
			counted[calls % CALLS][kind_of(r.rip)][calls / CALLS]++;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	for (int c = 0; c < CALLS; c++)
		for (int k = 0; k < KINDS; k++) {
			qsort(counted[c][k], RUNS, sizeof(int), by_size);
			printf("%s:%s %d\n", names[c], kinds[k], counted[c][k][RUNS / 2]);
		}
	return 0;
}
#else
static int trace(pid_t pid)
{
	kill(pid, SIGKILL);
	return 77;
}
#endif

int main(int argc, char **argv)
{
	cpu_set_t one;
	pid_t pid;

	CPU_ZERO(&one);		/* a thread that moves takes another way */
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pid = fork();
	if (pid == 0)
		child(argc - 1, argv + 1);
	return pid < 0 ? 77 : trace(pid);
}
