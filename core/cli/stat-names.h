/* stat-names.h: which events `sspapi stat` counts. */
#ifndef SP_STAT_NAMES_H
#define SP_STAT_NAMES_H

#include "stat.h"

/* Fills the plan, which is in memory that is shared with children.  events: E,E as asked for, or NULL; metrics: M,M
 * of -m, or NULL; neither: the usual ones.  False: p->wrong says what cannot be counted and why. */
bool sp_stat_plan(struct sp_stat_plan *p, const char *events, const char *metrics);

#endif
