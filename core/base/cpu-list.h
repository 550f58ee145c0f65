/* cpu-list.h: reads and writes lists of CPUs in the kernel's format: 0-3,8,10-11. */
#pragma once

#include "out.h"

/* Parse the first range of the list, both ends included, each at most UINT32_MAX. Returns the rest
 * of the list, or NULL if there is no valid range. A NUL or a newline ends the list. */
const char *sp_cpu_range(const char *list, uint64_t *from, uint64_t *to);

bool sp_cpu_in_list(const char *list, uint64_t cpu);

/* Add a CPU unless it is beyond the set's size. */
static inline void sp_cpu_put(unsigned long *set, uint64_t bytes, uint64_t cpu)
{
	if (cpu < 8 * bytes)
		set[cpu / (8 * sizeof(long))] |= 1ul << cpu % (8 * sizeof(long));
}

/* Write the CPUs of a set of `bytes` bytes. */
void sp_out_cpu_list(struct sp_out *o, const unsigned long *set, uint64_t bytes);
