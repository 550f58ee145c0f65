/* shared-tls.c: keeps a thread state per task that shares its thread-local storage; see
 * shared-tls.h. */
#include <errno.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../process/shared-tls.h"

#define STATES 16u		/* the host and its guests; a further guest replaces another */

__thread int32_t sp_shared_tls_tid __attribute__((tls_model("initial-exec")));
/* [KEPT], the host first; zeroed in a child of fork */
static __thread struct sp_thread_state *states;

static int tid_now(void)
{
	return (int)sp_sys(SYS_gettid);
}

static bool has_ended(int tid)
{
	return sp_sys(SYS_tkill, tid, 0) == -ESRCH;
}

/* The slot of this tid, or a slot to use for it. */
static struct sp_thread_state *place_of(int tid, bool is_shared_tls)
{
	struct sp_thread_state *place = NULL;

	for (uint32_t i = 0; i < STATES; i++)
		if (states[i].tid == tid)
			return &states[i];
	for (uint32_t i = 1; i < STATES && !place && is_shared_tls; i++)
		if (!states[i].tid || has_ended(states[i].tid))
			place = &states[i];
	return place ? place : is_shared_tls ? &states[STATES - 1] : states;
}

static void make_states(void)
{
	if (states)
		return;
	states = sp_map(STATES * sizeof(*states));
	if (states)
		sp_wipe_on_fork(states, STATES * sizeof(*states));
}

/* Switch sp_thread_state to the task `tid`. The fast path stays disabled, since it does not check
 * the task. */
static void switch_state(int tid)
{
	struct sp_thread_state *to;
	struct sp_lock_state lock_state;

	make_states();
	sp_signals_block(&lock_state);
	if (states) {
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

/* Returns whether this is the first call in a child of fork. A thread that cloned a guest without
 * calling PAPI has stored its own tid. */
static bool was_forked(void)
{
	return sp_thread_state.calls ? sp_thread_state.generation != sp_process.generation
				     : states && !states->tid;
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
		switch_state(tid);
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
		make_states();
		if (states)
			states->tid = sp_thread_state.tid;
	}
	sp_shared_tls_tid = SP_SHARED_TLS_UNKNOWN;
	store_relaxed(&sp_thread_state.set, SP_NO_SET);
	return was;
}

void sp_shared_tls_after_clone(int32_t was, int tid)
{
	if (tid <= 0) {
		sp_find_caller();	/* the state may still be a guest's */
		sp_shared_tls_tid = was;
	} else {
		sp_shared_tls_tid =
			!was || (was > 0 && has_ended(was)) ? tid : SP_SHARED_TLS_UNKNOWN;
	}
}
