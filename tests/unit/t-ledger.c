/* t-ledger.c: ledger.h through model.h against a brute-force oracle: random
 * sequences, sys-sage's vectors, bookings on top of bookings (at every single
 * instruction, and by a timer), jumps out of them, other threads.
 *
 * The simulated PAPI knows what it handed out without knowing the ledger's rules:
 * work is handed out once, by the first value that includes it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../core/store/ledger.h"
#include "../../core/view/model.h"
#include "../../core/store/store.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW_BUILD 8
#else
#define SLOW_BUILD 1
#endif

#define KMAX	9
#define SPOTS	32
#define DENSE	4		/* CPUs of the topology of the tests */

/* ---- random numbers ---------------------------------------------------- */

static uint64_t seed = 1;

static uint32_t rnd(uint32_t n)
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
static void papi_call(struct papi *p, enum sp_op op, long long *x)
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

/* ---- the oracle: README.md of the vectors, word by word ----------------- */

struct spot {
	int cpu;
	uint64_t readings;
	bool has;
	int64_t total[KMAX], exact[KMAX], entry[KMAX];
};

struct oracle {
	int k;
	uint32_t keeps;
	bool running, baseline, del;
	int64_t last[KMAX];
	int n, extra;
	struct spot at[SPOTS];
	uint64_t starts, resets;
};

static int oracle_dense = DENSE;

static struct spot *spot_of(struct oracle *o, int cpu)
{
	int i;

	for (i = 0; i < o->n && o->at[i].cpu != cpu; i++)
		;
	if (i < o->n)
		return &o->at[i];
	if (cpu >= oracle_dense && o->extra == SP_CELLS_EXTRA - 1)
		return spot_of(o, SP_NO_CPU);	/* no room to tell it apart */
	o->extra += cpu >= oracle_dense;
	o->n++;
	memset(&o->at[i], 0, sizeof(o->at[i]));
	o->at[i].cpu = cpu;
	return &o->at[i];
}

static void oracle_values(struct oracle *o, struct spot *s, const long long *x, bool proven)
{
	if (!o->running)
		return;
	for (int e = 0; e < o->k; e++) {
		s->total[e] += o->baseline ? 0 : x[e] - o->last[e];
		s->exact[e] += o->baseline || !proven ? 0 : x[e] - o->last[e];
		o->last[e] = x[e];
	}
	o->baseline = false;
}

/* Rules A1 to A6, one event set, temporary readings only. */
static void oracle_entries(struct oracle *o, struct spot *s, enum sp_op op, const long long *x)
{
	for (int i = 0; op != SP_OP_ACCUM && o->del && i < o->n; i++)
		o->at[i].has = false;
	for (int e = 0; e < o->k; e++) {
		int64_t others = 0, own = s->has ? s->entry[e] : 0;

		for (int i = 0; i < o->n; i++)
			others += o->at[i].has && &o->at[i] != s ? o->at[i].entry[e] : 0;
		s->entry[e] = op == SP_OP_ACCUM ? own + x[e] : x[e] - others;
	}
	s->has = true;
	o->del = op == SP_OP_ACCUM;
}

static void oracle_zero(struct oracle *o)
{
	memset(o->last, 0, sizeof(o->last));
	o->baseline = false;
}

static void oracle_book(struct oracle *o, enum sp_op op, int cpu, const long long *x, bool proven)
{
	struct spot *s;

	if (op == SP_OP_START) {
		oracle_zero(o);
		o->running = o->del = true;
		o->baseline = o->keeps & SP_KEEPS_ON_START;
		o->starts++;
	} else if (op == SP_OP_RESET) {
		if (!(o->keeps & SP_KEEPS_ON_RESET))
			oracle_zero(o);
		o->del = true;
		o->resets++;
	} else if (op == SP_OP_WRITE) {
		for (int e = 0; o->running && e < o->k; e++)
			o->last[e] = x[e];
		o->baseline = o->baseline && !o->running;
	} else {
		s = spot_of(o, cpu);
		oracle_values(o, s, x, proven);
		oracle_entries(o, s, op, x);
		s->readings++;
		if (op == SP_OP_ACCUM && !(o->keeps & SP_KEEPS_ON_RESET))
			oracle_zero(o);
		if (op == SP_OP_STOP)
			o->running = false;
	}
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
		c[i + 1] = (struct sp_component){ .parent = 0, .os_index = i, .logical_index = i, .depth = 1,
						  .type = "PU" };
	assert_int_equal(sp_store_topology(&store, c, (uint32_t)cpus + 1, (uint32_t)cpus, "flat", NULL, 0, NULL, 0), 0);
	for (int e = 0; e < KMAX; e++) {
		snprintf(name, sizeof(name), "EV_%d", e);
		assert_int_equal(sp_store_event(&store, &(struct sp_event_text){ .name = name }), e);
	}
	assert_non_null(sp_store_thread(&store, 1, "test", &thread));
	oracle_dense = cpus;
}

struct set {
	struct papi papi;
	struct sp_writer w;
	sp_off relation;
	uint32_t event[KMAX];
	struct oracle *o;
};

static struct set sets[2];
static struct oracle oracles[4];	/* by relation id */
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
	assert_true(r->id < SP_COUNT(oracles));
	sp_ledger_bind(&s->w, r, (uint32_t)k, r->cells);
	s->w.component = keeps;
	s->o = &oracles[r->id];
	s->o->k = k;
	s->o->keeps = keeps;
	s->o->running = false;
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
	memset(oracles, 0, sizeof(oracles));
	n_sets = n;
	for (int i = 0; i < n; i++) {
		for (int e = 0; e < k; e++)
			sets[i].event[e] = (uint32_t)e;
		bind_set(&sets[i], k, keeps);
	}
}

static void book(struct set *s, enum sp_op op, int cpu, const long long *x, bool proven)
{
	if (op == SP_OP_READ)
		sp_ledger_read(&s->w, cpu, x, proven, 0);
	else if (op == SP_OP_ACCUM)
		sp_ledger_accum(&s->w, cpu, x, proven, 0);
	else if (op == SP_OP_RESET)
		sp_ledger_reset(&s->w, 0);
	else
		sp_ledger_book(&s->w, op, cpu, has_values(op) ? x : NULL, proven);
}

