/* cpu-select.c: puts CPUs in the order of their nearness to one; see cpu-select.h. */
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

void sp_cpus_put(struct sp_cpus *s, uint32_t cpu, bool is)
{
	unsigned long bit = 1ul << cpu % BITS;

	if (cpu < SP_CPUS_MOST)
		s->word[cpu / BITS] = is ? s->word[cpu / BITS] | bit : s->word[cpu / BITS] & ~bit;
}

/* A list that is longer than its room is none. */
static bool look_at(struct sp_near *near, uint32_t level, const char *folder, const char *file)
{
	char path[160], *to = near->level[level];
	long n = sp_path_f(path, sizeof(path), "%s/cpu%u%s", folder, near->cpu, file) ? sp_read_file(path, to, sizeof(near->level[0])) : 0;

	if (n < 0 || n == (long)sizeof(near->level[0]) - 1)
		n = 0;
	to[n] = 0;
	return n > 0;
}

void sp_near_look(struct sp_near *near, const char *folder, uint32_t cpu)
{
	near->cpu = cpu;
	(void)look_at(near, 0, folder, "/topology/thread_siblings_list");
	(void)(look_at(near, 1, folder, "/cache/index3/shared_cpu_list") || look_at(near, 1, folder, "/cache/index2/shared_cpu_list"));
	(void)look_at(near, 2, folder, "/topology/core_siblings_list");
}

static bool is_near(const struct sp_near *near, uint32_t level, uint32_t cpu)
{
	return level == SP_NEAR_LEVELS || sp_cpu_in_list(near->level[level], cpu);
}

uint32_t sp_near_choose(const struct sp_near *near, const struct sp_cpus *may, uint32_t most, int32_t *cpu)
{
	struct sp_cpus left = *may;
	uint32_t n = 0;

	for (uint32_t level = 0; level <= SP_NEAR_LEVELS; level++)
		for (uint32_t i = 0; i < SP_CPUS_MOST && n < most; i++) {
			uint32_t at = (near->cpu + i) % SP_CPUS_MOST;

			if (!sp_cpus_has(&left, at) || !(at == near->cpu || is_near(near, level, at)))
				continue;
			sp_cpus_put(&left, at, false);
			cpu[n++] = (int32_t)at;
		}
	return n;
}

#define ALONE	4u			/* a thread that is alone leaves three quarters */

uint32_t sp_near_parts(uint32_t cpus, uint32_t threads, uint32_t begun)
{
	uint32_t all = threads > 1 ? (uint32_t)sp_max(cpus / 2, threads) : 0;

	return all > begun + ALONE ? all - begun : ALONE;
}
