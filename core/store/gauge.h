/* gauge.h: values that are no counts: gauges (a temperature, a rate), which are never summed.  Of
 * each the last value, the smallest, the largest and the mean are kept.
 *
 * Gauges stand in sets beside counters; what they showed is kept in a block of its own, which the
 * relation names.  The records (records.h), where they count nothing, make their entries and
 * permanent readings.
 *
 * Any thread and any handler may book at any time, without a lock: each word is one
 * atomic update, and the order of updates does not matter.  A reader after SIGKILL
 * may find the reading that was being booked in some of a gauge's words and not yet in
 * others: the mean is then off by that one; min, max and last are values that PAPI
 * handed out.
 *
 * A writer is private memory; the store's bytes are written, never followed.
 */
#ifndef SP_GAUGE_H
#define SP_GAUGE_H

#include "float.h"
#include "layout.h"
#include "writer.h"

/* The bytes of a block of n events and that many cells. */
static inline uint64_t sp_gauges_bytes(uint64_t n, uint64_t cells)
{
	return sizeof(struct sp_gauges) + sp_align(n * 4, 8) + n * cells * sizeof(struct sp_gauge);
}

/* Where its gauges begin. */
static inline struct sp_gauge *sp_gauges_at(const struct sp_gauges *g, uint64_t n)
{
	return (struct sp_gauge *)((char *)(g + 1) + sp_align(n * 4, 8));
}

/* Fills in a zeroed block. */
void sp_gauges_init(struct sp_gauges *g, uint32_t n, uint32_t cells,
		    const struct sp_gauge_kind *kind);

/* Books x, all values of the set (NULL: START, RESET), at that cell; one behind the last
 * is the last. ns: the time (timestamp.h). Async-signal-safe. */
void sp_gauges_record(struct sp_gauge_writer *w, enum sp_op op, uint32_t cell, const long long *x,
		    uint64_t ns);

/* Adds n of `from` to `to`, of the same kinds (sp_store_fold). */
void sp_gauges_add(struct sp_gauge *to, const struct sp_gauge *from, uint64_t n);

/* Is a below b, as numbers of this type?  False if one is nan. */
bool sp_value_below(enum sp_data_type type, int64_t a, int64_t b);
double sp_value_double(enum sp_data_type type, int64_t v);

#endif
