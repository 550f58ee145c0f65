/* concurrent-sets.h: finds event sets that ran at the same time, so that a metric can use several
 * of them. */
#pragma once

#include "relation.h"

extern const char *const sp_metric_levels[3];	/* thread, process, machine */

/* Fill in `joins` and the results in each shown metric, once. Returns 0 or -ENOMEM. */
int sp_metrics_join(struct sp_metrics *t);
