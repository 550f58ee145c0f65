/* percpu-lifetime.c: takes and lets go clocks and splits, and clears away after ended threads; see
 * percpu-lifetime.h. */
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
static struct sp_percpu *unused;		/* and memory of splits that were dropped; both
						 * guarded by: */
static struct sp_lock lock;
static uint32_t n_clocks, reap_at = 16;
static uint32_t full_at;		/* so many clocks: look for pages of threads that have
					 * ended */

/* ---- whose scan it is ---------------------------------------------------------- */

bool sp_percpu_take(struct sp_percpu *p, uintptr_t frame)
{
	uint32_t taken_by = 0, own_tid = (uint32_t)sp_thread_state.tid;

	if (sp_cas(&p->taken, &taken_by, own_tid)) {
		store_relaxed(&p->frame, frame);
		return true;
	}
	if (taken_by != own_tid || !load_relaxed(&p->frame) ||
	    sp_interrupted(load_relaxed(&p->frame), frame))
		return false;
	/* A handler jumped out of a scan: what it left is half done. */
	p->scan.marked = false;
	store_relaxed(&p->fast.ready, 0);
	store_relaxed(&p->frame, frame);
	return true;
}

/* ---- who goes by it ------------------------------------------------------------ */

void sp_lifetime_add(struct sp_clock *c, struct sp_percpu *p)
{
	struct sp_lock_state lock_state;

	sp_lock_take(&lock, &lock_state);
	p->next = c->percpu_sets;
	c->percpu_sets = p;
	sp_lock_give(&lock, &lock_state);
}

