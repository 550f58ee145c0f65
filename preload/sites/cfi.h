/* cfi.h: from a frame to its caller's, by the unwind tables of the code (.eh_frame).
 *
 * What a table says of a return address is the same whenever that address is met: a rule, found once.  To find one is a
 * pure function of the tables, which the loader has mapped: no lock, memory or system call.  They may be anything: nothing
 * outside of them is read.
 */
#ifndef SP_CFI_H
#define SP_CFI_H

#include "../../core/base/base.h"

/* Of one object: the header (PT_GNU_EH_FRAME), and the bytes around it that may be read, by page faults that nobody counts. */
struct sp_tables {
	uintptr_t header, low, end;
};

struct sp_rule {
	uintptr_t function;		/* where it begins */
	int32_t cfa;			/* the caller's stack pointer is so far from the frame's: from its stack pointer, or as `how` says */
	int32_t ra, fp;			/* and so far from there stand the address to return to, and the caller's frame pointer (0: unchanged) */
	uint8_t how;
};

#define SP_RULE_BY_FP	1u		/* cfa is from the frame pointer */
#define SP_RULE_THERE	2u		/* and is where the caller's stack pointer stands (a realigned frame) */
#define SP_RULE_FP_AT_FP 4u		/* the caller's frame pointer stands where the frame's points to */
#define SP_RULE_ENDS	8u		/* no way to a caller is known */
#define SP_RULE_RUNTIME	16u		/* it is of a library that starts threads and programs (unwind.h) */

/* Where the tables begin, as the header says; 0: it does not. */
uintptr_t sp_rule_tables(uintptr_t header, uintptr_t end);

/* The rule for calls that return to this address.  False: the tables have none, or one that is not of these kinds. */
bool sp_rule_find(struct sp_rule *r, const struct sp_tables *t, uintptr_t to);

/* A frame on the stack: where its call returns to, and its registers then. */
struct sp_stack {
	uintptr_t to, sp, fp;
};

#define SP_FRAME_MOST	(16u << 20)	/* bytes of one: what has more is none */

/* Without the signature that pointer authentication puts into its upper bits. */
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

/* To the caller's frame.  False: it cannot be as the rule says, as code that breaks its own rules would have it.
 * (Sanitizers take what lies between variables for nobody's.) */
__attribute__((no_sanitize_address)) static inline bool sp_rule_step(struct sp_stack *at, const struct sp_rule *r)
{
	uintptr_t from = r->how & SP_RULE_BY_FP ? at->fp : at->sp, cfa = from + (uintptr_t)(intptr_t)r->cfa, fp;

	if (SP_UNLIKELY(r->how & (SP_RULE_THERE | SP_RULE_FP_AT_FP | SP_RULE_ENDS))) {
		if ((r->how & SP_RULE_ENDS) || at->fp - at->sp >= SP_FRAME_MOST || at->fp % sizeof(uintptr_t))
			return false;
		if (r->how & SP_RULE_THERE)
			cfa = *(const uintptr_t *)cfa;
	}
	if (SP_UNLIKELY(cfa - at->sp - 1 >= SP_FRAME_MOST) || SP_UNLIKELY(cfa % sizeof(uintptr_t)))
		return false;
	fp = r->how & SP_RULE_FP_AT_FP ? at->fp : cfa + (uintptr_t)(intptr_t)r->fp;
	if (r->fp || (r->how & SP_RULE_FP_AT_FP))
		at->fp = *(const uintptr_t *)fp;
	at->to = sp_unsigned_address(*(const uintptr_t *)(cfa + (uintptr_t)(intptr_t)r->ra));
	at->sp = cfa;
	return true;
}

#endif
