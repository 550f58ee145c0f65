/* percpu-lifetime.c: takes and gives back clocks and sets, and frees those of ended threads; see
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

static __thread struct sp_clock *own_clock __attribute__((tls_model("initial-exec")));
static struct sp_clock *clocks;		/* threads' own, guarded by `lock` */
static struct sp_percpu *unused;	/* memory of dropped sets, guarded by `lock` */
static struct sp_lock lock;
static uint32_t n_clocks, reap_at = 16;
/* number of clocks at which pages of ended threads are searched */
static uint32_t full_at;

/* ---- who scans a set ----------------------------------------------------------- */

bool sp_percpu_take(struct sp_percpu *p, uintptr_t frame)
{
	uint32_t taken_by = 0, own_tid = (uint32_t)sp_thread_state.tid;

	if (sp_cas(&p->taken_by, &taken_by, own_tid)) {
		store_relaxed(&p->frame, frame);
		return true;
	}
	if (taken_by != own_tid || !load_relaxed(&p->frame) ||
	    sp_interrupted(load_relaxed(&p->frame), frame))
		return false;
	/* A handler has jumped out of a scan, which is incomplete. */
	p->scan.has_baseline = false;
	store_relaxed(&p->fast.is_ready, 0);
	store_relaxed(&p->frame, frame);
	return true;
}

/* ---- the sets of a clock ------------------------------------------------------- */

void sp_lifetime_add_percpu(struct sp_clock *c, struct sp_percpu *p)
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

uint32_t sp_lifetime_count_percpu(struct sp_clock *c)
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

struct sp_percpu *sp_lifetime_set_counting(struct sp_clock *c, struct sp_percpu *p)
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
			if (group < 0 || p->shadow.group[e] == group) {
				sp_counter_close(p->cpu[i].fd[e]);
				p->cpu[i].fd[e] = -1;
			}
}

/* Detaches the set from its clock. */
static void close_percpu(struct sp_percpu *p)
{
	sp_add(&sp_process.budget.used_ns, -p->skips.reserved_ns);
	p->skips.reserved_ns = 0;
	sp_lifetime_close(p, -1);
	store_relaxed(&p->fast.is_ready, 0);
	p->scan.has_baseline = false;
	store_relaxed(&p->clock, NULL);
}

/* Frees a set that no other call can find. A call that a handler interrupted may still use its
 * memory. */
static void free_percpu(struct sp_percpu *p, bool is_locked)
{
	struct sp_clock *c = p->clock;
	struct sp_lock_state lock_state;

	if (c) {
		(is_locked ? unlink_percpu : remove_percpu)(c, p);
		close_percpu(p);
		sp_lifetime_drop_clock(c);
	}
	if (!is_locked)
		sp_lock_take(&lock, &lock_state);
	p->next = unused;
	unused = p;
	if (!is_locked)
		sp_lock_give(&lock, &lock_state);
}

#define MIN_UNUSED 16u			/* the last ones dropped are not reused yet */

