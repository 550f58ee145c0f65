/* fold.c: see fold.h. */
#include <string.h>

#include "fold.h"
#include "interval.h"
#include "readings.h"
#include "records.h"
#include "rules.h"

#define FOLD_GAUGES 64u		/* per relation; relations with more stay separate */

/* ---- parts of a relation ------------------------------------------------ */

static struct sp_cell *cell_of(const struct sp_writer *w, uint32_t i)
{
	sp_off at;

	return sp_records_cell_at(w, (int32_t)i, &at);
}

static sp_off *blocks_of(const struct sp_relation *r, const struct sp_layout *l)
{
	return (sp_off *)((char *)r + l->blocks);
}

static struct sp_block *cells_at(const struct sp_store *s, sp_off off, const struct sp_layout *l)
{
	return (struct sp_block *)sp_store_reader_block(&s->reader, off, SP_BLOCK_CELLS,
							sp_cells_bytes(l));
}

/* Gives sum, a copy of a relation that stays until sum replaces it, own blocks, including those
 * that `from` has; false: no memory. */
static bool copy_cells(struct sp_store *s, struct sp_relation *sum, const struct sp_relation *from)
{
	struct sp_layout l = sp_relation_layout(sum->k, sum->cells);
	sp_off *to = blocks_of(sum, &l);
	uint32_t extra = 0, n = (uint32_t)sp_cell_blocks(&l, sum->cells);

	/* Relations use the extra cells for different CPUs. */
	for (uint32_t i = n; i-- > 0 && (i + 1) * l.each > sum->cells - SP_CELLS_EXTRA;)
		extra |= blocks_of(from, &l)[i] != 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct sp_block *was = cells_at(s, to[i], &l);
		struct sp_block *b;

		to[i] = 0;
		if (!was && !blocks_of(from, &l)[i] &&
		    !(extra && (i + 1) * l.each > sum->cells - SP_CELLS_EXTRA))
			continue;
		b = sp_store_make(s, SP_BLOCK_CELLS, sp_cells_bytes(&l), &to[i]);
		if (!b)
			return false;
		if (was)
			memcpy(b + 1, was + 1, sp_cells_bytes(&l) - sizeof(*b));
		else
			sp_cells_begin(b, &l, sum->cells, i * (uint32_t)l.each);
	}
	return true;
}

static void free_cells(struct sp_store *s, const struct sp_relation *r)
{
	struct sp_layout l = sp_relation_layout(r->k, r->cells);

	for (uint32_t i = 0; i < sp_cell_blocks(&l, r->cells); i++)
		if (cells_at(s, blocks_of(r, &l)[i], &l))
			sp_region_free(&s->region, blocks_of(r, &l)[i], sp_cells_bytes(&l));
}

static int cpu_of(const struct sp_writer *w, uint32_t i)
{
	const struct sp_cell *c = i < w->cells - SP_CELLS_EXTRA ? NULL : cell_of(w, i);

	return c ? c->cpu : i < w->cells - SP_CELLS_EXTRA ? (int)i : SP_NO_CPU;
}

/* Adds times cell by cell: CPUs that the topology lacks have different cells in each relation. */
static void add_times(struct sp_writer *w, const struct sp_writer *v)
{
	struct sp_relation *to = w->relation, *from = v->relation;
	struct sp_times *t = sp_relation_times(to), *f = sp_relation_times(from);

	sp_relation_copy_attribution(to, from);
	if (!to->threads)
		t->flags = SP_TIMES_KNOWN | SP_TIMES_MOVES | SP_TIMES_RUN;
	t->flags = (t->flags & f->flags) | ((t->flags | f->flags) & SP_TIMES_UNWATCHED);
	sp_times_unwatched(t, f->unwatched);
	t->moves += f->moves;		/* or run_ns */
	t->windows += f->windows;
	for (uint32_t i = 0; i < v->cells; i++)
		if (f->at[i])
			t->at[sp_records_cell(w, cpu_of(v, i))] += f->at[i];
	for (uint32_t e = 0; e < to->k; e++)
		t->at[to->cells + e] = sp_max(t->at[to->cells + e], f->at[to->cells + e]);
}

