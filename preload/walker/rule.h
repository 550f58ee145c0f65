/* rule.h: a rule that leads from a frame to its caller's, learned from one step of libunwind
 * (walker.h).
 *
 * The unwind tables always give the same answer for a return address, so the distances that
 * libunwind found there are a rule. If a frame's size changes at run time (alloca, a
 * variable-length array), its rule uses the frame pointer.
 */
#ifndef SP_RULE_H
#define SP_RULE_H

#include "../../core/base/base.h"

/* A frame on the stack: its return address, and its registers then. */
struct sp_stack {
	uintptr_t to, sp, fp;
};

/* The caller's frame of the function that contains this, which must not be inlined. */
#define SP_CALLED_FROM \
	((struct sp_stack){ (uintptr_t)__builtin_return_address(0), \
			    (uintptr_t)__builtin_dwarf_cfa(), \
			    *(const uintptr_t *)__builtin_frame_address(0) })

struct sp_rule {
	uintptr_t function;		/* its first instruction */
	/* Distance of the caller's stack pointer from the frame's stack pointer, or as `how`
	 * defines. */
	int32_t cfa;
	/* Distances from there to the return address, and to the caller's saved frame pointer (0:
	 * unchanged). */
	int32_t ra, fp;
	uint8_t how;
	bool ends_path;			/* the function is no helper (unwind.h); set later */
};

#define SP_RULE_BY_FP	1u		/* cfa is relative to the frame pointer */
/* and is where the caller's stack pointer is saved (a realigned frame) */
#define SP_RULE_THERE	2u
/* the caller's frame pointer is saved where the frame's points to */
#define SP_RULE_FP_AT_FP 4u
#define SP_RULE_ENDS	8u		/* the unwind tables lead no further */
/* code of a library that starts threads and programs (unwind.c) */
#define SP_RULE_RUNTIME	16u
#define SP_RULE_SIGNAL	32u		/* a signal handler returns to it */

#define SP_MAX_FRAME	(16u << 20)	/* bytes per frame */

/* The address without the signature that pointer authentication puts into its upper bits. */
static inline uintptr_t sp_unsigned_address(uintptr_t to)
{
#ifdef __aarch64__
	register uintptr_t x30 __asm__("x30") = to;

	__asm__("hint #7" : "+r"(x30));	/* xpaclri, a nop on older processors */
	return x30;
#else
	return to;
#endif
}

#endif
