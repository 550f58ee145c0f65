/* percpu-lifetime.c: takes and lets go clocks and splits, and clears away after ended threads; see percpu-lifetime.h. */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../process/process.h"
#include "shadow-fds.h"
#include "percpu-lifetime.h"
#include "percpu-internal.h"
#include "current-cpu.h"
#include "page-proof.h"

static __thread struct sp_clock *mine __attribute__((tls_model("initial-exec")));
static struct sp_clock *clocks;		/* own ones, */
static struct sp_split *unused;		/* and memory of splits that were dropped; both guarded by: */
static struct sp_lock lock;
static uint32_t n_clocks, reap_at = 16;
static uint32_t full_at;		/* so many clocks: look for pages of threads that have ended */

/* ---- whose scan it is ---------------------------------------------------------- */

bool sp_split_take(struct sp_split *p, uintptr_t frame)
{
	uint32_t holder = 0, self = (uint32_t)sp_self.tid;

	if (sp_cas(&p->taken, &holder, self)) {
		sp_put(&p->frame, frame);
		return true;
	}
	if (holder != self || !sp_get(&p->frame) || sp_interrupted(sp_get(&p->frame), frame))
		return false;
	/* A handler jumped out of a scan: what it left is half done. */
	p->scan.marked = false;
	sp_put(&p->gate.ready, 0);
	sp_put(&p->frame, frame);
	return true;
}

/* ---- who goes by it ------------------------------------------------------------ */

void sp_hold_add(struct sp_clock *c, struct sp_split *p)
{
	struct sp_held held;

	sp_lock_take(&lock, &held);
	p->next = c->splits;
	c->splits = p;
	sp_lock_give(&lock, &held);
}

