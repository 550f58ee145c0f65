/* thread.c: makes a thread's block in the store when the thread first calls PAPI. */
#include <string.h>
#include <sys/prctl.h>

#include "../../core/base/sys.h"
#include "../../core/store/fold.h"
#include "../process/process.h"
#include "../process/diagnostic.h"
#include "../sets/sets.h"
#include "../percpu/rseq-proof.h"

static uint32_t threads_seen;

bool sp_thread_state_ready(void)
{
	char name[17] = "";
	struct sp_lock_state lock_state;

	if (SP_LIKELY(sp_thread_state.calls && sp_thread_state.generation == sp_process.generation))
		return true;
	if (!sp_process.counting)
		return false;
	if (sp_thread_state.by_page)
		sp_proof_disarm();	/* a child of fork does not have the mmap pages */
	prctl(PR_GET_NAME, name);
	/* Start at a different point of the 1024 calls in each thread, so that some short threads
	 * are also timed. */
	sp_thread_state.ticks = 1 + ((uint32_t)sp_sys(SYS_gettid) * 2654435761u >> 22);
	sp_thread_state.tid = (int)sp_sys(SYS_gettid);
	sp_thread_state.id = sp_add(&threads_seen, 1) + 1;
	sp_lock_take(&sp_store.lock, &lock_state);
	sp_store_fold(&sp_store, sp_thread_ended, sp_set_has_relation, NULL);
	sp_thread_state.block =
		sp_store_thread(&sp_store, sp_thread_state.tid, name, &sp_thread_state.thread);
	sp_lock_give(&sp_store.lock, &lock_state);
	sp_thread_state.generation = sp_process.generation;
	memset(sp_thread_state.counting, 0, sizeof(sp_thread_state.counting));
	sp_process_report_truncated();
	sp_thread_state.calls = sp_thread_state.block ? sp_thread_state.block->calls : NULL;
	return sp_thread_state.calls != NULL;
}
