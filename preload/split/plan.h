/* plan.h: what is opened for a set's split (split.h), and when it counts. */
#ifndef SP_PLAN_H
#define SP_PLAN_H

#include "split-own.h"

/* Before PAPI starts the set: its hardware counters are on, no other set's of the thread; those that never found a place
 * go.  The caller has it (hold.h). */
void sp_plan_starts(struct sp_split *p);

#endif
