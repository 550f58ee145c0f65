/*
 * calls.c: what the calls of PAPI cost, by kind of set. scripts/bench runs it with and without
 * sspapi in turn.
 *
 *	calls KIND time|step EVENT...
 *
 * KIND	own		a set of the calling thread
 *	cpu		attached to the CPU of the calling thread
 *	self		attached to the calling thread by its number
 *	process		attached to a child that sleeps
 *	sites		own, read from 2, 4, 16 and 100 call sites in turn
 *	two		own, two sets in turn
 *
 * Environment: ON_CPU: the CPU to run on, instead of the one on which it starts. NO_PAGE: no page
 * of the kernel shows whether the thread stayed, as where all that may be locked is taken.
 *
 * time: lines "CALL NS", the CPU time of a call. step: lines "CALL:ours N" and "CALL:system_calls
 * N", the instructions in sspapi's libraries and the system calls of a call (x86-64 only): the
 * median of three; the mean of several call sites, each reading of which is a record, and sspapi
 * stores 36 records at once.
 *
 * The program steps itself: a debugger would make the kernel switch to another thread at each
 * instruction, so that the thread does not look as if it had stayed on its CPU. A signal at each
 * instruction leaves everything as it is if the kernel does not know the rseq area, which it would
 * write at each signal.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ
#endif

#include "measure.h"

#pragma GCC optimize "no-optimize-sibling-calls"	/* each call of PAPI has a place of its
							 * own */

#define WARM	1100			/* calls before the first that counts: sspapi times one in
					 * 1024 */
#define RUNS	3			/* of calls that are stepped, every tenth; */
#define RUNS_SITES 18			/* of call sites all: 36 readings, or a multiple of that */
#define MOST_STEPS 100000	/* the rest of a call is not stepped: sspapi stores many readings at
				 * once there */
#define TIME_NS	3e6			/* of each call */

static int set = PAPI_NULL, other = PAPI_NULL;
static long long values[64];

/* ---- the calls ------------------------------------------------------------- */

static void start_all(void)
{
	must(PAPI_start(set), "start");
}

static void stop_all(void)
{
	must(PAPI_stop(set, values), "stop");
}

static void nothing(void)
{
}

static void read_once(void)
{
	PAPI_read(set, values);
}

static void pair(void)
{
	PAPI_start(set);
	PAPI_stop(set, values);
}

static void pair_without_values(void)
{
	PAPI_start(set);
	PAPI_stop(set, NULL);
}

static void accum(void)
{
	PAPI_accum(set, values);
}

static void reset_and_read(void)
{
	PAPI_reset(set);
	PAPI_read(set, values);
}

static void two_pairs(void)
{
	PAPI_start(set);
	PAPI_stop(set, values);
	PAPI_start(other);
	PAPI_stop(other, values);
}

#define SITE	PAPI_read(set, values);
#define SITES_4	SITE SITE SITE SITE
#define SITES_16 SITES_4 SITES_4 SITES_4 SITES_4

static void sites_2(void)
{
	SITE SITE
}

static void sites_4(void)
{
	SITES_4
}

static void sites_16(void)
{
	SITES_16
}

static void sites_100(void)
{
	SITES_16 SITES_16 SITES_16 SITES_16 SITES_16 SITES_16 SITES_4
}

static const struct call {
	const char *kinds, *name;
	void (*before)(void), (*call)(void), (*after)(void);
	int times;			/* what is printed is a call's share of these */
} calls[] = {
	{ "own cpu self process", "read", start_all, read_once, stop_all, 1 },
	{ "own cpu self process", "start_and_stop", nothing, pair, nothing, 1 },
	{ "own cpu self process", "accum", start_all, accum, stop_all, 1 },
	{ "own cpu self process", "reset_and_read", start_all, reset_and_read, stop_all, 1 },
	{ "own", "start_and_stop_without_values", nothing, pair_without_values, nothing, 1 },
	{ "sites", "2_sites", start_all, sites_2, stop_all, 2 },
	{ "sites", "4_sites", start_all, sites_4, stop_all, 4 },
	{ "sites", "16_sites", start_all, sites_16, stop_all, 16 },
	{ "sites", "100_sites", start_all, sites_100, stop_all, 100 },
	{ "two", "two_sets", nothing, two_pairs, nothing, 1 },
};

/* ---- time ------------------------------------------------------------------ */

static void print_time(const struct call *c)
{
	double t;

	for (int i = 0; i < WARM / c->times; i++)
		c->call();
	t = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < 10; i++)
		c->call();
	t = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - t) / 10;
	printf("%s %.1f\n", c->name, MEASURE((long)(TIME_NS / t), c->call()) / c->times);
}

/* ---- step ------------------------------------------------------------------ */

#if defined(__x86_64__) && defined(HAVE_RSEQ)
#define TRAP	0x100ull			/* of the flags: a trap after each instruction */
#define SYSCALL	0x050f

static struct { uintptr_t from, to; } ours[64];
static unsigned n_ours;
static long counted, system_calls, steps;
static uint64_t mask;

static void find_ours(void)
{
	char line[1024], bits[8];
	unsigned long from, to;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && n_ours < 64 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, bits) == 3 && bits[2] == 'x' &&
		    strstr(line, "/libsspapi")) {
			ours[n_ours].from = from;
			ours[n_ours++].to = to;
		}
	if (f)
		fclose(f);
}

static int is_ours(uintptr_t at)
{
	for (unsigned i = 0; i < n_ours; i++)
		if (at >= ours[i].from && at < ours[i].to)
			return 1;
	return 0;
}

