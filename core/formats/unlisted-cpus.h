/* unlisted-cpus.h: the counts of CPUs that the topology lacks, for JSON's sums below each
 * component. */
#pragma once

#include "../metric/compute.h"

struct sp_unlisted_cpus_cpu {
	uint32_t machine;
	int32_t cpu;			/* OS index */
};

struct sp_unlisted_cpus {
	uint32_t n;
	struct sp_unlisted_cpus_cpu *cpu;	/* [n], by machine and OS index */
	/* A row per CPU, and row n, which sp_unlisted_cpus_below fills. */
	int64_t *sum;			/* [n + 1][events]: counters, but for those that are counted
					 * on a package or device */
	bool *present, *unsupported;		/* [n + 1][events]: the CPU can count it; cannot, by
						 * a row at least */
	struct sp_metric_sum *metric;	/* [n + 1][slots of the metrics] */
	void *memory;
	uint64_t bytes;
};

/* Adds up the cells of m, and of the metrics t if that is not NULL.  Out of memory: o->n is 0.
 * sp_unlisted_cpus_close frees the memory. */
void sp_unlisted_cpus_open(struct sp_unlisted_cpus *o, struct sp_model *m, struct sp_metrics *t);
void sp_unlisted_cpus_close(struct sp_unlisted_cpus *o);

/* Fills row n with the sums below this component, which include those of the CPUs that its machine
 * lacks.  False: it lacks none. */
bool sp_unlisted_cpus_below(struct sp_unlisted_cpus *o, const struct sp_model *m,
			    struct sp_metrics *t, uint32_t component);
