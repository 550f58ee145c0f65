/* repeats.h: repeats of a program (sspapi stat -r): what each event counted from run to run. */
#ifndef SP_REPEATS_H
#define SP_REPEATS_H

#include "model.h"

#define SP_REPEATS_MOST 1000u

/* How many; 0: the store is of one run. */
static inline uint32_t sp_n_repeats(const struct sp_model *m)
{
	uint64_t n = m->h.stat >> SP_STAT_RUN_SHIFT;

	return n <= sp_min(SP_REPEATS_MOST, m->n_processes) ? (uint32_t)n : 0;
}

/* Values that come one by one. */
struct sp_spread {
	uint32_t n;
	double mean, squares, min, max;	/* squares: sum of the squared distances from the mean */
};
void sp_spread_add(struct sp_spread *s, double v);
double sp_deviation(const struct sp_spread *s);	/* the standard deviation, of a sample; 0 of one
						 * value */
double sp_root(double v);

/* How long the runs took, in ns, and how many CPUs were busy meanwhile (the time on CPUs by it;
 * busy->n 0: that is not known). Of a store of one run that one. */
void sp_repeats_times(struct sp_model *m, struct sp_spread *elapsed, struct sp_spread *busy);

/* Of each event of the model, [n_events]; NULL: one run, or no memory.  Give it back. */
struct sp_spread *sp_repeats_spread(struct sp_model *m);
void sp_repeats_free(struct sp_spread *s, const struct sp_model *m);

#endif