/* Changes the mask in place of the next instruction: with SIGTRAP blocked the process would end. */
static int change_mask(greg_t *r)
{
	uint16_t code;

	memcpy(&code, (void *)r[REG_RIP], sizeof(code));
	system_calls += code == SYSCALL;
	if (code != SYSCALL || r[REG_RAX] != SYS_rt_sigprocmask)
		return 0;
	if (r[REG_RDX])
		memcpy((void *)r[REG_RDX], &mask, sizeof(mask));
	if (r[REG_RSI]) {
		uint64_t by;

		memcpy(&by, (void *)r[REG_RSI], sizeof(by));
		mask = r[REG_RDI] == SIG_BLOCK	   ? mask | by
		       : r[REG_RDI] == SIG_UNBLOCK ? mask & ~by
						   : by;
	}
	r[REG_RAX] = 0;
	return 1;
}

static void stepped(int sig, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig;
	(void)info;
	do
		counted += is_ours((uintptr_t)r[REG_RIP]);
	while (change_mask(r) && (r[REG_RIP] += 2));
	if (++steps > MOST_STEPS)
		r[REG_EFL] &= ~(greg_t)TRAP;
}

#define FLAGS(change) \
	"lea -128(%%rsp), %%rsp; pushfq; " change ", (%%rsp); popfq; lea 128(%%rsp), %%rsp"

/* All calls come from this one place, stepped or not: sspapi keeps their callers. */
__attribute__((noipa)) static void make(void (*call)(void), uint64_t trap)
{
	__asm__ volatile(FLAGS("orq %0") : : "r"(trap) : "cc", "memory");
	call();
	__asm__ volatile(FLAGS("andq %0") : : "r"(~trap) : "cc", "memory");
}

/* From here on the kernel leaves the area as it is, which still says which CPU it is. */
static void keep_rseq(void)
{
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	unsigned length = (__rseq_size + 31) & -32u, cpu = area->cpu_id;

	if (__rseq_size == 0)
		return;
	if (syscall(SYS_rseq, area, length, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) < 0)
		exit(77);
	area->cpu_id_start = area->cpu_id = cpu;
}

static void prepare_steps(void)
{
	struct sched_param first = { 1 };
	struct sigaction a = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO };

	keep_rseq();
	sigaction(SIGTRAP, &a, NULL);
	sched_setscheduler(0, SCHED_FIFO, &first);	/* where it may: each switch to another
							 * thread is a move to some proofs */
}

static double mean(const double *of, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += of[i];
	return sum / n;
}

static void print_steps(const struct call *c)
{
	const int sites = c->times > 1;
	const int runs = sites ? RUNS_SITES : RUNS, from = WARM / c->times;
	double n[RUNS_SITES], system[RUNS_SITES];
	int run = 0;

	if (c->times > 16)
		return;			/* minutes */
	if (!n_ours)
		find_ours();
	for (int i = 0; run < runs; i++) {
		counted = system_calls = steps = 0;
		make(c->call, i >= from && (sites || i % 10 == 9) ? TRAP : 0);
		if (steps) {
			n[run] = (double)counted / c->times;
			system[run++] = (double)system_calls / c->times;
		}
	}
	printf("%s:ours %.0f\n%s:system_calls %.0f\n", c->name,
	       sites ? mean(n, run) : median(n, run), c->name,
	       sites ? mean(system, run) : median(system, run));
}
#else
static void prepare_steps(void)
{
	exit(77);
}

static void print_steps(const struct call *c)
{
	(void)c;
}
#endif

/* ---- the sets ---------------------------------------------------------------- */

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static pid_t prepare(int id, const char *kind, int cpu, char **event)
{
	PAPI_option_t o;
	pid_t child = 0;
	int code = 0;

	must(PAPI_event_name_to_code(event[0], &code), event[0]);
	must(PAPI_assign_eventset_component(id, PAPI_get_event_component(code)),
	     "assign a component");
	memset(&o, 0, sizeof(o));
	o.cpu.eventset = id;
	o.cpu.cpu_num = (unsigned)cpu;
	if (!strcmp(kind, "cpu"))
		must(PAPI_set_opt(PAPI_CPU_ATTACH, &o), "attach to a CPU");
	if (!strcmp(kind, "self"))
		must(PAPI_attach(id, (unsigned long)syscall(SYS_gettid)), "attach to oneself");
	if (!strcmp(kind, "process"))
		must(PAPI_attach(id, (unsigned long)(child = sleeper())), "attach to a process");
	for (int i = 0; event[i]; i++)
		must(PAPI_add_named_event(id, event[i]), event[i]);
	return child;
}

int main(int argc, char **argv)
{
	const char *on = getenv("ON_CPU");
	int cpu = on ? atoi(on) : sched_getcpu(), steps;
	pid_t child;
	cpu_set_t one;

	if (argc < 4)
		return 2;
	steps = !strcmp(argv[2], "step");
	CPU_ZERO(&one);			/* a thread that moves takes another way */
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		return 2;
	if (getenv("NO_PAGE"))
		setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){0, 0});
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 77;
	must(PAPI_create_eventset(&set), "create");
	child = prepare(set, argv[1], cpu, argv + 3);
	must(PAPI_create_eventset(&other), "create");
	if (!strcmp(argv[1], "two"))
		prepare(other, argv[1], cpu, argv + 3);
	start_all();
	stop_all();
	if (steps)
		prepare_steps();
	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (!strstr(calls[i].kinds, argv[1]))
			continue;
		calls[i].before();
		(steps ? print_steps : print_time)(&calls[i]);
		calls[i].after();
	}
	if (child)
		kill(child, SIGKILL);
	return 0;
}
