/* repeats.h: compares the counts of repeated runs of a program (sspapi stat -r). */
#ifndef SP_REPEATS_H
#define SP_REPEATS_H

#include "model.h"

#define SP_REPEATS_MOST 1000u

/* The number of repeats; 0: a single run. */
static inline uint32_t sp_n_repeats(const struct sp_model *m)
{
	uint64_t n = m->h.stat >> SP_STAT_RUN_SHIFT;

	return n <= sp_min(SP_REPEATS_MOST, m->n_processes) ? (uint32_t)n : 0;
}

/* Mean and variance of values that are added one by one. */
struct sp_spread {
	uint32_t n;
	double mean, squares, min, max;	/* squares: sum of squared distances from the mean */
};
void sp_spread_add(struct sp_spread *s, double v);
double sp_deviation(const struct sp_spread *s);	/* sample standard deviation; 0 of one value */
double sp_root(double v);

/* The elapsed time of the runs in ns, and the number of busy CPUs (time on CPUs / elapsed time;
 * busy->n 0: unknown). Also for a single run. */
void sp_repeats_times(struct sp_model *m, struct sp_spread *elapsed, struct sp_spread *busy);

/* The spread of each event, [n_events]; NULL for a single run or without memory. Free it with
 * sp_repeats_free. */
struct sp_spread *sp_repeats_spread(struct sp_model *m);
void sp_repeats_free(struct sp_spread *s, const struct sp_model *m);

#endif