/* ---- the model against the oracle ---------------------------------------- */

static struct spot *spot_at(struct oracle *o, int cpu)
{
	for (int i = 0; i < o->n; i++)
		if (o->at[i].cpu == cpu)
			return &o->at[i];
	return NULL;
}

static void check_cell(const struct oracle *o, const struct spot *s, const struct sp_at_cpu *at)
{
	assert_non_null(s);
	assert_int_equal(at->component, at->cpu >= 0 && at->cpu < oracle_dense ? at->cpu + 1 : -1);
	assert_int_equal(at->readings, s->readings);
	assert_int_equal(at->has_entry, s->has);
	for (int e = 0; e < o->k; e++) {
		assert_int_equal(at->total[e], s->total[e]);
		assert_int_equal(at->exact[e], s->exact[e]);
		if (s->has)
			assert_int_equal(at->entry[e], s->entry[e]);
	}
}

static void check_row(struct sp_model *m, struct sp_row *row, struct oracle *o)
{
	struct sp_at_cpu at;
	uint32_t n = 0, shown = 0;
	uint64_t readings = 0;
	int64_t before = -1;

	for (int i = 0; i < o->n; i++) {
		bool counts = false;

		for (int e = 0; e < o->k; e++)
			counts |= o->at[i].total[e] != 0;
		shown += o->at[i].readings != 0 || counts;
		readings += o->at[i].readings;
	}
	for (; sp_row_cell(m, row, n, &at); n++) {
		check_cell(o, spot_at(o, at.cpu), &at);
		assert_true(at.cpu == SP_NO_CPU || at.cpu > before);
		before = at.cpu == SP_NO_CPU ? INT32_MAX : at.cpu;
	}
	assert_int_equal(n, shown);
	assert_int_equal(row->readings, readings);
	assert_int_equal(row->starts, o->starts);
	assert_int_equal(row->resets, o->resets);
}

static void check_sum(const struct sp_model *m)
{
	for (int e = 0; e < sets[0].papi.k; e++) {
		long long handed = 0;

		for (int i = 0; i < n_sets; i++)
			handed += sets[i].papi.handed[e];
		assert_int_equal(m->total[e], handed);
		assert_int_equal(m->sum[e] + m->unplaced[e], handed);
	}
}

static void check(void)
{
	struct sp_model m;
	struct sp_row row = { 0 };

	assert_int_equal(sp_model_open(&m, &store.image), 0);
	assert_int_equal(m.damaged, 0);
	while (sp_model_next(&m, &row))
		check_row(&m, &row, &oracles[row.id]);
	check_sum(&m);
	sp_model_close(&m);
}

/* ---- random sequences ----------------------------------------------------- */

static int random_cpu(void)
{
	uint32_t r = rnd(16);

	if (r < 10)
		return (int)rnd(DENSE);
	return r == 15 ? SP_NO_CPU : 1000 + (int)rnd(r < 13 ? 3 : 12);
}

static enum sp_op random_op(const struct papi *p)
{
	static uint32_t mode;
	uint32_t r = rnd(20);

	if (rnd(10) == 0)
		mode = rnd(3);
	if (p->running && mode && rnd(6))	/* programs that mostly accumulate, or read */
		return mode == 1 ? SP_OP_READ : rnd(4) ? SP_OP_ACCUM : SP_OP_RESET;
	if (!p->running && rnd(2))
		return SP_OP_START;
	if (r < 11)
		return SP_OP_READ;
	if (r < 14)
		return SP_OP_ACCUM;
	if (r < 16)
		return SP_OP_RESET;
	if (r < 18)
		return p->running ? SP_OP_STOP : SP_OP_READ;
	return r == 18 ? SP_OP_WRITE : SP_OP_START;	/* an attached set starts twice */
}

static void random_work(struct papi *p)
{
	for (int e = 0; e < p->k; e++)
		papi_work(p, e, rnd(8) ? (long long)rnd(1000) : (long long)rnd(2000) * 1000000007ll * (rnd(3) ? 1 : -1));
}

static void random_step(struct set *s)
{
	enum sp_op op = random_op(&s->papi);
	static int cpu;
	long long x[KMAX] = { 0 };
	bool proven = rnd(2);

	if (rnd(3) == 0)
		cpu = random_cpu();
	for (int e = 0; op == SP_OP_WRITE && e < KMAX; e++)
		x[e] = (long long)rnd(5000);
	random_work(&s->papi);
	papi_call(&s->papi, op, x);
	book(s, op, cpu, x, proven);
	oracle_book(s->o, op, cpu, x, proven);
}

static void rebind(struct set *s)
{
	sp_store_released(&store, s->relation);
	s->relation = 0;
	bind_set(s, s->papi.k, s->papi.keeps);
}

static void random_sequences(uint32_t keeps, int sequences)
{
	for (int i = 0; i < sequences; i++) {
		open_sets(1 + (int)rnd(2), 1 + i % KMAX, keeps, DENSE);
		for (int n = 0; n < 120; n++) {
			struct set *s = &sets[rnd((uint32_t)n_sets)];

			if (rnd(30) == 0)
				rebind(s);
			random_step(s);
			check();
		}
		sp_store_close(&store);
	}
}

static void at_random(void **state)
{
	(void)state;
	seed = 1;
	random_sequences(0, 180 / SLOW_BUILD);
}

static void at_random_kept(void **state)
{
	(void)state;
	seed = 2;
	random_sequences(SP_KEEPS_ON_RESET, 90 / SLOW_BUILD);
	random_sequences(SP_KEEPS_ON_START | SP_KEEPS_ON_RESET, 90 / SLOW_BUILD);
	random_sequences(SP_KEEPS_ON_START, 90 / SLOW_BUILD);
}

/* ---- windows that were spent on several CPUs ------------------------------- */

struct split {
	struct sp_parts parts;
	int cpu;			/* of the rest */
	int32_t of[DENSE];
	int64_t at[DENSE * KMAX];
	bool exact[KMAX];
};