void *sp_lifetime_alloc(uint64_t bytes)
{
	struct sp_percpu **at = &unused, **oldest = NULL, *p = NULL;
	struct sp_lock_state lock_state;

	sp_lock_take(&lock, &lock_state);
	for (uint32_t i = 0; *at; i++, at = &(*at)->next)
		if (i >= MIN_UNUSED && (*at)->bytes == bytes)
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

static void give_percpu(struct sp_percpu *p, bool is_locked)
{
	uint32_t taken_by = load_relaxed(&p->taken_by) & ~SP_DROPPED;

	store_relaxed(&p->frame, 0);
	if (!sp_cas(&p->taken_by, &taken_by, 0))
		free_percpu(p, is_locked);
}

void sp_percpu_give(struct sp_percpu *p)
{
	give_percpu(p, false);
}

static bool close_percpu_sets(struct sp_percpu *list)
{
	struct sp_percpu *p, *next;

	for (p = list; p && sp_percpu_take_here(p); p = p->next)
		;
	if (p) {			/* somebody scans this one */
		for (struct sp_percpu *q = list; q != p; q = next) {
			next = q->next;
			give_percpu(q, true);
		}
		return false;
	}
	for (p = list; p; p = next) {
		next = p->next;
		close_percpu(p);
		store_relaxed(&p->scan.failure, SP_WHY_ENDED);
		give_percpu(p, true);
	}
	return true;
}

void sp_percpu_drop(struct sp_percpu **at)
{
	struct sp_percpu *p = __atomic_exchange_n(at, NULL, __ATOMIC_ACQ_REL);
	uint64_t begun = p ? sp_clock_own_ns() : 0;

	/* Does not wait: the owner may be the call that this handler interrupted, or one that a
	 * handler jumped out of. */
	if (p && (sp_percpu_take_here(p) ||
		  !__atomic_fetch_or(&p->taken_by, SP_DROPPED, __ATOMIC_ACQ_REL)))
		free_percpu(p, false);
	if (p)
		sp_add(&sp_process.budget.used_ns, sp_clock_own_ns() - begun);
}

bool sp_lifetime_close_oldest(struct sp_clock *c, const struct sp_percpu *but)
{
	struct sp_percpu *last = take_oldest(c, but);

	if (!last)
		return false;
	close_percpu(last);
	store_relaxed(&last->scan.failure, SP_WHY_BUDGET);
	sp_percpu_give(last);
	return true;
}

/* Has the clock's thread ended? If its tid is that of a new thread, that one has its own clock. */
static bool is_ended(const struct sp_clock *c)
{
	return c != own_clock && (c->tid == sp_thread_state.tid || sp_thread_ended(c->tid));
}

/* Frees the clocks of ended threads. */
static void reap(void)
{
	struct sp_clock **at, *c;
	struct sp_lock_state lock_state;

	sp_lock_take(&lock, &lock_state);
	for (at = &clocks; (c = *at) != NULL;) {
		if (!is_ended(c) || !close_percpu_sets(c->percpu_sets)) {
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

/* ---- clocks -------------------------------------------------------------------- */

void sp_lifetime_drop_clock(struct sp_clock *c)
{
	if (c && !c->is_own && c->generation == sp_process.generation)
		sp_clock_close(c);
}

static const struct sp_clock *find_stale(int tid)
{
	return own_clock && own_clock->tid == tid && own_clock->is_stale ? own_clock : NULL;
}

static bool has_clock(void)
{
	return own_clock && own_clock->generation == sp_process.generation && !own_clock->is_stale;
}

/* Finds the CPUs to watch for a thread to *m, how many to *most, and why no more to *limit. Result
 * <= 0: -errno. */
static long find_cpus(int tid, uint32_t fds_per_cpu, struct sp_cpus *m, uint32_t *most,
		      enum sp_why *limit)
{
	long r = sp_clock_find_cpus(tid, find_stale(tid), fds_per_cpu, m);

	*most = r > 0 ? sp_clock_max_cpus(m, fds_per_cpu, load_relaxed(&n_clocks), limit) : 0;
	return r;
}

uint32_t sp_lifetime_count_cpus(int tid, uint32_t fds_per_cpu)
{
	enum sp_why limit;
	struct sp_cpus m;
	uint32_t most;

	return find_cpus(tid, fds_per_cpu, &m, &most, &limit) > 0 ? most : 0;
}

static bool may_add(uint32_t fds)
{
	uint32_t n = own_clock->n;

	return sp_clock_can_afford(sp_budget_open(&sp_process.budget, n * fds) +
				   2 * sp_budget_scan(&sp_process.budget, n));
}

enum sp_attribution sp_lifetime_affordable(int tid, bool own, uint32_t fds_per_cpu,
					   enum sp_why *limit)
{
	uint32_t counters;
	enum sp_why of_times;
	struct sp_cpus m;

	*limit = SP_WHY_CREDIT;
	if (own && has_clock())
		return may_add(fds_per_cpu)		    ? SP_BY_EXACT
		       : own_clock->has_times || may_add(1) ? SP_BY_RESIDENCY
							    : SP_BY_READING;
	if (find_cpus(tid, fds_per_cpu, &m, &counters, limit) <= 0)
		return SP_BY_EXACT;	/* opening them will show the reason */
	return counters							      ? SP_BY_EXACT
	       : sp_clock_max_cpus(&m, 1, load_relaxed(&n_clocks), &of_times) ? SP_BY_RESIDENCY
									      : SP_BY_READING;
}

struct sp_clock *sp_lifetime_other_clock(int tid, bool inherits, uint32_t fds_per_cpu, int *error)
{
	struct sp_clock *c = NULL;
	enum sp_why limit;
	struct sp_cpus m;
	uint32_t most;

	*error = (int)find_cpus(tid, fds_per_cpu, &m, &most, &limit);
	most = (uint32_t)sp_max(most, 1);
	if (*error > 0)
		c = sp_clock_make(tid, inherits, &m, most,
				  most < sp_cpus_count(&m) ? sp_cpu_of(0, tid) : -1, limit, error);
	return c;
}

/* The page of a retired clock, kept for the thread's next clock, since handlers may read it at any
 * time. */
static __thread struct {
	void *page;			/* NULL: none */
	uint32_t generation;		/* a child of fork has no page there */
} kept_page __attribute__((tls_model("initial-exec")));

static void keep_page(struct sp_clock *c)
{
	if (!c->page)
		return;
	kept_page.page = c->page;
	kept_page.generation = sp_process.generation;
	c->page = NULL;
}

static void give_page(struct sp_clock *c)
{
	if (kept_page.generation != sp_process.generation)
		kept_page.page = NULL;
	/* Frees pages of ended threads, but does not search for them at each new clock. */
	if (!kept_page.page && sp_page_proof_is_full() &&
	    load_relaxed(&n_clocks) >= load_relaxed(&full_at)) {
		reap();
		store_relaxed(&full_at, load_relaxed(&n_clocks) * 3 / 2 + 1);
	}
	if (kept_page.page) {
		c->page = kept_page.page;
		kept_page.page = NULL;
	} else if (sp_page_proof_has_room()) {
		c->page = sp_page_proof_map();
	}
}

/* Closes the calling thread's clock and all sets that use it, but keeps its page. False: a set is
 * being scanned. */
static bool retire(struct sp_clock *c)
{
	struct sp_lock_state lock_state;
	bool is_closed;

	sp_lock_take(&lock, &lock_state);
	is_closed = close_percpu_sets(c->percpu_sets);
	for (struct sp_clock **at = &clocks; is_closed && *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			store_relaxed(&n_clocks, n_clocks - 1);
			break;
		}
	sp_lock_give(&lock, &lock_state);
	if (is_closed) {
		own_clock = NULL;	/* first, since a handler may use it */
		keep_page(c);
		sp_clock_close(c);
	}
	return is_closed;
}

struct sp_clock *sp_lifetime_own_clock(uint32_t fds_per_cpu, int *error)
{
	struct sp_cpus m;
	struct sp_lock_state lock_state;
	enum sp_why limit;
	uint32_t most;

	if (has_clock())
		return own_clock;
	if (own_clock && own_clock->generation != sp_process.generation)
		own_clock = NULL;
	if (load_relaxed(&n_clocks) >= load_relaxed(&reap_at))
		reap();
	*error = (int)find_cpus(sp_thread_state.tid, fds_per_cpu, &m, &most, &limit);
	if (*error <= 0 || (own_clock && !retire(own_clock)))
		return own_clock;
	most = (uint32_t)sp_max(most, 1);
	own_clock =
		sp_clock_make(sp_thread_state.tid, false, &m, most, sched_getcpu(), limit, error);
	if (!own_clock && (*error == -EDQUOT || *error == -EMFILE)) {
		reap();
		most = (uint32_t)sp_max(sp_clock_max_cpus(&m, fds_per_cpu, load_relaxed(&n_clocks),
							  &limit),
					1);
		own_clock = sp_clock_make(sp_thread_state.tid, false, &m, most, sched_getcpu(),
					  limit, error);
	}
	if (!own_clock)
		return NULL;
	own_clock->is_own = true;
	give_page(own_clock);
	sp_lock_take(&lock, &lock_state);
	own_clock->next = clocks;
	clocks = own_clock;
	store_relaxed(&n_clocks, n_clocks + 1);
	sp_lock_give(&lock, &lock_state);
	return own_clock;
}

void sp_lifetime_child(void)
{
	sp_page_proof_child();
	clocks = NULL;
	unused = NULL;
	own_clock = NULL;
	full_at = 0;
	n_clocks = 0;
	lock.taken = 0;
}
