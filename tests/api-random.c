/* api-random.c: random sequences over threads and CPUs, through sspapi.h and plain PAPI calls
 * mixed, on the scripted libpapi: the sum over CPUs is what PAPI handed out, always.
 *
 *	api-random SEED OPERATIONS	prints "handed ..." lines; exit 1 if something is wrong
 *
 * Each worker moves between CPUs and counts in relations of its own; a visitor reads the
 * workers' sets from outside, asks everything, also with pointers that are none.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <papi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/fake.h"
#include "../preload/sspapi.h"

#define WORKERS 4
#define SETS 2
#define EVENTS 3
static const char *const name[EVENTS] = { "EV_A", "EV_B", "EV_C" };

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;		/* around an operation and what the oracle knows of it */
	unsigned seed;
	int es[SETS], current;
	sspapi_relation *rel;
	int latest;			/* the set that sspapi_start started last; -1 */
	bool running, bound[SETS];	/* bound: by sspapi_start, until sspapi_stop */
	long long count[EVENTS], last[EVENTS], total[EVENTS];
	long long plain[EVENTS];	/* handed out in relations of the shim */
};

static struct worker worker[WORKERS];
static int code[EVENTS], operations, wrong, visits;
static bool done;

#define EXPECT(what, got, want) do { \
	long long g_ = (got), w_ = (want); \
	if (g_ != w_ && !__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED)) \
		printf("wrong: line %d: %s is %lld, not %lld\n", __LINE__, what, g_, w_); \
} while (0)

static unsigned rnd(unsigned *seed, unsigned n)
{
	return (unsigned)rand_r(seed) % n;
}

static void move_on(unsigned *seed)
{
	cpu_set_t set, all;
	int cpu;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&set);
	for (int i = 0; i < 2; i++)
		CPU_SET(i, &all);
	cpu = (int)rnd(seed, 2);
	if (rnd(seed, 2))
		CPU_SET(cpu, &set);
	else
		set = all;
	sched_setaffinity(0, sizeof(set), &set);
}

static void handed(struct worker *w)
{
	for (int e = 0; e < EVENTS; e++) {
		*(w->bound[w->current] ? &w->total[e] : &w->plain[e]) += w->count[e] - w->last[e];
		w->last[e] = w->count[e];
	}
}

static void zeroed(struct worker *w)
{
	memset(w->count, 0, sizeof(w->count));
	memset(w->last, 0, sizeof(w->last));
}

static void start(struct worker *w, bool plain)
{
	int set = (int)rnd(&w->seed, SETS);

	if (w->running) {
		EXPECT("a second start", sspapi_start(w->es[w->current], &w->rel), PAPI_EISRUN);
		return;
	}
	EXPECT("start", plain ? PAPI_start(w->es[set]) : sspapi_start(w->es[set], &w->rel), PAPI_OK);
	w->current = set;
	w->running = true;
	if (!plain) {
		w->bound[set] = true;
		w->latest = set;
	}
	zeroed(w);
}

static void count(struct worker *w)
{
	for (int e = 0; e < EVENTS; e++) {
		int n = (int)rnd(&w->seed, 100);

		fake_count(name[e], n);
		w->count[e] += n;
	}
}

/* Plain calls of the set. */
static void plain(struct worker *w, unsigned op)
{
	long long x[EVENTS] = { 0 };
	int es = w->es[w->current];

	switch (op) {
	case 0:
		EXPECT("PAPI_read", PAPI_read(es, x), PAPI_OK);
		handed(w);
		break;
	case 1:
		EXPECT("PAPI_accum", PAPI_accum(es, x), PAPI_OK);
		handed(w);
		zeroed(w);
		break;
	case 2:
		EXPECT("PAPI_reset", PAPI_reset(es), PAPI_OK);
		zeroed(w);
		break;
	default:
		EXPECT("PAPI_stop", PAPI_stop(es, rnd(&w->seed, 2) ? x : NULL), PAPI_OK);
		handed(w);
		w->running = false;
	}
}

