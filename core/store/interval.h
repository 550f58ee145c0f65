/* interval.h: the same counts once more, by the code that they were counted in.
 *
 * An interval is the code between two PAPI calls of one relation, named by the sites of both and
 * the CPU of the second.  A fold (records.h) adds to a cell's intervals what it adds to the cell.
 * More pairs than there is room for are told by their second site only (from 0, as where the first
 * is not known).  What no interval has (more sites, too) is nobody's: readers show it as "other".
 *
 * A site is a number that the caller made up (preload/callsites/callsites.h), 0: not known. Room is
 * made before a set starts.  Later ones take a block that is ready (store.h), if there is one.
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
#define SP_INTERVALS_MOST	1024u	/* of one relation */
#define SP_INTERVAL_BLOCKS	64u	/* of a relation: they double */

/* Bytes of a block with room for that many intervals of k events; interval i of it, and how far it
 * is from the block. */
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

/* Words of the block where new ones go; NULL: these are not there. */
static inline void *sp_interval_writer_at(const struct sp_interval_writer *t, sp_off off, uint64_t bytes)
{
	const uint64_t at = off - t->fresh_off,
		       used = t->fresh ? sp_interval_at(t->k, t->fresh_used) : 0;

	return at < used && bytes <= used - at ? (char *)t->fresh + at : NULL;
}

/* Room for more intervals of r, whose writer has k events; NULL: no memory.  With the store's
 * lock. */
struct sp_store;
struct sp_intervals *sp_store_intervals(struct sp_store *s, struct sp_relation *r, uint32_t k,
					uint32_t room);

/* The writer goes on with the intervals of the list at *newest; memory: room for
 * slots (a power of 2), zeroed.  With the store's lock. */
void sp_intervals_bind(struct sp_interval_writer *t, const struct sp_store_reader *reader, sp_off *newest,
		       uint32_t k, uint32_t *memory, uint32_t slots);

/* How many more there should be room for before a start; 0: there is enough, or all
 * that may be. */
uint32_t sp_intervals_wanted(const struct sp_interval_writer *t);

/* A draft of the interval, which may be new; *crowded: there was no room for the pair of its own.
 * first: the pair was not asked for since there are drafts.  NULL: nobody's. */
struct sp_interval *sp_interval_log(struct sp_interval_writer *t, struct sp_redo_log *d, uint32_t from,
				    uint32_t to, int32_t cell, bool first, bool *crowded);

/* The same for a reader, who has no slots: by a look through the list at `newest`. */
struct sp_interval *sp_interval_log_by_list(const struct sp_store_reader *reader, sp_off newest,
					    uint32_t k, struct sp_redo_log *d, uint32_t from,
					    uint32_t to, int32_t cell, bool *crowded);

/* How many intervals of the block at off are in use, and interval i, as they are or as they are
 * drafted. */
uint32_t sp_intervals_used(const struct sp_redo_log *d, const struct sp_intervals *b, sp_off off);
const struct sp_interval *sp_interval_logged(const struct sp_redo_log *d,
					     const struct sp_intervals *b, sp_off off, uint32_t k,
					     uint32_t i);

/* The one of the block that is the same as those which are joined there: of ended threads (fold.c),
 * of ranks whose call sites are one (merge): what was counted between the same two in the same
 * cell.  A new one if there is none yet; NULL: no room. */
struct sp_interval *sp_interval_like(struct sp_intervals *block, uint32_t k, uint32_t from,
				     uint32_t to, int32_t cell);

/* The block at off of a relation of k events, or NULL. */
const struct sp_intervals *sp_intervals_at(const struct sp_store_reader *reader, sp_off off,
					   uint32_t k);

/* Room in all the blocks from off on. */
uint32_t sp_intervals_room(const struct sp_store_reader *reader, sp_off off, uint32_t k);

#endif
