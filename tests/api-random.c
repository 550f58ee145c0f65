/* api-random.c: random sequences over threads and CPUs, through sspapi.h and plain PAPI calls
 * mixed, on the scripted libpapi: the sum over CPUs is what PAPI handed out, always.
 *
 *	api-random SEED OPERATIONS [WORKERS] prints "handed ..." lines; exit 1 if something is wrong
 *
 * Each worker moves between CPUs and counts in sets of its own, several at a time where they are of
 * several components: started, read, accumulated, written, reset, stopped; changed between runs
 * (events, domain, multiplexing, another thread as target), destroyed and made again.  A visitor
 * reads, stops and resets the workers' sets from outside, asks everything, also with pointers that
 * are none.
 *
 * Compiled with SCRIPTED the CPUs are numbers on which the process does not run, some of which the
 * topology lacks, and are printed: each count is then on its own.  By the kernel's CPUs only sums
 * can be compared.
 */
#include <errno.h>
#include <papi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake/fake.h"
#include "../preload/sspapi.h"

#define WORKERS_MOST 32
#define SETS 4
#define EVENTS 6
#define ANY 16				/* as a CPU: not known which */

/* Of two components, so that two sets of a thread run at a time. */
static const struct {
	const char *name;
	struct fake_event is;
} event[EVENTS] = {
	{ "EV_A", { .component = "perf_event" } },
	{ "EV_B", { .component = "perf_event" } },
	{ "EV_U", { .component = "perf_event", .data_type = PAPI_DATATYPE_UINT64 } },
	{ "EV_X", { .component = "second" } },
	{ "EV_Y", { .component = "second" } },
	{ "EV_F", { .component = "second", .data_type = PAPI_DATATYPE_FP64 } },
};

struct set {
	int es, half;			/* half: of which component, 0 or 1 */
	bool has[EVENTS], running;
	bool bound;			/* by sspapi_start, until sspapi_stop or a change */
	bool far;			/* attached, or it was: where its target runs is not known
					 * here */
	bool detached;			/* so, until its counters are opened again */
	bool away;			/* PAPI has it under its target, for good */
	bool beside;			/* attached: runs beside others there */
	int n, order[EVENTS];		/* as PAPI has them */
	long long count[EVENTS], last[EVENTS];
};

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;		/* around an operation and what the oracle knows of it */
	unsigned seed;
	int tid, cpu;
	struct set set[SETS], *latest;	/* latest: that sspapi_start started last */
	sspapi_relation *rel;
	long long total[EVENTS][ANY + 1];	/* handed out in the relation */
	long long plain[EVENTS][ANY + 1];	/* and in others */
};

static struct worker worker[WORKERS_MOST];
static int workers = 4, code[EVENTS], operations, wrong;
static long long done_what[16];
static pthread_barrier_t have_tids;
static bool done;

enum {
	D_VISITS,
	D_ENTRIES_KEPT,
	D_ADDED,
	D_REMOVED,
	D_AGAIN,
	D_ATTACHED,
	D_DETACHED,
	D_DOMAIN,
	D_MPX,
	D_WRITTEN,
	D_PLAIN,
	D_OWN,
	D_REOPENED
};
static const char *const words[] = { "visits",	    "entries kept", "added",	"removed",
				     "again",	    "attached",	    "detached", "domain",
				     "multiplexed", "written",	    "plain",	"own",
				     "reopened" };
#define DID(what) __atomic_fetch_add(&done_what[what], 1, __ATOMIC_RELAXED)

#define EXPECT(what, got, want) do { \
	long long g_ = (got), w_ = (want); \
	if (g_ != w_ && !__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED)) \
		printf("wrong: line %d: %s is %lld, not %lld\n", __LINE__, what, g_, w_); \
} while (0)

static unsigned rnd(unsigned *seed, unsigned n)
{
	return (unsigned)rand_r(seed) % n;
}

/* A number that PAPI or sspapi gave of event e. */
static long long number(int e, long long value)
{
	double d;

	if (event[e].is.data_type != PAPI_DATATYPE_FP64)
		return value;
	memcpy(&d, &value, sizeof(d));
	return (long long)d;
}

