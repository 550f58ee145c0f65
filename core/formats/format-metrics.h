/* format-metrics.h: derived metrics in the formats. Without metrics nothing is written. */
#pragma once

#include "../metric/compute.h"
#include "../model/format-common.h"

/* Formats a metric's value for people, "-" without a value. Returns its columns. */
unsigned sp_metric_text(char buf[48], const struct sp_metric *d);

/* Returns whether the metric also uses events of packages, devices or whole machines. */
bool sp_metric_is_placed(const struct sp_metrics *t, const struct sp_metric *d);

/* Writes the value as a number for programs; nothing without a value. */
void sp_metric_number(struct sp_out *o, const struct sp_metric *d);

/* Names the event sets that the metric uses if other sets also counted its events. False: no line
 * is needed. */
bool sp_metric_sets_text(char *text, size_t room, struct sp_metrics *t, const struct sp_metric *d);