/* Drops readings of an ended thread, which would not be in order among others' and need
 * unlimited memory. */
static void drop_readings(struct sp_store *s, struct sp_relation *r, struct sp_relation *sum)
{
	struct sp_chunk *c;
	sp_off off = r->readings, next;
	uint64_t left = sp_store_most_blocks(s);

	for (; left-- && (c = sp_store_readings_at(&s->reader, off)) != NULL; off = next) {
		if (off == r->readings)
			sp_add(&sum->refused, c->first + sp_readings_complete(c));
		next = c->next;
		sp_region_free(&s->region, off, c->b.bytes);
	}
}

/* Adds overflows; CPUs that the topology lacks have different cells in each relation. */
static void add_overflows(const struct sp_overflow_writer *to, struct sp_writer *w,
			  const struct sp_overflow_writer *from)
{
	const struct sp_overflow *f = sp_overflow_in(from->block);
	const struct sp_hit *h = sp_hits_in(from->block, from->n);
	uint32_t cells = w->cells, at;

	for (uint32_t i = 0; i < from->n; i++) {
		at = i - i % cells + (uint32_t)sp_records_cell(w, f[i].cpu);
		if (f[i].count)
			sp_overflow_count(to, at, f[i].event, f[i].cpu, f[i].count);
	}
	for (uint32_t i = 0; i < SP_HITS; i++) {
		uint32_t of = h[i].of - 1;

		if (of >= from->n || !sp_hit_weight(&h[i]))
			continue;
		at = of - of % cells + (uint32_t)sp_records_cell(w, f[of].cpu);
		sp_overflow_hit(to, at, sp_hit_weight(&h[i]), h[i].address, h[i].module);
	}
}

/* Gives sum, a copy of a relation that stays until sum replaces it, its own block; false: no
 * memory. */
static bool fold_overflows(struct sp_store *s, struct sp_relation *sum, sp_off off,
			   struct sp_relation *from)
{
	struct sp_overflow_writer old = { 0 }, add = { 0 }, to;
	struct sp_writer w;

	if (sp_relation_times(sum)->overflows)
		old = sp_store_overflows(s, sum);
	if (sp_relation_times(from)->overflows)
		add = sp_store_overflows(s, from);
	sp_relation_times(sum)->overflows = 0;
	if (!old.block && !add.block)
		return true;
	to = sp_store_overflows(s, sum);
	if (!to.block)
		return false;
	sp_records_bind(&w, &s->reader, off, sum->k, sum->cells, NULL);
	if (old.block)
		add_overflows(&to, &w, &old);
	if (add.block)
		add_overflows(&to, &w, &add);
	return true;
}

static void free_overflows(struct sp_store *s, const struct sp_relation *r)
{
	const struct sp_overflows *o = sp_overflows_at(&s->reader, sp_relation_times(r)->overflows);

	if (o)
		sp_region_free(&s->region, sp_relation_times(r)->overflows,
			       sp_overflows_bytes(o->n, o->hits));
}

static uint32_t count_intervals(struct sp_store *s, const struct sp_relation *r)
{
	const struct sp_intervals *b;
	unsigned left = SP_INTERVAL_BLOCKS;
	uint32_t n = 0;

	for (sp_off off = r->intervals;
	     left-- && (b = sp_intervals_at(&s->reader, off, r->k)) != NULL; off = b->next)
		n += (uint32_t)sp_min(b->n, b->room);
	return n;
}

/* Adds n words, which are values of the k events, then of the k again. */
static void add_values(int64_t *to, const int64_t *v, uint32_t n, uint32_t k, const uint8_t *kinds)
{
	for (uint32_t e = 0; e < n; e++) {
		if (kinds && kinds[e % k] == SP_FLOATS)
			sp_float_add(&to[e], v[e]);
		else
			to[e] += v[e];
	}
}