/* ---- CPUs ------------------------------------------------------------------ */

#ifdef SCRIPTED
/* The library asks the kernel's per-thread area for its CPU, or, without one, this. */
const unsigned int __rseq_size = 0;
static __thread int scripted_cpu = 2;

int sched_getcpu(void)
{
	return scripted_cpu;
}

static int cpus[] = { 2, 3, 5, 7, 9, 12 };	/* 9 and 12 are not in the topology */

static bool is_kept_off(int cpu)
{
	for (int i = 0; i < 6; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

/* What the visitor reads is booked on the kernel's CPUs: the process runs on no scripted one. */
static void keep_off(void)
{
	cpu_set_t set, rest;

	sched_getaffinity(0, sizeof(set), &set);
	rest = set;
	for (int i = 0; i < 6; i++)
		CPU_CLR(cpus[i], &rest);
	for (int i = 0; CPU_COUNT(&rest) == 0; i++)
		if (CPU_ISSET(cpus[i], &set)) {		/* it may run nowhere else */
			CPU_SET(cpus[i], &rest);
			cpus[i] = 4;
		}
	sched_setaffinity(0, sizeof(rest), &rest);
	printf("scripted %d|%d|%d|%d|%d|%d\n", cpus[0], cpus[1], cpus[2], cpus[3], cpus[4],
	       cpus[5]);
}

static void move_on(struct worker *w)
{
	w->cpu = scripted_cpu = cpus[rnd(&w->seed, 6)];
}
#else
static bool on_two;			/* all of the process is on CPUs 0 and 1, where move_on
					 * moves */

static bool is_kept_off(int cpu)
{
	return on_two && cpu > 1;
}

static void keep_off(void)
{
	cpu_set_t two;

	CPU_ZERO(&two);
	CPU_SET(0, &two);
	CPU_SET(1, &two);
	on_two = sched_setaffinity(0, sizeof(two), &two) == 0;
}

static void move_on(struct worker *w)
{
	cpu_set_t set, all;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&set);
	for (int i = 0; i < 2; i++)
		CPU_SET(i, &all);
	if (rnd(&w->seed, 2))
		CPU_SET(rnd(&w->seed, 2), &set);
	else
		set = all;
	sched_setaffinity(0, sizeof(set), &set);
	w->cpu = ANY;
}
#endif

/* ---- what PAPI handed out ---------------------------------------------------- */

static void handed(struct worker *w, struct set *s, int cpu)
{
	if (s->far)
		cpu = ANY;
	for (int e = 0; e < EVENTS; e++) {
		(s->bound ? w->total : w->plain)[e][cpu] += s->count[e] - s->last[e];
		s->last[e] = s->count[e];
	}
}

static void zeroed(struct set *s)
{
	memset(s->count, 0, sizeof(s->count));
	memset(s->last, 0, sizeof(s->last));
}

/* What PAPI wrote is what happened. */
static void same_values(const struct set *s, const long long *x)
{
	for (int i = 0; i < s->n; i++)
		EXPECT("PAPI's own value", number(s->order[i], x[i]), s->count[s->order[i]]);
}

static void count(struct worker *w, struct set *s)
{
	for (int i = 0; i < s->n; i++) {
		int n = (int)rnd(&w->seed, 100), e = s->order[i];

		fake_count_set(s->es, event[e].name, n);
		s->count[e] += n;
	}
}

/* ---- sets ------------------------------------------------------------------------ */

static int opens(const struct set *s)
{
	struct fake_set info = { 0 };

	fake_set_info(s->es, &info);
	return info.opens;
}

/* Its counters are opened for this thread, if it is not attached. */
static void opened(struct set *s)
{
	s->bound = false;
	s->far = s->far && !s->detached;
	s->detached = false;
}

static void add(struct set *s, int e)
{
	if (s->has[e])
		return;
	EXPECT("PAPI_add_event", PAPI_add_event(s->es, code[e]), PAPI_OK);
	s->has[e] = true;
	opened(s);
	s->order[s->n++] = e;
}

static void drop_event(struct set *s, int at)
{
	int e = s->order[at];

	EXPECT("PAPI_remove_event", PAPI_remove_event(s->es, code[e]), PAPI_OK);
	opened(s);
	s->has[e] = false;
	s->n--;
	memmove(&s->order[at], &s->order[at + 1], (size_t)(s->n - at) * sizeof(int));
	DID(D_REMOVED);
}

static void make(struct worker *w, struct set *s, int half)
{
	*s = (struct set){ .es = PAPI_NULL, .half = half };
	EXPECT("PAPI_create_eventset", PAPI_create_eventset(&s->es), PAPI_OK);
	for (int i = 0; i < 3; i++)
		if (i == 0 || rnd(&w->seed, 2))
			add(s, 3 * half + i);
}

static void make_again(struct worker *w, struct set *s)
{
	EXPECT("PAPI_cleanup_eventset", PAPI_cleanup_eventset(s->es), PAPI_OK);
	EXPECT("PAPI_destroy_eventset", PAPI_destroy_eventset(&s->es), PAPI_OK);
	if (w->latest == s)
		w->latest = NULL;
	make(w, s, s->half);
	DID(D_AGAIN);
}

static void set_domain(struct worker *w, struct set *s)
{
	PAPI_option_t o = { .domain = { .eventset = s->es, .domain = 1 + (int)rnd(&w->seed, 3) } };

	EXPECT("PAPI_DOMAIN", PAPI_set_opt(PAPI_DOMAIN, &o), PAPI_OK);
	s->bound = false;
	DID(D_DOMAIN);
}

/* Its target is another worker's thread: none here knows where that runs.  Nobody else's sets have
 * that one: PAPI keeps one pointer for all of a target, and whose touch was the last is not known
 * then. */
static void attach(struct worker *w, struct set *s)
{
	int state = 0;

	PAPI_state(s->es, &state);
	if (state & PAPI_ATTACHED) {
		EXPECT("PAPI_detach", PAPI_detach(s->es), PAPI_OK);
		s->detached = true;
		s->beside = false;
		DID(D_DETACHED);
		return;
	}
	EXPECT("PAPI_attach",
	       PAPI_attach(s->es, (unsigned long)worker[(w - worker + 1) % workers].tid), PAPI_OK);
	s->far = s->away = s->beside = true;
	s->bound = s->detached = false;
	DID(D_ATTACHED);
}

static void change(struct worker *w, struct set *s)
{
	switch (rnd(&w->seed, 8)) {
	case 0:
	case 1:
		add(s, 3 * s->half + (int)rnd(&w->seed, 3));
		DID(D_ADDED);
		break;
	case 2:
		if (s->n > 1)
			drop_event(s, (int)rnd(&w->seed, (unsigned)s->n));
		break;
	case 3:
		set_domain(w, s);	/* from when the counters are opened again: now */
		if (s->n > 1)
			drop_event(s, 0);
		for (int i = 0; i < 3; i++)
			add(s, 3 * s->half + i);
		break;
	case 4:
		if (rnd(&w->seed, 4) == 0)
			attach(w, s);
		break;
	case 5:
		if (rnd(&w->seed, 4) == 0 && PAPI_set_multiplex(s->es) == PAPI_OK) {
			opened(s);
			DID(D_MPX);
		}
		break;
	default:
		make_again(w, s);
	}
}

/* ---- calls -------------------------------------------------------------------------- */

static void start(struct worker *w, struct set *s, bool plain)
{
	int rc, opened_before = opens(s);

	if (w->rel && !plain && rnd(&w->seed, 30) == 0) {
		sspapi_free(w->rel);
		w->rel = NULL;
		w->latest = NULL;
		for (int i = 0; i < SETS; i++) {
			if (w->set[i].running && w->set[i].bound) {
				EXPECT("PAPI_stop", PAPI_stop(w->set[i].es, NULL), PAPI_OK);
				handed(w, &w->set[i], w->cpu);
				w->set[i].running = false;
			}
			w->set[i].bound = false;
		}
		for (int e = 0; e < EVENTS; e++)	/* what it counted is in the store, and
							 * asked for no more */
			for (int cpu = 0; cpu <= ANY; cpu++) {
				w->plain[e][cpu] += w->total[e][cpu];
				w->total[e][cpu] = 0;
			}
	}
	rc = plain ? PAPI_start(s->es) : sspapi_start(s->es, &w->rel);
	EXPECT("start", rc, PAPI_OK);
	if (s->detached && opens(s) != opened_before) {
		opened(s);		/* another set of its target's was touched since */
		DID(D_REOPENED);
	}
	s->running = true;
	if (!plain) {
		s->bound = true;
		w->latest = s;
	}
	zeroed(s);
}

/* Of the relation, each event's entries. */
struct entries {
	size_t n[EVENTS];
	long long sum[EVENTS];
	uint64_t times;
};

static void entries_of(struct worker *w, struct entries *to)
{
	struct sspapi_cpu_metrics all;

	memset(to, 0, sizeof(*to));
	for (int e = 0; e < EVENTS; e++) {
		if (sspapi_get_all_metrics(w->rel, code[e], -1, &all) != PAPI_OK)
			continue;
		to->n[e] = all.n;
		for (size_t i = 0; i < all.n; i++) {
			to->sum[e] += number(e, all.entries[i].value) * (long long)(i + 1);
			to->times += all.entries[i].timestamp * (i + 1);
		}
	}
}

/* Plain calls of the set, in the worker's thread or in another (cpu ANY). */
static void plain(struct worker *w, struct set *s, unsigned op, int cpu, unsigned *seed)
{
	long long x[EVENTS] = { 0 }, add[EVENTS], cycles;
	struct entries before, after;
	bool look = w->rel && rnd(seed, 4) == 0;

	if (look)
		entries_of(w, &before);
	switch (op) {
	case 0:
		EXPECT("PAPI_read", PAPI_read(s->es, x), PAPI_OK);
		same_values(s, x);
		handed(w, s, cpu);
		break;
	case 1:
		EXPECT("PAPI_read_ts", PAPI_read_ts(s->es, x, &cycles), PAPI_OK);
		same_values(s, x);
		handed(w, s, cpu);
		break;
	case 2:
		for (int i = 0; i < EVENTS; i++)
			x[i] = add[i] =
				i < s->n && event[s->order[i]].is.data_type == PAPI_DATATYPE_FP64
					? 0
					: (long long)rnd(seed, 1000) - 500;
		EXPECT("PAPI_accum", PAPI_accum(s->es, x), PAPI_OK);
		for (int i = 0; i < s->n; i++)
			x[i] -= add[i];
		same_values(s, x);
		handed(w, s, cpu);
		zeroed(s);
		break;
	case 3:
		EXPECT("PAPI_reset", PAPI_reset(s->es), PAPI_OK);
		zeroed(s);
		break;
	case 4:
		if (s->half == 0) {
			EXPECT("PAPI_write", PAPI_write(s->es, x), PAPI_ENOSUPP);
			break;
		}
		for (int i = 0; i < s->n; i++) {
			int e = s->order[i];

			s->count[e] = s->last[e] = (long long)rnd(seed, 1000);
			x[i] = event[e].is.data_type == PAPI_DATATYPE_FP64
				       ? fake_fp64((double)s->count[e])
				       : s->count[e];
		}
		EXPECT("PAPI_write", PAPI_write(s->es, x), PAPI_OK);
		DID(D_WRITTEN);
		break;
	default:
		look = look && s->bound;
		EXPECT("PAPI_stop", PAPI_stop(s->es, rnd(seed, 2) ? x : NULL), PAPI_OK);
		handed(w, s, cpu);
		s->running = false;
		if (rnd(seed, 2)) {
			EXPECT("PAPI_read of a stopped set", PAPI_read(s->es, x), PAPI_OK);
			same_values(s, x);
		}
	}
	DID(D_PLAIN);
	if (!look)
		return;
	entries_of(w, &after);
	EXPECT("the entries, after a plain call", memcmp(&before, &after, sizeof(before)), 0);
	DID(D_ENTRIES_KEPT);
}

static void own(struct worker *w, struct set *s, unsigned op, int cpu, unsigned *seed)
{
	bool permanent = rnd(seed, 2);
	uint64_t ns = 0;

	switch (op) {
	case 0:
	case 1:
		EXPECT("sspapi_read", sspapi_read(w->rel, NULL, permanent, &ns), PAPI_OK);
		handed(w, s, cpu);
		break;
	case 2:
	case 3:
		EXPECT("sspapi_accum", sspapi_accum(w->rel, NULL, permanent, &ns), PAPI_OK);
		handed(w, s, cpu);
		zeroed(s);
		break;
	case 4:
		EXPECT("sspapi_reset", sspapi_reset(w->rel), PAPI_OK);
		zeroed(s);
		break;
	default:
		EXPECT("sspapi_stop", sspapi_stop(w->rel, NULL, permanent, &ns), PAPI_OK);
		handed(w, s, cpu);
		s->running = false;
		s->bound = false;
	}
	DID(D_OWN);
}

static void check(struct worker *w)
{
	for (int e = 0; e < EVENTS && w->rel; e++) {
		long long sum = 0, want = 0, got;

		for (int cpu = 0; cpu < ANY; cpu++) {
			got = number(e, sspapi_total(w->rel, code[e], cpu));
			sum += got;
			want += w->total[e][cpu];
			if (is_kept_off(cpu))	/* what is read from outside is on the kernel's */
				EXPECT("the sum on a CPU", got, w->total[e][cpu]);
			EXPECT("exact", number(e, sspapi_exact(w->rel, code[e], cpu)) <= got, 1);
		}
		want += w->total[e][ANY];
		got = number(e, sspapi_total(w->rel, code[e], -1));
		EXPECT("sspapi_total", got, want);
		EXPECT("the sum over CPUs", sum <= got, 1);	/* the rest is on no known CPU */
	}
}

/* May this set be started beside those that run? */
static bool may_start(const struct worker *w, const struct set *s)
{
	for (int i = 0; i < SETS; i++) {
		const struct set *other = &w->set[i];

		if (other->running && other->half == s->half && other->away == s->away &&
		    !other->beside)
			return false;
	}
	return !s->running;
}

static void operate(struct worker *w, int i)
{
	struct set *s = &w->set[rnd(&w->seed, SETS)];

	if (!s->running) {
		if (rnd(&w->seed, 3) == 0)
			change(w, s);
		if (may_start(w, s))
			start(w, s, rnd(&w->seed, 3) == 0);
	} else {
		count(w, s);
		if (s->bound && w->latest == s && rnd(&w->seed, 3))
			own(w, s, rnd(&w->seed, 7), w->cpu, &w->seed);
		else
			plain(w, s, rnd(&w->seed, 7), w->cpu, &w->seed);
	}
	if (i % 16 == 0)
		check(w);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = (int)syscall(SYS_gettid);
	pthread_barrier_wait(&have_tids);
	PAPI_register_thread();
	pthread_mutex_lock(&w->lock);
	move_on(w);
	for (int i = 0; i < SETS; i++)
		make(w, &w->set[i], i / 2);
	pthread_mutex_unlock(&w->lock);
	for (int i = 0; i < operations; i++) {
		pthread_mutex_lock(&w->lock);
		if (rnd(&w->seed, 4) == 0)
			move_on(w);
		operate(w, i);
		pthread_mutex_unlock(&w->lock);
	}
	pthread_mutex_lock(&w->lock);
	for (int i = 0; i < SETS; i++)
		if (w->set[i].running)
			plain(w, &w->set[i], 9, w->cpu, &w->seed);
	check(w);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- the visitor ------------------------------------------------------------------------ */

/* Nothing that is asked of nothing is a crash. */
static void nonsense(unsigned *seed)
{
	sspapi_relation *rel =
		(sspapi_relation *)(uintptr_t)(rnd(seed, 2) ? (unsigned)rand_r(seed) : 8u);
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
	EXPECT("no component",
	       sspapi_cpu_find_relations((sspapi_component *)rel, NULL, &(int){ 0 }), PAPI_EINVAL);
	sspapi_free(rel);
	sspapi_print_metrics(rel, -1, stdout);
}

static void use(struct worker *w, unsigned *seed)
{
	struct set *s = &w->set[rnd(seed, SETS)];

	if (!s->running || rnd(seed, 3))
		return;
	if (s->bound && w->latest == s && rnd(seed, 2))
		own(w, s, rnd(seed, 6), ANY, seed);
	else
		plain(w, s, rnd(seed, 6), ANY, seed);
	DID(D_VISITS);
}

static void ask(sspapi_relation *rel)
{
	struct sspapi_cpu_metrics all;
	int list[16], n = 16;

	errno = 0;
	sspapi_total(rel, 12345, -1);
	EXPECT("an unknown event", errno, EINVAL);
	EXPECT("an unknown event", sspapi_get_all_metrics(rel, 12345, 0, &all), PAPI_ENOEVNT);
	EXPECT("events", sspapi_find_events(rel, list, &n), PAPI_OK);
	if (n > 0) {
		errno = 0;
		EXPECT("an unknown CPU", sspapi_total(rel, list[0], 4000), 0);
		EXPECT("an unknown CPU", errno, EINVAL);
	}
	for (int i = 0; i < n; i++) {
		EXPECT("all entries", sspapi_get_all_metrics(rel, list[i], -1, &all), PAPI_OK);
		for (size_t k = 1; k < all.n; k++)
			EXPECT("times grow",
			       all.entries[k].timestamp < all.entries[k - 1].timestamp, 0);
		if (all.n && all.entries[0].permanent)
			EXPECT("found by its time",
			       sspapi_get_metric(rel, list[i], -1, all.entries[0].timestamp) ==
					       all.entries[0].value ||
				       (all.n > 1 &&
					all.entries[0].timestamp == all.entries[1].timestamp),
			       1);
	}
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
		for (int i = 0; i < 8 * workers; i++) {
			struct worker *w = &worker[i % workers];

			pthread_mutex_lock(&w->lock);
			use(w, &seed);
			if (w->rel && i < workers)
				ask(w->rel);
			pthread_mutex_unlock(&w->lock);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t visitor;

	keep_off();
	operations = argc > 2 ? atoi(argv[2]) : 2000;
	workers =
		argc > 3 && atoi(argv[3]) > 0 && atoi(argv[3]) <= WORKERS_MOST ? atoi(argv[3]) : 4;
	fake_component(&(struct fake_component){ .name = "second", .writes = true });
	for (int e = 0; e < EVENTS; e++)
		fake_event(event[e].name, &event[e].is);
	if (PAPI_library_init(fake_version() << 16) < 0 ||
	    PAPI_thread_init(pthread_self) != PAPI_OK || PAPI_multiplex_init() != PAPI_OK)
		return 2;
	for (int e = 0; e < EVENTS; e++)
		PAPI_event_name_to_code(event[e].name, &code[e]);
	pthread_barrier_init(&have_tids, NULL, (unsigned)workers);
	for (int i = 0; i < workers; i++) {
		pthread_mutex_init(&worker[i].lock, NULL);
		worker[i].seed = seed * 100 + (unsigned)i;
		pthread_create(&worker[i].thread, NULL, work, &worker[i]);
	}
	pthread_create(&visitor, NULL, look, &seed);
	for (int i = 0; i < workers; i++)
		pthread_join(worker[i].thread, NULL);
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	pthread_join(visitor, NULL);
	for (int e = 0; e < EVENTS; e++)
		for (int cpu = 0; cpu <= ANY; cpu++) {
			long long all = 0;

			for (int i = 0; i < workers; i++)
				all += worker[i].total[e][cpu] + worker[i].plain[e][cpu];
			printf("handed cpu=%d event=%s value=%lld\n", cpu == ANY ? -1 : cpu,
			       event[e].name, all);
		}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		printf("%s %lld\n", words[i], done_what[i]);
	return wrong != 0;
}
