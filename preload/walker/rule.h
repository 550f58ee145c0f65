/* rule.h: how to get from a frame to its caller's, as libunwind has done it once (walker.h).
 *
 * The unwind tables say the same of a return address whenever it is met, so the distances that
 * libunwind found there are a rule. A frame whose size changes at run time (alloca, a
 * variable-length array) has its rule from the frame pointer.
 */
#ifndef SP_RULE_H
#define SP_RULE_H

#include "../../core/base/base.h"

/* A frame on the stack: where its call returns to, and its registers then. */
struct sp_stack {
	uintptr_t to, sp, fp;
};

/* Of the function that this stands in, which is not inlined. */
#define SP_CALLED_FROM \
	((struct sp_stack){ (uintptr_t)__builtin_return_address(0), \
			    (uintptr_t)__builtin_dwarf_cfa(), \
			    *(const uintptr_t *)__builtin_frame_address(0) })

struct sp_rule {
	uintptr_t function;		/* where it begins */
	int32_t cfa;			/* the caller's stack pointer: so far from the frame's stack
					 * pointer, or as `how` says */
	int32_t ra, fp;			/* from there on: the return address, and the caller's frame
					 * pointer (0: unchanged) */
	uint8_t how;
};

#define SP_RULE_BY_FP	1u		/* cfa is from the frame pointer */
#define SP_RULE_THERE	2u		/* and is where the caller's stack pointer stands (a
					 * realigned frame) */
#define SP_RULE_FP_AT_FP 4u		/* the caller's frame pointer stands where the frame's
					 * points to */
#define SP_RULE_ENDS	8u		/* the unwind tables lead no further */
#define SP_RULE_RUNTIME	16u		/* code of a library that starts threads and programs
					 * (unwind.c) */
#define SP_RULE_SIGNAL	32u		/* a signal handler returns to it */

#define SP_MAX_FRAME	(16u << 20)	/* bytes of a frame */

/* The address without the signature that pointer authentication puts into its upper bits. */
static inline uintptr_t sp_unsigned_address(uintptr_t to)
{
#ifdef __aarch64__
	register uintptr_t x30 __asm__("x30") = to;

	__asm__("hint #7" : "+r"(x30));		/* xpaclri: "nop" where there is none */
	return x30;
#else
	return to;
#endif
}

#endif