static void own(struct worker *w, unsigned op)
{
	bool permanent = rnd(&w->seed, 2);
	uint64_t ns = 0;

	switch (op) {
	case 0:
	case 1:
		EXPECT("sspapi_read", sspapi_read(w->rel, NULL, permanent, &ns), PAPI_OK);
		handed(w);
		break;
	case 2:
	case 3:
		EXPECT("sspapi_accum", sspapi_accum(w->rel, NULL, permanent, &ns), PAPI_OK);
		handed(w);
		zeroed(w);
		break;
	case 4:
		EXPECT("sspapi_reset", sspapi_reset(w->rel), PAPI_OK);
		zeroed(w);
		break;
	default:
		EXPECT("sspapi_stop", sspapi_stop(w->rel, NULL, permanent, &ns), PAPI_OK);
		handed(w);
		w->running = false;
		w->bound[w->current] = false;
	}
}

static void check(struct worker *w)
{
	for (int e = 0; e < EVENTS && w->rel; e++) {
		long long sum = 0;

		for (int cpu = 0; cpu < 2; cpu++)
			sum += sspapi_total(w->rel, code[e], cpu);
		EXPECT("the sum over CPUs", sum, w->total[e]);
		EXPECT("sspapi_total", sspapi_total(w->rel, code[e], -1), w->total[e]);
		EXPECT("exact", sspapi_exact(w->rel, code[e], -1) <= w->total[e], 1);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	PAPI_register_thread();
	for (int i = 0; i < SETS; i++) {
		w->es[i] = PAPI_NULL;
		EXPECT("PAPI_create_eventset", PAPI_create_eventset(&w->es[i]), PAPI_OK);
		for (int e = 0; e < EVENTS; e++)
			EXPECT("PAPI_add_event", PAPI_add_event(w->es[i], code[e]), PAPI_OK);
	}
	for (int i = 0; i < operations; i++) {
		if (rnd(&w->seed, 4) == 0)
			move_on(&w->seed);
		pthread_mutex_lock(&w->lock);
		if (!w->running || rnd(&w->seed, 40) == 0) {
			start(w, rnd(&w->seed, 4) == 0);
		} else {
			count(w);
			if (w->bound[w->current] && w->latest == w->current && rnd(&w->seed, 3))
				own(w, rnd(&w->seed, 7));
			else
				plain(w, rnd(&w->seed, 5));
		}
		if (i % 16 == 0)
			check(w);
		pthread_mutex_unlock(&w->lock);
	}
	pthread_mutex_lock(&w->lock);
	if (w->running)
		plain(w, 9);
	check(w);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Nothing that is asked of nothing is a crash. */
static void nonsense(unsigned *seed)
{
	sspapi_relation *rel = (sspapi_relation *)(uintptr_t)(rnd(seed, 2) ? (unsigned)rand_r(seed) : 8u);
	struct sspapi_cpu_metrics all;
	int n = 4, list[4];

	errno = 0;
	EXPECT("total of no relation", sspapi_total(rnd(seed, 2) ? rel : NULL, code[0], -1), 0);
	EXPECT("errno", errno, EINVAL);
	EXPECT("read of no relation", sspapi_read(rel, NULL, false, NULL), PAPI_EINVAL);
	EXPECT("stop of NULL", sspapi_stop(NULL, NULL, false, NULL), PAPI_EINVAL);
	EXPECT("start into nothing", sspapi_start(0, NULL), PAPI_EINVAL);
	EXPECT("start of no set", sspapi_start(999999, &(sspapi_relation *){ NULL }), PAPI_ENOEVST);
	EXPECT("start into no relation", sspapi_start(0, &rel) != PAPI_OK, 1);
	EXPECT("lists of no relation", sspapi_find_cpus(rel, list, &n), PAPI_EINVAL);
	EXPECT("all of no relation", sspapi_get_all_metrics(rel, code[0], 0, &all), PAPI_EINVAL);
	EXPECT("latest CPU of no relation", sspapi_latest_cpu(rel), -1);
	EXPECT("no component", sspapi_find_cpu((sspapi_component *)rel, 0) == NULL, 1);
	EXPECT("no component", sspapi_cpu_find_relations((sspapi_component *)rel, NULL, &(int){ 0 }), PAPI_EINVAL);
	sspapi_free(rel);
	sspapi_print_metrics(rel, -1, stdout);
}

static void visit(struct worker *w, unsigned *seed)
{
	struct sspapi_cpu_metrics all;

	pthread_mutex_lock(&w->lock);
	if (w->rel && w->running && w->bound[w->current] && w->latest == w->current && rnd(seed, 3) == 0) {
		EXPECT("sspapi_read by another", sspapi_read(w->rel, NULL, rnd(seed, 2), NULL), PAPI_OK);
		handed(w);
		visits++;
	}
	pthread_mutex_unlock(&w->lock);
	if (!w->rel)
		return;
	errno = 0;
	sspapi_total(w->rel, 12345, -1);
	EXPECT("an unknown event", errno, EINVAL);
	EXPECT("an unknown event", sspapi_get_all_metrics(w->rel, 12345, 0, &all), PAPI_ENOEVNT);
	errno = 0;
	EXPECT("an unknown CPU", sspapi_total(w->rel, code[0], 4000), 0);
	EXPECT("an unknown CPU", errno, EINVAL);
	EXPECT("all entries", sspapi_get_all_metrics(w->rel, code[1], -1, &all), PAPI_OK);
	for (size_t i = 1; i < all.n; i++)
		EXPECT("times grow", all.entries[i].timestamp < all.entries[i - 1].timestamp, 0);
	if (all.n && all.entries[0].permanent)
		EXPECT("found by its time", sspapi_get_metric(w->rel, code[1], -1, all.entries[0].timestamp) ==
			all.entries[0].value || all.entries[0].timestamp == all.entries[all.n - 1].timestamp, 1);
}

static void *look(void *arg)
{
	unsigned seed = *(unsigned *)arg;
	sspapi_relation *rels[64];

	PAPI_register_thread();
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		int n = 64;

		EXPECT("sspapi_relations", sspapi_relations(rels, &n), PAPI_OK);
		for (int i = 0; i < n && i < 64; i++)
			sspapi_total(rels[i], code[0], -1);
		nonsense(&seed);
		for (int i = 0; i < WORKERS; i++)
			visit(&worker[i], &seed);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t visitor;
	long long all[EVENTS] = { 0 };

	operations = argc > 2 ? atoi(argv[2]) : 2000;
	if (PAPI_library_init(fake_version() << 16) < 0 || PAPI_thread_init(pthread_self) != PAPI_OK)
		return 2;
	for (int e = 0; e < EVENTS; e++)
		PAPI_event_name_to_code(name[e], &code[e]);
	for (int i = 0; i < WORKERS; i++) {
		pthread_mutex_init(&worker[i].lock, NULL);
		worker[i].latest = -1;
		worker[i].seed = seed * 100 + (unsigned)i;
		pthread_create(&worker[i].thread, NULL, work, &worker[i]);
	}
	pthread_create(&visitor, NULL, look, &seed);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i].thread, NULL);
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	pthread_join(visitor, NULL);
	for (int i = 0; i < WORKERS; i++)
		for (int e = 0; e < EVENTS; e++)
			all[e] += worker[i].total[e] + worker[i].plain[e];
	for (int e = 0; e < EVENTS; e++)
		printf("handed cpu=any event=%s value=%lld by=all\n", name[e], all[e]);
	printf("visits %d\n", visits);
	return wrong != 0;
}
