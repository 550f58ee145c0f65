/* diff-metrics.h: the derived metrics of one of the runs that diff compares.
 *
 * A table of metrics is bound to one store at a time (core/metric/metric.h), so that each run's
 * values are computed when it is added, and kept as numbers.
 */
#pragma once

#include "../../formats/level.h"
#include "../tool/key-index.h"

struct sp_diff_metric {
	bool there;			/* it has a value */
	bool unproven;			/* in part it is made of counts that are not proven on their
					 * CPU */
	bool whole;			/* always an integer, as counts are */
	double value;
};

struct sp_diff_metrics {
	uint32_t n;
	uint32_t *number;		/* of each among the names of both sides */
	struct sp_diff_metric *at;	/* [1 + rows][n]: the total, then the rows */
};

/* Those of the levels' rows, which were opened with t, and of their total, which has all their
 * counts.  repeat: which of several runs of the store, from 1; 0: it is of one.  Their names are
 * added.  0 or -errno. */
int sp_diff_metrics_keep(struct sp_diff_metrics *to, struct sp_names *names,
			 struct sp_levels *levels, const struct sp_level_row *total,
			 uint32_t repeat);

/* By its number among the names; row 0: the total, else a row's number + 1.  NULL: this run has it
 * nowhere. */
const struct sp_diff_metric *sp_diff_metric_at(const struct sp_diff_metrics *s, uint32_t row,
					       uint32_t number);
