/* fpu.h: saves the program's rounding mode, traps and exception flags while a dump computes. The
 * functions of fenv.h would need libm.
 *
 * Async-signal-safe; a struct sp_fpu belongs to one thread.
 */
#pragma once

#include "base.h"

struct sp_fpu {
#ifdef __x86_64__
	uint32_t x87[7], sse;
#else
	uint64_t control, status;
#endif
};

/* Save the state, round to nearest and disable all traps until sp_fpu_end. */
static inline void sp_fpu_begin(struct sp_fpu *f)
{
#ifdef __x86_64__
	const uint16_t x87 = 0x37f;
	const uint32_t sse = 0x1f80;

	__asm__ volatile("fnstenv %0; stmxcsr %1; fnclex; fldcw %2; ldmxcsr %3"
			 : "=m"(f->x87), "=m"(f->sse) : "m"(x87), "m"(sse) : "memory");
#else
	__asm__ volatile("mrs %0, fpcr; mrs %1, fpsr; msr fpcr, xzr"
			 : "=r"(f->control), "=r"(f->status) : : "memory");
#endif
}

static inline void sp_fpu_end(const struct sp_fpu *f)
{
#ifdef __x86_64__
	__asm__ volatile("fldenv %0; ldmxcsr %1"
			 : : "m"(f->x87), "m"(f->sse) : "memory");
#else
	__asm__ volatile("msr fpcr, %0; msr fpsr, %1"
			 : : "r"(f->control), "r"(f->status) : "memory");
#endif
}
