/* t-records.c: store/records.h through model.h against a brute-force oracle: random
 * sequences, windows spent on several CPUs.
 */
#include "../../core/model/model-blocks.h"
#include "record-sets.h"

#include <stdlib.h>

#define SPOTS	32

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

/* What is proven is never more than what is booked, nor below 0. */
static int64_t within(int64_t exact, int64_t total)
{
	exact = exact > total ? total : exact;
	return exact < 0 ? 0 : exact;
}

/* A part's counts, and what is proven with them: bounded where these are not just all of them, or
 * none. */
static void oracle_part(int k, struct spot *s, const int64_t *counts, const int64_t *proven)
{
	bool all = true, none = true;

	for (int e = 0; e < k; e++) {
		all &= counts[e] >= 0 && proven[e] == counts[e];
		none &= counts[e] >= 0 && !proven[e];
	}
	for (int e = 0; e < k; e++) {
		s->total[e] += counts[e];
		if (all)
			s->exact[e] += counts[e];
		else if (!none)
			s->exact[e] = within(s->exact[e] + proven[e], s->total[e]);
	}
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

/* The rules of tests/relation.md, one event set, temporary readings only. */
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

/* ---- each set's oracle ---------------------------------------------------- */

static struct oracle oracles[16];	/* by relation id */

#define NOT_PLACED (-2)
static int place = NOT_PLACED;		/* the CPU whose counts all sets have, or SP_NO_CPU */

static struct oracle *oracle_of(const struct set *s)
{
	assert_true(s->w.relation->id < SP_COUNT(oracles));
	return &oracles[s->w.relation->id];
}

static void bind_oracle(struct set *s)
{
	struct oracle *o = oracle_of(s);

	o->k = s->papi.k;
	o->keeps = s->papi.keeps;
	o->running = false;
	if (place != NOT_PLACED)
		assert_true(sp_records_place(&s->w, place));
}

static void open_both(int n, int k, uint32_t keeps, int cpus)
{
	memset(oracles, 0, sizeof(oracles));
	oracle_dense = cpus;
	open_sets(n, k, keeps, cpus);
	for (int i = 0; i < n; i++)
		bind_oracle(&sets[i]);
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
		assert_int_equal(at->exact[e], within(s->exact[e], s->total[e]));
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
		assert_int_equal(m->sums.total[e], handed);
		assert_int_equal(m->sums.below[e] + m->sums.unplaced[e], handed);
	}
}

static void check(void)
{
	struct sp_model m;
	struct sp_row row = { 0 };

	assert_int_equal(sp_model_open(&m, &store.reader), 0);
	assert_int_equal(m.tally.damaged, 0);
	while (sp_model_next(&m, &row))
		check_row(&m, &row,
			  &oracles[sp_relation_at(&m, m.walk.place[row.walk.index - 1].relation)
					   ->id]);
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
		papi_work(p, e,
			  rnd(8) ? (long long)rnd(1000)
				 : (long long)rnd(2000) * 1000000007ll * (rnd(3) ? 1 : -1));
}

static void random_step(struct set *s)
{
	enum sp_op op = random_op(&s->papi);
	static int cpu;
	long long x[KMAX] = { 0 };
	bool proven = rnd(2);

	if (place != NOT_PLACED)
		cpu = place;
	else if (rnd(3) == 0)
		cpu = random_cpu();
	for (int e = 0; op == SP_OP_WRITE && e < KMAX; e++)
		x[e] = (long long)rnd(5000);
	random_work(&s->papi);
	papi_call(&s->papi, op, x);
	book(s, op, cpu, x, proven);
	oracle_book(oracle_of(s), op, cpu, x, proven && place == NOT_PLACED);
}

static void rebind(struct set *s)
{
	sp_store_released(&store, s->relation);
	s->relation = 0;
	bind_set(s, s->papi.k, s->papi.keeps);
	bind_oracle(s);
}

