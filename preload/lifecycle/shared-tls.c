/* shared-tls.c: whose sp_thread_state this is; see shared-tls.h. */
#include <errno.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../process/shared-tls.h"

#define KEPT 16u		/* the host and its guests; one more guest takes the place of
				 * another */

__thread int32_t sp_shared_tls_tid __attribute__((tls_model("initial-exec")));
static __thread struct sp_thread_state *kept;	/* [KEPT], the host first; wiped in a child of
						 * fork */

static int tid_now(void)
{
	return (int)sp_sys(SYS_gettid);
}

static bool has_ended(int tid)
{
	return sp_sys(SYS_tkill, tid, 0) == -ESRCH;
}

/* The place of this tid; else one for it. */
static struct sp_thread_state *place_of(int tid, bool is_shared_tls)
{
	struct sp_thread_state *place = NULL;

	for (uint32_t i = 0; i < KEPT; i++)
		if (kept[i].tid == tid)
			return &kept[i];
	for (uint32_t i = 1; i < KEPT && !place && is_shared_tls; i++)
		if (!kept[i].tid || has_ended(kept[i].tid))
			place = &kept[i];
	return place ? place : is_shared_tls ? &kept[KEPT - 1] : kept;
}

static void make_kept(void)
{
	if (kept)
		return;
	kept = sp_map(KEPT * sizeof(*kept));
	if (kept)
		sp_wipe_on_fork(kept, KEPT * sizeof(*kept));
}

/* The fast path stays closed, whoever calls: it does not ask who. */
static void become(int tid)
{
	struct sp_thread_state *to;
	struct sp_lock_state lock_state;

	make_kept();
	sp_signals_block(&lock_state);
	if (kept) {
		*place_of(sp_thread_state.tid, sp_thread_state.shares_tls) = sp_thread_state;
		to = place_of(tid, true);
		if (to->tid == tid)
			sp_thread_state = *to;
		else
			sp_thread_state = (struct sp_thread_state){ .id = SP_NO_THREAD,
								    .mark = SP_NO_MARK,
								    .rearm = SP_NO_AGAIN,
								    .shares_tls = true };
	}
	store_relaxed(&sp_thread_state.set, SP_NO_SET);
	sp_signals_restore(&lock_state);
}

/* Is it the first call of a child of fork?  (A thread that has made a guest, and no call of PAPI,
 * has kept its own number.) */
static bool was_forked(void)
{
	return sp_thread_state.calls ? sp_thread_state.generation != sp_process.generation
				     : kept && !kept->tid;
}

void sp_find_caller(void)
{
	int tid = tid_now();

	if (was_forked()) {
		sp_shared_tls_tid = 0;
		sp_thread_state.shares_tls = false;
		return;
	}
	if (sp_thread_state.tid && sp_thread_state.tid != tid)
		become(tid);
	if (!sp_thread_state.shares_tls)
		sp_shared_tls_tid = sp_shared_tls_tid > 0 && has_ended(sp_shared_tls_tid)
					    ? 0
					    : sp_shared_tls_tid;
	else if (sp_shared_tls_tid != tid)
		sp_shared_tls_tid = !sp_shared_tls_tid || (sp_shared_tls_tid > 0 &&
							   has_ended(sp_shared_tls_tid))
					    ? tid
					    : SP_SHARED_TLS_UNKNOWN;
	(void)sp_thread_state_ready();
}

bool sp_caller_is_this_thread(void)
{
	if (SP_LIKELY(tid_now() == sp_thread_state.tid))
		return true;
	sp_shared_tls_tid = SP_SHARED_TLS_UNKNOWN;
	store_relaxed(&sp_thread_state.set, SP_NO_SET);
	return false;
}

int32_t sp_shared_tls_before_clone(void)
{
	int32_t was = sp_shared_tls_tid;

	if (!sp_thread_state.calls) {
		sp_thread_state.tid = tid_now();
		make_kept();
		if (kept)
			kept->tid = sp_thread_state.tid;
	}
	sp_shared_tls_tid = SP_SHARED_TLS_UNKNOWN;
	store_relaxed(&sp_thread_state.set, SP_NO_SET);
	return was;
}

void sp_shared_tls_after_clone(int32_t was, int tid)
{
	if (tid <= 0) {
		sp_find_caller();	/* (it may have been a guest's until now) */
		sp_shared_tls_tid = was;
	} else {
		sp_shared_tls_tid =
			!was || (was > 0 && has_ended(was)) ? tid : SP_SHARED_TLS_UNKNOWN;
	}
}