/* Of what is new (d), each part some, and seldom more than there is: as where clocks differ. */
static int64_t random_share(long long d, int parts)
{
	uint32_t r = rnd(8);

	if (!r)
		return 0;
	return r == 1 ? d + (int64_t)rnd(100) - 50 : (int64_t)((double)d * rnd(1000) / 1000 / parts);
}

static void random_split(struct split *p, const struct oracle *o, const long long *x)
{
	int first = (int)rnd(DENSE), n = (int)rnd(DENSE);

	p->cpu = rnd(10) ? first : 1000 + (int)rnd(12);
	for (int i = 0; i < n; i++) {
		p->of[i] = rnd(12) ? (first + 1 + i) % DENSE : 2000 + (int)rnd(2) * DENSE + i;
		for (int e = 0; e < o->k; e++)
			p->at[i * o->k + e] = random_share(x[e] - o->last[e], n);
	}
	for (int e = 0; e < o->k; e++)
		p->exact[e] = rnd(2);
	p->parts = (struct sp_parts){ .n = (uint32_t)n, .cpu = p->of, .at = p->at, .exact = p->exact };
}

/* By the oracle's own arithmetic: each part as given, on the CPU of the reading what is left. */
static void oracle_parts(struct oracle *o, const struct split *p, const long long *x)
{
	struct spot *rest = spot_of(o, p->cpu);

	if (!o->running || o->baseline) {
		oracle_values(o, rest, x, false);
		return;
	}
	for (uint32_t i = 0; i < p->parts.n; i++) {
		struct spot *s = spot_of(o, p->of[i]);

		for (int e = 0; e < o->k; e++) {
			int64_t share = p->at[i * (uint32_t)o->k + (uint32_t)e];

			s->total[e] += share;
			s->exact[e] += p->exact[e] ? share : 0;
			o->last[e] += share;
		}
	}
	for (int e = 0; e < o->k; e++) {
		rest->total[e] += x[e] - o->last[e];
		rest->exact[e] += p->exact[e] ? x[e] - o->last[e] : 0;
		o->last[e] = x[e];
	}
}

static void book_split(struct set *s, enum sp_op op, const long long *x, const struct split *p, bool foreign)
{
	bool begun;

	if (foreign) {
		sp_ledger_book_foreign(&s->w, op, p->cpu, x, &p->parts, 0);
		return;
	}
	begun = rnd(2) && sp_ledger_begin(&s->w, op);
	sp_ledger_book_parts(&s->w, op, p->cpu, x, &p->parts, 0, begun);
}

/* A reading's parts make no entry of their own. */
static void parts_step(struct set *s, bool foreign)
{
	static const enum sp_op ops[] = { SP_OP_READ, SP_OP_STOP, SP_OP_ACCUM };
	enum sp_op op = ops[rnd(SP_COUNT(ops))];
	long long x[KMAX] = { 0 };
	struct split split;
	struct spot *last;

	if (rnd(3) == 0 || (!s->papi.running && rnd(8))) {
		random_step(s);
		return;
	}
	random_work(&s->papi);
	papi_call(&s->papi, op, x);
	random_split(&split, s->o, x);
	book_split(s, op, x, &split, foreign && rnd(2));
	oracle_parts(s->o, &split, x);
	last = spot_of(s->o, split.cpu);
	oracle_entries(s->o, last, op, x);
	last->readings++;
	if (op == SP_OP_ACCUM && !(s->papi.keeps & SP_KEEPS_ON_RESET))
		oracle_zero(s->o);
	if (op == SP_OP_STOP)
		s->o->running = false;
}

static void random_parts(uint64_t from, bool foreign)
{
	static const uint32_t keeps[] = { 0, 0, SP_KEEPS_ON_RESET, SP_KEEPS_ON_START, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET };

	seed = from;
	for (int i = 0; i < 60 / SLOW_BUILD; i++) {
		open_sets(1, 1 + i % KMAX, keeps[(unsigned)i % SP_COUNT(keeps)], DENSE);
		for (int n = 0; n < 100; n++) {
			parts_step(&sets[0], foreign);
			check();
		}
		sp_store_close(&store);
	}
}

static void parts_at_random(void **state)
{
	(void)state;
	random_parts(3, false);
}

static void parts_of_others(void **state)
{
	(void)state;
	random_parts(4, true);
}

/* A set that went away while it ran, and one like it whose start failed. */
static void bound_again_while_running(void **state)
{
	long long x[KMAX] = { 100 }, zero[KMAX] = { 0 };

	(void)state;
	open_sets(1, 1, 0, DENSE);
	papi_call(&sets[0].papi, SP_OP_START, x);
	book(&sets[0], SP_OP_START, 0, NULL, false);
	papi_work(&sets[0].papi, 0, 100);
	papi_call(&sets[0].papi, SP_OP_READ, x);
	book(&sets[0], SP_OP_READ, 0, x, false);
	oracle_book(sets[0].o, SP_OP_START, 0, x, false);
	oracle_book(sets[0].o, SP_OP_READ, 0, x, false);
	rebind(&sets[0]);
	book(&sets[0], SP_OP_READ, 1, zero, false);
	oracle_book(sets[0].o, SP_OP_READ, 1, zero, false);
	check();
	sp_store_close(&store);
}

/* PAPI_write: the entry of the next READ is x - the others', whichever way it
 * is booked. */
static void entry_after_write(void **state)
{
	static const enum sp_op ops[] = { SP_OP_START, SP_OP_READ, SP_OP_WRITE, SP_OP_READ };
	long long x[][KMAX] = { { 0 }, { 100 }, { 1000 }, { 1001 } };

	(void)state;
	open_sets(1, 1, 0, DENSE);
	for (unsigned i = 0; i < SP_COUNT(ops); i++) {
		book(&sets[0], ops[i], 0, x[i], false);
		oracle_book(sets[0].o, ops[i], 0, x[i], false);
	}
	sets[0].papi.handed[0] = 101;
	check();
	sp_store_close(&store);
}

