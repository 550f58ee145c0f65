/* page-proof.h: proves by an mmap page that a thread stayed, if rseq does not work (rseq-proof.h).
 *
 * The mmap page of a perf event that counts a thread on all CPUs has a word, `lock`. The kernel
 * changes it each time it schedules the thread in. An inherited event is unsuitable, since the
 * kernel swaps those of two threads. Each thread has one page, as far as mlock-budget.h allows. It
 * stays mapped until the thread has ended, since a handler may interrupt right before the read. The
 * mapping keeps the event, even if the program closes the descriptor.
 *
 * PR_TASK_PERF_EVENTS_DISABLE would stop the word, though PAPI_start switches PAPI's events on
 * again. So another thread, which ends at once, opens the event: that prctl does not switch it.
 *
 * A page does not show signals, so sp_proof_note_nested() counts a loss. The functions are for the
 * thread itself, unless noted otherwise.
 */
#ifndef SP_PAGE_PROOF_H
#define SP_PAGE_PROOF_H

#include "../process/process.h"
#include "current-cpu.h"

struct sp_perf_fds;

void sp_page_proof_begin(void);		/* when the program starts */
void sp_page_proof_test(void);		/* once, if rseq proves nothing */

bool sp_page_proof_is_full(void);	/* all allowed pages are in use */
bool sp_page_proof_has_room(void);	/* one more may be mapped */

/* Gives the calling thread a page as its mark, which the caller unmaps. NULL: impossible. */
void *sp_page_proof_map(void);
void sp_page_proof_unmap(void *page);	/* of an ended thread; any thread */

/* After PAPI_start has switched on the events *o. Preserves errno. False: the thread may have moved
 * since `proof`. Switching on a group of the page's PMU (on older kernels: any software event)
 * changes the word by 2, as scheduling in does. On the same CPU, one such change is no move: a move
 * and return take two. */
bool sp_page_proof_after_start(const struct sp_perf_fds *o, uint32_t proof);

/* Begins a window: reads the CPU if it is unknown since the last loss. */
SP_HOT_INLINE void sp_page_proof_begin_window(void)
{
	if (SP_UNLIKELY(sp_thread_state.by_page) && load_relaxed(&sp_thread_state.cpu) < 0)
		(void)sp_cpu_query();
}

void sp_page_proof_child(void);		/* in a child of fork, which has none of the pages */

#endif
