/* readings.c: appends permanent readings, and finds them again; see readings.h. */
#include "readings.h"

_Static_assert(SP_SITES_MOST <= UINT16_MAX, "a reading has its call sites");

/* Makes the relation's newest chunk, with room for at least one reading; NULL: no memory. It has
 * SP_READINGS_CHUNK bytes, the first ones fewer. */
static struct sp_chunk *new_chunk(struct sp_log *l)
{
	struct sp_relation *r = l->relation;
	struct sp_chunk *prev = l->chunk;
	uint32_t k = l->k;
	uint64_t bytes = prev ? sp_min(SP_READINGS_CHUNK, 2 * (uint64_t)prev->b.bytes)
			      : SP_READINGS_CHUNK / 2;
	struct sp_chunk *c;
	sp_off off;

	bytes = sp_max(bytes, sizeof(*c) + sp_chunk_bytes_each(k, true));
	c = sp_store_make(l->store, SP_BLOCK_READINGS, bytes, &off);
	if (!c)
		return NULL;
	c->k = k;
	c->sites = true;
	c->room = (uint32_t)((c->b.bytes - sizeof(*c)) / sp_chunk_bytes_each(k, true));
	if (prev) {
		c->number = prev->number + 1;
		c->first = prev->first + prev->room;
	}
	sp_store_push(l->store, &r->readings, &r->kept, &c->next, off);
	return c;
}

static void aim(struct sp_log *l)
{
	l->at = (unsigned char *)(l->chunk + 1) + (uint64_t)l->n * l->bytes_each;
	l->sites = (struct sp_reading_sites *)sp_reading_sites(l->chunk);
}

/* Returns how many readings of the chunk may be kept. */
static uint32_t room_of(const struct sp_log *l, const struct sp_chunk *c)
{
	return (uint32_t)(l->most > c->first ? sp_min(c->room, l->most - c->first) : 0);
}

static void take_chunk(struct sp_log *l)
{
	struct sp_chunk *c = new_chunk(l);

	if (!c) {
		l->whole = l->room = 0;
		return;
	}
	l->n = 0;
	l->whole = l->room = room_of(l, c);
	l->chunk = c;
	aim(l);
	if (l->whole > 1 && sp_region_low(&l->store->region))
		l->room /= 2;
}

/* Checks values from the store once here; they are not followed later. */
void sp_log_open(struct sp_log *l, struct sp_store *s, struct sp_relation *r, uint32_t k,
		 uint64_t most)
{
	struct sp_chunk *c = sp_store_readings_at(&s->reader, r->readings);
	uint64_t ns = l->relation == r ? l->ns : 0;

	*l = (struct sp_log){ .store = s,
			      .relation = r,
			      .k = k,
			      .bytes_each = (uint32_t)sp_reading_bytes(k),
			      .most = most };
	if (c && c->k == k && c->sites) {
		l->chunk = c;
		l->n = sp_readings_complete(c);
		l->room = room_of(l, c);
		if (l->n)
			ns = sp_max(ns, sp_reading_at(c, l->n - 1)->ns);
	}
	l->ns = ns;
	l->whole = l->room;
	if (most) {
		struct sp_lock_state h;

		sp_lock_take(&s->lock, &h);
		if (l->n >= l->room && sp_log_kept(l) < most)
			take_chunk(l);
		l->room = l->whole;
		sp_region_ahead(&s->region);
		sp_lock_give(&s->lock, &h);
	}
	if (l->chunk)
		aim(l);
}

SP_COLD bool sp_log_extend(struct sp_log *l)
{
	struct sp_lock_state h;

	if (!l->room || sp_log_kept(l) >= l->most)
		return false;
	sp_lock_take(&l->store->lock, &h);
	if (l->room < l->whole) {
		sp_region_ahead(&l->store->region);
		l->room = l->whole;
	} else {
		take_chunk(l);
	}
	sp_lock_give(&l->store->lock, &h);
	return l->room;
}

/* ---- finding a reading --------------------------------------------------- */

struct sp_chunk *sp_store_readings_at(const struct sp_store_reader *reader, sp_off off)
{
	const struct sp_chunk *c =
		sp_store_reader_block(reader, off, SP_BLOCK_READINGS, sizeof(*c));

	if (!c || !c->k || c->k > SP_EVENTS_MAX || !c->room ||
	    c->room > (c->b.bytes - sizeof(*c)) / sp_chunk_bytes_each(c->k, c->sites))
		return NULL;
	return (struct sp_chunk *)c;
}

uint32_t sp_readings_complete(const struct sp_chunk *c)
{
	uint32_t lo = 0, hi = c->room;

	if (load_acquire(&sp_reading_at(c, hi - 1)->number) == hi)
		return hi;		/* all but the newest chunk are full */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (load_acquire(&sp_reading_at(c, mid)->number) == mid + 1)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct sp_reading *find_in(const struct sp_chunk *c, uint64_t ns)
{
	uint32_t lo = 0, hi = sp_readings_complete(c);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct sp_reading *r = sp_reading_at(c, mid);

		if (r->ns == ns)
			return r;
		if (r->ns < ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const struct sp_reading *sp_readings_find(const struct sp_store_reader *reader, sp_off newest,
					  uint64_t ns)
{
	const struct sp_chunk *c = sp_store_readings_at(reader, newest), *before;

	for (; c && (c->first_ns > ns || !c->first_ns); c = before) {
		before = sp_store_readings_at(reader, c->next);
		if (before && before->number >= c->number)
			return NULL;	/* damaged list */
	}
	return c ? find_in(c, ns) : NULL;
}
