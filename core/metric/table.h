/* table.h: the metrics of a table (metric.h) for a store: definitions, their terms, and the
 * results. */
#pragma once

#include "../events/formula.h"
#include "../model/observers.h"

#define SP_METRIC_MACHINE_KINDS 32u	/* kinds of machines in a merged store */
#define SP_METRIC_IDS_MOST (1u << 18)	/* of all terms of a file */

struct sp_metric_term {
	const char *name;
	uint32_t hash;			/* of the name, as in sp_metric */
	uint32_t ids, n_ids;		/* its events, in metrics->id */
	int32_t definition;		/* an earlier definition of this name; -1: none */
	bool elapsed, observed;		/* sspapi::ELAPSED_NS; sspapi::OBSERVED_NS */
};

struct sp_metric {
	const char *name, *note;	/* note: the first of NOTE, SDESC or LDESC; or "" */
	uint32_t hash;
	uint32_t table, line, column;	/* table 0: for every CPU; column of the name */
	uint32_t first_term, n_terms, first_step, n_steps;
	/* bit mask of the kinds of machines to which its table applies; 0: none */
	uint32_t machine_kinds;
	/* previous usable definition of this name, for other machines; -1: none */
	int32_t other;
	/* applies to one of the machines, and its events were counted */
	bool usable;
	bool shown;			/* has a column */
	/* DERIVED_ADD or _SUB of one event, which PAPI accepts but may be a mistake */
	bool alone;
	bool whole;			/* always an integer */
	/* the last computed row has a value; false after a division by zero, or if an event was not
	 * counted */
	bool has_value;
	double value;
	/* event sets of which it is made, and others with some of its events; see sp_metrics_at */
	uint64_t sets, others;
	/* sets of several PAPI components have all of its events, but ran at different times: */
	bool has_gap;
	bool paused;			/* one of them was stopped in between, or never stopped */
	/* percentage of these sets' time in which every event was counted */
	uint32_t covered;
	/* one of sp_metric_levels, whose sets were joined; NULL: none */
	const char *joined;
	uint32_t first_slot, n_slots;	/* private: the events that it needs, in metrics->slot */
	bool has_all;			/* private: the current relation has all of its events */
};

/* The sum of one event of a row over the sets that have all events of the metric. */
struct sp_metric_sum {
	int64_t value;			/* in the event's data_type */
	uint64_t n;			/* number of counts */
	/* run time of its observers, the longest of simultaneous ones; 0: unknown */
	uint64_t ns;
};

struct sp_metric_cpu {
	const char *name;
	uint32_t table;
	bool component;			/* "cuda,GH100": a component's table, for any CPU */
	uint32_t machine_kinds;		/* bit mask of the kinds of machines that have this PMU */
};

/* Private to compute.c: the row whose metrics are computed. */
struct sp_metrics_row {
	int64_t *sum;			/* [event] sums, and whether there are any */
	bool *present;
	uint32_t *at;			/* [event]: its number in the current relation, from 1 */
	void *memory;
	uint64_t bytes;
};

/* Private to compute.c: the current relation. */
struct sp_metrics_relation {
	const uint32_t *event;		/* [k]; NULL: none */
	uint32_t k, machine_kind;
	const uint8_t *joins;		/* its row of `joins`; NULL: none */
	struct sp_sighting *pair;	/* event i of the relation is added to slot `of` */
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
	uint32_t n_wrong;		/* invalid lines */
	/* kinds of machines, by their PMUs; several only in a merged store */
	uint32_t n_machine_kinds;
	bool foreign;			/* there are tables for CPUs, but none for these machines */
	double hertz, elapsed_ns;	/* of the store; 0: unknown */
	double observed_ns;		/* private: of the current row */
	uint32_t rows;			/* private: number of rows that the current row averages */
	struct sp_model *model;
	uint32_t n_slots;		/* sums per row: see sp_metrics_add */

	const char *pmus[SP_METRIC_MACHINE_KINDS];	/* of each kind, "perf,icl"; "": unknown */
	/* [machine]; private to metric.c and compute.c, as those below */
	uint8_t *machine_kind_of;
	uint32_t *slot;			/* the events of each shown metric */
	struct sp_metric_value {
		bool has_value;
		double value;
	} *now;				/* [n]: current values */
	bool *needed;			/* [n] */
	struct sp_metrics_row row;
	struct sp_metrics_relation relation;
	/* [relations][n / 8 + 1], concurrent-sets.c: a bit for each metric that uses the relation
	 * with others; NULL: not computed yet */
	uint8_t *joins;
	uint64_t n_joins, joins_bytes;
	/* of the model, by pair of metric and event; valid if `has_observers` */
	struct sp_observers observers;
	bool has_observers;
	struct sp_metric_sum *one;	/* [n_slots]: of one relation */
	/* [components][n_slots] of the model; NULL: not summed yet */
	struct sp_metric_sum *place;
	uint64_t place_bytes;

	char *text;			/* private to parse.c, as those below */
	uint64_t memory_bytes;
	void *memory;
};
