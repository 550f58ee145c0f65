/* table.h: a table of metrics that is bound to a store (metric.h): definitions, their terms, and
 * what is found out about them. */
#pragma once

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
	uint32_t sorts;			/* of machines that its table is for, a bit each; 0: none of
					 * these */
	int32_t other;			/* the usable one of this name before it, for other
					 * machines; -1: none */
	bool usable;			/* for one of these machines, and all that it needs was
					 * counted */
	bool shown;			/* a column of its own */
	bool alone;			/* DERIVED_ADD or _SUB of one event: that event, as PAPI
					 * takes it, but perhaps a slip */
	bool whole;			/* always an integer, as counts are */
	bool has_value;			/* of the row computed last, value is one; else something
					 * was divided by zero or not counted */
	double value;
	uint64_t sets, others;		/* event sets that it is made of, and others with some of
					 * its events; see sp_metrics_at */
	bool has_gap;			/* sets of several PAPI components have all of its events,
					 * but ran at different times: */
	bool paused;			/* one of them was stopped in between, or never */
	uint32_t covered;		/* per cent of the time of all these sets that each event
					 * was counted in */
	const char *joined;		/* sets of several are divided, and are of one of
					 * sp_metric_levels; NULL: none */
	uint32_t first_slot, n_slots;	/* private: the events that it needs, in metrics->slot */
	bool has_all;			/* private: does the relation at hand have all of its
					 * events? */
};

/* Sum of one event of a row over those sets that have all events of the metric. */
struct sp_metric_sum {
	int64_t value;			/* in the event's data_type */
	uint64_t n;			/* of how many counts; 0: of none */
	uint64_t ns;			/* how long who counted it observed; of several places at
					 * once that of the longest; 0: not known */
};

struct sp_metric_cpu {
	const char *name;
	uint32_t table;
	bool component;			/* "cuda,GH100": a component's table, which any CPU may
					 * have */
	uint32_t sorts;			/* of machines that have this PMU, a bit each */
};

/* Private to compute.c: the row that metrics are computed of. */
struct sp_metrics_row {
	int64_t *sum;			/* [event]; and is there any? */
	bool *present;
	uint32_t *at;			/* [event]: its number in the relation at hand, from 1 */
	void *memory;
	uint64_t bytes;
};

/* Private to compute.c: the relation at hand, on machines of this sort. */
struct sp_metrics_relation {
	const uint32_t *event;		/* [k] its events; NULL: no events */
	uint32_t k, sort;
	const uint8_t *joins;		/* its line of `joins`; NULL: of none */
	struct sp_sighting *pair;	/* what it adds: event i of it to which slot */
	bool *pair_joins;		/* only together with other relations */
	uint32_t n_pairs;
};

struct sp_metrics {
	uint32_t n, n_cpus, n_terms, n_steps, n_ids, n_tables;
	struct sp_metric *at;		/* in the order of the file */
	struct sp_metric_cpu *cpu;
	struct sp_metric_term *term;
	struct sp_formula_step *step;
	uint32_t *id;
	uint32_t n_wrong;		/* lines that were refused */
	uint32_t n_sorts;		/* of machines: by their PMUs; of a merged store perhaps
					 * several */
	bool foreign;			/* there are tables for CPUs, and none is for these
					 * machines */
	double hertz, elapsed_ns;	/* of the store; 0: not known */
	double observed_ns;		/* private: of the row at hand */
	struct sp_model *model;
	uint32_t n_slots;		/* sums that a row has: see sp_metrics_add */

	const char *pmus[SP_METRIC_SORTS];	/* of each sort, "perf,icl"; "": not known */
	uint8_t *sort_of;		/* [machine]; private to metric.c and compute.c, as all
					 * below */
	uint32_t *slot;			/* the events that each shown one needs */
	struct sp_metric_value {
		bool has_value;
		double value;
	} *now;				/* [n]: of what is computed at the moment */
	bool *needed;			/* [n] */
	struct sp_metrics_row row;
	struct sp_metrics_relation relation;
	uint8_t *joins;			/* [relations][n / 8 + 1], concurrent-sets.c: a bit for each
					 * metric that it is part of with others; NULL: not computed
					 * yet */
	uint64_t n_joins, joins_bytes;
	struct sp_observers observers;	/* of the model, by pair of metric and event; valid if
					 * `looked` */
	bool looked;
	struct sp_metric_sum *one;	/* [n_slots]: of one relation */
	struct sp_metric_sum *place;	/* [components][n_slots] of the model; NULL: not summed
					 * yet */
	uint64_t place_bytes;

	char *text;			/* private to parse.c, as all below */
	uint64_t memory_bytes;
	void *memory;
};