static void backwards_is_noted(void **state)
{
	long long up[KMAX] = { 100 }, down[KMAX] = { 30 };

	(void)state;
	open_sets(1, 1, 0, DENSE);
	book(&sets[0], SP_OP_START, 0, NULL, false);
	book(&sets[0], SP_OP_READ, 0, up, false);
	book(&sets[0], SP_OP_READ, 1, down, false);
	assert_true(sets[0].w.relation->flags & SP_RELATION_BACKWARDS);
	sp_store_close(&store);
	/* What PAPI_accum added, short: on the CPU of the one before. */
	open_sets(1, 1, 0, DENSE);
	book(&sets[0], SP_OP_START, 0, NULL, false);
	for (int i = 0; i < 3; i++)
		book(&sets[0], SP_OP_ACCUM, 0, up, true);
	assert_false(sets[0].w.relation->flags & SP_RELATION_BACKWARDS);
	book(&sets[0], SP_OP_ACCUM, 0, (long long[KMAX]){ -1 }, true);
	assert_true(sets[0].w.relation->flags & SP_RELATION_BACKWARDS);
	sp_store_close(&store);
}

/* ---- sys-sage's vectors --------------------------------------------------- */

static void check_entry(json_t *entries, const char *event, uint32_t e, struct sp_at_cpu *at)
{
	char cpu[16];
	json_t *list;

	snprintf(cpu, sizeof(cpu), "%d", at->cpu);
	list = json_object_get(json_object_get(entries, event), cpu);
	assert_int_equal(json_array_size(list), at->has_entry);
	if (at->has_entry)
		assert_int_equal(json_integer_value(json_array_get(json_array_get(list, 0), 1)), at->entry[e]);
}

/* The entries that the vector has, no more and no fewer. */
static void check_entries(json_t *v, json_t *after)
{
	json_t *events = json_array_get(json_object_get(v, "sets"), 0), *entries = json_object_get(after, "entries");
	struct sp_model m;
	struct sp_row row = { 0 };
	struct sp_at_cpu at;
	size_t n = 0, want = 0, i;
	json_t *event, *cpus;
	const char *key;

	assert_int_equal(sp_model_open(&m, &store.image), 0);
	assert_true(sp_model_next(&m, &row));
	for (uint32_t c = 0; sp_row_cell(&m, &row, c, &at); c++) {
		json_array_foreach(events, i, event) {
			check_entry(entries, json_string_value(event), (uint32_t)i, &at);
			n += at.has_entry;
		}
	}
	json_object_foreach(entries, key, cpus)
		want += json_object_size(cpus);
	assert_int_equal(n, want);
	sp_model_close(&m);
}

static enum sp_op op_of(const char *name)
{
	static const char *const names[] = { "start", "read", "stop", "accum", "reset" };

	for (unsigned i = 0; i < SP_COUNT(names); i++)
		if (strcmp(name, names[i]) == 0)
			return (enum sp_op)i;
	return SP_OP_SIDE;		/* nothing that PAPI did */
}

static bool one_set_temporary(json_t *v)
{
	json_t *op;
	size_t i;

	json_array_foreach(json_object_get(v, "ops"), i, op)
		if (json_is_true(json_object_get(op, "permanent")) || json_object_get(op, "papi_stop"))
			return false;
	return json_array_size(json_object_get(v, "sets")) == 1;
}

/* Books what PAPI did; false if it did nothing. */
static bool vector_op(struct set *s, json_t *j, long rc)
{
	enum sp_op op = op_of(json_string_value(json_object_get(j, "op")));
	json_t *counters = json_object_get(j, "counters");
	int cpu = (int)json_integer_value(json_object_get(j, "cpu"));
	long long x[KMAX] = { 0 };

	if (op == SP_OP_SIDE || (has_values(op) ? !json_array_size(counters) : rc != 0))
		return false;
	for (size_t e = 0; e < json_array_size(counters); e++) {
		x[e] = json_integer_value(json_array_get(counters, e));
		s->papi.handed[e] += s->o->running ? x[e] - s->o->last[e] : 0;
	}
	book(s, op, cpu, x, false);
	oracle_book(s->o, op, cpu, x, false);
	return true;
}

static void run_vector(json_t *v)
{
	json_t *ops = json_object_get(v, "ops"), *states = json_object_get(v, "states"), *op;
	bool theirs = true;		/* until sys-sage fails where PAPI did not */
	size_t i;

	open_sets(1, (int)json_array_size(json_array_get(json_object_get(v, "sets"), 0)), 0,
		  (int)json_integer_value(json_object_get(v, "ncpus")));
	json_array_foreach(ops, i, op) {
		json_t *after = json_array_get(states, i);
		long rc = json_integer_value(json_object_get(after, "rc"));

		if (vector_op(&sets[0], op, rc) && rc != 0)
			theirs = false;
		check();
		if (theirs)
			check_entries(v, after);
	}
	sp_store_close(&store);
}

static int run_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	int n = 0;

	assert_non_null(f);
	while (getline(&line, &room, f) > 0) {
		json_t *v = json_loads(line, 0, NULL);

		assert_non_null(v);
		if (one_set_temporary(v)) {
			run_vector(v);
			n++;
		}
		json_decref(v);
	}
	free(line);
	fclose(f);
	return n;
}

