/* concurrent-sets.h: which event sets ran at the same time, so that a metric may be made of several
 * of them. */
#pragma once

#include "relation.h"

extern const char *const sp_metric_levels[3];	/* thread, process, machine */

/* Fills in `joins`, and what it says of each shown metric, once: 0 or -ENOMEM. */
int sp_metrics_join(struct sp_metrics *t);
