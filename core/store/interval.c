/* interval.c: see interval.h. */
#include <string.h>

#include "gauge.h"
#include "image.h"
#include "interval.h"

#define BLOCKS_MOST 64		/* of a relation: they double */

uint64_t sp_intervals_bytes(uint32_t k, uint32_t room)
{
	return sizeof(struct sp_intervals) + 16 * (uint64_t)k + room * (sizeof(struct sp_interval) + 16 * (uint64_t)k);
}

struct sp_interval *sp_interval_in(struct sp_intervals *block, uint32_t k, uint32_t i)
{
	return (struct sp_interval *)((char *)(block + 1) + 16 * (uint64_t)k +
				      i * (sizeof(struct sp_interval) + 16 * (uint64_t)k));
}

struct sp_interval *sp_interval_like(struct sp_intervals *block, uint32_t k, uint32_t from, uint32_t to, int32_t cell)
{
	struct sp_interval *at;

	for (uint32_t i = block->n; i-- > 0;) {
		at = sp_interval_in(block, k, i);
		if (at->from == from && at->to == to && at->cell == cell)
			return at;
	}
	if (block->n == block->room)
		return NULL;
	at = sp_interval_in(block, k, block->n++);
	at->from = from;
	at->to = to;
	at->cell = cell;
	return at;
}

const struct sp_intervals *sp_intervals_at(const struct sp_image *image, sp_off off, uint32_t k)
{
	const struct sp_intervals *b = sp_image_block(image, off, SP_BLOCK_INTERVALS, sizeof(*b));

	return b && b->k == k && b->room <= SP_INTERVALS_MOST && sp_intervals_bytes(k, b->room) <= b->b.bytes ? b : NULL;
}

uint32_t sp_intervals_room(const struct sp_image *image, sp_off off, uint32_t k)
{
	const struct sp_intervals *b;
	unsigned left = BLOCKS_MOST;
	uint32_t room = 0;

	for (; off && left-- && (b = sp_intervals_at(image, off, k)) != NULL; off = b->next)
		room += b->room;
	return room;
}

uint64_t sp_interval_value(const struct sp_intervals *block, const struct sp_interval *at, uint32_t k, uint32_t i,
			   const int64_t *total, const int64_t *exact, uint64_t readings, int64_t *out)
{
	if (sp_get(&block->current) != i + 1) {
		for (uint32_t e = 0; e < 2 * k; e++)
			out[e] = sp_get(&at->at[e]);
		return sp_get(&at->count);
	}
	for (uint32_t e = 0; e < k; e++) {
		out[e] = total[e] - block->base[e];
		out[k + e] = exact[e] - block->base[k + e];
	}
	return readings - block->base_count;
}

void sp_interval_float(const struct sp_intervals *block, const struct sp_interval *at, uint32_t k, uint32_t i, uint32_t e,
		       int64_t total, int64_t exact, int64_t *out)
{
	bool current = sp_get(&block->current) == i + 1;

	out[e] = current ? sp_float_bits(sp_float(total) - sp_float(block->base[e])) : sp_get(&at->at[e]);
	out[k + e] = current ? sp_float_bits(sp_float(exact) - sp_float(block->base[k + e])) : sp_get(&at->at[k + e]);
}

void sp_float_add(int64_t *to, int64_t more)
{
	*to = sp_float_bits(sp_float(*to) + sp_float(more));
}

/* ---- what a cell has now ---------------------------------------------- */

struct now {
	const int64_t *total, *total_off, *exact, *exact_off;
	uint64_t readings;
};

static const int64_t zeros[SP_EVENTS_MAX];

static struct now now_of(const struct sp_writer *w, int cell)
{
	const struct sp_state *s = w->state;
	const struct sp_cell *c = (const struct sp_cell *)(w->cell + (uint64_t)cell * w->cell_bytes);

	if (s->cell == cell)
		return (struct now){ s->at, s->at + (uint64_t)SP_OFF * w->k, s->at, s->at + (uint64_t)SP_XOFF * w->k,
				     s->readings };
	return (struct now){ c->at + (uint64_t)SP_TOTAL * w->k, zeros, c->at + (uint64_t)SP_EXACT * w->k, zeros,
			     c->readings };
}

