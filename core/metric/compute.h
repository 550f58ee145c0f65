/* compute.h: a table of metrics that is bound to a store (metric.h), and their values in the rows that views show.
 *
 * A value is made of what was counted together: of a row's counts of those event sets that have all of
 * the metric's events.  So a row has sums of its own for them (n_slots), beside those of its events.
 */
#ifndef SP_METRIC_COMPUTE_H
#define SP_METRIC_COMPUTE_H

#include "../events/formula.h"
#include "../model/observers.h"

#define SP_METRIC_SORTS 32u		/* most sorts of machines of a merged store */
#define SP_METRIC_IDS_MOST (1u << 18)	/* events of all terms of a file */

struct sp_metric_term {
	const char *name;
	uint32_t hash;			/* of the name, as all such */
	uint32_t ids, n_ids;		/* the events that it is, in metrics->id */
	int32_t definition;		/* an earlier one of this name; -1: none */
	bool elapsed, observed;		/* sspapi::ELAPSED_NS; sspapi::OBSERVED_NS */
};

struct sp_metric {
	const char *name, *note;	/* note: NOTE, SDESC or LDESC, whichever came first; "" */
	uint32_t hash;
	uint32_t table, line, column;	/* table 0: for every CPU; column of the name */
	uint32_t first_term, n_terms, first_step, n_steps;
	uint32_t sorts;			/* of machines that its table is for, a bit each; 0: none of these */
	int32_t other;			/* the usable one of this name before it, for other machines; -1: none */
	bool usable;			/* for one of these machines, and all that it needs was counted */
	bool shown;			/* a column of its own */
	bool alone;			/* DERIVED_ADD or _SUB of one event: that event, as PAPI takes it, but perhaps a slip */
	bool whole;			/* always an integer, as counts are */
	bool has_value;			/* of the row computed last, value is one; else something was divided by zero or not counted */
	double value;
	uint64_t sets, others;		/* event sets that have all of its events, and that have but some; see sp_metrics_at */
	uint32_t first_slot, n_slots;	/* private: the events that it needs, in metrics->slot */
	bool has_all;			/* private: does the relation at hand have all of its events? */
};

/* What a row has of one event that a metric needs, from the sets that have all of them. */
struct sp_metric_sum {
	int64_t value;			/* in the event's data_type */
	uint64_t n;			/* of how many counts; 0: of none */
	uint64_t ns;			/* how long who counted it observed; of several places at once that of the longest; 0: not known */
};

struct sp_metric_cpu {
	const char *name;
	uint32_t table;
	bool component;			/* "cuda,GH100": a component's table, which any CPU may have */
	uint32_t sorts;			/* of machines that have this PMU, a bit each */
};

struct sp_metrics {
	uint32_t n, n_cpus, n_terms, n_steps, n_ids, n_tables;
	struct sp_metric *at;		/* in the order of the file */
	struct sp_metric_cpu *cpu;
	struct sp_metric_term *term;
	struct sp_formula_step *step;
	uint32_t *id;
	uint32_t n_wrong;		/* lines that were refused */
	uint32_t n_sorts;		/* of machines: by their PMUs; of a merged store perhaps several */
	bool foreign;			/* there are tables for CPUs, and none is for these machines */
	double hertz, elapsed_ns;	/* of the store; 0: not known */
	double observed_ns;		/* private: of the row at hand */
	struct sp_model *model;
	uint32_t n_slots;		/* sums that a row has: see sp_metrics_add */

	const char *pmus[SP_METRIC_SORTS];	/* private to metric.c and compute.c, as all below: of each sort, "perf,icl"; "": not known */
	uint8_t *sort_of;		/* [machine] */
	uint32_t *slot;			/* the events that each shown one needs */
	struct sp_metric_value {
		bool has_value;
		double value;
	} *now;				/* [n]: of what is computed at the moment */
	int64_t *row_sum;		/* [event] of a row; and is there any? */
	uint32_t *row_at;		/* [event]: its number in the relation at hand, from 1 */
	bool *row_present, *needed;	/* needed: [n] */
	const uint32_t *relation;	/* the events of the relation at hand, k of them, on machines of this sort; NULL: none */
	uint32_t relation_k, relation_sort;
	struct sp_sighting *pair;	/* what it adds: event i of it to which slot */
	uint32_t n_pairs;
	struct sp_observers observers;	/* of the model, by pairs, which is by metric: once it was looked for */
	bool looked;
	struct sp_metric_sum *one;	/* [n_slots]: of one relation */
	struct sp_metric_sum *place;	/* [components][n_slots] of the model; NULL: not summed yet */
	uint64_t place_bytes;
	void *row_memory;
	uint64_t row_bytes;

	char *text;			/* private to read.c, as all below */
	uint64_t memory_bytes;
	void *memory;
};

/* Adds total[k] of `row` to a row's sums (n_slots of them): of what is counted at this place (sp_row_place: a
 * component, or -1), or anywhere; but for what `left` (of the two below) leaves out (NULL: nothing). */
#define SP_METRIC_ANYWHERE INT32_MIN
void sp_metrics_add(struct sp_metrics *t, const struct sp_row *row, int32_t place, const struct sp_observers *left, const int64_t *total, const int64_t *hole,
		    struct sp_metric_sum *to);

/* Of observers that saw the same over the same time one counts, among those whose event sets have all that a metric needs:
 * of the model's sums (NULL: there is no memory), or as `how` has groups (0 or -ENOMEM; to be closed). */
const struct sp_observers *sp_metrics_left(struct sp_metrics *t);
int sp_metrics_observers(struct sp_metrics *t, struct sp_observers *o, const struct sp_observing *how);

/* Adds a row's sums to another's. */
void sp_metrics_sum(const struct sp_metrics *t, struct sp_metric_sum *to, const struct sp_metric_sum *from);

/* Fills in value and has_value of all that are shown, from a row's sums (NULL: none has a value). */
void sp_metrics_compute(struct sp_metrics *t, const struct sp_metric_sum *sums);

/* The same of total[k] of one relation. */
void sp_metrics_compute_row(struct sp_metrics *t, const struct sp_row *row, const int64_t *total, const int64_t *hole);

/* The sums of a component of the model; NULL: there is no memory for them.  The first
 * call sums the model up, and says of each metric how many event sets it is of. */
const struct sp_metric_sum *sp_metrics_at(struct sp_metrics *t, uint32_t component);

/* The shown ones, in the order of the file: the first behind i (start with -1); -1: no more. */
int32_t sp_metrics_next(const struct sp_metrics *t, int32_t i);

/* Gives the shown ones their slots, anew; and gives back the memory of the model's sums.  For metric.c. */
void sp_metrics_prepare(struct sp_metrics *t);
void sp_metrics_forget_sums(struct sp_metrics *t);

#endif
