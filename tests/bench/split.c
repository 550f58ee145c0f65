/* split.c: what the split of counts by CPU costs where the kernel is asked for it; run by
 * scripts/bench with and without sspapi in turn.
 *
 *	split [beside] EVENT...		lines "NAME NS"
 *
 * Threads one after the other, on two CPUs: what a process pays once is its first start's. All is
 * CPU time, but of the process's first start, which may wait for the kernel where another thread
 * (`beside`) looks at the table of descriptors, too. Of each the median; what happens once in a
 * process is one number.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define THREADS	11
#define EACH	51		/* times, in each of them */
#define ROUNDS	5000		/* of two threads that wake each other */

enum row { FIRST_SET, PROCESS_START, THREAD_START, MOVED, END, FORK, VFORK, SWITCH, ROWS };
static const char *const names[ROWS] = { "library_init_and_first_set",
					 "the_process's_first_start",
					 "a_thread's_first_start",
					 "read_after_a_move",
					 "a_thread's_end",
					 "fork",
					 "vfork_and_exec",
					 "context_switch" };
static double took[ROWS][THREADS * EACH];
static int times[ROWS];
static cpu_set_t allowed;
static char **events;

static unsigned long self(void)
{
	return (unsigned long)pthread_self();
}

#define TIMED(row, call) do { \
	double t_ = clock_ns(CLOCK_THREAD_CPUTIME_ID); \
	call; \
	took[row][times[row]++] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - t_; \
} while (0)

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

static int made(void)
{
	int set = PAPI_NULL;

	must(PAPI_create_eventset(&set), "create");
	for (int i = 0; events[i]; i++)
		must(PAPI_add_named_event(set, events[i]), events[i]);
	return set;
}

static void start(int set)
{
	must(PAPI_start(set), "start");
}

static void stop(int set)
{
	long long v[64];

	must(PAPI_stop(set, v), "stop");
}

static void reading(int set)
{
	long long v[64];

	must(PAPI_read(set, v), "read");
}

static void gone(int set)
{
	must(PAPI_cleanup_eventset(set), "cleanup");
	must(PAPI_destroy_eventset(&set), "destroy");
}

static void *thread(void *arg)
{
	int set = made();

	TIMED(THREAD_START, start(set));
	for (int m = 0; m < EACH; m++) {
		to_cpu(m % 2);
		TIMED(MOVED, reading(set));
	}
	stop(set);
	*(double *)arg = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	gone(set);
	must(PAPI_unregister_thread(), "unregister");
	return NULL;
}

static void threads(void)
{
	pthread_t t;
	double end;

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&t, NULL, thread, &end))
			exit(77);
		pthread_join(t, NULL);
		took[END][times[END]++] = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - end;
	}
}

/* While the caller's set runs. */
static void children(void)
{
	static char *const program[] = { "true", NULL }, *const none[] = { NULL };
	int set = made();

	start(set);
	for (int i = 0; i < EACH; i++) {
		pid_t child;

		TIMED(FORK, child = fork());
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
		TIMED(VFORK, ({
			child = vfork();
			if (!child) {
				execve("/bin/true", program, none);
				_exit(1);
			}
		}));
		waitpid(child, NULL, 0);
	}
	stop(set);
	gone(set);
}

static int to[2], from[2];

static void *echo(void *arg)
{
	int set = made();
	char c;

	to_cpu(0);
	start(set);
	while (read(to[0], &c, 1) == 1 && write(from[1], &c, 1) == 1)
		;
	stop(set);
	gone(set);
	return arg;
}

/* Two threads that count wake each other on one CPU. */
static void switches(void)
{
	pthread_t t;
	double begun = 0;
	char c = 0;
	int set;

	if (pipe(to) || pipe(from) || pthread_create(&t, NULL, echo, NULL))
		exit(77);
	to_cpu(0);
	set = made();
	start(set);
	for (int i = -ROUNDS / 10; i < ROUNDS; i++) {
		if (i == 0)
			begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		if (write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1)
			exit(1);
	}
	took[SWITCH][times[SWITCH]++] = (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun) / (2 * ROUNDS);
	close(to[1]);
	pthread_join(t, NULL);
	stop(set);
}

static void *wait_for_ever(void *arg)
{
	pause();
	return arg;
}

/* By which sspapi discovers the machine. */
static void first_set(void)
{
	int set = PAPI_NULL;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		exit(77);
	must(PAPI_create_eventset(&set), "create");
}

/* Every descriptor that the kernel must take along is there from the first set on. */
static void first_start(void)
{
	double t = clock_ns(CLOCK_MONOTONIC);
	int set = made();

	start(set);
	took[PROCESS_START][times[PROCESS_START]++] = clock_ns(CLOCK_MONOTONIC) - t;
	stop(set);
}

int main(int argc, char **argv)
{
	int beside = argc > 1 && !strcmp(argv[1], "beside");
	pthread_t t;

	events = argv + 1 + beside;
	if (!events[0] || argc > 64)
		return 2;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2)
		return 77;
	TIMED(FIRST_SET, first_set());
	must(PAPI_thread_init(self), "thread_init");
	if (beside && pthread_create(&t, NULL, wait_for_ever, NULL))
		return 77;
	first_start();
	if (!beside) {
		threads();
		children();
		switches();
	}
	for (int r = 0; r < ROWS; r++)
		if (times[r])
			printf("%s %.1f\n", names[r], median(took[r], times[r]));
	printf("main_returns %.0f\n", clock_ns(CLOCK_MONOTONIC));
	fflush(stdout);
	return 0;
}