static void random_sequences(uint32_t keeps, int sequences)
{
	for (int i = 0; i < sequences; i++) {
		open_both(1 + (int)rnd(2), 1 + i % KMAX, keeps, DENSE);
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

/* A CPU with a cell of its own, one without, none; of components that keep counts, too. */
static void placed_at_random(void **state)
{
	static const int places[] = { 2, 1003, SP_NO_CPU };

	(void)state;
	seed = 5;
	for (unsigned i = 0; i < 12; i++) {
		place = places[i % SP_COUNT(places)];
		random_sequences(i / 3, 40 / SLOW_BUILD);
	}
	place = NOT_PLACED;
}

/* ---- windows that were spent on several CPUs ------------------------------- */

struct split {
	struct sp_parts parts;
	int cpu;			/* of the rest */
	int32_t of[DENSE];
	int64_t at[DENSE * KMAX], proven[(DENSE + 1) * KMAX];
};

/* Of what is new (d), each part some, and seldom more than there is: as where clocks differ. */
static int64_t random_share(long long d, int parts)
{
	uint32_t r = rnd(8);

	if (!r)
		return 0;
	return r == 1 ? d + (int64_t)rnd(100) - 50
		      : (int64_t)((double)d * rnd(1000) / 1000 / parts);
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
	/* Some of what is new, all of it, or more: of what was booked before. */
	for (int i = 0; i <= n; i++)
		for (int e = 0; e < o->k; e++)
			p->proven[i * o->k + e] = rnd(4) ? random_share(x[e] - o->last[e], n + 1)
							 : (int64_t)rnd(1000) - 100;
	p->parts = (struct sp_parts){
		.n = (uint32_t)n, .cpu = p->of, .at = p->at, .proven = p->proven
	};
}

/* By the oracle's own arithmetic: each part as given, on the CPU of the reading what is left. */
static void oracle_parts(struct oracle *o, const struct split *p, const long long *x)
{
	struct spot *rest = spot_of(o, p->cpu);
	int64_t left[KMAX] = { 0 };

	if (!o->running || o->baseline) {
		oracle_values(o, rest, x, false);
		return;
	}
	for (int e = 0; e < o->k; e++)
		left[e] = x[e] - o->last[e];
	for (uint32_t i = 0; i < p->parts.n; i++) {
		oracle_part(o->k, spot_of(o, p->of[i]), p->at + i * (uint32_t)o->k,
			    p->proven + i * (uint32_t)o->k);
		for (int e = 0; e < o->k; e++)
			left[e] -= p->at[i * (uint32_t)o->k + (uint32_t)e];
	}
	oracle_part(o->k, rest, left, p->proven + p->parts.n * (uint32_t)o->k);
	for (int e = 0; e < o->k; e++)
		o->last[e] = x[e];
}

static void book_split(struct set *s, enum sp_op op, const long long *x, const struct split *p,
		       bool foreign)
{
	if (foreign)
		book_foreign(&s->w, op, p->cpu, x, &p->parts, 0, 2);
	else
		book_parts(&s->w, op, p->cpu, x, &p->parts, 0);
}

/* A reading's parts make no entry of their own. */
static void oracle_split(struct oracle *o, enum sp_op op, const struct split *split,
			 const long long *x)
{
	struct spot *last;

	oracle_parts(o, split, x);
	last = spot_of(o, split->cpu);
	oracle_entries(o, last, op, x);
	last->readings++;
	if (op == SP_OP_ACCUM && !(o->keeps & SP_KEEPS_ON_RESET))
		oracle_zero(o);
	if (op == SP_OP_STOP)
		o->running = false;
}

static void parts_step(struct set *s, bool foreign)
{
	static const enum sp_op ops[] = { SP_OP_READ, SP_OP_STOP, SP_OP_ACCUM };
	enum sp_op op = ops[rnd(SP_COUNT(ops))];
	long long x[KMAX] = { 0 };
	struct split split;

	if (rnd(3) == 0 || (!s->papi.running && rnd(8))) {
		random_step(s);
		return;
	}
	random_work(&s->papi);
	papi_call(&s->papi, op, x);
	random_split(&split, oracle_of(s), x);
	book_split(s, op, x, &split, foreign && rnd(2));
	oracle_split(oracle_of(s), op, &split, x);
}

static void random_parts(uint64_t from, bool foreign)
{
	static const uint32_t keeps[] = { 0, 0, SP_KEEPS_ON_RESET, SP_KEEPS_ON_START,
					  SP_KEEPS_ON_START | SP_KEEPS_ON_RESET };

	seed = from;
	for (int i = 0; i < 60 / SLOW_BUILD; i++) {
		open_both(1, 1 + i % KMAX, keeps[(unsigned)i % SP_COUNT(keeps)], DENSE);
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

/* ---- threads that start and read several sets in turn ----------------------- */

#define THREADS	3u
static sp_off blocks[THREADS];

/* A thread that starts another one's set binds it to a relation of its own. */
static void bind_by(struct set *s, uint32_t who)
{
	struct sp_relation_key key = { .k = (uint32_t)s->papi.k, .event = s->event,
				       .event_set = (int32_t)(s - sets) };
	struct sp_relation *r;
	sp_off off;

	assert_true(sp_records_take(&s->w, BOOK_FRAME, who, true));
	sp_records_fold(&s->w);
	sp_store_released(&store, s->relation);
	s->relation = 0;
	r = sp_store_relation(&store, blocks[who - 1], &key, bound, NULL, &off);
	assert_non_null(r);
	s->relation = off;
	sp_records_bind_taken(&s->w, &store.reader, off, (uint32_t)s->papi.k, r->cells, NULL);
	sp_records_set_component(&s->w, s->papi.keeps);
	bind_oracle(s);
	sp_records_give(&s->w, who, who);
}

/* As the wrappers book it: without parts only the starter's counts are proven. */
static void call_by(struct set *s, uint32_t who, enum sp_op op, int cpu, const long long *x,
		    bool proven, const struct sp_parts *parts)
{
	struct sp_writer *w = &s->w;
	bool own = w->owner == who;
	bool fast = own && !(w->slow & SP_SLOW_SHARED) && sp_records_begin(w, BOOK_FRAME, op);

	assert_true(fast || sp_records_enter(w, op, BOOK_FRAME, who, own));
	sp_records_returned(w);
	if (!fast || parts || !book_short(w, op, cpu, x, proven, 0))
		assert_true(sp_records_finish(w, &(struct sp_papi_call){ .op = op,
								       .cpu = cpu,
								       .x = x,
								       .proven = proven,
								       .parts = parts,
								       .who = who }));
}

static void turn(struct set *s, uint32_t who)
{
	enum sp_op op = s->papi.running || rnd(3) == 0 ? random_op(&s->papi) : SP_OP_START;
	int cpu = (int)rnd(DENSE);
	long long x[KMAX] = { 0 };
	struct split split;
	struct oracle *o;
	bool proven;

	if (op == SP_OP_START && !s->papi.running && s->w.owner != who)
		bind_by(s, who);
	o = oracle_of(s);
	proven = s->w.owner == who && rnd(2);
	random_work(&s->papi);
	papi_call(&s->papi, op, x);
	if (op == SP_OP_START || op == SP_OP_RESET || op == SP_OP_WRITE || proven || rnd(2)) {
		call_by(s, who, op, cpu, has_values(op) ? x : NULL, proven, NULL);
		oracle_book(o, op, cpu, x, proven);
		return;
	}
	random_split(&split, o, x);
	call_by(s, who, op, split.cpu, x, false, &split.parts);
	oracle_split(o, op, &split, x);
}

/* Each relation has on each CPU the counts of its thread's runs of the set, whoever read them. */
static void threads_in_turn(void **state)
{
	(void)state;
	seed = 6;
	for (int i = 0; i < 60 / SLOW_BUILD; i++) {
		open_both(2, 1 + i % KMAX, i % 3 ? 0 : SP_KEEPS_ON_START, DENSE);
		for (uint32_t t = 0; t < THREADS; t++)
			assert_non_null(sp_store_thread(&store, (int)t + 10, "turn", &blocks[t]));
		for (int n = 0; n < 300; n++) {
			turn(&sets[rnd(2)], 1 + rnd(THREADS));
			check();
		}
		sp_store_close(&store);
	}
}

/* A set that went away while it ran, and one like it whose start failed. */
static void bound_again_while_running(void **state)
{
	long long x[KMAX] = { 100 }, zero[KMAX] = { 0 };

	(void)state;
	open_both(1, 1, 0, DENSE);
	papi_call(&sets[0].papi, SP_OP_START, x);
	book(&sets[0], SP_OP_START, 0, NULL, false);
	papi_work(&sets[0].papi, 0, 100);
	papi_call(&sets[0].papi, SP_OP_READ, x);
	book(&sets[0], SP_OP_READ, 0, x, false);
	oracle_book(oracle_of(&sets[0]), SP_OP_START, 0, x, false);
	oracle_book(oracle_of(&sets[0]), SP_OP_READ, 0, x, false);
	rebind(&sets[0]);
	book(&sets[0], SP_OP_READ, 1, zero, false);
	oracle_book(oracle_of(&sets[0]), SP_OP_READ, 1, zero, false);
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
	open_both(1, 1, 0, DENSE);
	for (unsigned i = 0; i < SP_COUNT(ops); i++) {
		book(&sets[0], ops[i], 0, x[i], false);
		oracle_book(oracle_of(&sets[0]), ops[i], 0, x[i], false);
	}
	sets[0].papi.handed[0] = 101;
	check();
	sp_store_close(&store);
}

static bool went_back(void)
{
	struct sp_model m;
	struct sp_row row = { 0 };
	bool is;

	assert_int_equal(sp_model_open(&m, &store.reader), 0);
	assert_true(sp_model_next(&m, &row));
	is = row.flags & SP_RELATION_BACKWARDS;
	sp_model_close(&m);
	return is;
}

static void backwards_is_noted(void **state)
{
	long long up[KMAX] = { 100 }, down[KMAX] = { 30 };

	(void)state;
	open_both(1, 1, 0, DENSE);
	book(&sets[0], SP_OP_START, 0, NULL, false);
	book(&sets[0], SP_OP_READ, 0, up, false);
	book(&sets[0], SP_OP_READ, 1, down, false);
	assert_true(went_back());
	sp_store_close(&store);
	/* What PAPI_accum added, from another place. */
	open_both(1, 1, 0, DENSE);
	book(&sets[0], SP_OP_START, 0, NULL, false);
	for (int i = 0; i < 3; i++)
		book(&sets[0], SP_OP_ACCUM, 0, up, true);
	assert_false(went_back());
	book(&sets[0], SP_OP_ACCUM, 1, (long long[KMAX]){ -1 }, true);
	assert_true(went_back());
	sp_store_close(&store);
}

/* ---- nothing to write to ---------------------------------------------------- */

static void no_relation(void **state)
{
	struct sp_writer w = { 0 };
	long long x[KMAX] = { 1 };

	(void)state;
	w.cpu = -2;
	book_call(&w, SP_OP_READ, 0, x, false, 0);
	book_call(&w, SP_OP_START, 0, NULL, false, 0);
	book_foreign(&w, SP_OP_READ, 0, x, NULL, 0, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_random),
		cmocka_unit_test(at_random_kept),
		cmocka_unit_test(placed_at_random),
		cmocka_unit_test(bound_again_while_running),
		cmocka_unit_test(entry_after_write),
		cmocka_unit_test(backwards_is_noted),
		cmocka_unit_test(parts_at_random),
		cmocka_unit_test(parts_of_others),
		cmocka_unit_test(threads_in_turn),
		cmocka_unit_test(no_relation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
