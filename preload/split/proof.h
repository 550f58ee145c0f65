/* proof.h: tells whether this thread stayed on its CPU.
 *
 * The kernel clears a thread's rseq_cs pointer whenever it has preempted, moved or
 * signalled the thread while it ran outside the section that the pointer names.
 * We let it name a section that is never run: while the pointer is still there, the
 * thread has not left its CPU.  One load and one compare; a lost pointer is put back
 * and `losses` counts it.
 *
 * A reading proves its window if nothing was lost from before the real call that
 * opened the window until after the one that closes it.  sp_proof_now (the fast path: sp_proof_at) stands
 * before the real call; after it the CPU's number is read, and right then sp_proof_stayed asks.
 *
 * Kernels that look at the pointer only on interrupts from user space (Linux 6.19
 * on) would let a sleeping thread keep it: sp_proof_test finds out, once, and where
 * it fails a page of the kernel's is asked instead (witness.h).  Other users of rseq (allocators with per-CPU
 * caches) replace the pointer; a window in which they did is not proven.  Before Linux 6.6 close() clears it,
 * too: the window that a PAPI_start opens is not proven where PAPI opened its events again in there, as
 * it does when another set was used meanwhile.  Nobody clears it of a
 * thread that has taken libc's registration away: sp_cpu_here, which sees that, counts a loss.
 */
#ifndef SP_PROOF_H
#define SP_PROOF_H

#include "../process/process.h"
#include "where.h"

/* Arms, sleeps, looks.  False: this kernel or libc proves nothing. */
bool sp_proof_test(void);
void sp_proof_say(void);		/* that it proves nothing, if so */

/* The slow path, where rseq does not work, or has not been tried yet in a child of fork; of a guest, for which it proves nothing. */
uint32_t sp_proof_other(void);

/* A call is booked that may stand on top of another one, in a handler: rseq shows that to both as a loss; a page
 * (witness.h) does not, so that it is counted as one here. */
static inline void sp_proof_on_top(void)
{
	if (!sp_get(&sp_process.proof_works))
		sp_add(&sp_self.losses, 1);
}

#ifdef SP_HAVE_RSEQ
extern const struct rseq_cs sp_proof_section __attribute__((visibility("hidden")));
#define SP_PROOF_SECTION ((uint64_t)(uintptr_t)&sp_proof_section)
typedef uint64_t sp_proof_pointer __attribute__((may_alias));	/* the kernel's headers have it as a union, older ones */

SP_HOT_INLINE uint32_t sp_proof_at(struct rseq *area)
{
	if (SP_UNLIKELY(sp_own((sp_proof_pointer *)&area->rseq_cs) != SP_PROOF_SECTION)) {
		/* The pointer first: what a handler proves here, on top, ends with a move before our next scan. */
		sp_put((sp_proof_pointer *)&area->rseq_cs, SP_PROOF_SECTION);
		sp_order();
		sp_add(&sp_self.losses, 1);
	}
	sp_order();
	return sp_self.losses;
}

/* Where it works: nothing was lost since it looked so; and the CPU is this one. */
SP_HOT_INLINE bool sp_proof_holds(const struct rseq *area, uint32_t open)
{
	if (SP_UNLIKELY(sp_own((const sp_proof_pointer *)&area->rseq_cs) != SP_PROOF_SECTION))
		return false;
	sp_order();
	return SP_LIKELY(sp_self.losses == open);
}

SP_HOT_INLINE bool sp_proof_stayed(const struct rseq *area, uint32_t open, int cpu)
{
	if (SP_UNLIKELY((int)sp_own(&area->cpu_id) != cpu))
		return false;
	sp_order();
	return sp_proof_holds(area, open);
}
#else
SP_HOT_INLINE uint32_t sp_proof_at(struct rseq *area)
{
	(void)area;
	return ++sp_self.losses;
}

SP_HOT_INLINE bool sp_proof_holds(const struct rseq *area, uint32_t open)
{
	(void)area, (void)open;
	return false;
}

SP_HOT_INLINE bool sp_proof_stayed(const struct rseq *area, uint32_t open, int cpu)
{
	(void)cpu;
	return sp_proof_holds(area, open);
}
#endif

static inline uint32_t sp_proof_rseq(void)
{
	return sp_proof_at(sp_rseq_area());
}

SP_HOT_INLINE uint32_t sp_proof_now(void)
{
	return SP_LIKELY(sp_get(&sp_process.proof_works) & !sp_self.is_guest) ? sp_proof_rseq() : sp_proof_other();
}

#endif