static void vectors(void **state)
{
	const char *folder = getenv("SSPAPI_VECTORS") ? getenv("SSPAPI_VECTORS") : "tests/vectors";
	static const char *const files[] = { "rules.jsonl", "random_8cpu.jsonl" };
	char path[4096];
	int n = 0;

	(void)state;
	for (unsigned i = 0; i < SP_COUNT(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		if (access(path, R_OK) < 0)
			skip();
		n += run_file(path);
	}
	assert_true(n >= 80);
}

/* ---- one booking on top of another ---------------------------------------- */


static inline bool busy(void)
{
	return __atomic_load_n(&sets[0].w.busy, __ATOMIC_RELAXED) != 0;
}

/* Whatever the parts are, the sum is what was handed out. */
static const struct sp_parts parts_somewhere = {
	.n = 2, .cpu = (const int32_t[]){ 2, 1001 }, .at = (const int64_t[]){ 1, 0, 2, 0, 1, 1 },
	.exact = (const bool[]){ true, false, true },
};

/* What the main thread's windows are. */
static enum windows { OPEN, PROVEN, SPLIT, WINDOWS } windows;

static __attribute__((noinline)) void book_main(enum sp_op op, int cpu, const long long *x)
{
	if (windows == SPLIT && has_values(op))
		sp_ledger_book_parts(&sets[0].w, op, cpu, x, &parts_somewhere, 0, false);
	else
		book(&sets[0], op, cpu, x, windows == PROVEN);
}

static bool stepping;

/* The trap flag: SIGTRAP after each instruction. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define STEPS 1
#define STEP_ON() __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; " \
				   "lea 128(%%rsp), %%rsp" ::: "cc", "memory")
#define STEP_OFF() __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; " \
				    "lea 128(%%rsp), %%rsp" ::: "cc", "memory")
#else
#define STEPS 0
#define STEP_ON() (void)0
#define STEP_OFF() (void)0
#endif

/* A PAPI call and its booking, as an application's wrapper makes them. */
static __attribute__((noinline)) void call(enum sp_op op, int cpu)
{
	struct papi *p = &sets[0].papi;
	long long x[KMAX] = { 0 };

	for (int e = 0; e < p->k; e++)
		papi_work(p, e, 1 + e);
	papi_call(p, op, x);
	if (stepping) {
		stepping = false;
		STEP_ON();
		book_main(op, cpu, x);
		STEP_OFF();
		return;
	}
	book_main(op, cpu, x);
}

/* What a handler does, as letters.  S start, P stop, R read here, O read on
 * another CPU, A accum, Z reset. */
static void play(const char *s, int cpu)
{
	static const char letters[] = "SRPAZ";

	for (; *s; s++) {
		enum sp_op op = *s == 'O' ? SP_OP_READ : (enum sp_op)(strchr(letters, *s) - letters);

		if (op == SP_OP_STOP && !sets[0].papi.running)
			continue;
		call(op, *s == 'O' ? (cpu + 1) % DENSE : cpu);
	}
}

/* 0, or the first event whose sum is not what was handed out, plus one. */
static int wrong_sum(void)
{
	struct sp_model m;
	int wrong = 0;

	if (sp_model_open(&m, &store.image) < 0)
		return -1;
	for (int e = 0; e < sets[0].papi.k && !wrong; e++)
		if (m.total[e] != sets[0].papi.handed[e])
			wrong = e + 1;
	sp_model_close(&m);
	return wrong;
}

static const char *const plays[] = { "R", "O", "A", "Z", "ZR", "RZRR", "OAOR", "PS", "PSRO", "RPZSRZR", "AA" };

#if STEPS
static int64_t count_at(int cpu, int e, bool exact)
{
	struct sp_model m;
	struct sp_row row = { 0 };
	struct sp_at_cpu at;
	int64_t v = 0;

	if (sp_model_open(&m, &store.image) < 0 || !sp_model_next(&m, &row))
		return -1;
	for (uint32_t i = 0; sp_row_cell(&m, &row, i, &at); i++)
		if (at.cpu == cpu)
			v = (exact ? at.exact : at.total)[e];
	sp_model_close(&m);
	return v;
}

static int64_t total_at(int cpu, int e)
{
	return count_at(cpu, e, false);
}

/* At every instruction of a booking: the trap flag stops there, a child is forked
 * that plays a handler's part and checks what came of it. */
static struct {
	int n;				/* instructions so far */
	enum sp_op op;
	uint64_t turn;			/* before */
	bool child, jump;
	unsigned which;			/* of the handlers: not each plays at each instruction */
	const char *play;
	int cpu;
	sigjmp_buf out;
	int failed, done;
} step;

/* May the handler's part be told apart from the booking that it interrupts?
 * Not where PAPI has answered and the booking has not begun: nothing can.  There
 * only readings between readings go well, since their sum telescopes. */
static bool ordered(void)
{
	if (busy() || sets[0].w.relation->turn != step.turn)
		return true;
	return (step.op == SP_OP_READ || step.op == SP_OP_STOP) && strspn(step.play, "RO") == strlen(step.play);
}

static void stepped(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	int status;
	pid_t pid;

	(void)sig;
	(void)info;
	step.n++;
	if (step.jump ? !busy() : !ordered())
		return;
	if (((unsigned)step.n + step.which) % (SLOW_BUILD > 1 ? 211 : windows ? 61 : step.jump ? 4 : 11))
		return;
	pid = fork();
	if (pid) {
		waitpid(pid, &status, 0);
		step.done++;
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			if (step.failed++ < 8)
				print_message("op %d, handler %s%s, instruction %d, busy %d: status %x\n", step.op,
					      step.play, step.jump ? " and jump" : "", step.n, busy(), status);
		}
		return;
	}
	alarm(100);	/* a hang, not a busy machine */
	step.child = true;
	u->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
	play(step.play, step.cpu);
	if (step.jump)
		siglongjmp(step.out, 1);
}

/* What a child found: its exit status. */
static int after_handler(void)
{
	call(SP_OP_READ, step.cpu);
	if (wrong_sum())
		return 1;
	sp_ledger_settle(&sets[0].w);
	if (wrong_sum())
		return 2;
	return busy() || sets[0].w.turn || (sets[0].w.slow & SP_SLOW_SIDE) ? 3 : 0;
}

/* Another thread reads while the owner, having jumped out of a booking, asks PAPI again: of its window
 * nothing is exact, whatever that booking's was. */
static inline __attribute__((always_inline)) bool foreign_after_jump(void)
{
	struct papi *p = &sets[0].papi;
	struct sp_writer *w = &sets[0].w;
	long long x[KMAX] = { 0 };
	int64_t exact;

	if (!sp_ledger_asks(w, SP_OP_READ) && !sp_ledger_asks_slow(w, SP_OP_READ, (uintptr_t)__builtin_frame_address(0)))
		return false;
	exact = count_at(3, 0, true);
	papi_work(p, 0, 7);
	papi_call(p, SP_OP_READ, x);
	sp_ledger_book_foreign(w, SP_OP_READ, 3, x, NULL, 0);
	sp_ledger_refuses(w);
	return count_at(3, 0, true) == exact && !wrong_sum();
}

