/* format-metrics.h: derived metrics in the views; nothing is written where there are none. */
#pragma once

#include "../metric/compute.h"
#include "../model/format-common.h"

/* A metric's value as people read it, "-" where it has none; its columns are returned. */
unsigned sp_metric_text(char buf[48], const struct sp_metric *d);

/* Is it made of what is counted on packages, devices or machines as a whole, too? */
bool sp_metric_is_placed(const struct sp_metrics *t, const struct sp_metric *d);

/* The value as a number for programs; nothing where it has none. */
void sp_metric_number(struct sp_out *o, const struct sp_metric *d);

/* Of which event sets the metric is made, where that is not all that counted something of it: a
 * line.  False: nothing is to be said. */
bool sp_metric_sets_text(char *text, size_t room, struct sp_metrics *t, const struct sp_metric *d);
