/* diff-metrics.h: the derived metrics of one of the runs that diff compares.
 *
 * A table of metrics is bound to one store at a time (core/metric/metric.h). So the values of each
 * run are computed when it is added, and kept as numbers.
 */
#pragma once

#include "../../formats/level.h"
#include "../tool/key-index.h"

struct sp_diff_metric {
	bool there;			/* it has a value */
	bool unproven;			/* some of its counts are not proven */
	bool whole;			/* always an integer, like counts */
	double value;
};

struct sp_diff_metrics {
	uint32_t n;
	uint32_t *number;		/* the number of each among the names of both sides */
	struct sp_diff_metric *at;	/* [1 + rows][n] the total, then the rows */
};

/* Keeps the metrics of the levels' rows, which were opened with t, and of the total of all rows,
 * and adds their names. repeat: number of the run in the store, from 1; 0: the store has one run.
 * Returns 0 or -errno. */
int sp_diff_metrics_keep(struct sp_diff_metrics *to, struct sp_names *names,
			 struct sp_levels *levels, const struct sp_level_row *total,
			 uint32_t repeat);

/* Finds a metric by its number among the names. row 0: the total, otherwise the row's number + 1.
 * NULL: this run has no value. */
const struct sp_diff_metric *sp_diff_metric_at(const struct sp_diff_metrics *s, uint32_t row,
					       uint32_t number);
