/* observers.h: finds observers of the same counts, so that sums contain the counts once.
 *
 * Two ranks that read RAPL both get the energy of the whole package, and two threads that read
 * stealtime the time of the whole machine. Of observers whose times overlap (from a thread's first
 * use of a counter to its last) only the one that ran longest counts. Counts of observers whose
 * times do not overlap add up. An observer is a thread with the target to which it attached. The
 * thread's own sets of a component never run at the same time, so their counts and run times add
 * up. In older stores that have no run time, the time from first to last replaces it.
 *
 * A metric chooses its own observers (metric/compute.c): the longest observer of one of its events
 * may lack the other. Part of the model; its rules are in model.h.
 */
#ifndef SP_OBSERVERS_H
#define SP_OBSERVERS_H

#include "model.h"

/* Add a word to a hash. Mixes all bits, since the words are small and similar. */
static inline uint64_t sp_mix_hash(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0xff51afd7ed558ccdull;
	return key ^ key >> 32;
}

/* Identify the observer of a row: its thread with the target. */
static inline uint64_t sp_observer(const struct sp_row *row)
{
	return sp_mix_hash(sp_mix_hash(sp_mix_hash(sp_mix_hash(1, row->process), row->thread_at),
				       row->target),
			   (uint32_t)row->target_id);
}

/* Event i of a row, observed for the sum number `of`. */
struct sp_sighting {
	uint32_t of, i;
};

/* Selects the counts to compare; all may be NULL. */
struct sp_observing {
	/* Compare only rows for which this returns the same number. */
	uint64_t (*group)(const void *of, const struct sp_row *row);
	const void *of;
	/* The list of sightings of a row and its length; valid until the next row. NULL: the row's
	 * events, by id. */
	uint32_t (*list)(void *with, const struct sp_row *row, const struct sp_sighting **list);
	void *with;
};

/* Find the counts that sums omit; 0 or -ENOMEM. Close it only after success. */
int sp_observers_open(struct sp_observers *o, struct sp_model *m, const struct sp_observing *how);
void sp_observers_close(struct sp_observers *o);

/* Returns whether sums omit entry i of the row's list (event i), because another observer saw it
 * over the same time, for longer. */
static inline bool sp_observers_omit(const struct sp_observers *o, const struct sp_row *row,
				      uint32_t i)
{
	return o->at && o->at[row->walk.index - 1] &&
	       o->omitted[o->at[row->walk.index - 1] - 1 + i];
}

/* Run time of the counting observer in ns, in one of the observer's relations; 0 in others. */
static inline uint64_t sp_observers_ns(const struct sp_observers *o, const struct sp_row *row,
				       uint32_t i)
{
	return o->at && o->at[row->walk.index - 1] ? o->ns[o->at[row->walk.index - 1] - 1 + i] : 0;
}

/* The same for the sums of the model. */
static inline bool sp_row_is_omitted(const struct sp_model *m, const struct sp_row *row, uint32_t i)
{
	return sp_observers_omit(&m->observers, row, i);
}

/* The most observers that saw the event over the same time; 0 if there were never two. */
static inline uint32_t sp_event_observers(const struct sp_model *m, uint32_t event)
{
	return m->observers.n ? m->observers.n[event] : 0;
}

#endif
