/* readings.h: permanent readings, kept one by one (sys-sage's `permanent` flag).
 *
 * A log appends to a relation's list of chunks (layout.h, struct sp_reading). Whoever may record
 * for the relation may append. Each reading is written into populated memory, its number last,
 * so that a killed process leaves complete ones. A full chunk is followed by another: 8 KiB,
 * about 10 us. Readings past `most`, or without memory, are counted (sp_relation.refused), not
 * kept.
 */
#ifndef SP_READINGS_H
#define SP_READINGS_H

#include "../base/sys.h"
#include "store.h"
#include "writer.h"

#define SP_READINGS_CHUNK	8192u

/* Bytes of a chunk for each reading. */
static inline uint64_t sp_chunk_bytes_each(uint64_t k, bool sites)
{
	return sp_reading_bytes(k) + (sites ? sizeof(struct sp_reading_sites) : 0);
}

/* Opens the log of relation r, which keeps at most `most` readings. The store's lock must be
 * free. */
void sp_log_open(struct sp_log *l, struct sp_store *s, struct sp_relation *r, uint32_t k,
		 uint64_t most);

/* Returns the number of readings kept. */
static inline uint64_t sp_log_kept(const struct sp_log *l)
{
	return l->chunk ? l->chunk->first + l->n : 0;
}

/* Makes room if the chunk is full; if it is half full, gets addresses for the store, so that the
 * call that makes the next chunk does not wait for both. False: no room. */
bool sp_log_extend(struct sp_log *l);

/* Returns the values of the next reading, or NULL: counted as refused. */
static inline int64_t *sp_log_room(struct sp_log *l)
{
	struct sp_reading *r;

	if (SP_UNLIKELY(l->n >= l->room) && !sp_log_extend(l)) {
		sp_add(&l->relation->refused, 1);
		return NULL;
	}
	r = (struct sp_reading *)l->at;
	if (SP_UNLIKELY(r->number)) {	/* a handler jumped out of its recording */
		store_relaxed(&r->number, 0);
		sp_order();
	}
	return r->value;
}

/* Completes the reading whose values sp_log_room returned. from, site: as in its record. */
static inline void sp_log_append(struct sp_log *l, int cpu, uint64_t ns, uint32_t from,
				 uint32_t site)
{
	struct sp_reading *r = (struct sp_reading *)l->at;

	r->ns = ns;
	r->cpu = cpu;
	l->sites[l->n] = (struct sp_reading_sites){ (uint16_t)from, (uint16_t)site };
	if (SP_UNLIKELY(!l->n))
		l->chunk->first_ns = ns;
	store_release(&r->number, l->n + 1);
	sp_order();
	l->n++;
	l->at += l->bytes_each;
}

/* Returns the time of a reading now, later than the last one's. */
static inline uint64_t sp_log_time(struct sp_log *l)
{
	uint64_t now = sp_now_ns();

	l->ns = SP_LIKELY(now > l->ns) ? now : l->ns + 1;
	return l->ns;
}

/* ---- readers, of any store ---------------------------------------------- */

/* Returns the complete chunk at off, or NULL. */
struct sp_chunk *sp_store_readings_at(const struct sp_store_reader *reader, sp_off off);

/* Number of complete readings in a chunk. */
uint32_t sp_readings_complete(const struct sp_chunk *c);

static inline const struct sp_reading *sp_reading_at(const struct sp_chunk *c, uint32_t i)
{
	return (const struct sp_reading *)((const char *)(c + 1) + i * sp_reading_bytes(c->k));
}

/* Returns the call sites of the chunk's readings, which follow the readings. */
static inline const struct sp_reading_sites *sp_reading_sites(const struct sp_chunk *c)
{
	return (const struct sp_reading_sites *)sp_reading_at(c, c->room);
}

/* Returns the reading with this time, or NULL. */
const struct sp_reading *sp_readings_find(const struct sp_store_reader *reader, sp_off newest,
					  uint64_t ns);

#endif
