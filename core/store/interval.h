/* interval.h: the same counts once more, by the code that they were counted in.
 *
 * An interval is the code between two PAPI calls of one relation, named by the sites
 * of both and the CPU of the second.  Counts are not added to intervals: the current
 * one is what its cell has beyond all others of that cell (format.h, struct
 * sp_intervals), so a reading between the same two sites as the one before costs
 * nothing, and the sum over a cell's intervals is the cell's total at any
 * instruction.  More pairs than there is room for are told by their second site only
 * (from 0, as where the first is not known).  What no interval claims (more sites, too;
 * what came by the side ledger) is nobody's: readers show it as "other".
 *
 * A site is a number that the caller made up (preload/sites/sites.h), 0: not known.
 * Room is made before a set starts; nothing here allocates.
 */
#ifndef SP_INTERVAL_H
#define SP_INTERVAL_H

#include "writer.h"

struct sp_image;

#define SP_INTERVALS_FIRST	32u
#define SP_INTERVALS_MOST	1024u	/* of one relation */

/* An interval's place; private memory of who writes. */
struct sp_interval_slot {
	uint32_t from, to;
	int32_t cell;
	uint32_t number;		/* in its block, from 1 */
	struct sp_intervals *block;	/* NULL: a free slot */
	struct sp_interval *at;
};

/* Bytes of a block with room for that many intervals of k events. */
uint64_t sp_intervals_bytes(uint32_t k, uint32_t room);
struct sp_interval *sp_interval_in(struct sp_intervals *block, uint32_t k, uint32_t i);

/* The writer goes on with the intervals that its relation has; memory: room for
 * slots (a power of 2), zeroed.  With the store's lock. */
void sp_intervals_bind(struct sp_writer *w, const struct sp_image *image, struct sp_interval_slot *memory,
		       uint32_t slots);

/* How many more there should be room for before a start; 0: there is enough, or all
 * that may be. */
uint32_t sp_intervals_wanted(const struct sp_track *t);

/* In place of a site: the reading is the `steady` one. */
#define SP_SITE_STEADY UINT32_MAX

/* An operation from `site`, in cell `cell`, is about to be applied. */
void sp_interval_turn(struct sp_writer *w, uint32_t op, int cell, uint32_t site);

/* A reading from `site` in the cell that is current. */
void sp_interval_move(struct sp_writer *w, uint32_t site);

/* What interval i of the block holds, if its cell holds total, exact [k] and readings:
 * out [2 * k]: total, exact.  Returns its count. */
uint64_t sp_interval_value(const struct sp_intervals *block, const struct sp_interval *at, uint32_t k, uint32_t i,
			   const int64_t *total, const int64_t *exact, uint64_t readings, int64_t *out);

/* The same of event e, a floating-point counter: doubles, of which the others' words are none. */
void sp_interval_float(const struct sp_intervals *block, const struct sp_interval *at, uint32_t k, uint32_t i, uint32_t e,
		       int64_t total, int64_t exact, int64_t *out);
void sp_float_add(int64_t *to, int64_t more);

/* The one of the block that is the same as those which are joined there: of ended threads (fold.c), of ranks whose call sites
 * are one (merge): what was counted between the same two in the same cell.  A new one if there is none yet; NULL: no room. */
struct sp_interval *sp_interval_like(struct sp_intervals *block, uint32_t k, uint32_t from, uint32_t to, int32_t cell);

/* The block at off of a relation of k events, or NULL. */
const struct sp_intervals *sp_intervals_at(const struct sp_image *image, sp_off off, uint32_t k);

/* Room in all the blocks from off on. */
uint32_t sp_intervals_room(const struct sp_image *image, sp_off off, uint32_t k);

#endif
