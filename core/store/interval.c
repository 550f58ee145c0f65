/* interval.c: see interval.h. */
#include <string.h>

#include "interval.h"
#include "store.h"

/* Offset in the block's head of the word that changes when an interval is added. */
#define HEAD_AT		offsetof(struct sp_intervals, n)

uint64_t sp_intervals_bytes(uint32_t k, uint32_t room)
{
	return sp_interval_at(k, room);
}

struct sp_intervals *sp_store_intervals(struct sp_store *s, struct sp_relation *r, uint32_t k,
					uint32_t room)
{
	sp_off off;
	struct sp_intervals *b =
		sp_store_make(s, SP_BLOCK_INTERVALS, sp_intervals_bytes(k, room), &off);

	if (!b)
		return NULL;
	b->k = k;
	b->room = room;
	b->next = r->intervals;
	store_release(&r->intervals, off);
	return b;
}

struct sp_interval *sp_interval_find_or_add(struct sp_intervals *block, uint32_t k, uint32_t from,
				     uint32_t to, int32_t cell)
{
	struct sp_interval *at;

	for (uint32_t i = (uint32_t)block->n; i-- > 0;) {
		at = sp_interval_in(block, k, i);
		if (at->from == from && at->to == to && at->cell == cell)
			return at;
	}
	if (block->n == block->room)
		return NULL;
	at = sp_interval_in(block, k, (uint32_t)block->n);
	at->number = (uint32_t)block->n++;
	at->from = from;
	at->to = to;
	at->cell = cell;
	return at;
}

const struct sp_intervals *sp_intervals_at(const struct sp_store_reader *reader, sp_off off,
					   uint32_t k)
{
	const struct sp_intervals *b =
		sp_store_reader_block(reader, off, SP_BLOCK_INTERVALS, sizeof(*b));

	return b && b->k == k && b->room <= SP_INTERVALS_MOST &&
			       sp_intervals_bytes(k, b->room) <= b->b.bytes
		       ? b
		       : NULL;
}

uint32_t sp_intervals_room(const struct sp_store_reader *reader, sp_off off, uint32_t k)
{
	const struct sp_intervals *b;
	unsigned left = SP_INTERVAL_BLOCKS;
	uint32_t room = 0;

	for (; off && left-- && (b = sp_intervals_at(reader, off, k)) != NULL; off = b->next)
		room += b->room;
	return room;
}

/* ---- by slots ------------------------------------------------------------- */

static struct sp_interval *in_slot(const struct sp_interval_writer *t, uint32_t slot)
{
	const sp_off off = (sp_off)slot * 8;
	void *at = sp_interval_writer_at(t, off, SP_INTERVAL_BYTES(t->k));

	return at ? at : (void *)sp_store_reader_at(t->reader, off, SP_INTERVAL_BYTES(t->k));
}

static bool is_between(const struct sp_interval *at, uint32_t from, uint32_t to, int cell)
{
	return at && at->from == from && at->to == to && at->cell == cell;
}

/* Sets *at to the interval in the returned slot; NULL: the slot is free. */
static uint32_t *slot_of(const struct sp_interval_writer *t, uint32_t from, uint32_t to, int cell,
			 const struct sp_interval **at)
{
	uint64_t h = (from * 0x9e3779b97f4a7c15ull) ^ (to * 0xc2b2ae3d27d4eb4full) ^
		     ((uint32_t)cell * 0x165667b19e3779f9ull);
	uint32_t i = (uint32_t)(h >> 32) & (t->slots - 1);

	for (; t->slot[i]; i = (i + 1) & (t->slots - 1)) {
		*at = in_slot(t, t->slot[i]);
		if (is_between(*at, from, to, cell))
			return &t->slot[i];
	}
	*at = NULL;
	return &t->slot[i];
}

static void use_block(struct sp_interval_writer *t, struct sp_intervals *b, sp_off off)
{
	t->fresh = b;
	t->fresh_off = off;
	t->fresh_used = (uint32_t)sp_min(b->n, b->room);
}

