/* shared-tls.c: whose sp_self this is; see shared-tls.h. */
#include <errno.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../process/shared-tls.h"

#define KEPT 16u		/* the host and its guests; one more guest takes the place of another */

__thread int32_t sp_guest __attribute__((tls_model("initial-exec")));
static __thread struct sp_self *kept;	/* [KEPT], the host first; wiped in a child of fork */

static int tid_now(void)
{
	return (int)sp_sys(SYS_gettid);
}

static bool has_ended(int tid)
{
	return sp_sys(SYS_tkill, tid, 0) == -ESRCH;
}

/* The place of this tid; else one for it. */
static struct sp_self *place_of(int tid, bool guest)
{
	struct sp_self *place = NULL;

	for (uint32_t i = 0; i < KEPT; i++)
		if (kept[i].tid == tid)
			return &kept[i];
	for (uint32_t i = 1; i < KEPT && !place && guest; i++)
		if (!kept[i].tid || has_ended(kept[i].tid))
			place = &kept[i];
	return place ? place : guest ? &kept[KEPT - 1] : kept;
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
	struct sp_self *to;
	struct sp_held held;

	make_kept();
	sp_signals_block(&held);
	if (kept) {
		*place_of(sp_self.tid, sp_self.is_guest) = sp_self;
		to = place_of(tid, true);
		if (to->tid == tid)
			sp_self = *to;
		else
			sp_self = (struct sp_self){ .id = SP_NO_THREAD, .mark = SP_NO_MARK, .again = SP_NO_AGAIN, .is_guest = true };
	}
	sp_put(&sp_self.set, SP_NO_SET);
	sp_signals_restore(&held);
}

/* Is it the first call of a child of fork?  (A thread that has made a guest, and no call of PAPI, has kept its own number.) */
static bool was_forked(void)
{
	return sp_self.calls ? sp_self.generation != sp_process.generation : kept && !kept->tid;
}

void sp_find_caller(void)
{
	int tid = tid_now();

	if (was_forked()) {
		sp_guest = 0;
		sp_self.is_guest = false;
		return;
	}
	if (sp_self.tid && sp_self.tid != tid)
		become(tid);
	if (!sp_self.is_guest)
		sp_guest = sp_guest > 0 && has_ended(sp_guest) ? 0 : sp_guest;
	else if (sp_guest != tid)
		sp_guest = !sp_guest || (sp_guest > 0 && has_ended(sp_guest)) ? tid : SP_GUESTS;
	(void)sp_self_ready();
}

bool sp_caller_is_self(void)
{
	if (SP_LIKELY(tid_now() == sp_self.tid))
		return true;
	sp_guest = SP_GUESTS;
	sp_put(&sp_self.set, SP_NO_SET);
	return false;
}

int32_t sp_guest_comes(void)
{
	int32_t was = sp_guest;

	if (!sp_self.calls) {
		sp_self.tid = tid_now();
		make_kept();
		if (kept)
			kept->tid = sp_self.tid;
	}
	sp_guest = SP_GUESTS;
	sp_put(&sp_self.set, SP_NO_SET);
	return was;
}

void sp_guest_came(int32_t was, int tid)
{
	if (tid <= 0) {
		sp_find_caller();	/* (it may have been a guest's until now) */
		sp_guest = was;
	} else {
		sp_guest = !was || (was > 0 && has_ended(was)) ? tid : SP_GUESTS;
	}
}
