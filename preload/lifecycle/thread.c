/* thread.c: a thread's block in the store, made when it first calls PAPI. */
#include <string.h>
#include <sys/prctl.h>

#include "../../core/base/sys.h"
#include "../../core/store/fold.h"
#include "../process/process.h"
#include "../process/diagnostic.h"
#include "../sets/sets.h"
#include "../percpu/rseq-proof.h"

static uint32_t threads_seen;

bool sp_self_ready(void)
{
	char name[17] = "";
	struct sp_held held;

	if (SP_LIKELY(sp_self.calls && sp_self.generation == sp_process.generation))
		return true;
	if (!sp_process.counting)
		return false;
	if (sp_self.by_page)
		sp_proof_disarm();	/* a child of fork has none of the pages */
	prctl(PR_GET_NAME, name);
	/* Somewhere in its 1024, so that short threads are timed too, some of them. */
	sp_self.ticks = 1 + ((uint32_t)sp_sys(SYS_gettid) * 2654435761u >> 22);
	sp_self.tid = (int)sp_sys(SYS_gettid);
	sp_self.id = sp_add(&threads_seen, 1) + 1;
	sp_lock_take(&sp_store.lock, &held);
	sp_store_fold(&sp_store, sp_thread_ended, sp_set_bound, NULL);
	sp_self.block = sp_store_thread(&sp_store, sp_self.tid, name, &sp_self.thread);
	sp_lock_give(&sp_store.lock, &held);
	sp_self.generation = sp_process.generation;
	memset(sp_self.counting, 0, sizeof(sp_self.counting));
	sp_process_torn();
	sp_self.calls = sp_self.block ? sp_self.block->calls : NULL;
	return sp_self.calls != NULL;
}
