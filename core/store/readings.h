/* readings.h: permanent readings, kept one by one (sys-sage's `permanent` flag).
 *
 * A log is the private end of a relation's list of chunks (layout.h, struct
 * sp_readings): whoever may book for the relation may append.  Each reading is
 * written into memory that is there, its number last, so that a killed process
 * leaves whole ones.  A chunk is made when the one before is full: 8 KiB, some
 * 10 us; none of its pages is touched for the first time later.
 *
 * Past `most` readings, or where there is no memory, readings are counted
 * (sp_relation.refused) and not kept.
 */
#ifndef SP_READINGS_H
#define SP_READINGS_H

#include "../base/sys.h"
#include "store.h"
#include "writer.h"

#define SP_READINGS_CHUNK	8192u

/* The log of relation r, as it stands; keeps at most `most` readings.  With
 * a store's lock not held. */
void sp_log_open(struct sp_log *l, struct sp_store *s, struct sp_relation *r, uint32_t k,
		 uint64_t most);

/* The chunk is full, or nothing more is kept; or it is half full, and the store is to
 * get addresses, so that a call which makes a chunk does not wait for both.  False: no room. */
bool sp_log_extend(struct sp_log *l);

/* Room for the next reading: its values, or NULL: counted as refused. */
static inline int64_t *sp_log_room(struct sp_log *l)
{
	struct sp_reading *r;

	if (SP_UNLIKELY(l->n >= l->room || l->kept >= l->most) &&
	    (l->kept >= l->most || !sp_log_extend(l))) {
		sp_add(&l->relation->refused, 1);
		return NULL;
	}
	r = (struct sp_reading *)l->at;
	if (SP_UNLIKELY(r->number)) {	/* its booking was jumped out of */
		store_relaxed(&r->number, 0);
		sp_order();
	}
	return r->value;
}

/* The values that sp_log_room gave are filled in. */
static inline void sp_log_append(struct sp_log *l, int cpu, uint64_t ns)
{
	struct sp_reading *r = (struct sp_reading *)l->at;

	r->ns = ns;
	r->cpu = cpu;
	if (SP_UNLIKELY(!l->n))
		l->chunk->first_ns = ns;
	store_release(&r->number, l->n + 1);
	sp_order();
	l->n++;
	l->kept++;
	l->at += sp_reading_bytes(l->k);
}

/* The time of a reading now: later than that of the one before. */
static inline uint64_t sp_log_time(struct sp_log *l)
{
	uint64_t now = sp_now_ns();

	l->ns = SP_LIKELY(now > l->ns) ? now : l->ns + 1;
	return l->ns;
}

/* ---- reading them, in a store that may be anybody's --------------------- */

/* The chunk at off, if it is a whole one. */
struct sp_chunk *sp_store_readings_at(const struct sp_store_reader *reader, sp_off off);

/* How many of a chunk are complete. */
uint32_t sp_readings_complete(const struct sp_chunk *c);

static inline const struct sp_reading *sp_reading_at(const struct sp_chunk *c, uint32_t i)
{
	return (const struct sp_reading *)((const char *)(c + 1) + i * sp_reading_bytes(c->k));
}

/* The reading with this time, or NULL. */
const struct sp_reading *sp_readings_find(const struct sp_store_reader *reader, sp_off newest,
					  uint64_t ns);

#endif