/* Adds the intervals of `from` to block b of `to`. */
static void add_intervals(struct sp_store *s, struct sp_intervals *b, struct sp_writer *to,
			  const struct sp_writer *from, sp_off off)
{
	uint32_t k = to->k;
	const struct sp_intervals *a;
	unsigned left = SP_INTERVAL_BLOCKS;

	for (; left-- && (a = sp_intervals_at(&s->reader, off, k)) != NULL; off = a->next)
		for (uint32_t i = 0; i < a->n && i < a->room; i++) {
			const struct sp_interval *f = sp_interval_in(a, k, i);
			struct sp_interval *t;

			if ((uint32_t)f->cell >= from->cells)
				continue;
			t = sp_interval_find_or_add(b, k, f->from, f->to,
					     sp_records_cell(to, cpu_of(from, (uint32_t)f->cell)));
			if (!t) {		/* readers show it as "other" */
				to->relation->flags |= SP_RELATION_CROWDED;
				continue;
			}
			t->count += f->count;
			add_values(t->at, f->at, 2 * k, k, to->kinds);
		}
}

static void free_intervals(struct sp_store *s, sp_off off, uint32_t k)
{
	const struct sp_intervals *b;
	unsigned left = SP_INTERVAL_BLOCKS;

	while (left-- && (b = sp_intervals_at(&s->reader, off, k)) != NULL) {
		sp_off next = b->next;

		sp_region_free(&s->region, off, b->b.bytes);
		off = next;
	}
}

static void add_cells(struct sp_writer *to, const struct sp_writer *from)
{
	for (uint32_t i = 0; i < from->cells; i++) {
		const struct sp_cell *f = cell_of(from, i);
		struct sp_cell *t;

		if (!f || !f->used)
			continue;
		t = cell_of(to, (uint32_t)sp_records_cell(to, f->cpu));
		t->readings += f->readings;
		/* Add totals and exact only; entries end with their set. */
		add_values(t->at, f->at, (SP_EXACT + 1) * to->k, to->k, to->kinds);
	}
}

/* Adds everything but the readings. */
static void add_relation(struct sp_store *s, struct sp_relation *to, sp_off to_off,
			 struct sp_relation *from, sp_off from_off)
{
	uint8_t kinds[to->k];
	const uint8_t *kind = sp_store_kinds(s, to, kinds) ? kinds : NULL;
	sp_off had = to->intervals;
	struct sp_intervals *b;
	struct sp_writer w, v;
	uint32_t n;

	sp_records_bind(&w, &s->reader, to_off, to->k, to->cells, kind);
	sp_records_bind(&v, &s->reader, from_off, from->k, from->cells, kind);
	n = count_intervals(s, to) + count_intervals(s, from);
	to->intervals = 0;
	b = n ? sp_store_intervals(s, to, w.k, (uint32_t)sp_min(n, SP_INTERVALS_MOST)) : NULL;
	if (b) {
		add_intervals(s, b, &w, &w, had);
		add_intervals(s, b, &w, &v, from->intervals);
	} else {
		to->intervals = had;
	}
	add_cells(&w, &v);
	to->starts += from->starts;
	to->resets += from->resets;
	to->first_ns = to->first_ns && from->first_ns ? sp_min(to->first_ns, from->first_ns) :
							to->first_ns + from->first_ns;
	to->last_ns = sp_max(to->last_ns, from->last_ns);
	to->flags |= (from->flags & ~(SP_RELATION_HOW | SP_RELATION_OTHER_STARTER)) |
		     (v.ran ? SP_RELATION_RUNNING : 0);
	add_times(&w, &v);
	to->threads += from->threads;
	to->refused += from->refused;
}

/* Returns the word in the list at *head that refers to off. */
static sp_off *link_to(struct sp_store *s, sp_off *head, sp_off off)
{
	for (uint64_t left = sp_store_most_blocks(s); left && *head && *head != off; left--) {
		struct sp_relation *r = sp_store_relation_at(s, *head);

		if (!r)
			return NULL;
		head = &r->next;
	}
	return *head == off ? head : NULL;
}

