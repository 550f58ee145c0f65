/* compute.h: computes the metrics of a table for the rows of a store that formats show (metric.h).
 *
 * A value needs counts that were counted together. They come from event sets with all of the
 * metric's events, or from sets that ran at the same time (concurrent-sets.c). A row therefore has
 * separate sums (n_slots) for metrics.
 */
#pragma once

#include "concurrent-sets.h"

/* Add total[k] of `row` to n_slots sums: the counts at this place (sp_row_place: a component, or
 * -1), or anywhere. `observers`, one of the two below or NULL, selects counts to omit. */
#define SP_METRIC_ANYWHERE INT32_MIN
void sp_metrics_add(struct sp_metrics *t, const struct sp_row *row, int32_t place,
		    const struct sp_observers *observers, const int64_t *total,
		    const int64_t *unsupported, struct sp_metric_sum *to);

/* Choose the observers that count, among those whose event sets have all events of a metric: for
 * the model's sums (NULL if out of memory), or in the groups of `how` (0 or -ENOMEM; the caller
 * closes *o). */
const struct sp_observers *sp_metrics_model_observers(struct sp_metrics *t);
int sp_metrics_observers(struct sp_metrics *t, struct sp_observers *o,
			 const struct sp_observing *how);

/* Add sums to other sums. */
void sp_metrics_sum(const struct sp_metrics *t, struct sp_metric_sum *to,
		    const struct sp_metric_sum *from);

/* Compute value and has_value of all shown metrics from the sums; NULL: no values. */
void sp_metrics_compute(struct sp_metrics *t, const struct sp_metric_sum *sums);

/* The same for the mean of several rows, from the sums of all: events count as their mean per row,
 * so that ratios stay those of the sums, while counts and rates of the run become the mean.
 * rows: [metric] number of rows; NULL: one. */
void sp_metrics_mean(struct sp_metrics *t, const struct sp_metric_sum *sums, const uint32_t *rows);

/* The same for total[k] of one relation. */
void sp_metrics_compute_row(struct sp_metrics *t, const struct sp_row *row, const int64_t *total,
			    const int64_t *unsupported);

/* The sums of a component of the model; NULL if out of memory. The first call sums the model up,
 * and counts the event sets of each metric. */
const struct sp_metric_sum *sp_metrics_at(struct sp_metrics *t, uint32_t component);

/* Assign slots to the shown metrics and free the model's sums. For metric.c. */
void sp_metrics_prepare(struct sp_metrics *t);
void sp_metrics_forget_sums(struct sp_metrics *t);
