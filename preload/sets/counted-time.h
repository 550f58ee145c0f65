/* counted-time.h: how much of the process's CPU time event sets counted (process.counted_cpu_ns in
 * the dump).
 *
 * A thread adds up the time from the start of the first of its own sets that run at once to the
 * stop of the last one (struct sp_ran in its block of the store). Where it stayed on its CPU
 * (rseq_proof: rseq-proof.h), the processor's ticks are its CPU time, and a start and its stop make
 * no system call. Else the thread's CPU clock is read: before the first start and after the last
 * stop, never while a set of the thread counts. What is uncertain is kept beside it (more_ns).
 *
 * Sets that are attached to threads of this process go by those threads' clocks, inherited ones by
 * the process's.
 *
 * All but sp_counting_store_sum by the thread that starts or stops the set. errno is lost.
 */
#ifndef SP_SETS_COUNTING_H
#define SP_SETS_COUNTING_H

#include "../percpu/rseq-proof.h"
#include "sets.h"

/* Before PAPI_start. */
void sp_counting_prepare(struct sp_set *s);

/* After PAPI_start; after PAPI_stop. */
SP_COLD void sp_counting_start(struct sp_set *s);
SP_COLD void sp_counting_stop(struct sp_set *s);

/* The thread's CPU time is known at a start with this proof: sp_counting_prepare has nothing to
 * do. */
SP_HOT_INLINE bool sp_counting_is_ready(uint32_t proof)
{
	return SP_LIKELY(sp_thread_state.block->ran.losses[0] == proof) ||
	       sp_thread_state.counting[0];
}

/* The same of a set that may take the fast path; now: sp_ticks(). `open` is sp_proof_now() from
 * before PAPI_start; nothing was lost until PAPI_stop returned if it is still
 * sp_thread_state.losses. Both give errno back. */
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

	if (SP_UNLIKELY(since > now))	/* a handler has started it again since */
		return;
	if (SP_UNLIKELY(sp_thread_state.counting[0] != s) ||
	    SP_UNLIKELY(sp_thread_state.counting[1] != NULL) ||
	    SP_UNLIKELY(r->losses[1] != sp_thread_state.losses)) {
		sp_counting_stop_slow(s);
		return;
	}
	/* A handler's dump in between adds nothing twice. */
	store_relaxed(&r->since, 0);
	if (SP_LIKELY(since))
		store_relaxed(&r->ns, r->ns + sp_ticks_ns(now - since));
	sp_thread_state.counting[0] = NULL;
}

/* For sp_sets_each, when PAPI shuts down: the time of a set that still counts another thread is not
 * known. */
SP_COLD void sp_counting_note_lost(struct sp_set *s);

/* Writes the CPU time of the process so far, and what was counted of it, to the store's header. By
 * who makes a dump. */
void sp_counting_store_sum(void);

#endif