/* After a jump out all goes on as ever: per CPU, nothing aside. */
static inline __attribute__((always_inline)) int after_jump(void)
{
	struct papi *p = &sets[0].papi;
	int64_t here, there;

	windows = OPEN;
	if (step.which == 2 && !foreign_after_jump())
		return 8;
	call(SP_OP_READ, step.cpu);
	if (wrong_sum())
		return 4;
	if (busy() || (sets[0].w.slow & SP_SLOW_SIDE))
		return 5;
	if (!p->running)
		return 0;
	here = total_at(step.cpu, 0);
	there = total_at((step.cpu + 1) % DENSE, 0);
	call(SP_OP_READ, (step.cpu + 1) % DENSE);
	call(SP_OP_READ, step.cpu);
	call(SP_OP_READ, step.cpu);
	if (total_at(step.cpu, 0) != here + 2 || total_at((step.cpu + 1) % DENSE, 0) != there + 1)
		return 6;
	return wrong_sum() ? 7 : 0;
}

static __attribute__((noinline)) void step_through(enum sp_op op, int cpu, const char *handler, bool jump)
{
	step.n = 0;
	step.op = op;
	step.cpu = cpu;
	step.play = handler;
	step.jump = jump;
	step.turn = sets[0].w.relation->turn;
	stepping = true;
	if (sigsetjmp(step.out, 1) == 0)
		call(op, cpu);
	if (step.child)
		_exit(jump ? after_jump() : after_handler());
}

static const struct {
	enum sp_op op;
	int cpu;
} script[] = {
	{ SP_OP_START, 0 }, { SP_OP_READ, 0 }, { SP_OP_READ, 0 }, { SP_OP_READ, 1 }, { SP_OP_ACCUM, 1 },
	{ SP_OP_READ, 1 }, { SP_OP_READ, 1 }, { SP_OP_RESET, 0 }, { SP_OP_READ, 0 }, { SP_OP_STOP, 2 },
};

static void step_script(const char *handler, bool jump)
{
	open_sets(1, 2, 0, DENSE);
	for (unsigned i = 0; i < SP_COUNT(script); i++) {
		if (!jump || script[i].op == SP_OP_READ || script[i].op == SP_OP_STOP)
			step_through(script[i].op, script[i].cpu, handler, jump);
		else
			call(script[i].op, script[i].cpu);
		assert_int_equal(wrong_sum(), 0);
	}
	sp_store_close(&store);
}

static void step_all(const char *const *handlers, unsigned n, bool jump)
{
	struct sigaction a = { .sa_sigaction = stepped, .sa_flags = SA_SIGINFO }, old;

	memset(&step, 0, sizeof(step));
	sigaction(SIGTRAP, &a, &old);
	for (step.which = 0; step.which < n; step.which += SLOW_BUILD > 1 ? 5 : 1)
		for (windows = OPEN; windows < WINDOWS; windows += jump ? 1 : SPLIT)
			step_script(handlers[step.which], jump);
	windows = OPEN;
	sigaction(SIGTRAP, &old, NULL);
	print_message("%d of %d handlers went wrong\n", step.failed, step.done);
	assert_true(step.done > (SLOW_BUILD > 1 ? 10 : 500));
	assert_int_equal(step.failed, 0);
}

static void handler_at_each_instruction(void **state)
{
	(void)state;
	step_all(plays, SP_COUNT(plays), false);
}

static void jump_at_each_instruction(void **state)
{
	static const char *const handlers[] = { "", "R", "" };	/* the last: another thread comes then */

	(void)state;
	step_all(handlers, SP_COUNT(handlers), true);
}
#endif

/* ---- by a timer ------------------------------------------------------------ */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void start_timer(timer_t *timer, void (*handler)(int), long ns, int flags)
{
	struct sigevent to = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	struct sigaction a = { .sa_handler = handler, .sa_flags = flags | SA_RESTART };
	struct itimerspec t = { { 0, ns }, { 0, ns } };

	to._sigev_un._tid = gettid();
	assert_int_equal(sigaction(SIGALRM, &a, NULL), 0);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &to, timer), 0);
	assert_int_equal(timer_settime(*timer, 0, &t, NULL), 0);
}

#ifndef __SANITIZE_THREAD__	/* it delivers signals late, at some later call, whatever the mask is then */
static struct {
	volatile sig_atomic_t in_papi, pending, between;
	volatile enum sp_op op;
	volatile bool jump;
	volatile uintptr_t left;	/* what a jump left in `busy`: while it stands there, no booking is under way */
	volatile unsigned long hits, on_top, after_jump, jumps;
	sigjmp_buf out;
} timed;

static bool booking(void)
{
	return busy() && sp_get(&sets[0].w.busy) != timed.left;
}

static void timer_handler(int sig)
{
	uint64_t mine = seed;
	const char *what;

	(void)sig;
	if (timed.in_papi)
		return;
	timed.hits++;
	timed.on_top += booking();
	timed.after_jump += booking() && timed.left;
	seed = timed.hits;
	what = plays[rnd(SP_COUNT(plays))];
	if (timed.pending && !booking()) {
		bool reading = timed.op == SP_OP_READ || timed.op == SP_OP_STOP;

		what = reading && !timed.jump ? "RO" : "";
		timed.between = 1;
	}
	else if (timed.between)		/* a zeroing before that next reading could not be booked exactly either */
		what = "";
	if (timed.jump && booking())	/* PAPI handed out what the jump may leave unbooked: read it again */
		play("R", (int)rnd(DENSE));
	play(what, (int)rnd(DENSE));
	seed = mine;
	if (timed.jump && timed.pending && booking() && timed.op == SP_OP_READ) {
		timed.jumps++;
		timed.left = sp_get(&sets[0].w.busy);
		siglongjmp(timed.out, 1);
	}
}

/* The same some frames further down, so that what is left in `busy` can be told from
 * what the next booking puts there. */
static __attribute__((noinline)) void book_deeper(enum sp_op op, int cpu, const long long *x)
{
	volatile char room[96];

	room[0] = 0;
	book_main(op, cpu, x);
	(void)room[0];
}