void sp_intervals_bind(struct sp_interval_writer *t, const struct sp_store_reader *reader,
		       sp_off *newest, uint32_t k, uint32_t *memory, uint32_t slots)
{
	unsigned left = SP_INTERVAL_BLOCKS;
	struct sp_intervals *b;

	/* Copy word by word: another thread may read `low` now. */
	sp_copy_words((sp_word *)t,
		      (const sp_word *)&(struct sp_interval_writer){ .k = k,
							   .slot = memory,
							   .slots = slots,
							   .reader = reader,
							   .newest = newest },
		      sizeof(*t) / 8);
	for (sp_off off = *newest; off && left--; off = b->next) {
		b = (struct sp_intervals *)sp_intervals_at(reader, off, k);
		if (!b)
			break;
		if (!t->fresh)
			use_block(t, b, off);
		t->room += b->room;
		t->blocks++;
		for (uint32_t i = 0; i < b->n && i < b->room && 2 * t->used < slots;
		     i++, t->used++) {
			const struct sp_interval *at = sp_interval_in(b, k, i), *other;

			*slot_of(t, at->from, at->to, at->cell, &other) =
				(uint32_t)((off + sp_interval_at(k, i)) / 8);
		}
	}
	store_relaxed(&t->low, sp_intervals_wanted(t) != 0);
}

uint32_t sp_intervals_wanted(const struct sp_interval_writer *t)
{
	uint32_t left = t->fresh ? t->fresh->room - t->fresh_used : 0;

	if (!t->room)
		return SP_INTERVALS_FIRST(t->k);
	return left > t->room / 4 || t->room >= SP_INTERVALS_MOST ? 0 : t->room;
}

/* Reserves the last quarter of the room for intervals without a first site. There may be as many
 * pairs as the square of the sites (2,500 for 50 readers in any order); pairs without room of
 * their own are then still attributed to their second site. */
static bool is_reserved(const struct sp_intervals *fresh, uint64_t used)
{
	return !fresh || fresh->room - used <= fresh->room / 4;
}

static uint32_t ready_room(const struct sp_interval_writer *t)
{
	return (uint32_t)((SP_READY_BYTES - sizeof(struct sp_intervals)) / SP_INTERVAL_BYTES(t->k));
}

/* Takes a ready block as the newest. */
static bool add_block(struct sp_interval_writer *t)
{
	uint32_t room = ready_room(t), left;
	struct sp_store *s = sp_store_of_reader(t->reader);
	struct sp_intervals *b;
	sp_off off;

	if (!s || room < 4 || t->room + room > SP_INTERVALS_MOST ||
	    t->blocks >= SP_INTERVAL_BLOCKS || 8 * (t->used + room) > 7 * t->slots)
		return false;
	/* keep the rest for cells */
	b = sp_store_take_ready(s, SP_BLOCK_INTERVALS, SP_READY / 2, &off, &left);
	if (!b)
		return false;
	b->k = t->k;
	b->room = room;
	b->next = *t->newest;
	store_release(t->newest, off);
	t->room += room;
	t->blocks++;
	use_block(t, b, off);
	return true;
}

/* Makes room for a pair, unless the room that this leaves unused in the newest block, which is
 * reserved, is larger than a ready block's. */
static bool make_room_for_pair(struct sp_interval_writer *t)
{
	return (!t->fresh || t->fresh->room / 4 < ready_room(t)) && add_block(t);
}

/* Writes the words directly: readers ignore them until the block's head counts the interval. */
static const struct sp_interval *new_interval(struct sp_interval_writer *t, uint32_t *s,
					      uint32_t from, uint32_t to, int cell)
{
	struct sp_interval *at;
	uint64_t place;

	if ((!t->fresh || t->fresh_used == t->fresh->room) && !add_block(t))
		return NULL;
	place = (t->fresh_off + sp_interval_at(t->k, t->fresh_used)) / 8;
	if (place > UINT32_MAX)
		return NULL;
	at = sp_interval_in(t->fresh, t->k, t->fresh_used);
	at->from = from;
	at->to = to;
	at->cell = cell;
	at->number = t->fresh_used++;
	t->used++;
	store_relaxed(&t->low, sp_intervals_wanted(t) != 0);
	*s = (uint32_t)place;
	return at;
}

/* Returns the redo entry of interval i, which counts as used from now on. first: it has none
 * yet. */
static struct sp_interval *log_interval(struct sp_redo_log *d, const struct sp_intervals *b,
					sp_off off, uint32_t k, uint32_t i, bool first)
{
	uint64_t *n;

	if (i >= b->n) {
		n = sp_redo_log_add(d, off + HEAD_AT, &b->n, sizeof(b->n));
		if (!n)
			return NULL;
		*n = sp_max(*n, i + 1);
	}
	return (first ? sp_redo_log_add_first : sp_redo_log_add)(d, off + sp_interval_at(k, i),
								 sp_interval_in(b, k, i),
								 SP_INTERVAL_BYTES(k));
}

