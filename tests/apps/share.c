/*
 * share: counts a part of its CPU time, and measures that part by the CPU clocks. usage:
 * share WAY prints the counted ns, those of the whole process, and the number of preemptions
 *	short	many short counts, as much time between them
 *	sleeps	the same, with a sleep in each count and before it
 *	long	one count, as long before it and after it
 *	runs	one count that is never stopped
 *	later	a thread starts its set; when it has ended its work another thread stops the set
 *	attached	another thread is counted; this one also works
 *	inherits	threads made while the set runs are counted; as much time before
 *	cpu	a set counts a CPU: no thread's time is counted
 */
#include <papi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000l
#define WORK (60 * MS)

static pthread_barrier_t both;
static int set, worker;

static void must(int rc, const char *what)
{
	if (rc != PAPI_OK) {
		fprintf(stderr, "share: %s: %s\n", what, PAPI_strerror(rc));
		exit(2);
	}
}

static long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

/* Works for @ns of the thread's CPU time; returns the time used. */
static long work(long ns)
{
	long begun = now(CLOCK_THREAD_CPUTIME_ID), is;

	while ((is = now(CLOCK_THREAD_CPUTIME_ID) - begun) < ns)
		for (volatile int i = 0; i < 1000; i++)
			;
	return is;
}

static int make(void)
{
	int s = PAPI_NULL;

	must(PAPI_create_eventset(&s), "PAPI_create_eventset");
	return s;
}

static void add(int s)
{
	must(PAPI_add_named_event(s, "perf::PAGE-FAULTS"), "PAPI_add_named_event");
}

static long counts(int s, long ns, long nap)
{
	long long value;
	long is;

	must(PAPI_start(s), "PAPI_start");
	is = work(ns);
	if (nap)
		usleep((useconds_t)nap);
	must(PAPI_stop(s, &value), "PAPI_stop");
	return is;
}

static long many(int n, long nap)
{
	int s = make();
	long sum = 0;

	add(s);
	for (int i = 0; i < n; i++) {
		work(WORK / n);
		if (nap)
			usleep((useconds_t)nap);
		sum += counts(s, WORK / n, nap);
	}
	return sum;
}

static long once(void)
{
	int s = make();
	long sum;

	add(s);
	work(WORK / 2);
	sum = counts(s, WORK, 0);
	work(WORK / 2);
	return sum;
}

static long never_stops(void)
{
	int s = make();

	add(s);
	work(WORK);
	must(PAPI_start(s), "PAPI_start");
	return work(WORK);
}

static void *starter(void *took)
{
	set = make();
	add(set);
	work(WORK / 2);
	must(PAPI_start(set), "PAPI_start");
	*(long *)took = work(WORK);
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);	/* the set is stopped */
	work(WORK / 2);
	return NULL;
}

static void *working(void *took)
{
	worker = (int)syscall(SYS_gettid);
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);	/* the set counts */
	*(long *)took = work(WORK);
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);	/* and no longer */
	return NULL;
}

static void *heir(void *took)
{
	*(long *)took = work(WORK / 2);
	return NULL;
}

static long stops_later(void)
{
	long long value;
	long took;
	pthread_t t;

	pthread_create(&t, NULL, starter, &took);
	pthread_barrier_wait(&both);
	must(PAPI_stop(set, &value), "PAPI_stop");
	pthread_barrier_wait(&both);
	pthread_join(t, NULL);
	return took;
}

static long attaches(void)
{
	int s = make();
	long long value;
	long took;
	pthread_t t;

	pthread_create(&t, NULL, working, &took);
	pthread_barrier_wait(&both);
	add(s);
	must(PAPI_attach(s, (unsigned long)worker), "PAPI_attach");
	must(PAPI_start(s), "PAPI_start");
	pthread_barrier_wait(&both);
	work(WORK);
	pthread_barrier_wait(&both);
	must(PAPI_stop(s, &value), "PAPI_stop");
	pthread_barrier_wait(&both);
	pthread_join(t, NULL);
	return took;
}

static long inherits(void)
{
	PAPI_option_t o = { 0 };
	int s = make();
	long took[2];
	pthread_t t[2];
	long long value;

	o.inherit.eventset = s;
	o.inherit.inherit = PAPI_INHERIT_ALL;
	must(PAPI_assign_eventset_component(s, 0), "PAPI_assign_eventset_component");
	must(PAPI_set_opt(PAPI_INHERIT, &o), "PAPI_set_opt");
	add(s);
	work(WORK);
	must(PAPI_start(s), "PAPI_start");
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, heir, &took[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	must(PAPI_stop(s, &value), "PAPI_stop");
	return took[0] + took[1];
}

static long counts_a_cpu(void)
{
	PAPI_option_t o = { 0 };
	int s = make();

	o.cpu.eventset = s;
	o.cpu.cpu_num = 0;
	add(s);
	must(PAPI_set_opt(PAPI_CPU_ATTACH, &o), "PAPI_set_opt");
	counts(s, WORK, 0);
	return -1;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	struct rusage used;
	long counted;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 2;
	must(PAPI_thread_init(pthread_self), "PAPI_thread_init");
	pthread_barrier_init(&both, NULL, 2);
	counted = !strcmp(way, "short")	     ? many(200, 0)
		  : !strcmp(way, "sleeps")   ? many(50, 50)
		  : !strcmp(way, "long")     ? once()
		  : !strcmp(way, "runs")     ? never_stops()
		  : !strcmp(way, "later")    ? stops_later()
		  : !strcmp(way, "attached") ? attaches()
		  : !strcmp(way, "inherits") ? inherits()
					     : counts_a_cpu();
	getrusage(RUSAGE_SELF, &used);
	printf("%ld %ld %ld\n", counted, now(CLOCK_PROCESS_CPUTIME_ID), used.ru_nivcsw);
	return 0;
}
