/* split.h: counts of one window, told to the CPUs by the time spent on each.
 *
 * Whole numbers, the sum kept to the unit: one part is taken off after the other, each
 * its share, rounded, of what is left over; the last one gets the rest.
 */
#ifndef SP_SPLIT_H
#define SP_SPLIT_H

#include "../base.h"

struct sp_part {
	int cpu;
	uint64_t weight;		/* ns on it */
};

/* part/whole of delta, to the nearest unit; part <= whole, whole > 0.  Any sign. */
static inline int64_t sp_share(int64_t delta, uint64_t part, uint64_t whole)
{
	unsigned __int128 n = delta < 0 ? -(unsigned __int128)delta : (unsigned __int128)delta;
	int64_t share = (int64_t)((n * part + whole / 2) / whole);

	return delta < 0 ? -share : share;
}

#endif
