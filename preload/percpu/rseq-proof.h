/* rseq-proof.h: tells whether this thread stayed on its CPU.
 *
 * The kernel clears a thread's rseq_cs pointer whenever it has preempted, moved or
 * signalled the thread while it ran outside the section that the pointer names.
 * We let it name a section that is never run: while the pointer is still there, the
 * thread has not left its CPU.  One load and one compare; a lost pointer is put back
 * and `losses` counts it.
 *
 * A reading proves its window if nothing was lost from before the real call that opened the window
 * until after the one that closes it.  sp_proof_now (the fast path: sp_proof_count_losses) stands before the
 * real call; after it the CPU's number is read, and right then sp_proof_stayed asks.
 *
 * Kernels that look at the pointer only on interrupts from user space (Linux 6.19 on) would let a
 * sleeping thread keep it: sp_proof_test finds out, once, and where it fails the word of a page of
 * the kernel's takes the pointer's place (page-proof.h): a thread's mark is either, and what it is
 * while the thread stays.  Other users of rseq (allocators with per-CPU caches) replace the
 * pointer; a window in which they did is not proven.  Before Linux 6.6 close() clears it, too: the
 * window that a PAPI_start opens is not proven where PAPI opened its events again in there, as it
 * does when another set was used meanwhile.  Nobody clears it of a thread that has taken libc's
 * registration away: sp_cpu_here, which sees that, counts a loss.
 */
#ifndef SP_RSEQ_PROOF_H
#define SP_RSEQ_PROOF_H

#include "../process/process.h"
#include "current-cpu.h"

/* Arms, sleeps, looks.  False: this kernel or libc proves nothing. */
bool sp_proof_test(void);
void sp_proof_report(void);		/* that it proves nothing, if so */

/* A call is nested in another one, by a handler, or what it changes the fast path of the one below
 * takes for unchanged: rseq shows the signal as a loss; a page (page-proof.h) does not, so that it
 * is counted as one here. */
static inline void sp_proof_note_nested(void)
{
	if (!load_relaxed(&sp_process.proof_works))
		sp_add(&sp_thread_state.losses, 1);
}

/* After a loss.  No call, so that the fast path keeps its registers.  A handler may come at any
 * point, and prove on top:
 * - of rseq's mark, to which the pointer is written: it is there before the loss is counted, so
 *   that what the handler proves ends with a move before our next look;
 * - of a page's, whose word is read: a handler finds the loss counted or makes one of its own, and
 *   the CPU is not known until the word is. */
SP_HOT_INLINE void sp_proof_rearm(void)
{
	store_relaxed(&sp_thread_state.cpu, -1);
	sp_add(&sp_thread_state.losses, 1);
	sp_order();
	store_relaxed(sp_thread_state.rearm.to, load_relaxed(sp_thread_state.rearm.from));
	sp_order();
	store_relaxed(&sp_thread_state.cpu, -1);
	sp_add(&sp_thread_state.losses, 1);
}

/* The number of losses so far: while it is the same, the thread has not left its CPU. */
SP_HOT_INLINE uint32_t sp_proof_count_losses(void)
{
	if (SP_UNLIKELY(load_plain(sp_thread_state.mark.word) != sp_thread_state.mark.expected))
		sp_proof_rearm();
	sp_order();
	return sp_thread_state.losses;
}

/* Nothing was lost since it looked so; and the CPU is this one. */
SP_HOT_INLINE bool sp_proof_is_valid(uint32_t open)
{
	if (SP_UNLIKELY(load_plain(sp_thread_state.mark.word) != sp_thread_state.mark.expected))
		return false;
	sp_order();
	return SP_LIKELY(sp_thread_state.losses == open);
}

SP_HOT_INLINE bool sp_proof_stayed(uint32_t open, int cpu)
{
	if (SP_UNLIKELY(load_plain(sp_thread_state.mark.cpu) != cpu))
		return false;
	sp_order();
	return sp_proof_is_valid(open);
}

/* Does the calling thread have one?  (From its first sp_proof_now on.) */
SP_HOT_INLINE bool sp_proof_has_mark(void)
{
	return sp_thread_state.mark.word != &sp_no_mark.word;
}

/* No other call of PAPI was made on top, by a handler; without a mark each call is a loss. */
SP_HOT_INLINE bool sp_proof_is_not_nested(uint32_t open)
{
	return sp_proof_has_mark() ? sp_proof_is_valid(open) : sp_thread_state.losses == open;
}

/* Gives the calling thread its mark: rseq's, where that works; this page's. Takes it away. */
SP_COLD void sp_proof_arm(void);
SP_COLD void sp_proof_use_page(const sp_mark_word *word);
SP_COLD void sp_proof_disarm(void);

/* On the slow path: where a thread has no mark yet, it gets rseq's. */
static inline uint32_t sp_proof_now(void)
{
	if (SP_UNLIKELY(sp_thread_state.by_page &&
			sp_thread_state.generation != sp_process.generation))
		sp_proof_disarm();	/* a child of fork has none of the pages */
	if (SP_UNLIKELY(!sp_proof_has_mark()))
		sp_proof_arm();
	return sp_proof_count_losses();
}

#endif
