/* counted-time.h: measures how much of the process's CPU time event sets counted
 * (process.counted_cpu_ns in the dump).
 *
 * A thread adds up the time from the start of the first of its sets to the stop of the last one
 * (struct sp_ran in its block of the store). If the rseq proof shows that it stayed on its CPU, the
 * processor's ticks are its CPU time: no system call. Otherwise the thread's CPU clock is read
 * before the first start and after the last stop, never while a set of the thread counts. The
 * uncertain part is kept separately (more_ns).
 *
 * The time of a set attached to another thread of this process is that thread's CPU time, of a set
 * that inherits the process's. All functions except sp_counting_store_sum() are called by the
 * thread that starts or stops the set. They may change errno.
 */
#ifndef SP_SETS_COUNTING_H
#define SP_SETS_COUNTING_H

#include "../percpu/rseq-proof.h"
#include "sets.h"

/* Called before PAPI_start. */
void sp_counting_prepare(struct sp_set *s);

/* Called after PAPI_start and after PAPI_stop. */
SP_COLD void sp_counting_start(struct sp_set *s);
SP_COLD void sp_counting_stop(struct sp_set *s);

/* Checks that a start with this proof needs no sp_counting_prepare(): the thread's CPU time is
 * known. */
SP_HOT_INLINE bool sp_counting_is_ready(uint32_t proof)
{
	return SP_LIKELY(sp_thread_state.block->ran.losses[0] == proof) ||
	       sp_thread_state.counting[0];
}

/* Start and stop of a set that may take the fast path. now: sp_ticks(). proof: sp_proof_now()
 * before PAPI_start; the thread stayed until PAPI_stop returned if it still is
 * sp_thread_state.losses. Both keep errno. */
SP_COLD void sp_counting_start_slow(struct sp_set *s);
SP_COLD void sp_counting_stop_slow(struct sp_set *s);

SP_HOT_INLINE void sp_counting_start_fast(struct sp_set *s, uint32_t proof, uint64_t now)
{
	struct sp_ran *r = &sp_thread_state.block->ran;

	if (SP_UNLIKELY(sp_thread_state.counting[0] != NULL)) {
		sp_counting_start_slow(s);
		return;
	}
	sp_thread_state.counting[0] = s;
	store_relaxed(&r->losses[1], proof);
	store_relaxed(&r->since, now);
}

SP_HOT_INLINE void sp_counting_stop_fast(struct sp_set *s, uint64_t now)
{
	struct sp_ran *r = &sp_thread_state.block->ran;
	uint64_t since = load_relaxed(&r->since);

	if (SP_UNLIKELY(since > now))	/* a nested call started it again */
		return;
	if (SP_UNLIKELY(sp_thread_state.counting[0] != s) ||
	    SP_UNLIKELY(sp_thread_state.counting[1] != NULL) ||
	    SP_UNLIKELY(r->losses[1] != sp_thread_state.losses)) {
		sp_counting_stop_slow(s);
		return;
	}
	/* Clear `since` first: a handler's dump now must not add the time twice. */
	store_relaxed(&r->since, 0);
	if (SP_LIKELY(since))
		store_relaxed(&r->ns, r->ns + sp_ticks_ns(now - since));
	sp_thread_state.counting[0] = NULL;
}

/* Called when PAPI shuts down: the time of a set that still counts another thread is unknown. */
SP_COLD void sp_counting_note_lost(struct sp_set *s);

/* Writes the CPU time of the process, and how much of it was counted, to the store's header.
 * Called before a dump. */
void sp_counting_store_sum(void);

#endif