static enum sp_op timed_op(void)
{
	enum sp_op op = rnd(3) ? SP_OP_READ : (enum sp_op)rnd(SP_OP_WRITE);

	return op == SP_OP_STOP && !sets[0].papi.running ? SP_OP_START : op;
}

static void timed_call(const enum sp_op op, int cpu)
{
	static volatile unsigned n;
	struct papi *p = &sets[0].papi;
	long long x[KMAX] = { 0 };

	n++;
	timed.in_papi = 1;
	sp_order();
	if (!busy())
		timed.left = 0;
	for (int e = 0; e < p->k; e++)
		papi_work(p, e, 1 + e);
	papi_call(p, op, x);
	timed.op = op;
	timed.pending = 1;
	sp_order();
	timed.in_papi = 0;
	sp_order();
	if (sigsetjmp(timed.out, 1) == 0)
		(n & 1 ? book_main : book_deeper)(op, cpu, x);
	timed.pending = 0;
	sp_order();
	if (!timed.between)
		return;
	/* It read after us and booked before us: the sum is right from the next reading on. */
	timed.in_papi = 1;
	sp_order();
	timed.between = 0;
	call(SP_OP_READ, cpu);
	sp_order();
	timed.in_papi = 0;
}

static void under_timer(bool jump, int flags, double seconds)
{
	double end = now() + seconds;
	timer_t timer;

	memset(&timed, 0, sizeof(timed));
	timed.jump = jump;
	seed = 7;
	open_sets(1, 3, 0, DENSE);
	timed.in_papi = 1;
	call(SP_OP_START, 0);
	start_timer(&timer, timer_handler, 20000 + rnd(30000), flags);
	while (now() < end) {
		for (int i = 0; i < 500; i++)
			timed_call(timed_op(), (int)rnd(DENSE));
	}
	timed.in_papi = 1;
	sp_order();
	timer_delete(timer);
	signal(SIGALRM, SIG_IGN);
	call(SP_OP_READ, 0);
	print_message("%lu handlers, %lu on top of a booking, %lu jumps, %lu on top of the next\n", timed.hits,
		      timed.on_top, timed.jumps, timed.after_jump);
	assert_int_equal(wrong_sum(), 0);
	assert_false(busy());
	assert_int_equal(sets[0].w.slow & SP_SLOW_SIDE, 0);
	assert_true(timed.on_top > 0);
	sp_store_close(&store);
}

static void handler_by_timer(void **state)
{
	(void)state;
	under_timer(false, 0, 0.6);
}

static void handler_that_jumps(void **state)
{
	(void)state;
	under_timer(true, 0, 0.4);
}

static void handler_on_its_own_stack(void **state)
{
	static char memory[65536];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) }, old;

	(void)state;
	sigaltstack(&stack, &old);
	under_timer(false, SA_ONSTACK, 0.4);
#ifndef __SANITIZE_ADDRESS__	/* cannot follow a jump off another stack */
	under_timer(true, SA_ONSTACK, 0.3);
#endif
	sigaltstack(&old, NULL);
}
#endif

/* ---- other threads ---------------------------------------------------------- */

static pthread_mutex_t application = PTHREAD_MUTEX_INITIALIZER;
static bool finish;
static long long shared_count[KMAX];	/* what all threads see of one running set */

static void locked_call(enum sp_op op, int cpu, bool owner)
{
	struct papi *p = &sets[0].papi;
	long long x[KMAX] = { 0 };

	pthread_mutex_lock(&application);
	if (op == SP_OP_STOP && !p->running)
		op = SP_OP_START;
	for (int e = 0; e < p->k; e++)
		papi_work(p, e, 1 + e);
	papi_call(p, op, x);
	if (owner && (!has_values(op) || cpu & 1))
		book_main(op, cpu, x);
	else if (owner)
		sp_ledger_book_parts(&sets[0].w, op, cpu, x, &parts_somewhere, 0, false);
	else
		sp_ledger_book_foreign(&sets[0].w, op, cpu, has_values(op) ? x : NULL,
				       cpu & 1 && has_values(op) ? &parts_somewhere : NULL, 0);
	pthread_mutex_unlock(&application);
}

static void *foreign_locked(void *arg)
{
	uint64_t r = (uintptr_t)arg;

	while (!sp_get(&finish)) {
		r = r * 6364136223846793005ull + 1442695040888963407ull;
		locked_call((r >> 60) < 10 ? SP_OP_READ : (enum sp_op)((r >> 40) % SP_OP_WRITE), (int)(r >> 33) & 3,
			    false);
	}
	return NULL;
}