/* The next of the writer's floating-point counters: its number among the gauges; false: no more. */
static bool next_float(const struct sp_writer *w, uint32_t *i, uint32_t *e)
{
	const struct sp_gauge_writer *g = w->gauges;

	for (; g && *i < g->n; ++*i)
		if (g->event[*i].kind.counts) {
			*e = g->event[*i].kind.index;
			return true;
		}
	return false;
}

/* to = what the cell has less `less`, of floating-point counters. */
static void rest_of_floats(const struct sp_writer *w, int cell, int64_t *to, const int64_t *less)
{
	double total, exact;

	for (uint32_t i = 0, e; next_float(w, &i, &e); i++) {
		sp_gauges_sum(w->gauges, i, (uint32_t)cell, w->cells, &total, &exact);
		to[e] = sp_float_bits(total - sp_float(less[e]));
		to[w->k + e] = sp_float_bits(exact - sp_float(less[w->k + e]));
	}
}

/* ---- one to the other ------------------------------------------------- */

/* Its own words get what it has; until `current` is turned off they do not count. */
static void leave(struct sp_writer *w)
{
	struct sp_track *t = &w->track;
	struct sp_interval *at = t->at;
	struct sp_intervals *b = t->block;
	uint32_t k = w->k;
	struct now n;

	if (!at)
		return;
	n = now_of(w, t->cell);
	at->count = n.readings - b->base_count;
	for (uint32_t e = 0; e < k; e++)
		at->at[e] = n.total[e] + n.total_off[e] - b->base[e];
	for (uint32_t e = 0; e < k; e++)
		at->at[k + e] = n.exact[e] + n.exact_off[e] - b->base[k + e];
	if (w->gauges)
		rest_of_floats(w, t->cell, at->at, b->base);
	sp_order();
	sp_put(&b->current, 0);
	sp_order();
	t->at = NULL;
}

static uint32_t first_slot(const struct sp_track *t, uint32_t from, uint32_t to, int cell)
{
	uint64_t h = (from * 0x9e3779b97f4a7c15ull) ^ (to * 0xc2b2ae3d27d4eb4full) ^ ((uint32_t)cell * 0x165667b19e3779f9ull);

	return (uint32_t)(h >> 32) & (t->slots - 1);
}

static struct sp_interval_slot *slot_of(const struct sp_track *t, uint32_t from, uint32_t to, int cell)
{
	uint32_t i = first_slot(t, from, to, cell);
	struct sp_interval_slot *s = &t->slot[i];

	while (s->block && (s->from != from || s->to != to || s->cell != cell))
		s = &t->slot[i = (i + 1) & (t->slots - 1)];
	return s;
}

static void index_it(struct sp_track *t, struct sp_intervals *block, struct sp_interval *at, uint32_t number)
{
	struct sp_interval_slot *s = slot_of(t, at->from, at->to, at->cell);

	if (!s->block)
		*s = (struct sp_interval_slot){ at->from, at->to, at->cell, number, block, at };
}

static bool new_interval(struct sp_writer *w, struct sp_interval_slot *s, uint32_t from, uint32_t to, int cell)
{
	struct sp_track *t = &w->track;
	struct sp_interval *at;

	if (t->fresh_used == t->fresh_room)
		return false;
	at = sp_interval_in(t->fresh, w->k, t->fresh_used);
	at->from = from;
	at->to = to;
	at->cell = cell;
	t->fresh_used++;
	t->used++;
	t->low = sp_intervals_wanted(t) != 0;
	sp_publish(&t->fresh->n, t->fresh_used);
	*s = (struct sp_interval_slot){ from, to, cell, t->fresh_used, t->fresh, at };
	return true;
}

/* Pairs may be as many as the square of the sites (50 readers in any order are 2,500): the last quarter of the room is for
 * what a site has from any other, so that what finds no place of its own is still known by the site that it led up to. */
static bool is_for_sites(const struct sp_track *t)
{
	return t->fresh_room - t->fresh_used <= t->fresh_room / 4;
}

static void crowd(struct sp_writer *w)
{
	if (!(sp_get(&w->relation->flags) & SP_RELATION_CROWDED))
		__atomic_fetch_or(&w->relation->flags, SP_RELATION_CROWDED, __ATOMIC_RELAXED);
}