/* Lists r's gauges for its sum; false: too many, or damaged. */
static bool same_gauges(const struct sp_store *s, const struct sp_relation *r,
			struct sp_relation_key *key, struct sp_gauge_kind kind[FOLD_GAUGES])
{
	uint64_t bytes;
	const struct sp_gauges *g = sp_store_gauges_at(s, r->gauges, &bytes);
	uint32_t n = g ? g->n : 0;

	if (!r->gauges)
		return true;
	if (!n || n > FOLD_GAUGES)
		return false;
	for (uint32_t i = 0; i < n; i++)
		kind[i] =
			(struct sp_gauge_kind){ .index = ((const uint32_t *)(g + 1))[i],
						.data_type = sp_gauges_at(g, n)[i].data_type & 3 };
	key->n_gauges = n;
	key->gauge = kind;
	return true;
}

/* Makes a new block with the gauges of r and old. */
static bool fold_gauges(struct sp_store *s, struct sp_relation *sum, const struct sp_relation *old,
			const struct sp_relation *r)
{
	uint64_t bytes, other;
	struct sp_gauges *from = sp_store_gauges_at(s, r->gauges, &bytes),
			 *g = sp_store_gauges_at(s, old->gauges, &other), *to;

	if (!from || !g || bytes != other || from->n != g->n || from->cells != g->cells)
		return false;
	to = sp_store_make(s, SP_BLOCK_GAUGES, bytes, &sum->gauges);
	if (!to)
		return false;
	memcpy((char *)to + sizeof(to->b), (char *)g + sizeof(g->b), bytes - sizeof(g->b));
	sp_gauges_add(sp_gauges_at(to, from->n), sp_gauges_at(from, from->n),
		      (uint64_t)from->n * from->cells);
	return true;
}

/* Adds r (at off, in t's list) to its relation of tid 0. After a kill at any instruction a
 * reader counts it once: the sum is a new block, which replaces the old one by one store and
 * names r as included. */
static bool fold(struct sp_store *s, struct sp_thread *zero, struct sp_thread *t,
		 struct sp_relation *r, sp_off off)
{
	struct sp_relation_key key = { .k = r->k,
				       .event = (const uint32_t *)(r + 1),
				       .target = (enum sp_target)r->target,
				       .target_id = r->target_id,
				       .scope = (enum sp_scope)r->scope,
				       .domain = r->domain,
				       .event_set = r->event_set,
				       .flags = r->flags & SP_RELATION_KEY_FLAGS &
						~SP_RELATION_OTHER_STARTER };
	sp_off old_off, new_off, *at;
	struct sp_relation *old, *sum;
	uint64_t bytes = sp_relation_layout(r->k, r->cells).bytes, gauges_bytes = 0;
	struct sp_gauge_kind kind[FOLD_GAUGES];

