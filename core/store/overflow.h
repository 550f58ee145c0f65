/* overflow.h: how often an application's overflow handler was called, on which CPU, and the code
 * that it interrupted most.
 *
 * Counts are exact; addresses are the most frequent ones of all, in room that does not grow
 * (layout.h, struct sp_hit).  sp_overflow_count and _hit are called in signal handlers: no lock, no
 * memory; a process that is killed in it has lost at most the address of one call.  The store's
 * bytes are written, never followed.
 */
#ifndef SP_OVERFLOW_H
#define SP_OVERFLOW_H

#include "store-reader.h"
#include "writer.h"

static inline uint64_t sp_overflows_bytes(uint64_t n, uint64_t hits)
{
	return sizeof(struct sp_overflows) + n * sizeof(struct sp_overflow) +
	       hits * sizeof(struct sp_hit);
}

/* How many counts a relation of k events has: of each, and of what PAPI does not tell the event
 * of. */
static inline uint64_t sp_overflows_counts(uint64_t k, uint64_t cells)
{
	return (k + (k > 1)) * cells;
}

static inline struct sp_overflow *sp_overflow_in(struct sp_overflows *o)
{
	return (struct sp_overflow *)(o + 1);
}

static inline struct sp_hit *sp_hits_in(struct sp_overflows *o, uint64_t n)
{
	return (struct sp_hit *)(sp_overflow_in(o) + n);
}

/* The block at off, all of it, or NULL. */
struct sp_overflows *sp_overflows_at(const struct sp_store_reader *reader, sp_off off);

/* `times` calls more for event `event` on this CPU: count number `at`. */
void sp_overflow_count(const struct sp_overflow_writer *w, uint32_t at, uint32_t event, int32_t cpu,
		      uint64_t times);

/* So many of them interrupted the code at this address. */
void sp_overflow_hit(const struct sp_overflow_writer *w, uint32_t at, uint64_t times,
		     uint64_t address, uint32_t module);

/* How often it is known to have been hit. */
static inline uint64_t sp_hit_weight(const struct sp_hit *h)
{
	return h->count > h->before ? h->count - h->before : 0;
}

#endif
