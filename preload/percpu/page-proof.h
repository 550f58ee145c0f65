/* page-proof.h: where rseq proves nothing (rseq-proof.h), a page of the kernel's does.
 *
 * An event that counts a thread on all CPUs, mapped, has a word in its page (`lock`) that the
 * kernel changes each time that it puts the thread on a CPU, whichever that is: while it is the
 * same the thread has not left its CPU.  (That of an inherited event would not do: the kernel swaps
 * those of two threads.)  A page for each thread, as many as mlock-budget.h allows; once mapped it
 * stays until the thread has ended, since a handler may come right before its word is read.  The
 * mapping keeps the event, too, whoever closes the descriptor.
 *
 * The word would stand still while the thread's events are off (PR_TASK_PERF_EVENTS_DISABLE),
 * though PAPI_start turns PAPI's on again. So the event is opened by another thread, which ends at
 * once: it is none of those that a prctl switches.
 *
 * Unlike rseq it does not tell of signals: a handler's calls of PAPI count a loss where they are
 * nested in another one or change what a set is bound to (sp_proof_note_nested).
 *
 * By the thread itself, but where it says so.
 */
#ifndef SP_PAGE_PROOF_H
#define SP_PAGE_PROOF_H

#include "../process/process.h"
#include "current-cpu.h"

struct sp_perf_fds;

void sp_page_proof_begin(void);		/* when the program starts */
/* Once in a process where rseq proves nothing: sleeps, looks. */
void sp_page_proof_test(void);

/* All pages that there may be are taken. */
bool sp_page_proof_is_full(void);
/* There may be one more. */
bool sp_page_proof_has_room(void);

/* From now on the calling thread goes by a page; the caller unmaps it. NULL: there is none to be
 * had, or the thread has one. */
void *sp_page_proof_map(void);
/* Of a thread that has ended, by any. */
void sp_page_proof_unmap(void *page);

/* PAPI_start has come, and has switched on what is opened there. (Where that is of the page's PMU,
 * and on older kernels wherever both are software events, the word changes by 2 for each group, as
 * when the thread is put on a CPU.  One such change is no move if the thread is on the CPU where it
 * was, since a move away and back takes two.)  False: the thread may have moved since `open`. */
bool sp_page_proof_after_start(const struct sp_perf_fds *o,
			       uint32_t open); /* errno is given back */

/* A window begins: the CPU is noted, if it is not known since the last loss. */
SP_HOT_INLINE void sp_page_proof_begin_window(void)
{
	if (SP_UNLIKELY(sp_thread_state.by_page) && load_relaxed(&sp_thread_state.cpu) < 0)
		(void)sp_cpu_query();
}

void sp_page_proof_child(void);		/* in a child of fork, which has none of the pages */

#endif