	if (r->cells != s->cells || !same_gauges(s, r, &key, kind))
		return false;
	if (r->flags & SP_RELATION_OTHER_STARTER)	/* the sum does not keep who started it */
		key.target_id = r->target == SP_TARGET_TID ? t->tid : 0;
	old = sp_store_find_relation(s, zero, &key, &old_off);
	if (!old) {
		old = sp_store_new_relation(s, s->folded, &key, &old_off);
		if (!old)
			return false;
		old->threads = 0;
	}
	sum = sp_store_make(s, SP_BLOCK_RELATION, bytes, &new_off);
	if (!sum)
		return false;
	memcpy((char *)sum + sizeof(sum->b), (char *)old + sizeof(old->b), bytes - sizeof(old->b));
	if (!copy_cells(s, sum, r) || (r->gauges && !fold_gauges(s, sum, old, r)) ||
	    !fold_overflows(s, sum, new_off, r))
		return false;
	add_relation(s, sum, new_off, r, off);
	sum->folded = off;
	at = link_to(s, &zero->relations, old_off);
	if (!at)
		return false;
	store_release(at, new_off);
	at = link_to(s, &t->relations, off);
	if (at)
		store_release(at, r->next);
	t->n_relations--;
	s->n_unfolded--;
	sp_order();
	sum->folded = 0;
	drop_readings(s, r, sum);
	if (r->gauges && sp_store_gauges_at(s, r->gauges, &gauges_bytes))
		sp_region_free(&s->region, r->gauges, gauges_bytes);
	if (old->gauges && sp_store_gauges_at(s, old->gauges, &gauges_bytes))
		sp_region_free(&s->region, old->gauges, gauges_bytes);
	free_overflows(s, r);
	free_overflows(s, old);
	free_cells(s, r);
	free_cells(s, old);
	free_intervals(s, r->intervals, r->k);
	if (old->intervals != sum->intervals)
		free_intervals(s, old->intervals, r->k);
	sp_region_free(&s->region, off, bytes);
	sp_region_free(&s->region, old_off, bytes);
	return true;
}

static void drop_thread(struct sp_store *s, struct sp_thread *zero, struct sp_thread *t, sp_off off)
{
	sp_off *at = &s->header->lists.threads;

	for (uint64_t left = sp_store_most_blocks(s); *at != off; left--) {
		struct sp_thread *next = left ? sp_store_thread_at(s, *at) : NULL;

		if (!next)
			return;
		at = &next->next;
	}
	for (uint32_t i = 0; i < SP_CALLS_MAX; i++)
		zero->calls[i] += t->calls[i];
	zero->threads += t->threads;
	zero->ran.ns += t->ran.ns;
	zero->ran.more_ns = t->ran.since ? SP_COUNTED_UNKNOWN
					 : sp_counted_add(zero->ran.more_ns, t->ran.more_ns);
	store_release(at, t->next);
	sp_region_free(&s->region, off, sizeof(*t));
}

static struct sp_thread *folded_thread(struct sp_store *s)
{
	if (!s->folded)
		sp_store_thread(s, 0, "", &s->folded);
	return sp_store_thread_at(s, s->folded);
}

/* Folds one relation of t, if possible. Relations of a live thread are folded only if the
 * program has freed them (sspapi.h). */
static bool fold_one(struct sp_store *s, struct sp_thread *zero, struct sp_thread *t, bool ended,
		     bool (*is_bound)(sp_off, void *), void *arg)
{
	struct sp_relation *r;

	uint64_t left = sp_store_most_blocks(s);

	for (sp_off off = t->relations; left-- && (r = sp_store_relation_at(s, off)) != NULL;
	     off = r->next)
		if ((ended || (r->flags & SP_RELATION_API)) && !(r->flags & SP_RELATION_HANDLE) &&
		    !is_bound(off, arg))
			return fold(s, zero, t, r, off);
	return false;
}

void sp_store_fold(struct sp_store *s, bool (*ended)(int tid),
		   bool (*is_bound)(sp_off relation, void *arg), void *arg)
{
	struct sp_thread *zero, *t;
	uint64_t left = sp_store_most_blocks(s);
	unsigned folded = 0;
	sp_off next;
	bool gone;

	if (s->n_unfolded <= SP_FOLD_ABOVE || load_acquire(&s->dumping))
		return;
	zero = folded_thread(s);
	for (sp_off off = zero ? s->header->lists.threads : 0; off && folded < SP_FOLD_AT_ONCE;
	     off = next) {
		t = left-- ? sp_store_thread_at(s, off) : NULL;
		if (!t)
			return;
		next = t->next;
		if (!t->tid)
			continue;
		gone = ended(t->tid);
		while (folded < SP_FOLD_AT_ONCE && fold_one(s, zero, t, gone, is_bound, arg))
			folded++;
		if (gone && !t->n_relations)
			drop_thread(s, zero, t, off);
	}
}
