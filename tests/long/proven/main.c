/*
 * main.c: runs random clients of PAPI that know how much of the returned counts was counted on
 * which CPU.
 * usage: proven CASE SEED
 * Prints "truth cpu=K event=E most=N least=M": at most N of it was counted there, and M were not on
 * a window's edge; "handed event=E sum=N"; "noise N": faults that the client did not make itself;
 * and `wrong` if sspapi, queried while it ran, reported more as proven than was true.
 */
#include "proven.h"

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
    {"attach-runs", attach_runs}, {"attach-sleeps", attach_sleeps}, {"attach-freed", attach_freed},
    {"attach-forks", attach_forks}, {"attach-ends", attach_ends},	  {"shared", shared},
    {"inherit-threads", inherit_threads}, {"inherit-forks", inherit_forks}, {"handlers", handlers},
    {"inside-read", inside_read},
    {"widened", widened}, {"multiplexed", multiplexed}, {"overflow", overflown},
    {"filtered", filtered},
    {"closed", closed}, {"switched-off", switched_off}, {"cpu-clock", cpu_clock},
    {"task-clock", task_clock},
};

int cpus;
const char *const fault_event = "perf::PAGE-FAULTS";
int fault_code;

static __thread unsigned long state = 1;
static int number[CPUS];
static const char *name[KINDS];
static long long sum[KINDS], most_of[KINDS][CPUS], least_of[KINDS][CPUS];

void rnd_seed(unsigned long seed)
{
	state = (seed + 1) * 0x9e3779b97f4a7c15ul;
}

unsigned rnd(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % n;
}

unsigned rnd_scale(void)
{
	return (unsigned[]){3, 10, 30, 100, 300}[rnd(5)];
}

void spin(unsigned n)
{
	for (volatile unsigned i = n; i > 0; i--)
		;
}

/* @narrow: also CPUs outside the first affinity mask. */
static void find_cpus(int narrow)
{
	cpu_set_t mask, first;

	if (sched_getaffinity(0, sizeof(first), &first))
		die("sched_getaffinity");
	memset(&mask, -1, sizeof(mask));
	if (narrow && sched_setaffinity(0, sizeof(mask), &mask))
		die("sched_setaffinity");
	if (sched_getaffinity(0, sizeof(mask), &mask))
		die("sched_getaffinity");
	for (int i = 0; cpus < CPUS && i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &mask))
			number[cpus++] = i;
	if (narrow && sched_setaffinity(0, sizeof(first), &first))
		die("sched_setaffinity");
}

int cpu_of(int k)
{
	return number[k];
}

int index_of(int cpu)
{
	int k = 0;

	while (k < cpus && number[k] != cpu)
		k++;
	return k;
}

void allow(pid_t tid, int first, int n)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	for (int k = first; k < first + n; k++)
		CPU_SET(number[k], &mask);
	if (sched_setaffinity(tid, sizeof(mask), &mask))
		die("sched_setaffinity");
}

void go_to(int k)
{
	allow(0, k, 1);
}

/* Restricts it from the beginning, as taskset does. */
static void be_narrow(char **argv)
{
	go_to(0);
	execl("/proc/self/exe", argv[0], argv[1], argv[2], "narrow", NULL);
	die("exec");
}

/* Reads another thread's work. */
void reader_moves(void)
{
	if (rnd(3) == 0)
		go_to(rnd(cpus));
}

/* A thread that is not registered with PAPI cannot look up a name. */
void begin_papi(void)
{
	papi_up_threads();
	may(fault_event, PAPI_event_name_to_code(fault_event, &fault_code));
}

void true_count(int kind, int cpu, long long most, long long least)
{
	most_of[kind][cpu] += most;
	least_of[kind][cpu] += least;
}

void handed_out(int kind, const char *event, long long value)
{
	name[kind] = event;
	sum[kind] += value;
}

static void report(void)
{
	for (int e = 0; e < KINDS && name[e]; e++) {
		for (int k = 0; k < cpus; k++)
			printf("truth cpu=%d event=%s most=%lld least=%lld\n", cpu_of(k), name[e],
			       most_of[e][k], least_of[e][k]);
		printf("handed event=%s sum=%lld\n", name[e], sum[e]);
	}
	printf("noise %ld\n", atomic_load(&story->noise));
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	find_cpus(argc > 3);
	if (argc == 3 && !strcmp(argv[1], "widened"))
		be_narrow(argv);
	rnd_seed(strtoul(argv[2], NULL, 10));
	for (int i = 0; i < 10; i++)
		rnd(2);
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	story_make();
	values_make();
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			values_report();
			report();
			return 0;
		}
	return 2;
}