static void end_threads(pthread_t *t, int n)
{
	sp_put(&finish, true);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

static void foreign_with_a_lock(void **state)
{
	pthread_t t[3];
	double end = now() + 0.5;

	(void)state;
	sp_put(&finish, false);
	open_sets(1, 3, 0, DENSE);
	locked_call(SP_OP_START, 0, true);
	for (uintptr_t i = 0; i < SP_COUNT(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, foreign_locked, (void *)(i + 1)), 0);
	while (now() < end)
		locked_call(rnd(4) ? SP_OP_READ : (enum sp_op)rnd(SP_OP_WRITE), (int)rnd(DENSE), true);
	end_threads(t, SP_COUNT(t));
	locked_call(SP_OP_READ, 0, true);
	assert_int_equal(wrong_sum(), 0);
	assert_true(sets[0].w.relation->flags & SP_RELATION_FOREIGN);
	sp_store_close(&store);
}

static void shared_values(long long *x)
{
	for (int e = 0; e < 3; e++)
		x[e] = __atomic_add_fetch(&shared_count[e], 1 + e, __ATOMIC_RELAXED);
}

static void *foreign_reads(void *arg)
{
	long long x[KMAX];

	for (unsigned n = 0; !sp_get(&finish); n++) {
		shared_values(x);
		sp_ledger_book_foreign(&sets[0].w, SP_OP_READ, (int)((uintptr_t)arg + n / 16) % DENSE, x,
				       n & 1 ? &parts_somewhere : NULL, 0);
	}
	return NULL;
}

static void read_by_handler(int sig)
{
	long long x[KMAX];
	int saved = errno;

	(void)sig;
	shared_values(x);
	book_main(SP_OP_READ, 3, x);
	errno = saved;
}

static void foreign_without_a_lock(void **state)
{
	pthread_t t[3];
	double end;
	long long x[KMAX];
	timer_t timer;

	(void)state;
	sp_put(&finish, false);
	memset(shared_count, 0, sizeof(shared_count));
	open_sets(1, 3, 0, DENSE);
	book_main(SP_OP_START, 0, NULL);
	for (unsigned n = 0; n < 1000; n++) {		/* not shared yet */
		shared_values(x);
		book_main(SP_OP_READ, 0, x);
	}
	for (uintptr_t i = 0; i < SP_COUNT(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, foreign_reads, (void *)i), 0);
	start_timer(&timer, read_by_handler, 50000, 0);
	for (end = now() + 0.5; now() < end;) {
		shared_values(x);
		book_main(SP_OP_READ, (int)rnd(DENSE), x);
	}
	timer_delete(timer);
	signal(SIGALRM, SIG_IGN);
	end_threads(t, SP_COUNT(t));
	shared_values(x);
	book_main(SP_OP_READ, 0, x);
	memcpy(sets[0].papi.handed, x, sizeof(x));
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

/* The first foreign booking meets an owner on the short way, again and again. */
static void *foreign_once(void *arg)
{
	long long x[KMAX];

	(void)arg;
	shared_values(x);
	sp_ledger_book_foreign(&sets[0].w, SP_OP_READ, 1, x, NULL, 0);
	sp_put(&finish, true);
	return NULL;
}

static void foreign_comes_in(void **state)
{
	(void)state;
	for (int i = 0; i < 150 / SLOW_BUILD; i++) {
		pthread_t t;
		long long x[KMAX];

		sp_put(&finish, false);
		memset(shared_count, 0, sizeof(shared_count));
		open_sets(1, 3, 0, DENSE);
		book_main(SP_OP_START, 0, NULL);
		pthread_create(&t, NULL, foreign_once, NULL);
		while (!sp_get(&finish)) {
			shared_values(x);
			book_main(SP_OP_READ, 0, x);
		}
		pthread_join(t, NULL);
		shared_values(x);
		book_main(SP_OP_READ, 0, x);
		memcpy(sets[0].papi.handed, x, sizeof(x));
		assert_int_equal(wrong_sum(), 0);
		sp_store_close(&store);
	}
}

/* ---- aside ------------------------------------------------------------------- */

/* A booking goes aside while `busy` says that one is under way below us. */
static void pretend_interrupted(bool on)
{
	sets[0].w.busy = on ? (UINTPTR_MAX & ~(uintptr_t)15) | SP_OP_READ : 0;
}

static void aside_then_settled(uint32_t keeps, const char *before, const char *during)
{
	open_sets(1, 2, keeps, DENSE);
	call(SP_OP_START, 0);
	play(before, 0);
	pretend_interrupted(true);
	for (const char *s = during; *s; s++) {
		play((char[]){ *s, 0 }, 0);
		assert_int_equal(wrong_sum(), 0);
	}
	pretend_interrupted(false);
	sp_ledger_settle(&sets[0].w);
	assert_int_equal(wrong_sum(), 0);
	play("ROR", 0);
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

/* What lies aside counts in the model before it is added in, as after. */
static void aside(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SP_COUNT(plays); i++) {
		aside_then_settled(0, "", plays[i]);
		aside_then_settled(0, "ROR", plays[i]);
		aside_then_settled(0, "RP", plays[i]);
		aside_then_settled(0, "RPS", plays[i]);
		aside_then_settled(0, "RA", plays[i]);
	}
}

static void aside_kept(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SP_COUNT(plays); i++) {
		aside_then_settled(SP_KEEPS_ON_RESET, "ROR", plays[i]);
		aside_then_settled(SP_KEEPS_ON_RESET | SP_KEEPS_ON_START, "ROR", plays[i]);
		aside_then_settled(SP_KEEPS_ON_RESET | SP_KEEPS_ON_START, "", plays[i]);
	}
}

static void aside_write(void **state)
{
	long long x[KMAX] = { 5, 5 };

	(void)state;
	open_sets(1, 2, 0, DENSE);
	call(SP_OP_START, 0);
	call(SP_OP_READ, 0);
	pretend_interrupted(true);
	papi_call(&sets[0].papi, SP_OP_WRITE, x);
	book_main(SP_OP_WRITE, 0, x);
	pretend_interrupted(false);
	sp_ledger_settle(&sets[0].w);
	call(SP_OP_READ, 0);
	assert_int_equal(wrong_sum(), 0);
	sp_store_close(&store);
}

static void no_relation(void **state)
{
	struct sp_writer w = { 0 };
	long long x[KMAX] = { 1 };

	(void)state;
	w.cpu = -2;
	sp_ledger_read(&w, 0, x, false, 0);
	sp_ledger_book(&w, SP_OP_START, 0, NULL, false);
	sp_ledger_book_foreign(&w, SP_OP_READ, 0, x, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_random),
		cmocka_unit_test(at_random_kept),
		cmocka_unit_test(bound_again_while_running),
		cmocka_unit_test(entry_after_write),
		cmocka_unit_test(backwards_is_noted),
		cmocka_unit_test(parts_at_random),
		cmocka_unit_test(parts_of_others),
		cmocka_unit_test(vectors),
#if STEPS
		cmocka_unit_test(handler_at_each_instruction),
		cmocka_unit_test(jump_at_each_instruction),
#endif
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(handler_by_timer),
		cmocka_unit_test(handler_that_jumps),
		cmocka_unit_test(handler_on_its_own_stack),
#endif
		cmocka_unit_test(foreign_with_a_lock),
		cmocka_unit_test(foreign_without_a_lock),
		cmocka_unit_test(foreign_comes_in),
		cmocka_unit_test(aside),
		cmocka_unit_test(aside_kept),
		cmocka_unit_test(aside_write),
		cmocka_unit_test(no_relation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
