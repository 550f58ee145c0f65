/* rseq-proof.h: proves that the calling thread stayed on its CPU.
 *
 * The kernel clears a thread's rseq_cs pointer when it has preempted, moved or signaled the thread
 * outside the section that the pointer names. This section never runs, so while the pointer is
 * there, the thread has not left its CPU. The check is one load and one compare. A cleared pointer
 * is set again and counted in `losses`.
 *
 * A window is proven if nothing was lost from before the real PAPI call that began it until after
 * the one that ended it. sp_proof_now() (fast path: sp_proof_count_losses()) precedes the real
 * call. The CPU number is read after it, and right then sp_proof_stayed() checks.
 *
 * From Linux 6.19 on the kernel checks the pointer only on interrupts from user space, so a
 * sleeping thread could keep it. sp_proof_test() detects this once; the lock word of an mmap page
 * then replaces the pointer (page-proof.h). Either of them is the thread's mark.
 *
 * Other users of rseq (allocators with per-CPU caches) replace the pointer: such a window is not
 * proven. Before Linux 6.6 close() clears it, so that the window after a PAPI_start that reopens
 * its events is not proven. If a thread has removed libc's registration, nothing clears it;
 * sp_cpu_here() detects that and counts a loss.
 */
#ifndef SP_RSEQ_PROOF_H
#define SP_RSEQ_PROOF_H

#include "../process/process.h"
#include "current-cpu.h"

/* Sets the mark, sleeps, and checks it. False: no proof with this kernel or libc. */
bool sp_proof_test(void);
void sp_proof_report(void);		/* notes in the dump that there is no proof, if so */

/* Counts a loss for a handler's call that is nested, or changes a set's relation: rseq shows the
 * signal, an mmap page does not. */
static inline void sp_proof_note_nested(void)
{
	if (!load_relaxed(&sp_process.proof_works))
		sp_add(&sp_thread_state.losses, 1);
}

/* Restores the mark after a loss. Inlined, so that the fast path keeps its registers. A handler may
 * interrupt at any point and prove its own windows. rseq: the pointer is set before the loss is
 * counted, so that a later move ends the handler's proof. Page: the handler sees the loss or counts
 * its own, and the CPU is unknown until the word is read. */
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

/* Returns the number of losses so far: while it is the same, the thread has not left its CPU. */
SP_HOT_INLINE uint32_t sp_proof_count_losses(void)
{
	if (SP_UNLIKELY(load_plain(sp_thread_state.mark.word) != sp_thread_state.mark.expected))
		sp_proof_rearm();
	sp_order();
	return sp_thread_state.losses;
}

/* Was there no loss since `proof` was read? sp_proof_stayed(): and is the CPU `cpu`? */
SP_HOT_INLINE bool sp_proof_is_valid(uint32_t proof)
{
	if (SP_UNLIKELY(load_plain(sp_thread_state.mark.word) != sp_thread_state.mark.expected))
		return false;
	sp_order();
	return SP_LIKELY(sp_thread_state.losses == proof);
}

SP_HOT_INLINE bool sp_proof_stayed(uint32_t proof, int cpu)
{
	if (SP_UNLIKELY(load_plain(sp_thread_state.mark.cpu) != cpu))
		return false;
	sp_order();
	return sp_proof_is_valid(proof);
}

/* Does the calling thread have a mark? Valid after its first sp_proof_now(). */
SP_HOT_INLINE bool sp_proof_has_mark(void)
{
	return sp_thread_state.mark.word != &sp_no_mark.word;
}

/* Was there no nested call since `proof`? Without a mark each call counts as a loss. */
SP_HOT_INLINE bool sp_proof_is_not_nested(uint32_t proof)
{
	return sp_proof_has_mark() ? sp_proof_is_valid(proof) : sp_thread_state.losses == proof;
}

/* Give the calling thread rseq's mark if it works, or this page's; or remove it. */
SP_COLD void sp_proof_arm(void);
SP_COLD void sp_proof_use_page(const sp_mark_word *word);
SP_COLD void sp_proof_disarm(void);

/* For the slow path: gives a thread without a mark rseq's. */
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
