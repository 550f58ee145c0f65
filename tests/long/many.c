/*
 * many: makes so many threads or children that anything left behind by each adds up.
 * usage: many MODE N [M]
 *
 *	threads	N threads, M at a time, each with an event set that counts 2 of an event; two of
 *		three leave the set to PAPI_unregister_thread
 *	forks	N children of a process with two threads that measure all the time; every second
 *		child also calls PAPI, without counting; some _exit, some exit
 *	soak	for N seconds, after M readings of a set that goes on: threads as above, 16 at a
 *		time
 *
 * Prints the `handed` lines, summed, and on stderr the growth between the first tenth and the end
 * (soak: from where 8192 threads and all readings are done, ten times): "descriptors N maps N
 * rss-kb N". The caller checks the store's size. Built with -DREAL it counts page faults with the
 * real libpapi.
 */
#ifdef REAL
#include "../apps/handed.h"
#define EVENT "perf::PAGE-FAULTS"
#define up papi_up
#else
#include "scenes/scene.h"
#define EVENT "EV_A"
#endif
#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

static long long handed_a[2];
static volatile long stop;
static pthread_barrier_t all_count;

/* ---- resources of the process --------------------------------------------------- */

struct resources {
	long descriptors, maps, rss;
};

static struct resources read_resources(void)
{
	struct resources h = {0, 0, 0};
	DIR *d = opendir("/proc/self/fd");
	FILE *f = fopen("/proc/self/maps", "r");
	long pages;

	while (readdir(d))
		h.descriptors++;
	closedir(d);
	for (int c; (c = getc(f)) != EOF;)
		h.maps += c == '\n';
	fclose(f);
	f = fopen("/proc/self/statm", "r");
	if (fscanf(f, "%*d %ld", &pages) == 1)
		h.rss = pages * 4;
	fclose(f);
	return h;
}

static void print_growth(struct resources was)
{
	struct resources is = read_resources();

	fprintf(stderr, "descriptors %ld maps %ld rss-kb %ld\n", is.descriptors - was.descriptors,
		is.maps - was.maps, is.rss - was.rss);
}

/* ---- what is done --------------------------------------------------------------- */

static void happen(int set, int n)
{
#ifdef REAL
	char *memory =
		mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)set;
	for (int i = 0; i < n; i++)
		*(volatile char *)(memory + i * 4096) = 1;
	munmap(memory, n * 4096);
#else
	fake_count_set(set, EVENT, n);
#endif
}

static void measure(int keep)
{
	int set;
	long long value = 0;

	set = set_with(EVENT);
	must("PAPI_start", PAPI_start(set));
	happen(set, 2);
	must("PAPI_stop", PAPI_stop(set, &value));
	__atomic_fetch_add(&handed_a[sched_getcpu() != nth_cpu(0)], value, __ATOMIC_RELAXED);
#ifdef REAL
	keep = 0;			/* PAPI_unregister_thread leaves descriptors and memory */
#endif
	if (keep)
		return;
	drop_set(set);
}

/* All threads of a batch have counted before one ends: a machine's load causes that sometimes. */
static void *thread(void *arg)
{
	long i = (long)arg;

	pin(i & 1);
	must("PAPI_register_thread", PAPI_register_thread());
	measure(i % 3);
	pthread_barrier_wait(&all_count);
	must("PAPI_unregister_thread", PAPI_unregister_thread());	/* frees what is kept */
	return NULL;
}

static void threads(long from, long to, int at_once)
{
	pthread_t t[256];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	while (from < to) {
		int n = 0, most = to - from < at_once ? (int)(to - from) : at_once;

		pthread_barrier_init(&all_count, NULL, (unsigned)most);
		for (; n < most; n++, from++)
			if (pthread_create(&t[n], &small, thread, (void *)from))
				die("pthread_create");
		while (n)
			pthread_join(t[--n], NULL);
		pthread_barrier_destroy(&all_count);
	}
}

/* Main's set runs and is read all the time: first as often as readings are kept, then past that. */
static void soak(long seconds, long readings)
{
	int set;
	long long value = 0;
	long i = 8192;

	threads(0, i, 16);
	pin(0);
	set = set_with(EVENT);
	must("PAPI_start", PAPI_start(set));
	happen(set, 3);
	for (long n = 0; n < readings + 1000; n++)
		must("PAPI_read", PAPI_read(set, &value));
	struct resources was = read_resources();
	time_t start = time(NULL);

	for (int tenth = 1; tenth <= 10; tenth++) {
		for (; time(NULL) - start < seconds * tenth / 10; i += 16) {
			threads(i, i + 16, 16);
			must("PAPI_read", PAPI_read(set, &value));
		}
		fprintf(stderr, "%ld threads: ", i);
		print_growth(was);
	}
	must("PAPI_stop", PAPI_stop(set, &value));
	handed_a[0] += value;
}

static void *spin(void *arg)
{
	pin((long)arg);
	must("PAPI_register_thread", PAPI_register_thread());
	while (!stop)
		measure(0);
	return NULL;
}

static void child(int i)
{
	alarm(60);
	if (i & 1) {
		up();
		new_event_set();
	}
	i % 4 < 2 ? _exit(0) : exit(0);
}

static void forks(int n)
{
	struct resources was = {0, 0, 0};
	pthread_t t[2];
	int status;

	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, spin, (void *)i);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			child(i);
		if (waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "child %d ended with %x\n", i, status);
			exit(1);
		}
		if (i == n / 10)
			was = read_resources();
	}
	print_growth(was);
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0, m = argc > 3 ? atol(argv[3]) : 16;
	struct resources was;

	up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	nth_cpu(0);
	if (!strcmp(mode, "forks")) {
		forks((int)n);
	} else if (!strcmp(mode, "soak")) {
		soak(n, m);
	} else {
		threads(0, n / 10, (int)m);
		was = read_resources();
		threads(n / 10, n, (int)m);
		print_growth(was);
	}
	for (int c = 0; c < 2; c++)
		printf("handed cpu=%d event=%s value=%lld by=all\n", nth_cpu(c), EVENT,
		       handed_a[c]);
	return 0;
}
