/* cpu-list.h: sets of CPUs as the kernel writes them: 0-3,8,10-11. */
#pragma once

#include "out.h"

/* The first range of the list, both ends in it, at most UINT32_MAX; what stands behind it, or
 * NULL: no list goes on here.  A list ends with a NUL or a newline. */
const char *sp_cpu_range(const char *list, uint64_t *from, uint64_t *to);

bool sp_cpu_in_list(const char *list, uint64_t cpu);

/* Adds a CPU, if there are that many bits. */
static inline void sp_cpu_put(unsigned long *set, uint64_t bytes, uint64_t cpu)
{
	if (cpu < 8 * bytes)
		set[cpu / (8 * sizeof(long))] |= 1ul << cpu % (8 * sizeof(long));
}

/* The CPUs with a bit in the first `bytes` of the set. */
void sp_out_cpu_list(struct sp_out *o, const unsigned long *set, uint64_t bytes);
