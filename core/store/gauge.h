/* gauge.h: values that the ledger does not count: gauges, and counters that are not whole numbers.
 *
 * A gauge (a temperature, a rate) is never summed: of each the last value, the
 * smallest, the largest and the mean are kept.  A floating-point counter is summed as
 * the ledger sums whole ones (x - last goes to the CPU of the reading), but in
 * double.  Such events stand in sets beside plain counters; what they say is kept in a block of
 * its own, which the relation names.  The ledger, where they count nothing, makes their entries
 * and permanent readings, and is told of a reading first: what it is between is then known
 * (interval.c takes parts of these sums).
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

#include <string.h>

#include "writer.h"

struct sp_gauge_kind {
	uint32_t index;			/* among the set's events */
	enum sp_data_type data_type;
	bool counts;			/* a floating-point counter */
};

struct sp_gauge_writer {
	uint32_t n, cells;		/* n 0: the set has none */
	uint8_t *kinds;			/* [events of the set]: for the ledger */
	uint32_t component;		/* SP_KEEPS_* */
	uint32_t running;
	struct sp_gauge *at;		/* [cells][n], in the store */
	struct sp_gauge_event {
		struct sp_gauge_kind kind;
		uint32_t baseline;	/* its next value is where counting starts */
		uint64_t last;		/* bits of what it showed, since the last zeroing */
	} *event;			/* [n] */
};

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
void sp_gauges_init(struct sp_gauges *g, uint32_t n, uint32_t cells, const struct sp_gauge_kind *kind);

/* Books x, all values of the set (NULL: START, RESET), at that cell; one behind the last
 * is the last. proven: counted where the cell says. Async-signal-safe. */
void sp_gauges_book(struct sp_gauge_writer *w, enum sp_op op, uint32_t cell, const long long *x, bool proven);

/* Fills in kinds, of k events, by w's. */
void sp_gauge_kinds(uint8_t *kinds, uint32_t k, const struct sp_gauge_kind *kind, uint32_t n);

/* What gauge number i counted in a cell of the relation, which has that many. */
void sp_gauges_sum(const struct sp_gauge_writer *w, uint32_t i, uint32_t cell, uint32_t cells, double *total,
		   double *exact);

/* A double in a word of the store. */
static inline double sp_float(int64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static inline int64_t sp_float_bits(double d)
{
	int64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

/* Adds n of `from` to `to`, of the same kinds (sp_store_fold). */
void sp_gauges_add(struct sp_gauge *to, const struct sp_gauge *from, uint64_t n);

/* Is a below b, as numbers of this type?  False if one is nan. */
bool sp_value_below(enum sp_data_type type, int64_t a, int64_t b);
double sp_value_double(enum sp_data_type type, int64_t v);

#endif
