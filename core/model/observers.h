/* observers.h: finds counts of one thing that several observers have, so that they count once.
 *
 * Two ranks that each read RAPL have both seen the whole package's energy, and two threads that read
 * stealtime the whole machine's: both counts are of one thing, and do not add up.  Of observers whose times
 * overlap (from the first thing that a thread did with a counter to the last) the one with the longest time counts; the
 * counts of observers whose times do not overlap add up.  An observer is a thread with the target that it attached to: a
 * thread's own sets of one component never run at the same time, so that their counts add up.
 *
 * Part of the model (model.h has the rules: it trusts nothing, one thread).
 */
#ifndef SP_OBSERVERS_H
#define SP_OBSERVERS_H

#include "model.h"

/* Finds out which counts of which relations are left out of sums: of all, or, with `group`, of those of the rows
 * that it gives the same number.  0 or -ENOMEM; on an error nothing is to be closed. */
int sp_observers_open(struct sp_observers *o, struct sp_model *m, uint64_t (*group)(const void *of, const struct sp_row *row), const void *of);
void sp_observers_close(struct sp_observers *o);

/* Is event i of the row left out: did another see it over the same time, and longer? */
static inline bool sp_observers_leave(const struct sp_observers *o, const struct sp_row *row, uint32_t i)
{
	return o->at && o->at[row->index - 1] && o->left[o->at[row->index - 1] - 1 + i];
}

/* For how long did who counts observe event i?  Of several relations of one observer one has it; 0: another has. */
static inline uint64_t sp_observers_ns(const struct sp_observers *o, const struct sp_row *row, uint32_t i)
{
	return o->at && o->at[row->index - 1] ? o->ns[o->at[row->index - 1] - 1 + i] : 0;
}

/* The same over all rows of the model. */
static inline bool sp_row_left(const struct sp_model *m, const struct sp_row *row, uint32_t i)
{
	return sp_observers_leave(&m->observers, row, i);
}

/* By how many observers was the event seen over the same time, where it was most of them?  0: by no two. */
static inline uint32_t sp_event_observers(const struct sp_model *m, uint32_t event)
{
	return m->observers.n ? m->observers.n[event] : 0;
}

#endif