/* From here on what its cell gets is this interval's. */
static void enter(struct sp_writer *w, uint32_t from, uint32_t to, int cell)
{
	struct sp_track *t = &w->track;
	struct sp_interval_slot *s = slot_of(t, from, to, cell);
	struct sp_intervals *b;
	struct sp_interval *at;
	uint32_t k = w->k;
	struct now n;

	t->cur_from = from;
	t->cur_to = to;
	t->cell = cell;
	if (!s->block && from && is_for_sites(t)) {
		crowd(w);
		from = 0;
		s = slot_of(t, from, to, cell);
	}
	if (!s->block && !new_interval(w, s, from, to, cell)) {
		crowd(w);
		return;
	}
	at = s->at;
	b = s->block;
	n = now_of(w, cell);
	b->base_count = n.readings - at->count;
	for (uint32_t e = 0; e < k; e++)
		b->base[e] = n.total[e] + n.total_off[e] - at->at[e];
	for (uint32_t e = 0; e < k; e++)
		b->base[k + e] = n.exact[e] + n.exact_off[e] - at->at[k + e];
	if (w->gauges)
		rest_of_floats(w, cell, b->base, at->at);
	sp_order();
	sp_put(&b->current, s->number);
	sp_order();
	t->block = b;
	t->at = at;
}

void sp_interval_move(struct sp_writer *w, uint32_t site)
{
	struct sp_track *t = &w->track;
	uint32_t from = t->from;

	sp_put(&t->steady, 0);
	if (!t->slots)
		return;
	leave(w);
	enter(w, from, site, w->state->cell);
}

void sp_interval_turn(struct sp_writer *w, uint32_t op, int cell, uint32_t site)
{
	struct sp_track *t = &w->track;

	sp_put(&t->steady, 0);
	if (!t->slots)
		return;
	switch (op) {
	case SP_OP_READ:
	case SP_OP_STOP:
	case SP_OP_ACCUM:
		if (t->cell != cell || t->from != t->cur_from || site != t->cur_to) {
			uint32_t from = t->from;

			leave(w);
			enter(w, from, site, cell);
		}
		t->from = site;
		break;
	case SP_OP_PART:
		leave(w);
		enter(w, t->from, site, cell);
		t->cur_from = UINT32_MAX;	/* the reading itself looks again */
		break;
	case SP_OP_SIDE:		/* from several places, perhaps: nobody's */
		t->from = 0;
		/* fall through */
	case SP_OP_LEAVE:
		leave(w);
		t->cur_from = UINT32_MAX;
		break;
	default:
		t->from = site;
		break;
	}
}

/* ---- room ------------------------------------------------------------- */

/* The writer before may have gone without leaving. */
static void settle(struct sp_writer *w, struct sp_intervals *b)
{
	uint32_t i = b->current - 1;
	struct sp_track *t = &w->track;

	if (i < b->room && (uint32_t)sp_interval_in(b, w->k, i)->cell < w->cells) {
		t->block = b;
		t->at = sp_interval_in(b, w->k, i);
		t->cell = t->at->cell;
		leave(w);
	}
	b->current = 0;
}

void sp_intervals_bind(struct sp_writer *w, const struct sp_image *image, struct sp_interval_slot *memory,
		       uint32_t slots)
{
	struct sp_track *t = &w->track;
	struct sp_intervals *b;
	unsigned left = BLOCKS_MOST;

	memset(t, 0, sizeof(*t));
	t->slot = memory;
	t->slots = slots;
	t->cell = -1;
	for (sp_off off = w->relation->intervals; off && left--; off = b->next) {
		b = (struct sp_intervals *)sp_intervals_at(image, off, w->k);
		if (!b)
			break;
		if (b->current)
			settle(w, b);
		if (!t->fresh) {
			t->fresh = b;
			t->fresh_room = b->room;
			t->fresh_used = (uint32_t)sp_min(b->n, b->room);
		}
		t->room += b->room;
		for (uint32_t i = 0; i < b->n && i < b->room && 2 * t->used < slots; i++, t->used++)
			index_it(t, b, sp_interval_in(b, w->k, i), i + 1);
	}
	t->cell = -1;
	t->cur_from = UINT32_MAX;
	t->low = sp_intervals_wanted(t) != 0;
}

uint32_t sp_intervals_wanted(const struct sp_track *t)
{
	if (!t->room)
		return SP_INTERVALS_FIRST;
	return t->fresh_room - t->fresh_used > t->room / 4 || t->room >= SP_INTERVALS_MOST ? 0 : t->room;
}
