/* metric.h: derived metrics, in PAPI's grammar of preset tables.
 *
 *	CPU,icl
 *	PRESET,IPC,DERIVED_POSTFIX,N0|N1|/|,PAPI_TOT_INS,PAPI_TOT_CYC,NOTE,"per core cycle"
 *
 * parse.c reads a file once. metric.c binds it to the events of a store, and compute.c computes
 * values for each row that a format shows. A value needs counts that were counted together, from
 * event sets that have all of the metric's events. Instructions around f() in one set and cycles
 * around g() in another do not make an IPC.
 *
 * PAPI's grammar is extended: lines before the first CPU line are for every CPU; formulas may
 * contain blanks and decimal numbers; DERIVED_INFIX evaluates equal operators from left to right; a
 * division by zero has no value. Terms may also be other definitions, sspapi::ELAPSED_NS (how long
 * the run took) and sspapi::OBSERVED_NS (how long package, device or machine events were counted).
 *
 * Memory comes from sp_map; sp_metrics_close frees it. Use a table in one thread.
 */
#pragma once

#include "compute.h"

#define SP_METRIC_TERMS SP_FORMULA_TERMS	/* events of one definition */
#define SP_METRIC_FILE_MOST (1u << 20)	/* bytes of a file, four times PAPI's */

/* Report a wrong definition at a line and column, both from 1. The reason may contain bytes of the
 * file. */
typedef void sp_metric_wrong(uint32_t line, uint32_t column, const char *reason, void *arg);

/* Read the bytes of a file, which are copied. Calls wrong() for each invalid definition and
 * continues with the next one. 0, -EFBIG or -ENOMEM. */
int sp_metrics_read(struct sp_metrics *t, const char *bytes, uint64_t n, sp_metric_wrong *wrong,
		    void *arg);
void sp_metrics_close(struct sp_metrics *t);

/* Find the terms among the model's events and choose the metrics to show: the last computable
 * definition of each name that is not a counted event. Tables for CPUs apply to machines with their
 * PMUs: as PAPI listed these (sp_header.pmus), or as events and natives name them (icl::...). The
 * model must outlive the table. Returns the number of shown metrics, or -ENOMEM. */
long sp_metrics_bind(struct sp_metrics *t, struct sp_model *m);

/* Hide all metrics, then show those of these names, in any case. False if none of this name can be
 * computed. */
void sp_metrics_hide(struct sp_metrics *t);
bool sp_metrics_choose(struct sp_metrics *t, const char *name);

/* The last definition of this name, computable or not, preferably for these machines; or NULL. */
const struct sp_metric *sp_metrics_named(const struct sp_metrics *t, const char *name);

/* The term that was not counted, so that the metric cannot be computed; or NULL. */
const char *sp_metrics_missing(const struct sp_metrics *t, const struct sp_metric *d);

uint32_t sp_metric_hash(const char *name);	/* ignores case */
