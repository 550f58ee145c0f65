/* shape.c: does a reading cost the same as the work grows?  What does the first of each
 * thing cost, what does the store weigh, how long is the end?  Run by scripts/bench,
 * with and without sspapi in turn.
 *
 *	shape crowd THREADS ROUNDS	ns of CPU time for a PAPI_read while THREADS read
 *	shape sets SETS ROUNDS		the same with SETS event sets alive
 *	shape long ROUNDS		of the first and the last tenth of ROUNDS
 *	shape first			of the first calls of a thread, and on another CPU
 *	shape memory THREADS		bytes resident in mappings named sspapi
 *	shape end THREADS EVENTS	THREADS count EVENTS each; prints when main returns
 *
 * Each prints lines "NAME NUMBER".
 */

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

#define MOST 2000
static const char *const events[] = {
	"EV_A", "EV_B", "EV_C", "EV_D", "EV_E", "EV_F", "EV_G", "EV_H"
};
static pthread_barrier_t together;
static int n_events = 2;
static long rounds;
static double took[MOST];

static int make_set(void)
{
	int set = PAPI_NULL;

	must(PAPI_create_eventset(&set), "create");
	for (int i = 0; i < n_events; i++)
		must(PAPI_add_named_event(set, events[i]), events[i]);
	return set;
}

static unsigned long self(void)
{
	return (unsigned long)pthread_self();
}

static void init(void)
{
	int v = PAPI_library_init(PAPI_VER_CURRENT);

	if (v != PAPI_VER_CURRENT)
		exit(77);
	must(PAPI_thread_init(self), "thread_init");
}

static double read_ns(int set, long n)
{
	long long v[8];

	return MEASURE(n, PAPI_read(set, v));
}

static void to_cpu(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* Bound to CPUs in turn: at once, not one after the other. */
static void *one_of_crowd(void *arg)
{
	long long v[8];
	int set;

	to_cpu((int)((double *)arg - took) % (int)sysconf(_SC_NPROCESSORS_ONLN));
	set = make_set();

	must(PAPI_start(set), "start");
	read_ns(set, rounds / 10 + 1);
	pthread_barrier_wait(&together);
	*(double *)arg = read_ns(set, rounds);
	pthread_barrier_wait(&together);	/* alive until all have counted */
	must(PAPI_stop(set, v), "stop");
	return NULL;
}

static void crowd(int n)
{
	pthread_t t[MOST];
	pthread_attr_t small;
	double sum = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&together, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], &small, one_of_crowd, &took[i]))
			exit(77);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < n; i++)
		sum += took[i];
	printf("read %.3f\n", sum / n);
}

/* first_start: of a set while the others are alive, the mean of the last ones.  A process's
 * first start is another row's (real PAPI's first_set): one of another event comes before. */
static void sets(int n)
{
	int set = PAPI_NULL, last = n > 100 ? 100 : n;
	double took = 0, t;
	long long v[8];

	must(PAPI_create_eventset(&set), "create");
	must(PAPI_add_named_event(set, "EV_H"), "EV_H");
	must(PAPI_start(set), "start");
	must(PAPI_stop(set, v), "stop");
	must(PAPI_cleanup_eventset(set), "cleanup");
	must(PAPI_destroy_eventset(&set), "destroy");
	for (int i = 0; i < n; i++) {
		set = make_set();
		t = clock_ns(CLOCK_MONOTONIC);
		must(PAPI_start(set), "start");
		took += i >= n - last ? clock_ns(CLOCK_MONOTONIC) - t : 0;
		if (i < n - 1)
			must(PAPI_stop(set, v), "stop");
	}
	printf("first_start %.3f\n", took / last);
	read_ns(set, rounds / 10 + 1);
	printf("read %.3f\n", read_ns(set, rounds));
	must(PAPI_stop(set, v), "stop");
}

static void long_run(void)
{
	int set = make_set();
	long long v[8];

	must(PAPI_start(set), "start");
	read_ns(set, 1000);
	printf("first_readings %.3f\n", read_ns(set, rounds / 10));
	read_ns(set, rounds - rounds / 10 * 2);
	printf("last_readings %.3f\n", read_ns(set, rounds / 10));
	must(PAPI_stop(set, v), "stop");
}

#define FIRSTS 9
enum { FIRST_SET, FIRST_START, FIRST_READ, OTHER_CPU, BACK, FIRST_CALLS };
static const char *const first_names[] = { "a_thread's_first_set", "a_set's_first_start",
					   "first_read", "first_read_on_another_CPU",
					   "read_back_on_the_first" };
static double firsts[FIRST_CALLS][FIRSTS];

#define TIME(which, call) do { \
	double t_ = clock_ns(CLOCK_MONOTONIC); \
	call; \
	at[which * FIRSTS] = clock_ns(CLOCK_MONOTONIC) - t_; \
} while (0)

static void *first_calls(void *arg)
{
	int set = PAPI_NULL;
	long long v[8];
	double *at = arg;

	to_cpu(0);
	TIME(FIRST_SET, must(PAPI_create_eventset(&set), "create"));
	for (int i = 0; i < n_events; i++)
		must(PAPI_add_named_event(set, events[i]), events[i]);
	TIME(FIRST_START, must(PAPI_start(set), "start"));
	TIME(FIRST_READ, PAPI_read(set, v));
	to_cpu(1);
	TIME(OTHER_CPU, PAPI_read(set, v));
	to_cpu(0);
	TIME(BACK, PAPI_read(set, v));
	must(PAPI_stop(set, v), "stop");
	return NULL;
}

/* Of several threads, one after the other, the median: the process's own first things, and
 * code that nobody has run yet, are not a thread's. */
static void first(void)
{
	pthread_t t;

	must(PAPI_start(make_set()), "start");
	for (int i = 0; i < FIRSTS; i++) {
		if (pthread_create(&t, NULL, first_calls, &firsts[0][i]))
			exit(77);
		pthread_join(t, NULL);
	}
	for (int c = 0; c < FIRST_CALLS; c++)
		printf("%s %.0f\n", first_names[c], median(firsts[c], FIRSTS));
}

/* What the kernel says is resident of the store; that of plain PAPI is 0. */
static void print_resident(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];
	long kib, sum = 0;
	int ours = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (strstr(line, "-") && strchr(line, ':') && !strstr(line, " kB"))
			ours = strstr(line, "/sspapi.") != NULL;
		else if (ours && sscanf(line, "Rss: %ld kB", &kib) == 1)
			sum += kib;
	}
	if (f)
		fclose(f);
	printf("resident %ld\n", sum * 1024);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	rounds = argc > 3 ? atol(argv[3]) : n;
	if (n > MOST && argc > 3)
		return 2;
	init();
	if (!strcmp(what, "crowd")) {
		crowd(n);
	} else if (!strcmp(what, "sets")) {
		sets(n);
	} else if (!strcmp(what, "long")) {
		long_run();
	} else if (!strcmp(what, "first")) {
		first();
	} else if (!strcmp(what, "memory")) {
		n_events = 4;
		rounds = 10;
		crowd(n);
		print_resident();
	} else if (!strcmp(what, "end")) {
		n_events = (int)rounds;
		rounds = 10;
		crowd(n);
		printf("main_returns %.0f\n", clock_ns(CLOCK_MONOTONIC));
	} else {
		return 2;
	}
	return 0;
}
