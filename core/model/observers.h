/* observers.h: finds counts of one thing that several observers have, so that they count once.
 *
 * Two ranks that each read RAPL have both seen the whole package's energy, and two threads that
 * read stealtime the whole machine's: both counts are of one thing, and do not add up.  Of
 * observers whose times overlap (from the first thing that a thread did with a counter to the last)
 * the one with the longest time counts; the counts of observers whose times do not overlap add up.
 * An observer is a thread with the target that it attached to: a thread's own sets of one component
 * never run at the same time, so that their counts add up.
 *
 * A metric has observers of its own (metric/compute.c): who saw one of its events longest may not
 * have had the other.
 *
 * Part of the model (model.h has the rules: it trusts nothing, one thread).
 */
#ifndef SP_OBSERVERS_H
#define SP_OBSERVERS_H

#include "model.h"

/* A key of words, one after the other: they may be small and near to each other, so that each goes
 * through all bits. */
static inline uint64_t sp_mix_hash(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0xff51afd7ed558ccdull;
	return key ^ key >> 32;
}

/* Who observes what the row has: a thread, with the target that it attached to. */
static inline uint64_t sp_observer(const struct sp_row *row)
{
	return sp_mix_hash(sp_mix_hash(sp_mix_hash(sp_mix_hash(1, row->process), row->thread_at),
				       row->target),
			   (uint32_t)row->target_id);
}

/* One more thing to look at: event i of a row, for a sum that has this number. */
struct sp_sighting {
	uint32_t of, i;
};

/* Whose counts are compared.  All may be NULL. */
struct sp_observing {
	/* Only those of rows that this gives the same number. */
	uint64_t (*group)(const void *of, const struct sp_row *row);
	const void *of;
	/* What is looked at of a row, and how much that is; it stays until the next row.  NULL: its
	 * events, by their ids. */
	uint32_t (*list)(void *with, const struct sp_row *row, const struct sp_sighting **list);
	void *with;
};

/* Finds out which counts of which relations are left out of sums.  0 or -ENOMEM; on an error
 * nothing is to be closed. */
int sp_observers_open(struct sp_observers *o, struct sp_model *m, const struct sp_observing *how);
void sp_observers_close(struct sp_observers *o);

/* Is what stands at i of the row's list (event i) left out: did another see it over the same time,
 * and longer? */
static inline bool sp_observers_leave(const struct sp_observers *o, const struct sp_row *row,
				      uint32_t i)
{
	return o->at && o->at[row->walk.index - 1] && o->left[o->at[row->walk.index - 1] - 1 + i];
}

/* For how long did who counts observe it?  Of several relations of one observer one has it; 0:
 * another has. */
static inline uint64_t sp_observers_ns(const struct sp_observers *o, const struct sp_row *row,
				       uint32_t i)
{
	return o->at && o->at[row->walk.index - 1] ? o->ns[o->at[row->walk.index - 1] - 1 + i] : 0;
}

/* The same over all rows of the model. */
static inline bool sp_row_left(const struct sp_model *m, const struct sp_row *row, uint32_t i)
{
	return sp_observers_leave(&m->observers, row, i);
}

/* By how many observers was the event seen over the same time, where it was most of them?  0: by no
 * two. */
static inline uint32_t sp_event_observers(const struct sp_model *m, uint32_t event)
{
	return m->observers.n ? m->observers.n[event] : 0;
}

#endif
