/* metric.h: derived metrics, in the grammar of PAPI's preset tables.
 *
 *	CPU,icl
 *	PRESET,IPC,DERIVED_POSTFIX,N0|N1|/|,PAPI_TOT_INS,PAPI_TOT_CYC,NOTE,"per core cycle"
 *
 * A file is read once (parse.c), bound to what one store has counted (metric.c), and then asked for
 * each row that a view shows (compute.c).  A value is made of what was counted together: of the
 * package's counts of those event sets that have all of the metric's events.  Instructions around
 * f() and cycles around g(), each in a set of its own, are no IPC.
 *
 * Differences to PAPI, all for the better of the reader: lines before the first CPU
 * line are for every CPU; blanks and decimal numbers may stand in formulas; equal
 * operators of DERIVED_INFIX go from left to right; a division by zero has no value.
 * Terms beside events and other definitions: sspapi::ELAPSED_NS, how long the run took.
 *
 * Memory comes from sp_map and goes with sp_metrics_close.  One table, one thread.
 */
#pragma once

#include "compute.h"

#define SP_METRIC_TERMS SP_FORMULA_TERMS	/* most events of one definition */
#define SP_METRIC_FILE_MOST (1u << 20)	/* bytes of a file; PAPI's own has a quarter of it */

/* A wrong definition: what is wrong at this line and column, both from 1.  The
 * reason holds bytes of the file as they are. */
typedef void sp_metric_wrong(uint32_t line, uint32_t column, const char *reason, void *arg);

/* Reads a file's bytes (they are copied); calls wrong for each definition that is
 * refused and goes on behind it.  0, -EFBIG or -ENOMEM. */
int sp_metrics_read(struct sp_metrics *t, const char *bytes, uint64_t n, sp_metric_wrong *wrong,
		    void *arg);
void sp_metrics_close(struct sp_metrics *t);

/* Finds the terms among what this model counted and decides what is shown: definitions that can be
 * computed, of a name that was not itself counted, the last one of a name. Of tables for CPUs only
 * those of a machine's own PMUs: as PAPI listed them (sp_header.pmus), or as events and their
 * natives carry them (icl::...).  The model must outlive the table.  How many are shown, or
 * -ENOMEM. */
long sp_metrics_bind(struct sp_metrics *t, struct sp_model *m);

/* Shows none of the bound ones, then those of these names (any case).  False: there is
 * none of this name that can be computed. */
void sp_metrics_hide(struct sp_metrics *t);
bool sp_metrics_choose(struct sp_metrics *t, const char *name);

/* The last definition of this name, computable or not, if there is one for these machines; NULL:
 * none. */
const struct sp_metric *sp_metrics_named(const struct sp_metrics *t, const char *name);

/* What keeps this one from being computed: a term that was not counted, or NULL. */
const char *sp_metrics_missing(const struct sp_metrics *t, const struct sp_metric *d);

uint32_t sp_metric_hash(const char *name);	/* of a name in any case */