static void unlink_percpu(struct sp_clock *c, struct sp_percpu *p)
{
	for (struct sp_percpu **at = &c->percpu_sets; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	if (c->counting == p)
		c->counting = NULL;
}

static void remove_percpu(struct sp_clock *c, struct sp_percpu *p)
{
	struct sp_lock_state lock_state;

	sp_lock_take(&lock, &lock_state);
	unlink_percpu(c, p);
	sp_lock_give(&lock, &lock_state);
}

uint32_t sp_lifetime_count(struct sp_clock *c)
{
	struct sp_lock_state lock_state;
	uint32_t n = 0;

	sp_lock_take(&lock, &lock_state);
	for (const struct sp_percpu *p = c->percpu_sets; p; p = p->next)
		n++;
	sp_lock_give(&lock, &lock_state);
	return n;
}

static struct sp_percpu *take_oldest(struct sp_clock *c, const struct sp_percpu *but)
{
	struct sp_percpu *last = NULL;
	struct sp_lock_state lock_state;

	sp_lock_take(&lock, &lock_state);
	for (struct sp_percpu *p = c->percpu_sets; p; p = p->next)
		if (p != but)
			last = p;
	if (last && !sp_percpu_take_here(last))
		last = NULL;
	if (last)
		unlink_percpu(c, last);
	sp_lock_give(&lock, &lock_state);
	return last;
}

struct sp_percpu *sp_lifetime_counts(struct sp_clock *c, struct sp_percpu *p)
{
	struct sp_percpu *before;
	struct sp_lock_state lock_state;

	sp_lock_take(&lock, &lock_state);
	before = c->counting;
	c->counting = p;
	if (before && !sp_percpu_take_here(before))
		before = NULL;
	sp_lock_give(&lock, &lock_state);
	return before;
}

/* ---- closing ------------------------------------------------------------------- */

void sp_lifetime_close(struct sp_percpu *p, int group)
{
	for (uint32_t i = p->n; i-- > 0;)
		for (uint32_t e = p->natives; e-- > 0;)
			if (group < 0 || p->perf_fds.group[e] == group) {
				sp_counter_close(p->cpu[i].fd[e]);
				p->cpu[i].fd[e] = -1;
			}
}

/* It is no clock's any more. */
static void shut(struct sp_percpu *p)
{
	sp_add(&sp_process.budget.used_ns, -p->unread.reserved_ns);
	p->unread.reserved_ns = 0;
	sp_lifetime_close(p, -1);
	store_relaxed(&p->fast.ready, 0);
	p->scan.marked = false;
	p->clock = NULL;
}

/* Nobody finds it any more, but who had found it before: a call under the handler that drops it. */
static void free_percpu(struct sp_percpu *p, bool is_locked)
{
	struct sp_clock *c = p->clock;
	struct sp_lock_state lock_state;

	if (c) {
		(is_locked ? unlink_percpu : remove_percpu)(c, p);
		shut(p);
		sp_lifetime_drop(c);
	}
	if (!is_locked)
		sp_lock_take(&lock, &lock_state);
	p->next = unused;
	unused = p;
	if (!is_locked)
		sp_lock_give(&lock, &lock_state);
}

#define RESTS	16u		/* so many that were dropped last are nobody else's yet */

void *sp_lifetime_memory(uint64_t bytes)
{
	struct sp_percpu **at = &unused, **oldest = NULL, *p = NULL;
	struct sp_lock_state lock_state;

	sp_lock_take(&lock, &lock_state);
	for (uint32_t i = 0; *at; i++, at = &(*at)->next)
		if (i >= RESTS && (*at)->bytes == bytes)
			oldest = at;
	if (oldest) {
		p = *oldest;
		*oldest = p->next;
	}
	sp_lock_give(&lock, &lock_state);
	if (p)
		return memset(p, 0, bytes);
	p = sp_map(bytes);
	if (p) {
		sp_wipe_on_fork(p, bytes);
		(void)sp_sys(SYS_madvise, p, sp_align(bytes, 4096), MADV_POPULATE_WRITE);
	}
	return p;
}

static void give(struct sp_percpu *p, bool is_locked)
{
	uint32_t taken_by = load_relaxed(&p->taken) & ~SP_DROPPED;

	store_relaxed(&p->frame, 0);
	if (!sp_cas(&p->taken, &taken_by, 0))
		free_percpu(p, is_locked);
}

void sp_percpu_give(struct sp_percpu *p)
{
	give(p, false);
}

static bool close_percpu_sets(struct sp_percpu *list)
{
	struct sp_percpu *p, *next;

	for (p = list; p && sp_percpu_take_here(p); p = p->next)
		;
	if (p) {			/* that one is looked at */
		for (struct sp_percpu *q = list; q != p; q = next) {
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

void sp_percpu_drop(struct sp_percpu **at)
{
	struct sp_percpu *p = __atomic_exchange_n(at, NULL, __ATOMIC_ACQ_REL);
	uint64_t begun = p ? sp_clock_own_ns() : 0;

	/* Not waited for: it may be this very thread that has it, under the handler that we run in;
	 * or one that a handler jumped out of. */
	if (p &&
	    (sp_percpu_take_here(p) || !__atomic_fetch_or(&p->taken, SP_DROPPED, __ATOMIC_ACQ_REL)))
		free_percpu(p, false);
	if (p)
		sp_add(&sp_process.budget.used_ns, sp_clock_own_ns() - begun);
}

bool sp_lifetime_close_oldest(struct sp_clock *c, const struct sp_percpu *but)
{
	struct sp_percpu *last = take_oldest(c, but);

	if (!last)
		return false;
	shut(last);
	last->scan.trouble = SP_WHY_BUDGET;
	sp_percpu_give(last);
	return true;
}

/* A thread's number may be another's by now: that one has made its own clock, and this is not
 * it. */
static bool over(const struct sp_clock *c)
{
	return c != mine && (c->tid == sp_thread_state.tid || sp_thread_ended(c->tid));
}

/* Gives back what threads hold that have ended. */
static void reap(void)
{
	struct sp_clock **at, *c;
	struct sp_lock_state lock_state;

	sp_lock_take(&lock, &lock_state);
	for (at = &clocks; (c = *at) != NULL;) {
		if (!over(c) || !close_percpu_sets(c->percpu_sets)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		store_relaxed(&n_clocks, n_clocks - 1);
		sp_clock_close(c);
	}
	store_relaxed(&reap_at, n_clocks * 2 > 16 ? n_clocks * 2 : 16);
	sp_lock_give(&lock, &lock_state);
}

/* ---- clocks ---------------------------------------------------------------------- */

void sp_lifetime_drop(struct sp_clock *c)
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

/* To watch for a thread: those that it may run on to *m, how many to *most, and why no more to
 * *limit.  <= 0: why not. */
static long cpus_of(int tid, uint32_t each, struct sp_cpus *m, uint32_t *most, enum sp_why *limit)
{
	long r = sp_clock_cpus(tid, stale_of(tid), each, m);

	*most = r > 0 ? sp_clock_most(m, each, load_relaxed(&n_clocks), limit) : 0;
	return r;
}

uint32_t sp_lifetime_cpus(int tid, uint32_t each)
{
	enum sp_why limit;
	struct sp_cpus m;
	uint32_t most;

	return cpus_of(tid, each, &m, &most, &limit) > 0 ? most : 0;
}

static bool may_add(uint32_t fds)
{
	uint32_t n = mine->n;

	return sp_clock_can_afford(sp_budget_open(&sp_process.budget, n * fds) +
				   2 * sp_budget_scan(&sp_process.budget, n));
}

enum sp_attribution sp_lifetime_affordable(int tid, bool own, uint32_t each, enum sp_why *limit)
{
	uint32_t counters;
	enum sp_why of_times;
	struct sp_cpus m;

	*limit = SP_WHY_CREDIT;
	if (own && has_clock())
		return may_add(each)		   ? SP_BY_EXACT
		       : mine->timed || may_add(1) ? SP_BY_RESIDENCY
						   : SP_BY_READING;
	if (cpus_of(tid, each, &m, &counters, limit) <= 0)
		return SP_BY_EXACT;		/* (Opening them tells why not.) */
	return counters							  ? SP_BY_EXACT
	       : sp_clock_most(&m, 1, load_relaxed(&n_clocks), &of_times) ? SP_BY_RESIDENCY
									  : SP_BY_READING;
}

struct sp_clock *sp_lifetime_other(int tid, bool inherits, uint32_t each, int *error)
{
	struct sp_clock *c = NULL;
	enum sp_why limit;
	struct sp_cpus m;
	uint32_t most;

	*error = (int)cpus_of(tid, each, &m, &most, &limit);
	most = (uint32_t)sp_max(most, 1);
	if (*error > 0)
		c = sp_clock_make(tid, inherits, &m, most,
				  most < sp_cpus_count(&m) ? sp_cpu_of(0, tid) : -1, limit, error);
	return c;
}

/* Of a clock that went before its thread: for the next one, as handlers may look at the page at any
 * time. */
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
	/* Threads that have ended have pages; those that live are not looked at for each new
	 * one. */
	if (!left.page && sp_page_proof_is_full() &&
	    load_relaxed(&n_clocks) >= load_relaxed(&full_at)) {
		reap();
		store_relaxed(&full_at, load_relaxed(&n_clocks) * 3 / 2 + 1);
	}
	if (left.page) {
		c->page = left.page;
		left.page = NULL;
	} else if (sp_page_proof_has_room()) {
		c->page = sp_page_proof_map();
	}
}

/* The calling thread's own goes, and the counters of all sets that go by it; but its page.  False:
 * one is looked at right now. */
static bool retire(struct sp_clock *c)
{
	struct sp_lock_state lock_state;
	bool may;

	sp_lock_take(&lock, &lock_state);
	may = close_percpu_sets(c->percpu_sets);
	for (struct sp_clock **at = &clocks; may && *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			store_relaxed(&n_clocks, n_clocks - 1);
			break;
		}
	sp_lock_give(&lock, &lock_state);
	if (may) {
		mine = NULL;		/* before it is gone: a handler may ask for it */
		keep_page(c);
		sp_clock_close(c);
	}
	return may;
}

struct sp_clock *sp_lifetime_own(uint32_t each, int *error)
{
	struct sp_cpus m;
	struct sp_lock_state lock_state;
	enum sp_why limit;
	uint32_t most;

	if (has_clock())
		return mine;
	if (mine && mine->generation != sp_process.generation)
		mine = NULL;
	if (load_relaxed(&n_clocks) >= load_relaxed(&reap_at))
		reap();
	*error = (int)cpus_of(sp_thread_state.tid, each, &m, &most, &limit);
	if (*error <= 0 || (mine && !retire(mine)))
		return mine;
	most = (uint32_t)sp_max(most, 1);
	mine = sp_clock_make(sp_thread_state.tid, false, &m, most, sched_getcpu(), limit, error);
	if (!mine && (*error == -EDQUOT || *error == -EMFILE)) {
		reap();
		most = (uint32_t)sp_max(sp_clock_most(&m, each, load_relaxed(&n_clocks), &limit),
					1);
		mine = sp_clock_make(sp_thread_state.tid, false, &m, most, sched_getcpu(), limit,
				     error);
	}
	if (!mine)
		return NULL;
	mine->own = true;
	give_page(mine);
	sp_lock_take(&lock, &lock_state);
	mine->next = clocks;
	clocks = mine;
	store_relaxed(&n_clocks, n_clocks + 1);
	sp_lock_give(&lock, &lock_state);
	return mine;
}

void sp_lifetime_child(void)
{
	sp_page_proof_child();
	clocks = NULL;
	unused = NULL;
	mine = NULL;
	full_at = 0;
	n_clocks = 0;
	lock.taken = 0;
}
