/* cpu-select.h: selects the CPUs to watch if not all can be: those on which a thread is likely to
 * run next.
 *
 * A scheduler moves a thread within its core or last-level cache if it can, then within its
 * package. So the nearest CPUs come first. Those at the same distance come in order of number from
 * the thread's CPU, so that threads on different CPUs watch different ones.
 *
 * Pure functions, except sp_cpu_neighbors_read(), which reads three small files. Any thread, not in
 * signal handlers.
 */
#ifndef SP_CPU_SELECT_H
#define SP_CPU_SELECT_H

#include "../../core/base/base.h"

#define SP_MAX_CPUS 1024u

struct sp_cpus {
	unsigned long word[SP_MAX_CPUS / (8 * sizeof(long))];
};

static inline bool sp_cpus_has(const struct sp_cpus *s, uint32_t cpu)
{
	return cpu < SP_MAX_CPUS &&
	       s->word[cpu / (8 * sizeof(long))] >> cpu % (8 * sizeof(long)) & 1;
}

uint32_t sp_cpus_count(const struct sp_cpus *s);
void sp_cpus_add(struct sp_cpus *to, const struct sp_cpus *more);
void sp_cpus_set(struct sp_cpus *s, uint32_t cpu, bool is_set);

/* The CPU's neighbors, the nearest level first. */
#define SP_CPU_NEIGHBOR_LEVELS	3u	/* its core, last-level cache, package */
struct sp_cpu_neighbors {
	uint32_t cpu;
	char level[SP_CPU_NEIGHBOR_LEVELS][160];	/* as "0-3,8"; empty: unknown */
};

#define SP_CPU_TOPOLOGY_DIR	"/sys/devices/system/cpu"
void sp_cpu_neighbors_read(struct sp_cpu_neighbors *neighbors, const char *dir, uint32_t cpu);

/* Chooses at most `most` of the CPUs *allowed, the nearest first. Returns how many. */
uint32_t sp_cpu_neighbors_choose(const struct sp_cpu_neighbors *neighbors,
				 const struct sp_cpus *allowed, uint32_t most, int32_t *cpu);

/* Returns into how many parts to divide the remaining budget (descriptors, ns) when a thread starts
 * a set and takes one part: the number of threads to expect. cpus: that the process may run on;
 * threads: that exist; begun: that have their part. A process of one thread keeps most of it.
 * Otherwise one thread for each core of two hardware threads is expected, or the present number if
 * higher. */
uint32_t sp_cpu_neighbors_share(uint32_t cpus, uint32_t threads, uint32_t begun);

#endif
