/* record-sets.h: event sets of a simulated PAPI, booked by store/records.h into a store: what
 * t-records.c, t-records-handlers.c and t-records-threads.c share.
 *
 * The simulated PAPI knows what it handed out without knowing the rules:
 * work is handed out once, by the first value that includes it.
 */
#ifndef RECORD_SETS_H
#define RECORD_SETS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../core/model/model.h"
#include "../../core/store/store.h"
#include "book.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW_BUILD 8
#else
#define SLOW_BUILD 1
#endif

#define KMAX	9
#define DENSE	4		/* CPUs of the topology of the tests */

/* ---- random numbers ---------------------------------------------------- */

static uint64_t seed = 1;

static inline uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- a simulated event set --------------------------------------------- */

struct papi {
	int k;
	uint32_t keeps;			/* SP_KEEPS_* */
	bool running, unknown;		/* unknown: the next value is where counting starts */
	long long count[KMAX];		/* the component's */
	long long saved[KMAX];		/* of the stopped set */
	long long fresh[KMAX];		/* in count, not handed out yet */
	long long handed[KMAX];
};

static void papi_work(struct papi *p, int e, long long n)
{
	if (!p->running && !(p->keeps & SP_KEEPS_ON_START))
		return;
	p->count[e] += n;
	if (p->running)
		p->fresh[e] += n;
}

static void papi_zero(struct papi *p)
{
	memset(p->count, 0, sizeof(p->count));
	memset(p->fresh, 0, sizeof(p->fresh));
	p->unknown = false;
}

static void papi_values(struct papi *p, long long *x)
{
	for (int e = 0; e < p->k; e++) {
		x[e] = p->running ? p->count[e] : p->saved[e];
		if (!p->running)
			continue;
		p->handed[e] += p->unknown ? 0 : p->fresh[e];
		p->fresh[e] = 0;
	}
	if (p->running)
		p->unknown = false;
}

static void papi_reset(struct papi *p)
{
	if (!p->running)
		memset(p->saved, 0, sizeof(p->saved));
	else if (!(p->keeps & SP_KEEPS_ON_RESET))
		papi_zero(p);
}

static void papi_start(struct papi *p)
{
	p->running = true;
	if (p->keeps & SP_KEEPS_ON_START) {
		memset(p->fresh, 0, sizeof(p->fresh));
		p->unknown = true;
	} else {
		papi_zero(p);
	}
}

static void papi_write(struct papi *p, const long long *x)
{
	if (!p->running)
		return;
	papi_zero(p);
	memcpy(p->count, x, sizeof(p->count));
}

/* What PAPI does for op; x gets what it hands out (for WRITE it is given). */
static inline void papi_call(struct papi *p, enum sp_op op, long long *x)
{
	if (op == SP_OP_START)
		papi_start(p);
	else if (op == SP_OP_WRITE)
		papi_write(p, x);
	else if (op != SP_OP_RESET)
		papi_values(p, x);
	if (op == SP_OP_RESET || op == SP_OP_ACCUM)
		papi_reset(p);
	if (op == SP_OP_STOP) {
		memcpy(p->saved, x, sizeof(p->saved));
		p->running = false;
	}
}

static bool has_values(enum sp_op op)
{
	return op != SP_OP_START && op != SP_OP_RESET;
}

/* ---- a store ------------------------------------------------------------ */

static struct sp_store store;
static sp_off thread;

static void open_store(int cpus)
{
	struct sp_component c[16] = { { .parent = -1, .os_index = 0, .type = "Machine" } };
	char name[16];

	assert_int_equal(sp_store_open(&store), 0);
	for (int i = 0; i < cpus; i++)
		c[i + 1] = (struct sp_component){
			.parent = 0, .os_index = i, .logical_index = i, .depth = 1, .type = "PU"
		};
	assert_int_equal(sp_store_topology(&store, c, (uint32_t)cpus + 1, (uint32_t)cpus, "flat",
					   NULL, 0),
			 0);
	for (int e = 0; e < KMAX; e++) {
		snprintf(name, sizeof(name), "EV_%d", e);
		assert_int_equal(sp_store_event(&store, &(struct sp_event_text){ .name = name }),
				 e);
	}
	assert_non_null(sp_store_thread(&store, 1, "test", &thread));
}

struct set {
	struct papi papi;
	struct sp_writer w;
	sp_off relation;
	uint32_t event[KMAX];
};

static struct set sets[2];
static int n_sets;

static bool bound(sp_off relation, void *arg)
{
	(void)arg;
	for (int i = 0; i < n_sets; i++)
		if (sets[i].relation == relation)
			return true;
	return false;
}

static void bind_set(struct set *s, int k, uint32_t keeps)
{
	struct sp_relation_key key = { .k = (uint32_t)k, .event = s->event };
	sp_off off;
	struct sp_relation *r = sp_store_relation(&store, thread, &key, bound, NULL, &off);

	assert_non_null(r);
	s->relation = off;
	sp_records_bind(&s->w, &store.reader, off, (uint32_t)k, r->cells, NULL);
	sp_records_set_component(&s->w, keeps);
	memset(s->papi.count, 0, sizeof(s->papi.count));
	memset(s->papi.fresh, 0, sizeof(s->papi.fresh));
	memset(s->papi.saved, 0, sizeof(s->papi.saved));
	s->papi.running = s->papi.unknown = false;
	s->papi.k = k;
	s->papi.keeps = keeps;
}

static void open_sets(int n, int k, uint32_t keeps, int cpus)
{
	open_store(cpus);
	memset(sets, 0, sizeof(sets));
	n_sets = n;
	for (int i = 0; i < n; i++) {
		for (int e = 0; e < k; e++)
			sets[i].event[e] = (uint32_t)e;
		bind_set(&sets[i], k, keeps);
	}
}

static inline void book(struct set *s, enum sp_op op, int cpu, const long long *x, bool proven)
{
	book_call(&s->w, op, cpu, has_values(op) ? x : NULL, proven, 0);
}

/* Whatever the parts are, the sum is what was handed out. */
static const struct sp_parts parts_somewhere = {
	.n = 2, .cpu = (const int32_t[]){ 2, 1001 }, .at = (const int64_t[]){ 1, 0, 2, 0, 1, 1 },
	.proven = (const int64_t[]){ 1, 0, 2, 0, 0, 1, 1, 0, 1 },
};

/* 0, or the first event whose sum is not what was handed out, plus one. */
static inline int wrong_sum(void)
{
	struct sp_model m;
	int wrong = 0;

	if (sp_model_open(&m, &store.reader) < 0)
		return -1;
	for (int e = 0; e < sets[0].papi.k && !wrong; e++)
		if (m.sums.total[e] != sets[0].papi.handed[e])
			wrong = e + 1;
	sp_model_close(&m);
	return wrong;
}

/* ---- time ----------------------------------------------------------------- */

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void start_timer(timer_t *timer, void (*handler)(int), long ns, int flags)
{
	struct sigevent to = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	struct sigaction a = { .sa_handler = handler, .sa_flags = flags | SA_RESTART };
	struct itimerspec t = { { 0, ns }, { 0, ns } };

	to._sigev_un._tid = gettid();
	assert_int_equal(sigaction(SIGALRM, &a, NULL), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &to, timer), 0);
	assert_int_equal(timer_settime(*timer, 0, &t, NULL), 0);
}

#endif
