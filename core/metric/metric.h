/* metric.h: derived metrics, in the grammar of PAPI's preset tables.
 *
 *	CPU,icl
 *	PRESET,IPC,DERIVED_POSTFIX,N0|N1|/|,PAPI_TOT_INS,PAPI_TOT_CYC,NOTE,"per core cycle"
 *
 * A file is read once (read.c), bound to what one store has counted, and then asked for
 * each sum that a view shows: the value of IPC for a package is that of the package's sums.
 *
 * Differences to PAPI, all for the better of the reader: lines before the first CPU
 * line are for every CPU; blanks and decimal numbers may stand in formulas; equal
 * operators of DERIVED_INFIX go from left to right; a division by zero has no value.
 * Terms beside events and other definitions: sspapi::ELAPSED_NS, how long the run took.
 *
 * Memory comes from sp_map and goes with sp_metrics_close.  One table, one thread.
 */
#ifndef SP_METRIC_H
#define SP_METRIC_H

#include "../view/model.h"

#define SP_METRIC_TERMS 64u		/* most events of one definition */
#define SP_METRIC_STEPS 256u		/* most words of one formula */
#define SP_METRIC_SORTS 32u		/* most sorts of machines of a merged store */
#define SP_METRIC_FILE_MOST (1u << 20)	/* bytes of a file; PAPI's own has a quarter of it */
#define SP_METRIC_IDS_MOST (1u << 18)	/* events of all terms of a file */

enum sp_metric_op { SP_METRIC_TERM, SP_METRIC_NUMBER, SP_METRIC_HERTZ, SP_METRIC_ADD, SP_METRIC_SUB, SP_METRIC_MUL, SP_METRIC_DIV };

struct sp_metric_step {
	enum sp_metric_op op;
	uint32_t term;			/* of the definition: 0 .. n_terms - 1 */
	double number;
};

struct sp_metric_term {
	const char *name;
	uint32_t hash;			/* of the name, as all such */
	uint32_t ids, n_ids;		/* the events that it is, in metrics->id */
	int32_t definition;		/* an earlier one of this name; -1: none */
	bool elapsed;			/* sspapi::ELAPSED_NS */
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
	bool counted;			/* all that it needs is in the sums computed last; value may be none */
	bool has_value;			/* value is one; else something was divided by zero or not counted */
	double value;
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
	struct sp_metric_step *step;
	uint32_t *id;
	uint32_t n_wrong;		/* lines that were refused */
	uint32_t n_sorts;		/* of machines: by their PMUs; of a merged store perhaps several */
	bool foreign;			/* there are tables for CPUs, and none is for these machines */
	double hertz, elapsed_ns;	/* of the store; 0: not known */
	const struct sp_model *model;

	const char *pmus[SP_METRIC_SORTS];	/* private to metric.c: of each sort, "perf,icl"; "": not known */
	uint8_t *sort_of;		/* [machine] */
	int64_t *row_sum;		/* of one relation, by event id */
	bool *row_present;
	void *row_memory;
	uint64_t row_bytes;

	char *text;			/* private to read.c, as all below */
	uint64_t memory_bytes;
	void *memory;
};

/* A wrong definition: what is wrong at this line and column, both from 1.  The
 * reason holds bytes of the file as they are. */
typedef void sp_metric_wrong(uint32_t line, uint32_t column, const char *reason, void *arg);

/* Reads a file's bytes (they are copied); calls wrong for each definition that is
 * refused and goes on behind it.  0, -EFBIG or -ENOMEM. */
int sp_metrics_read(struct sp_metrics *t, const char *bytes, uint64_t n, sp_metric_wrong *wrong, void *arg);
void sp_metrics_close(struct sp_metrics *t);

/* Finds the terms among what this model counted and decides what is shown: definitions
 * that can be computed, of a name that was not itself counted, the last one of a name.
 * Of tables for CPUs only those of a machine's own PMUs: as PAPI listed them (sp_header.pmus), or as
 * events and their natives carry them (icl::...).  The model must outlive the table.  How many are shown, or -ENOMEM. */
long sp_metrics_bind(struct sp_metrics *t, const struct sp_model *m);

/* Shows none of the bound ones, then those of these names (any case).  False: there is
 * none of this name that can be computed. */
void sp_metrics_hide(struct sp_metrics *t);
bool sp_metrics_choose(struct sp_metrics *t, const char *name);

/* The last definition of this name, computable or not, if there is one for these machines; NULL: none. */
const struct sp_metric *sp_metrics_named(const struct sp_metrics *t, const char *name);

/* What keeps this one from being computed: a term that was not counted, or NULL. */
const char *sp_metrics_missing(const struct sp_metrics *t, const struct sp_metric *d);

/* The PMUs of the machines, for people: "perf,icl", or "" where none is known. */
const char *sp_metrics_pmus(const struct sp_metrics *t);

/* Fills in counted, value and has_value of all, from sums by event id.  present[id]: is there a
 * sum of this event at all; NULL: of every one that was counted.  machine: the model's, whose counts
 * these are; -1: of all machines, and what is not the same on each has no value. */
void sp_metrics_compute(struct sp_metrics *t, const int64_t *sum, const bool *present, int32_t machine);

/* The machine that component c is in, as far as it matters here; -1. */
int32_t sp_metrics_machine(const struct sp_metrics *t, int32_t c);

/* The same of one relation's events: total[k], as sp_row_cell gives it. */
void sp_metrics_compute_row(struct sp_metrics *t, const struct sp_row *row, const int64_t *total, const int64_t *hole);

/* The shown ones, in the order of the file: the first behind i (start with -1); -1: no more. */
int32_t sp_metrics_next(const struct sp_metrics *t, int32_t i);

uint32_t sp_metric_hash(const char *name);	/* of a name in any case */
bool sp_metric_same(const char *a, const char *b);	/* but for case */

#endif
