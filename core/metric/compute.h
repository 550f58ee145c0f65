/* compute.h: the metrics of a table that is bound to a store (metric.h): their values in the rows
 * that views show.
 *
 * A value is made of what was counted together: of a row's counts of those event sets that have all
 * of the metric's events, or that ran at the same time as the sets with the rest of them
 * (concurrent-sets.c).  So a row has sums of its own for them (n_slots), beside those of its
 * events.
 */
#pragma once

#include "concurrent-sets.h"

/* Adds total[k] of `row` to a row's sums (n_slots of them): of what is counted at this place
 * (sp_row_place: a component, or -1), or anywhere; but for what `left` (of the two below) leaves
 * out (NULL: nothing). */
#define SP_METRIC_ANYWHERE INT32_MIN
void sp_metrics_add(struct sp_metrics *t, const struct sp_row *row, int32_t place,
		    const struct sp_observers *left, const int64_t *total,
		    const int64_t *unsupported, struct sp_metric_sum *to);

/* Of observers that saw the same over the same time one counts, among those whose event sets have
 * all that a metric needs: of the model's sums (NULL: there is no memory), or as `how` has groups
 * (0 or -ENOMEM; to be closed). */
const struct sp_observers *sp_metrics_left(struct sp_metrics *t);
int sp_metrics_observers(struct sp_metrics *t, struct sp_observers *o,
			 const struct sp_observing *how);

/* Adds a row's sums to another's. */
void sp_metrics_sum(const struct sp_metrics *t, struct sp_metric_sum *to,
		    const struct sp_metric_sum *from);

/* Fills in value and has_value of all that are shown, from a row's sums (NULL: none has a
 * value). */
void sp_metrics_compute(struct sp_metrics *t, const struct sp_metric_sum *sums);

/* The same of total[k] of one relation. */
void sp_metrics_compute_row(struct sp_metrics *t, const struct sp_row *row, const int64_t *total,
			    const int64_t *unsupported);

/* The sums of a component of the model; NULL: there is no memory for them.  The first
 * call sums the model up, and says of each metric how many event sets it is of. */
const struct sp_metric_sum *sp_metrics_at(struct sp_metrics *t, uint32_t component);

/* Gives the shown ones their slots, anew; and gives back the memory of the model's sums.  For
 * metric.c. */
void sp_metrics_prepare(struct sp_metrics *t);
void sp_metrics_forget_sums(struct sp_metrics *t);