struct sp_interval *sp_interval_log(struct sp_interval_writer *t, struct sp_redo_log *d,
				    uint32_t from, uint32_t to, int32_t cell, bool first,
				    bool *crowded)
{
	const struct sp_interval *at;
	const struct sp_intervals *b;
	uint32_t number;
	sp_off off;
	uint32_t *s;

	if (!t->slots)
		return NULL;
	s = slot_of(t, from, to, cell, &at);
	first &= from != 0;		/* other pairs may share this interval */
	if (!*s && from && is_reserved(t->fresh, t->fresh_used) && !make_room_for_pair(t)) {
		*crowded = true;
		first = false;
		from = 0;
		s = slot_of(t, from, to, cell, &at);
	}
	if (!*s)
		at = new_interval(t, s, from, to, cell);
	if (!at) {
		*crowded = true;
		return NULL;
	}
	number = load_relaxed(&at->number);	/* the live file may have been changed by anyone */
	off = (sp_off)*s * 8 - sp_interval_at(t->k, number);
	b = off == t->fresh_off ? t->fresh : sp_intervals_at(t->reader, off, t->k);
	return b && number < b->room ? log_interval(d, b, off, t->k, number, first) : NULL;
}

/* ---- without slots ------------------------------------------------------- */

uint32_t sp_intervals_used(const struct sp_redo_log *d, const struct sp_intervals *b, sp_off off)
{
	const uint64_t *n = sp_redo_log_find(d, off + HEAD_AT, sizeof(*n));

	return (uint32_t)sp_min(n ? *n : load_acquire(&b->n), b->room);
}

const struct sp_interval *sp_interval_logged(const struct sp_redo_log *d,
					     const struct sp_intervals *b, sp_off off, uint32_t k,
					     uint32_t i)
{
	const struct sp_interval *at =
		sp_redo_log_find(d, off + sp_interval_at(k, i), SP_INTERVAL_BYTES(k));

	return at ? at : sp_interval_in(b, k, i);
}

/* Returns the redo entry of an existing interval, or NULL. */
static struct sp_interval *find(const struct sp_store_reader *reader, sp_off newest, uint32_t k,
				struct sp_redo_log *d, uint32_t from, uint32_t to, int32_t cell)
{
	const struct sp_intervals *b;
	unsigned left = SP_INTERVAL_BLOCKS;

	for (sp_off off = newest; off && left-- && (b = sp_intervals_at(reader, off, k)) != NULL;
	     off = b->next)
		for (uint32_t i = 0, n = sp_intervals_used(d, b, off),
			      there = (uint32_t)sp_min(load_acquire(&b->n), n);
		     i < n; i++) {
			/* Entries of existing intervals change only counts, so names are read
			 * from the block. */
			const struct sp_interval *at =
				i < there ? sp_interval_in(b, k, i)
					  : sp_interval_logged(d, b, off, k, i);

			if (at->from == from && at->to == to && at->cell == cell)
				return log_interval(d, b, off, k, i, false);
		}
	return NULL;
}

struct sp_interval *sp_interval_log_by_list(const struct sp_store_reader *reader, sp_off newest,
					    uint32_t k, struct sp_redo_log *d, uint32_t from,
					    uint32_t to, int32_t cell, bool *crowded)
{
	const struct sp_intervals *fresh = newest ? sp_intervals_at(reader, newest, k) : NULL;
	struct sp_interval *at = find(reader, newest, k, d, from, to, cell);
	uint32_t used = fresh ? sp_intervals_used(d, fresh, newest) : 0;

	if (!fresh)
		return NULL;
	if (!at && from && is_reserved(fresh, used)) {
		*crowded = true;
		from = 0;
		at = find(reader, newest, k, d, from, to, cell);
	}
	if (at)
		return at;
	if (used == fresh->room) {
		*crowded = true;
		return NULL;
	}
	at = log_interval(d, fresh, newest, k, used, false);
	if (at) {
		memset(at, 0, SP_INTERVAL_BYTES(k));
		at->from = from;
		at->to = to;
		at->cell = cell;
		at->number = used;
	}
	return at;
}
