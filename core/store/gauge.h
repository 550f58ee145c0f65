/* gauge.h: values that are not counts (a temperature, a rate): last, minimum, maximum and mean.
 *
 * Sets may have gauges and counters. Gauge values are in a block of their own, which the relation
 * names; their entries and permanent readings are made by records (records.h).
 *
 * Any thread and any signal handler may record at any time, without a lock. Each word is updated
 * atomically, and the order of updates does not matter. After SIGKILL a reading may be in only some
 * of a gauge's words: the mean then lacks part of one reading; min, max and last are still values
 * that PAPI returned.
 *
 * A writer is private memory; the store's bytes are written, never followed.
 */
#ifndef SP_GAUGE_H
#define SP_GAUGE_H

#include "float.h"
#include "layout.h"
#include "writer.h"

/* Size of a block of n events and that many cells. */
static inline uint64_t sp_gauges_bytes(uint64_t n, uint64_t cells)
{
	return sizeof(struct sp_gauges) + sp_align(n * 4, 8) + n * cells * sizeof(struct sp_gauge);
}

/* Returns the first gauge of the block. */
static inline struct sp_gauge *sp_gauges_at(const struct sp_gauges *g, uint64_t n)
{
	return (struct sp_gauge *)((char *)(g + 1) + sp_align(n * 4, 8));
}

/* Fills in a zeroed block. */
void sp_gauges_init(struct sp_gauges *g, uint32_t n, uint32_t cells,
		    const struct sp_gauge_kind *kind);

/* Records x, the values of all events of the set (NULL: START, RESET), in that cell, at most the
 * last one. ns: the time (timestamp.h). Async-signal-safe. */
void sp_gauges_record(struct sp_gauge_writer *w, enum sp_op op, uint32_t cell, const long long *x,
		    uint64_t ns);

/* Adds n gauges of `from` to `to`, which has the same kinds (sp_store_fold). */
void sp_gauges_add(struct sp_gauge *to, const struct sp_gauge *from, uint64_t n);

/* Is a < b as numbers of this type? False if one is nan. */
bool sp_value_below(enum sp_data_type type, int64_t a, int64_t b);
double sp_value_double(enum sp_data_type type, int64_t v);

#endif
