/* overflow.h: calls of the application's overflow handlers per CPU, and the code that they
 * interrupted.
 *
 * Counts are exact; of addresses the most frequent are kept, in a fixed amount of memory
 * (layout.h, struct sp_hit). Signal handlers call sp_overflow_count and sp_overflow_hit: no
 * locks, no memory. A process killed there loses at most the address of one call. The store's
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

/* Number of counts for k events: one per event and cell, and one for overflows whose event PAPI
 * does not report. */
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

/* Returns the complete block at off, or NULL. */
struct sp_overflows *sp_overflows_at(const struct sp_store_reader *reader, sp_off off);

/* Adds `times` calls for event `event` on this CPU, in count number `at`. */
void sp_overflow_count(const struct sp_overflow_writer *w, uint32_t at, uint32_t event, int32_t cpu,
		      uint64_t times);

/* Adds `times` interruptions of the code at this address. */
void sp_overflow_hit(const struct sp_overflow_writer *w, uint32_t at, uint64_t times,
		     uint64_t address, uint32_t module);

/* Least number of hits of this address. */
static inline uint64_t sp_hit_weight(const struct sp_hit *h)
{
	return h->count > h->before ? h->count - h->before : 0;
}

#endif
