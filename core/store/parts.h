/* parts.h: the parts of one window, spent on several CPUs. */
#ifndef SP_PARTS_H
#define SP_PARTS_H

#include "../base.h"

/* What is new of k events since the value before: at[i][e] of it is that of cpu[i]; the CPU that the operation
 * is booked on gets the rest.  Whole numbers, so that the sum is what was handed out. */
struct sp_parts {
	uint32_t n;
	const int32_t *cpu;		/* [n] */
	const int64_t *at;		/* [n][k] */
	const int64_t *proven;		/* [n + 1][k] newly known to have been counted there, perhaps of what was booked before; the last
					 * row is the CPU's that the operation is booked on */
};

#endif
