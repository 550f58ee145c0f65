/* unlisted-cpus.h: sums the counts of CPUs that the topology lacks, for JSON's sums of each
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
	/* A row per CPU; row n is the result of sp_unlisted_cpus_below. */
	/* [n + 1][events] without those counted on a package or device */
	int64_t *sum;
	/* [n + 1][events] some CPU can count it; no CPU of a row can */
	bool *present, *unsupported;
	struct sp_metric_sum *metric;	/* [n + 1][slots of the metrics] */
	void *memory;
	uint64_t bytes;
};

/* Sums the cells of m, and of the metrics t unless NULL. Out of memory: o->n is 0. Free the memory
 * with sp_unlisted_cpus_close. */
void sp_unlisted_cpus_open(struct sp_unlisted_cpus *o, struct sp_model *m, struct sp_metrics *t);
void sp_unlisted_cpus_close(struct sp_unlisted_cpus *o);

/* Fills row n with the sums below this component, including CPUs that its machine's topology lacks.
 * Returns false if it lacks no CPU. */
bool sp_unlisted_cpus_below(struct sp_unlisted_cpus *o, const struct sp_model *m,
			    struct sp_metrics *t, uint32_t component);
