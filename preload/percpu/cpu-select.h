/* cpu-select.h: which CPUs are watched where not all can be: those that a thread is likeliest to
 * run on next.
 *
 * A scheduler moves a thread to a CPU of its core or last cache if it can, then of its node: caches
 * are warm there.  So the nearest come first, and of those that are as near the next ones by
 * number, so that threads of different CPUs watch different ones.
 *
 * Pure, but for sp_cpu_neighbors_read, which reads three small files; any thread, not in signal
 * handlers.
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
void sp_cpus_set(struct sp_cpus *s, uint32_t cpu, bool is);

/* What is near to a CPU, the nearest first. */
#define SP_CPU_NEIGHBOR_LEVELS	3u		/* its core, last cache, package */
struct sp_cpu_neighbors {
	uint32_t cpu;
	char level[SP_CPU_NEIGHBOR_LEVELS][160];	/* as "0-3,8"; empty: not known */
};

#define SP_CPU_TOPOLOGY_DIR	"/sys/devices/system/cpu"
void sp_cpu_neighbors_read(struct sp_cpu_neighbors *neighbors, const char *dir, uint32_t cpu);

/* At most `most` of the CPUs of *may to cpu[], the nearest first; how many. */
uint32_t sp_cpu_neighbors_choose(const struct sp_cpu_neighbors *neighbors,
				 const struct sp_cpus *may, uint32_t most, int32_t *cpu);

/* Into how many parts what is left (descriptors, ns) is divided when a thread starts a set, which
 * takes one of them: as many as threads are to be expected.  cpus: that the process may run on;
 * threads: that there are; begun: that have taken theirs.  A process of one thread leaves most of
 * it; of more there will be one for each core of two hardware threads, if there are not more
 * yet. */
uint32_t sp_cpu_neighbors_share(uint32_t cpus, uint32_t threads, uint32_t begun);

#endif
