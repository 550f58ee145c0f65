/* interval.h: counts of a relation per interval, the code between two of its PAPI calls.
 *
 * An interval is named by both call sites and the CPU of the second call. A fold (records.h) adds
 * the same counts to a cell and to its intervals. If there is no more room for pairs, counts are
 * added to an interval with an unknown first site (0). If there is no room for that, or for the
 * site, no interval has them: readers show them as "other".
 *
 * Call sites have numbers from preload/callsites/callsites.h; 0: unknown. Room is made before a
 * set starts; a running set takes ready blocks (store.h).
 */
#ifndef SP_INTERVAL_H
#define SP_INTERVAL_H

#include "redo-log.h"
#include "store-reader.h"
#include "writer.h"

#define SP_INTERVALS_FIRST(k) \
	(uint32_t) \
		sp_max(sp_min((1792 - sizeof(struct sp_intervals)) / SP_INTERVAL_BYTES(k), 32u), \
		       8u)
#define SP_INTERVALS_MOST	1024u	/* per relation */
#define SP_INTERVAL_BLOCKS	64u	/* per relation; each has twice the room of the one
					 * before */

/* Size of a block with room for that many intervals of k events; offset of interval i in it. */
uint64_t sp_intervals_bytes(uint32_t k, uint32_t room);
static inline uint64_t sp_interval_at(uint32_t k, uint32_t i)
{
	return sizeof(struct sp_intervals) + i * SP_INTERVAL_BYTES(k);
}

static inline struct sp_interval *sp_interval_in(const struct sp_intervals *block, uint32_t k,
						 uint32_t i)
{
	return (struct sp_interval *)((char *)block + sp_interval_at(k, i));
}

/* Returns words of the newest block, or NULL if they are not in it. */
static inline void *sp_interval_writer_at(const struct sp_interval_writer *t, sp_off off,
					  uint64_t bytes)
{
	const uint64_t at = off - t->fresh_off,
		       used = t->fresh ? sp_interval_at(t->k, t->fresh_used) : 0;

	return at < used && bytes <= used - at ? (char *)t->fresh + at : NULL;
}

/* Makes room for more intervals of r, whose writer has k events; NULL: no memory. Needs the
 * store's lock. */
struct sp_store;
struct sp_intervals *sp_store_intervals(struct sp_store *s, struct sp_relation *r, uint32_t k,
					uint32_t room);

/* Continues with the intervals of the list at *newest. memory: `slots` zeroed words, a power of
 * 2. Needs the store's lock. */
void sp_intervals_bind(struct sp_interval_writer *t, const struct sp_store_reader *reader,
		       sp_off *newest, uint32_t k, uint32_t *memory, uint32_t slots);

/* Returns for how many more intervals a start should make room; 0: none. */
uint32_t sp_intervals_wanted(const struct sp_interval_writer *t);

/* Returns the redo entry of an interval, new if need be. *crowded: no room for the pair. first:
 * no entry for this pair has been requested from this log. NULL: no interval has the counts. */
struct sp_interval *sp_interval_log(struct sp_interval_writer *t, struct sp_redo_log *d,
				    uint32_t from, uint32_t to, int32_t cell, bool first,
				    bool *crowded);

/* The equivalent for readers, which have no slots: searches the list at `newest`. */
struct sp_interval *sp_interval_log_by_list(const struct sp_store_reader *reader, sp_off newest,
					    uint32_t k, struct sp_redo_log *d, uint32_t from,
					    uint32_t to, int32_t cell, bool *crowded);

/* Number of used intervals in the block at off, and interval i, with redo entries applied. */
uint32_t sp_intervals_used(const struct sp_redo_log *d, const struct sp_intervals *b, sp_off off);
const struct sp_interval *sp_interval_logged(const struct sp_redo_log *d,
					     const struct sp_intervals *b, sp_off off, uint32_t k,
					     uint32_t i);

/* Finds or adds the interval of these sites and cell in a block that joins several relations: of
 * ended threads (fold.c), or of ranks (merge). NULL: no room. */
struct sp_interval *sp_interval_find_or_add(struct sp_intervals *block, uint32_t k, uint32_t from,
				     uint32_t to, int32_t cell);

/* Returns the block at off, of a relation with k events, or NULL. */
const struct sp_intervals *sp_intervals_at(const struct sp_store_reader *reader, sp_off off,
					   uint32_t k);

/* Room in all blocks from off on. */
uint32_t sp_intervals_room(const struct sp_store_reader *reader, sp_off off, uint32_t k);

#endif
