/* cpu-select.c: sorts CPUs by distance from one CPU; see cpu-select.h. */
#include <string.h>

#include "../../core/base/cpu-list.h"
#include "../../core/base/sys.h"
#include "cpu-select.h"

#define BITS (8 * sizeof(long))

uint32_t sp_cpus_count(const struct sp_cpus *s)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < SP_COUNT(s->word); i++)
		n += (uint32_t)__builtin_popcountl(s->word[i]);
	return n;
}

void sp_cpus_add(struct sp_cpus *to, const struct sp_cpus *more)
{
	for (unsigned i = 0; i < SP_COUNT(to->word); i++)
		to->word[i] |= more->word[i];
}

void sp_cpus_set(struct sp_cpus *s, uint32_t cpu, bool is_set)
{
	unsigned long bit = 1ul << cpu % BITS;

	if (cpu < SP_MAX_CPUS)
		s->word[cpu / BITS] =
			is_set ? s->word[cpu / BITS] | bit : s->word[cpu / BITS] & ~bit;
}

/* A list that fills the buffer may be incomplete, and is ignored. */
static bool read_level(struct sp_cpu_neighbors *neighbors, uint32_t level, const char *dir,
		       const char *file)
{
	char path[160], *to = neighbors->level[level];
	long n = sp_path_f(path, sizeof(path), "%s/cpu%u%s", dir, neighbors->cpu, file)
			 ? sp_read_file(path, to, sizeof(neighbors->level[0]))
			 : 0;

	if (n < 0 || n == (long)sizeof(neighbors->level[0]) - 1)
		n = 0;
	to[n] = 0;
	return n > 0;
}

void sp_cpu_neighbors_read(struct sp_cpu_neighbors *neighbors, const char *dir, uint32_t cpu)
{
	neighbors->cpu = cpu;
	(void)read_level(neighbors, 0, dir, "/topology/thread_siblings_list");
	(void)(read_level(neighbors, 1, dir, "/cache/index3/shared_cpu_list") ||
	       read_level(neighbors, 1, dir, "/cache/index2/shared_cpu_list"));
	(void)read_level(neighbors, 2, dir, "/topology/core_siblings_list");
}

static bool is_neighbor(const struct sp_cpu_neighbors *neighbors, uint32_t level, uint32_t cpu)
{
	return level == SP_CPU_NEIGHBOR_LEVELS || sp_cpu_in_list(neighbors->level[level], cpu);
}

uint32_t sp_cpu_neighbors_choose(const struct sp_cpu_neighbors *neighbors,
				 const struct sp_cpus *allowed, uint32_t most, int32_t *cpu)
{
	struct sp_cpus left = *allowed;
	uint32_t n = 0;

	for (uint32_t level = 0; level <= SP_CPU_NEIGHBOR_LEVELS; level++)
		for (uint32_t i = 0; i < SP_MAX_CPUS && n < most; i++) {
			uint32_t at = (neighbors->cpu + i) % SP_MAX_CPUS;

			if (!sp_cpus_has(&left, at) ||
			    !(at == neighbors->cpu || is_neighbor(neighbors, level, at)))
				continue;
			sp_cpus_set(&left, at, false);
			cpu[n++] = (int32_t)at;
		}
	return n;
}

#define LONE_PARTS 4u			/* a single thread leaves three quarters */

uint32_t sp_cpu_neighbors_share(uint32_t cpus, uint32_t threads, uint32_t begun)
{
	uint32_t all = threads > 1 ? (uint32_t)sp_max(cpus / 2, threads) : 0;

	return all > begun + LONE_PARTS ? all - begun : LONE_PARTS;
}