static void unlink_split(struct sp_clock *c, struct sp_split *p)
{
	for (struct sp_split **at = &c->splits; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	if (c->counting == p)
		c->counting = NULL;
}

static void remove_split(struct sp_clock *c, struct sp_split *p)
{
	struct sp_held held;

	sp_lock_take(&lock, &held);
	unlink_split(c, p);
	sp_lock_give(&lock, &held);
}

uint32_t sp_hold_splits(struct sp_clock *c)
{
	struct sp_held held;
	uint32_t n = 0;

	sp_lock_take(&lock, &held);
	for (const struct sp_split *p = c->splits; p; p = p->next)
		n++;
	sp_lock_give(&lock, &held);
	return n;
}

static struct sp_split *take_oldest(struct sp_clock *c, const struct sp_split *but)
{
	struct sp_split *last = NULL;
	struct sp_held held;

	sp_lock_take(&lock, &held);
	for (struct sp_split *p = c->splits; p; p = p->next)
		if (p != but)
			last = p;
	if (last && !sp_split_take_here(last))
		last = NULL;
	if (last)
		unlink_split(c, last);
	sp_lock_give(&lock, &held);
	return last;
}

struct sp_split *sp_hold_counts(struct sp_clock *c, struct sp_split *p)
{
	struct sp_split *before;
	struct sp_held held;

	sp_lock_take(&lock, &held);
	before = c->counting;
	c->counting = p;
	if (before && !sp_split_take_here(before))
		before = NULL;
	sp_lock_give(&lock, &held);
	return before;
}

/* ---- closing ------------------------------------------------------------------- */

void sp_hold_close(struct sp_split *p, int group)
{
	for (uint32_t i = p->n; i-- > 0;)
		for (uint32_t e = p->natives; e-- > 0;)
			if (group < 0 || p->opened.group[e] == group) {
				sp_counter_close(p->cpu[i].fd[e]);
				p->cpu[i].fd[e] = -1;
			}
}

/* It is no clock's any more. */
static void shut(struct sp_split *p)
{
	sp_add(&sp_process.budget.spent, -p->unread.aside);
	p->unread.aside = 0;
	sp_hold_close(p, -1);
	sp_put(&p->gate.ready, 0);
	p->scan.marked = false;
	p->clock = NULL;
}

/* Nobody finds it any more, but who had found it before: a call under the handler that drops it. */
static void free_split(struct sp_split *p, bool locked)
{
	struct sp_clock *c = p->clock;
	struct sp_held held;

	if (c) {
		(locked ? unlink_split : remove_split)(c, p);
		shut(p);
		sp_hold_drop(c);
	}
	if (!locked)
		sp_lock_take(&lock, &held);
	p->next = unused;
	unused = p;
	if (!locked)
		sp_lock_give(&lock, &held);
}

#define RESTS	16u		/* so many that were dropped last are nobody else's yet */

void *sp_hold_memory(uint64_t bytes)
{
	struct sp_split **at = &unused, **oldest = NULL, *p = NULL;
	struct sp_held held;

	sp_lock_take(&lock, &held);
	for (uint32_t i = 0; *at; i++, at = &(*at)->next)
		if (i >= RESTS && (*at)->bytes == bytes)
			oldest = at;
	if (oldest) {
		p = *oldest;
		*oldest = p->next;
	}
	sp_lock_give(&lock, &held);
	if (p)
		return memset(p, 0, bytes);
	p = sp_map(bytes);
	if (p) {
		sp_wipe_on_fork(p, bytes);
		(void)sp_sys(SYS_madvise, p, sp_align(bytes, 4096), MADV_POPULATE_WRITE);
	}
	return p;
}

static void give(struct sp_split *p, bool locked)
{
	uint32_t holder = sp_get(&p->taken) & ~SP_DROPPED;

	sp_put(&p->frame, 0);
	if (!sp_cas(&p->taken, &holder, 0))
		free_split(p, locked);
}

void sp_split_give(struct sp_split *p)
{
	give(p, false);
}

static bool close_splits(struct sp_split *list)
{
	struct sp_split *p, *next;

	for (p = list; p && sp_split_take_here(p); p = p->next)
		;
	if (p) {			/* that one is looked at */
		for (struct sp_split *q = list; q != p; q = next) {
			next = q->next;
			give(q, true);
		}
		return false;
	}
	for (p = list; p; p = next) {
		next = p->next;
		shut(p);
		p->scan.trouble = SP_WHY_ENDED;
		give(p, true);
	}
	return true;
}

void sp_split_drop(struct sp_split **at)
{
	struct sp_split *p = __atomic_exchange_n(at, NULL, __ATOMIC_ACQ_REL);
	uint64_t begun = p ? sp_clock_own_ns() : 0;

	/* Not waited for: it may be this very thread that has it, under the handler that we run in; or one that a
	 * handler jumped out of. */
	if (p && (sp_split_take_here(p) || !__atomic_fetch_or(&p->taken, SP_DROPPED, __ATOMIC_ACQ_REL)))
		free_split(p, false);
	if (p)
		sp_add(&sp_process.budget.spent, sp_clock_own_ns() - begun);
}

bool sp_hold_close_oldest(struct sp_clock *c, const struct sp_split *but)
{
	struct sp_split *last = take_oldest(c, but);

	if (!last)
		return false;
	shut(last);
	last->scan.trouble = SP_WHY_BUDGET;
	sp_split_give(last);
	return true;
}

/* A thread's number may be another's by now: that one has made its own clock, and this is not it. */
static bool over(const struct sp_clock *c)
{
	return c != mine && (c->tid == sp_self.tid || sp_thread_ended(c->tid));
}

/* Gives back what threads hold that have ended. */
static void reap(void)
{
	struct sp_clock **at, *c;
	struct sp_held held;

	sp_lock_take(&lock, &held);
	for (at = &clocks; (c = *at) != NULL;) {
		if (!over(c) || !close_splits(c->splits)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		sp_put(&n_clocks, n_clocks - 1);
		sp_clock_close(c);
	}
	sp_put(&reap_at, n_clocks * 2 > 16 ? n_clocks * 2 : 16);
	sp_lock_give(&lock, &held);
}

/* ---- clocks ---------------------------------------------------------------------- */

void sp_hold_drop(struct sp_clock *c)
{
	if (c && !c->own && c->generation == sp_process.generation)
		sp_clock_close(c);
}

static const struct sp_clock *stale_of(int tid)
{
	return mine && mine->tid == tid && mine->stale ? mine : NULL;
}

static bool has_clock(void)
{
	return mine && mine->generation == sp_process.generation && !mine->stale;
}

/* To watch for a thread: those that it may run on to *m, how many to *most, and why no more to *limit.  <= 0: why not. */
static long cpus_of(int tid, uint32_t each, struct sp_cpus *m, uint32_t *most, enum sp_why *limit)
{
	long r = sp_clock_cpus(tid, stale_of(tid), each, m);

	*most = r > 0 ? sp_clock_most(m, each, sp_get(&n_clocks), limit) : 0;
	return r;
}

uint32_t sp_hold_cpus(int tid, uint32_t each)
{
	enum sp_why limit;
	struct sp_cpus m;
	uint32_t most;

	return cpus_of(tid, each, &m, &most, &limit) > 0 ? most : 0;
}

static bool may_add(uint32_t fds)
{
	uint32_t n = mine->n;

	return sp_clock_may_spend(sp_budget_open(&sp_process.budget, n * fds) + 2 * sp_budget_scan(&sp_process.budget, n));
}

enum sp_attribution sp_hold_affords(int tid, bool own, uint32_t each, enum sp_why *limit)
{
	uint32_t counters;
	enum sp_why of_times;
	struct sp_cpus m;

	*limit = SP_WHY_CREDIT;
	if (own && has_clock())
		return may_add(each) ? SP_BY_EXACT : mine->timed || may_add(1) ? SP_BY_RESIDENCY : SP_BY_READING;
	if (cpus_of(tid, each, &m, &counters, limit) <= 0)
		return SP_BY_EXACT;		/* (Opening them tells why not.) */
	return counters ? SP_BY_EXACT : sp_clock_most(&m, 1, sp_get(&n_clocks), &of_times) ? SP_BY_RESIDENCY : SP_BY_READING;
}

struct sp_clock *sp_hold_other(int tid, bool inherits, uint32_t each, int *error)
{
	struct sp_clock *c = NULL;
	enum sp_why limit;
	struct sp_cpus m;
	uint32_t most;

	*error = (int)cpus_of(tid, each, &m, &most, &limit);
	most = (uint32_t)sp_max(most, 1);
	if (*error > 0)
		c = sp_clock_make(tid, inherits, &m, most, most < sp_cpus_count(&m) ? sp_cpu_of(0, tid) : -1, limit, error);
	return c;
}

/* Of a clock that went before its thread: for the next one, as handlers may look at the page at any time. */
static __thread struct {
	void *page;			/* NULL: none */
	uint32_t generation;		/* a child of fork has no page there */
} left __attribute__((tls_model("initial-exec")));

static void keep_page(struct sp_clock *c)
{
	if (!c->page)
		return;
	left.page = c->page;
	left.generation = sp_process.generation;
	c->page = NULL;
}

static void give_page(struct sp_clock *c)
{
	if (left.generation != sp_process.generation)
		left.page = NULL;
	/* Threads that have ended have pages; those that live are not looked at for each new one. */
	if (!left.page && sp_witness_is_full() && sp_get(&n_clocks) >= sp_get(&full_at)) {
		reap();
		sp_put(&full_at, sp_get(&n_clocks) * 3 / 2 + 1);
	}
	if (left.page) {
		c->page = left.page;
		left.page = NULL;
	} else if (sp_witness_has_room()) {
		c->page = sp_witness_map();
	}
}

/* The calling thread's own goes, and the counters of all sets that go by it; but its page.  False: one is looked at right
 * now. */
static bool retire(struct sp_clock *c)
{
	struct sp_held held;
	bool may;

	sp_lock_take(&lock, &held);
	may = close_splits(c->splits);
	for (struct sp_clock **at = &clocks; may && *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			sp_put(&n_clocks, n_clocks - 1);
			break;
		}
	sp_lock_give(&lock, &held);
	if (may) {
		mine = NULL;		/* before it is gone: a handler may ask for it */
		keep_page(c);
		sp_clock_close(c);
	}
	return may;
}

struct sp_clock *sp_hold_own(uint32_t each, int *error)
{
	struct sp_cpus m;
	struct sp_held held;
	enum sp_why limit;
	uint32_t most;

	if (has_clock())
		return mine;
	if (mine && mine->generation != sp_process.generation)
		mine = NULL;
	if (sp_get(&n_clocks) >= sp_get(&reap_at))
		reap();
	*error = (int)cpus_of(sp_self.tid, each, &m, &most, &limit);
	if (*error <= 0 || (mine && !retire(mine)))
		return mine;
	most = (uint32_t)sp_max(most, 1);
	mine = sp_clock_make(sp_self.tid, false, &m, most, sched_getcpu(), limit, error);
	if (!mine && (*error == -EDQUOT || *error == -EMFILE)) {
		reap();
		most = (uint32_t)sp_max(sp_clock_most(&m, each, sp_get(&n_clocks), &limit), 1);
		mine = sp_clock_make(sp_self.tid, false, &m, most, sched_getcpu(), limit, error);
	}
	if (!mine)
		return NULL;
	mine->own = true;
	give_page(mine);
	sp_lock_take(&lock, &held);
	mine->next = clocks;
	clocks = mine;
	sp_put(&n_clocks, n_clocks + 1);
	sp_lock_give(&lock, &held);
	return mine;
}

void sp_hold_child(void)
{
	sp_witness_child();
	clocks = NULL;
	unused = NULL;
	mine = NULL;
	full_at = 0;
	n_clocks = 0;
	lock.taken = 0;
}
