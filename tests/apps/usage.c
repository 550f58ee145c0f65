/*
 * usage: prints what a library adds to threads: page faults and waits (voluntary context switches)
 * inside PAPI's calls, from getrusage() of each thread, and descriptors with low numbers.
 * usage: usage THREADS AT_ONCE
 * Prints for each part of a thread's life the sum over all threads of its PAPI calls:
 *	set			made, two events added
 *	first start, start	of a set, the second time
 *	counting		read, accum, reset, a move, read, stop
 *	end			cleanup, destroy, unregister
 *	thread			all of it, without the touched pages
 * Then the number of threads for which PAPI returned a wrong number of page faults, and each list
 * of descriptors below 100 (with several threads at once: their number) while all threads of a
 * batch counted.
 */
#include "handed.h"

#include <sys/resource.h>

#define AT_ONCE 64
#define PAGES 10

enum part { SET, FIRST, COUNTING, START, END, THREAD, PARTS };
static const char *const names[PARTS] = {
	"set", "first start", "counting", "start", "end", "thread"
};

struct use {
	long faults, waits;
};

static struct use used[PARTS];
static long wrong;
static char *events[] = {DEFAULT_EVENT, "perf::TASK-CLOCK"};
static struct counted *of[AT_ONCE];
static pthread_barrier_t met;

static struct use now(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_THREAD, &u))
		die("getrusage");
	return (struct use){u.ru_minflt, u.ru_nvcsw};
}

static void took(enum part part, struct use from)
{
	struct use to = now();

	__atomic_fetch_add(&used[part].faults, to.faults - from.faults, __ATOMIC_RELAXED);
	__atomic_fetch_add(&used[part].waits, to.waits - from.waits, __ATOMIC_RELAXED);
}

#define IN(part, call) do { \
	struct use from_ = now(); \
	must(#call, call); \
	took(part, from_); \
} while (0)

/* 10 pages on this CPU, not lost by accum and reset, and 10 on the other. */
static void count(struct counted *c, int cpu)
{
	long long v[2] = {0}, sum[2] = {0}, all;

	touch(&c->arena, PAGES);
	IN(COUNTING, PAPI_read(c->id, v));
	IN(COUNTING, PAPI_accum(c->id, sum));
	IN(COUNTING, PAPI_reset(c->id));
	pin(cpu + 1);
	touch(&c->arena, PAGES);
	IN(COUNTING, PAPI_read(c->id, v));
	all = sum[0] + v[0];
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);
	IN(COUNTING, PAPI_stop(c->id, v));
	__atomic_fetch_add(&wrong, all != 2 * PAGES || v[0] < PAGES, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	int i = (int)(long)arg;
	struct counted *c = of[i];
	struct use begun;
	long long v[2];

	pin(i);
	prefault_stack();
	begun = now();
	c->id = PAPI_NULL;
	IN(SET, PAPI_create_eventset(&c->id));
	for (int e = 0; e < 2; e++)
		IN(SET, PAPI_add_named_event(c->id, events[e]));
	IN(FIRST, PAPI_start(c->id));
	count(c, i);
	IN(START, PAPI_start(c->id));
	IN(START, PAPI_stop(c->id, v));
	IN(END, PAPI_cleanup_eventset(c->id));
	IN(END, PAPI_destroy_eventset(&c->id));
	IN(END, PAPI_unregister_thread());
	begun.faults += 2 * PAGES;
	took(THREAD, begun);
	return NULL;
}

/* Threads that open at once get random numbers; only how many is fixed. */
static void low_descriptors(int one_by_one)
{
	static char last[512];
	char text[512] = "";
	int n = 0, at = 0;

	for (int fd = 0; fd < 100; fd++)
		if (fcntl(fd, F_GETFD) >= 0) {
			n++;
			at += one_by_one ? snprintf(text + at, sizeof(text) - (size_t)at, " %d", fd)
					 : 0;
		}
	snprintf(text + at, sizeof(text) - (size_t)at, " (%d)", n);
	if (strcmp(text, last))
		printf("descriptors%s\n", strcpy(last, text));
}

static void batch(int n)
{
	pthread_t t[AT_ONCE];

	pthread_barrier_init(&met, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++) {
		arena_make(&of[i]->arena, 2 * PAGES);
		if (pthread_create(&t[i], NULL, work, (void *)(long)i))
			die("pthread_create");
	}
	pthread_barrier_wait(&met);
	low_descriptors(n == 1);
	pthread_barrier_wait(&met);
	for (int i = 0; i < n; i++) {
		pthread_join(t[i], NULL);
		munmap(of[i]->arena.next - 2 * PAGES * of[i]->arena.page,
		       2 * PAGES * (size_t)of[i]->arena.page);
	}
	pthread_barrier_destroy(&met);
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? atol(argv[1]) : 100, at_once = argc > 2 ? atol(argv[2]) : 16;

	papi_up_threads();
	nth_cpu(0);
	for (int i = 0; i < AT_ONCE; i++)
		of[i] = counted_new(2, events, 1);
	make_set(of[0]);	/* names are looked up by one thread */
	prefault();
	batch((int)at_once);	/* once per process */
	memset(used, 0, sizeof(used));
	for (long i = 0; i < threads; i += at_once)
		batch((int)at_once);
	for (int p = 0; p < PARTS; p++)
		printf("%s: %ld faults, %ld waits\n", names[p], used[p].faults, used[p].waits);
	printf("%ld threads were handed others than they touched\n", wrong);
	return 0;
}
