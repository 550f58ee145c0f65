/* unlisted-cpus.h: the counts of CPUs that the topology lacks, for JSON's sums below each component. */
#pragma once

#include "../metric/compute.h"

struct sp_outside_cpu {
	uint32_t machine;
	int32_t cpu;			/* OS index */
};

struct sp_outside {
	uint32_t n;
	struct sp_outside_cpu *cpu;	/* [n], by machine and OS index */
	/* A row per CPU, and row n, which sp_outside_below fills. */
	int64_t *sum;			/* [n + 1][events]: counters, but for those that are counted on a package or device */
	bool *present, *hole;		/* [n + 1][events]: the CPU can count it; cannot, by a row at least */
	struct sp_metric_sum *metric;	/* [n + 1][slots of the metrics] */
	void *memory;
	uint64_t bytes;
};

/* Adds up the cells of m, and of the metrics t if that is not NULL.  Out of memory: o->n is 0.  sp_outside_close frees the
 * memory. */
void sp_outside_open(struct sp_outside *o, struct sp_model *m, struct sp_metrics *t);
void sp_outside_close(struct sp_outside *o);

/* Fills row n with the sums below this component, which include those of the CPUs that its machine lacks.  False: it
 * lacks none. */
bool sp_outside_below(struct sp_outside *o, const struct sp_model *m, struct sp_metrics *t, uint32_t component);
