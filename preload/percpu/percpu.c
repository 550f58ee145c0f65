/* percpu.c: windows: what was counted where; see percpu.h.  What is opened for them is
 * shadow-open.c, their reading is shadow-read.c, what is proven by it window.c. */
#include <string.h>

#include "../../core/base/seccomp.h"
#include "../process/process.h"
#include "percpu-lifetime.h"
#include "shadow-open.h"
#include "rseq-proof.h"
#include "home-off.h"
#include "shadow-read.h"
#include "percpu-internal.h"
#include "percpu.h"

/* ---- did the copies run? -------------------------------------------------------- */

static uint64_t least(const struct sp_percpu_cpu *c)
{
	return c->now.low > c->mark.high ? c->now.low - c->mark.high : 0;
}

static uint64_t most(const struct sp_percpu_cpu *c)
{
	return c->now.high - c->mark.low;
}

static bool ran_all_the_time(const struct sp_percpu_cpu *c, enum sp_group g)
{
	uint64_t ran = c->now.ran[g] - c->mark.ran[g];

	return ran >= least(c) && ran <= most(c);
}

/* Before Linux 6.2 hardware's events have a clock of their own, which a switch reads some time
 * before or after the software's.  By that clock the group of the CPU where the thread was at the
 * scan before, and which was read then, says how long the thread ran anywhere: the groups ran that
 * long, taken together, but for the time that reading them one after the other took. */
static bool ran_together(const struct sp_percpu *p)
{
	uint64_t ran = 0, may = 2000 + sp_ticks_ns(p->scan.last.took), all;

	if (p->segment.from < 0)
		return false;
	all = p->cpu[p->segment.from].now.enabled[SP_HARDWARE] -
	      p->cpu[p->segment.from].mark.enabled[SP_HARDWARE];
	for (uint32_t i = 0; i < p->n; i++) {
		const struct sp_percpu_cpu *c = &p->cpu[i];

		if (!sp_has_advanced(c))
			continue;
		if (c->now.ran[SP_HARDWARE] - c->mark.ran[SP_HARDWARE] < least(c) / 2)
			return false;
		ran += c->now.ran[SP_HARDWARE] - c->mark.ran[SP_HARDWARE];
	}
	return ran + may >= all && ran <= all + may;
}

/* Since the scan before, wherever the thread was.  (A CPU where PAPI's counters count nothing of
 * the group needs no copies, nor does home while they rest.) */
static bool has_run(const struct sp_percpu *p, enum sp_group g)
{
	if (p->perf_fds.leader[g] < 0)
		return false;
	if (g == SP_HARDWARE && !sp_one_clock)
		return ran_together(p);
	for (uint32_t i = 0; i < p->n; i++)
		if (sp_has_advanced(&p->cpu[i]) && !p->cpu[i].has_no_events[g] &&
		    !(g == SP_HARDWARE && p->rest.at == (int)i) &&
		    (p->cpu[i].blind || !ran_all_the_time(&p->cpu[i], g)))
			return false;
	return true;
}

/* Is every native of event e in a group of copies that ran? */
static bool is_counted(const struct sp_percpu *p, uint32_t e)
{
	for (uint32_t t = 0; t < p->sum[e].n; t++)
		if (!p->segment.ran[p->perf_fds.group[p->sum[e].native[t]]])
			return false;
	return p->sum[e].n != 0;
}

/* Are copies of event e there, which count what PAPI's counts? */
static bool has_shadow(const struct sp_percpu *p, uint32_t e)
{
	for (uint32_t t = 0; t < p->sum[e].n; t++)
		if (p->perf_fds.leader[p->perf_fds.group[p->sum[e].native[t]]] < 0)
			return false;
	return p->sum[e].n && !p->sum[e].clock && !p->target.foreign && p->kind == SP_BY_EXACT;
}

/* After a scan: where was the thread since the scan before but on CPUs that are watched? */
static enum sp_why gap_of(struct sp_percpu *p)
{
	if (p->segment.home < 0 && !sp_is_theirs(p))
		return SP_WHY_UNWATCHED;
	if (p->scan.last.switched != p->scan.before.switched)
		return SP_WHY_SWITCHED_OFF;
	if (sp_clock_closes(&p->times, &p->scan.before.sum, &p->scan.last.sum))
		return SP_WHY_NONE;
	/* (The kernel brings the times of what children inherit up to date at different
	 * moments.) */
	if (!p->target.inherits &&
	    sp_clock_was_away(&p->times, &p->scan.before.sum, &p->scan.last.sum))
		return SP_WHY_UNWATCHED;
	return sp_is_theirs(p) ? SP_WHY_RUNNING : SP_WHY_INSIDE;
}

/* Was the thread where this group has no copies?  (The CPU has no such event, or the kernel refused
 * it there.) */
static bool was_where_none_is(const struct sp_percpu *p, enum sp_group g)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (sp_has_advanced(&p->cpu[i]) && p->cpu[i].fd[p->perf_fds.leader[g]] < 0 &&
		    !p->cpu[i].has_no_events[g])
			return true;
	return false;
}

/* By the clock, to the ns: the thread was on one CPU from the scan before to the last one. */
static bool was_nowhere_else(struct sp_percpu *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if ((int)i != p->segment.home && p->cpu[i].now.high != p->cpu[i].mark.high)
			return false;
	return p->segment.home >= 0 && gap_of(p) == SP_WHY_NONE;
}

/* Under `auto` the budget pays for scans, too: 400 threads that slept between two windows, with a
 * start each, took a third of their time. */
static bool may_scan(const struct sp_percpu *p)
{
	return sp_clock_may_scan(p->n) || (sp_clock_may_scan(1) && sp_scan_is_short(p));
}

/* The scan that ends a segment: its time was kept aside. */
static bool may_end(struct sp_percpu *p)
{
	uint64_t reserved_ns = p->unread.reserved_ns;

	sp_add(&sp_process.budget.used_ns, -reserved_ns);
	p->unread.reserved_ns = 0;
	return reserved_ns || may_scan(p);
}

/* The scan that begins one. */
static bool may_begin(struct sp_percpu *p)
{
	if (p->scan.marked && !may_scan(p))
		return false;
	sp_plan_keeps(p);
	return true;
}

/* Another thread's proof may have the same number as the owner's. */
static bool is_ready(const struct sp_percpu *p, uint32_t proof)
{
	return !sp_is_theirs(p) && sp_percpu_is_ready(p, proof);
}

/* No scan now: windows are proven while the thread stays where it is. */
static void stays_here(struct sp_percpu *p)
{
	p->others.read_by_tid = 0;
	p->fast.proof = sp_proof_now();
	p->segment.home = sp_is_theirs(p) ? -1 : sp_scan_index(p, sp_cpu_here());
	store_relaxed(&p->fast.ready, 0);
}

/* Nor when a segment began: there will be none until the next one does. */
static void stays_unseen(struct sp_percpu *p)
{
	stays_here(p);
	p->segment.unmoved = p->segment.is_home_proven = false;
	p->unread.unseen = true;
	store_relaxed(&p->fast.ready,
		      !sp_is_theirs(p) &&
			      (p->perf_fds.probed || !p->perf_fds.counts || p->segment.home < 0));
}

static bool scan(struct sp_percpu *p, const struct sp_perf_fds *o)
{
	p->segment.from = p->segment.home;
	p->unread.skipped = false;
	if (!sp_scan(p, o))
		return false;
	if (p->scan.last.switched != p->scan.before.switched)
		p->rest.at = -1;		/* the program's prctl has switched them on, too */
	if (p->segment.gap == SP_WHY_NONE || p->segment.gap == SP_WHY_RUNNING) {
		enum sp_why gap = gap_of(p);

		p->segment.gap = gap ? gap : p->segment.gap;
		if (gap == SP_WHY_UNWATCHED)
			store_relaxed(&p->rest.never, true);
	}
	for (int g = 0; g < SP_GROUPS; g++) {
		if (!p->segment.ran[g] || has_run(p, (enum sp_group)g))
			continue;
		p->segment.ran[g] = false;
		if (p->perf_fds.leader[g] >= 0 && !p->segment.stood)
			p->segment.stood = was_where_none_is(p, (enum sp_group)g) ? SP_WHY_UNWATCHED
					   : g == SP_HARDWARE			  ? SP_WHY_STARVED
										  : SP_WHY_NONE;
	}
	p->segment.is_home_proven = p->segment.unmoved =
		p->segment.unmoved && p->segment.from == p->segment.home && was_nowhere_else(p);
	return true;
}

/* ---- the windows' state ---------------------------------------------------------- */

static void shadow_values(const struct sp_percpu *p, uint32_t e, int64_t *to)
{
	for (uint32_t i = 0; i < p->n; i++)
		to[i] = p->cpu[i].value[e];
}

static void begin(struct sp_percpu *p, const int64_t *had, uint32_t home)
{
	for (uint32_t e = 0; e < p->k; e++) {
		shadow_values(p, e, p->parts.low);
		sp_window_begin(&p->window[e], p->parts.low, had ? had[e] : 0, home);
	}
	memset(p->unread.owed, 0, p->k * sizeof(*p->unread.owed));
	p->segment.gap = p->segment.stood = p->segment.distrust = SP_WHY_NONE;
	p->segment.ran[SP_SOFTWARE] = p->segment.ran[SP_HARDWARE] = true;
}

static void distrust(struct sp_percpu *p, enum sp_why why)
{
	for (uint32_t e = 0; e < p->k; e++)
		sp_window_distrust(&p->window[e]);
	p->segment.distrust = why;
}

/* No other reader's value was later. */
static bool may_stay(const struct sp_window *w, int64_t value)
{
	return value >= w->value && w->value == w->greatest;
}

/* What was booked since the last scan without a look at the copies: where the thread stayed at
 * home, it is proven. Handlers' calls inside others it does not know. */
static void catch_up(struct sp_percpu *p, const int64_t *last)
{
	bool lost = __atomic_exchange_n(&p->unread.lost, false, __ATOMIC_RELAXED),
	     fresh = load_relaxed(&p->fast.fresh);
	bool missed = __atomic_exchange_n(&p->unread.missed, false, __ATOMIC_RELAXED);
	uint32_t home = p->segment.home < 0 ? p->n : (uint32_t)p->segment.home;

	p->segment.unmoved = p->segment.is_home_proven && !missed && !lost;
	store_relaxed(&p->fast.fresh, 0);
	if (fresh || lost)
		begin(p, NULL, home);
	/* (Where values are missing it is not known which of the others were booked as proven:
	 * their counts would be proven twice.) */
	if (lost || (missed && (fresh || home < p->n)))
		distrust(p, SP_WHY_HANDLER);
	for (uint32_t e = 0; e < p->k; e++) {
		bool known = home < p->n || !(sp_is_theirs(p) || p->sum[e].falls);

		/* (Or it would weigh once more in what is shared out by counts.) */
		if (home < p->n)
			p->cpu[home].booked_value[e] += last[e] - p->window[e].value;
		if (known && !missed && !lost && may_stay(&p->window[e], last[e]))
			sp_window_stayed(&p->window[e], last[e], home);
		else
			sp_window_missed(&p->window[e], last[e], home);
	}
}

/* One look at one event, which is charged as looks have taken so far. */
static bool may_look(void)
{
	if (!sp_clock_may_scan(1))
		return false;
	sp_add(&sp_process.budget.used_ns, sp_budget_look(&sp_process.budget));
	return true;
}

int sp_percpu_stays(struct sp_percpu *p)
{
	if (sp_proof_is_there() || sp_is_theirs(p) || !load_relaxed(&p->fast.ready) ||
	    !p->segment.is_home_proven || p->unread.unseen || p->scan.trouble ||
	    p->segment.home < 0 || load_relaxed(&p->unread.missed) ||
	    load_relaxed(&p->unread.lost) || !may_look() || !sp_scan_is_short(p))
		return SP_NO_CPU;
	return p->cpu[p->segment.home].cpu;
}

void sp_percpu_read_before(struct sp_percpu *p, bool ends, const int64_t *last,
			   const struct sp_perf_fds *perf_fds)
{
	bool theirs = sp_is_theirs(p);

	store_relaxed(&p->others.found, false);
	/* (another thread's reset may scan it right now) */
	if (!(ends || theirs) || !sp_percpu_take_here(p))
		return;
	if (!p->clock || !p->scan.marked || p->scan.trouble || p->unread.unseen ||
	    is_ready(p, sp_proof_now()) || sp_percpu_stays(p) >= 0) {
		;
	} else if (!(ends ? may_end(p) : may_scan(p))) {
		p->unread.skips = true;
	} else {
		catch_up(p, last);
		if (p->unread.skipped)		/* (rseq must not prove this call, or the scan would
						 * not be used.) */
			sp_add(&sp_thread_state.losses, 1);
		p->others.read_by_tid = scan(p, theirs ? NULL : perf_fds) ? sp_thread_state.tid : 0;
	}
	sp_percpu_give(p);
}

/* Where the thread was since the segment began is known to the count, before it goes where that may
 * not be. */
static void anchor_home(struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++) {
		shadow_values(p, e, p->parts.high);
		p->parts.high[p->segment.home] = p->beside.most[e];
		if (has_shadow(p, e) && is_counted(p, e))
			sp_window_anchor(&p->window[e], p->beside.papi[e], p->parts.high);
	}
}

void sp_percpu_before_affinity(struct sp_percpu *p, const struct sp_cpus *to, const int64_t *last,
			       const struct sp_perf_fds *perf_fds)
{
	if (!p->target.own || p->target.tid != sp_thread_state.tid || sp_is_theirs(p) ||
	    !sp_percpu_take_here(p))
		return;
	if (p->clock && p->scan.marked && !p->scan.trouble && !p->unread.unseen &&
	    perf_fds->seccomp_filters == sp_seccomp_filters() && may_scan(p)) {
		bool is;

		catch_up(p, last);
		/* So that home's count from the next scan on. (Since the last one the program may
		 * have switched the thread's events off.) */
		if (p->rest.at >= 0 && scan(p, perf_fds))
			(void)sp_home_off_wake(p);
		is = scan(p, perf_fds);
		if (is && p->segment.home >= 0 && p->beside.had && p->scan.last.quiet &&
		    p->segment.gap == SP_WHY_NONE)
			anchor_home(p);
		p->others.read_by_tid = 0;
		if (is)
			sp_plan_add(p, perf_fds, to);
	}
	sp_percpu_give(p);
}

bool sp_percpu_add_allowed(struct sp_percpu *p, const struct sp_cpus *to)
{
	uint32_t n = sp_cpus_count(&p->perf_fds.may);

	sp_cpus_add(&p->perf_fds.may, to);
	return sp_cpus_count(&p->perf_fds.may) != n;
}

bool sp_percpu_share(struct sp_percpu *p)
{
	if (p->target.own && p->target.tid != sp_thread_state.tid) {
		store_relaxed(&p->rest.never, true);
		store_relaxed(&p->others.visited, true);
	}
	return p->target.own && p->target.tid != sp_thread_state.tid &&
	       !__atomic_exchange_n(&p->others.shared, true, __ATOMIC_RELAXED);
}

bool sp_percpu_is_shared(const struct sp_percpu *p)
{
	return load_relaxed(&p->others.shared);
}

/* ---- a window -------------------------------------------------------------------- */

/* What one look tells of all events. */
struct sample {
	bool low, high;			/* the copies are a lower bound; an upper one, if the times
					 * close */
	bool before;			/* they were read before PAPI was called, */
	bool twice;			/* and once more after it: that scan is the last one */
	bool stayed;			/* the thread, from the scan to PAPI's answer, or from
					 * PAPI's call to the scan (another's: it slept) */
	bool unmoved;			/* from the value before to this one, and all that is new
					 * was counted there */
	bool papi;			/* PAPI's counters were looked at after the copies, and
					 * count on */
};

/* The copies of event e, as they were when PAPI read its counters, at least and at most.  Where the
 * thread stayed, those of other CPUs stood still, and those of its own have grown as PAPI's
 * counters have.  False: at most is not known. */
static bool proves_by_limits(struct sp_percpu *p, uint32_t e, const struct sample *l, int64_t value)
{
	int64_t since = l->papi ? value - p->beside.papi[e] : 0;
	bool sure = true;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct sp_percpu_cpu *c = &p->cpu[i];

		p->parts.low[i] = l->twice ? c->mark_value[e] : c->value[e];
		p->parts.high[i] = c->value[e];
		if (l->stayed && (int)i != p->segment.home)
			continue;
		/* it stands still, where it will count from */
		if ((int)i == sp_home_off_of(p, e))
			continue;
		if (l->stayed && l->papi) {
			p->parts.low[i] = p->beside.least[e] + since;
			p->parts.high[i] = p->beside.most[e] + since;
		} else if (p->sum[e].falls || (!l->before && !l->papi)) {
			p->parts.low[i] = SP_UNKNOWN;
			sure = sure && !p->sum[e].falls;
		} else if (!l->before) {
			p->parts.low[i] += since;
		}
	}
	return sure;
}

/* The time there since times were told last; what was told without a scan was at home. */
static uint64_t time_on(const struct sp_percpu *p, uint32_t i)
{
	uint64_t ns = p->cpu[i].now.high - p->cpu[i].booked_ns, booked_ns = 0;

	if ((int)i == p->booked_ns.home)
		booked_ns = sp_ticks_ns(p->fast.begun - p->booked_ns.ticks);
	return ns > booked_ns ? ns - booked_ns : 0;
}

/* Has CPU i no copy of event e that counts, though PAPI's counter counts there? */
static bool is_blind(const struct sp_percpu *p, uint32_t e, uint32_t i)
{
	const struct sp_percpu_cpu *c = &p->cpu[i];

	if (p->rest.at == (int)i && sp_home_off_hides(p, e))
		return true;
	for (uint32_t t = 0; t < p->sum[e].n; t++) {
		uint32_t n = p->sum[e].native[t];

		if (c->fd[n] < 0 && !c->has_no_events[p->perf_fds.group[n]])
			return true;
	}
	return false;
}

/* The time on CPUs that are not watched. (The kernel updates the times of threads that inherit at
 * different moments.) */
static double time_away(struct sp_percpu *p)
{
	return p->segment.gap == SP_WHY_UNWATCHED && !p->target.inherits
		       ? (double)sp_clock_away(&p->times, &p->scan.before.sum, &p->scan.last.sum)
		       : 0;
}

/* Home's counters rest: what the others have not counted of this much is home's; of a thread that
 * was where none are, in proportion to the times. */
static void weigh_home(struct sp_percpu *p, int home, int64_t new, bool away)
{
	double there = (double)time_on(p, (uint32_t)home), elsewhere = away ? time_away(p) : 0;

	for (uint32_t i = 0; i < p->n; i++) {
		new -= (int)i == home ? 0 : p->parts.grown[i];
		p->parts.weight[i] = 0;
	}
	p->parts.grown[home] =
		new > 0 && there > 0 ? (int64_t)((double)new * (there / (there + elsewhere))) : 0;
}

/* What is not proven: as the copies counted, which *grown is; where they did not run, as long as
 * the thread was there.  What they have not counted of a thread that was where it has none is from
 * there: on a CPU that is none of ours, where the reading is. */
static void weigh(struct sp_percpu *p, uint32_t e, int64_t new, bool shadow, bool by_count)
{
	bool away = shadow && !p->target.inherits && p->segment.gap == SP_WHY_UNWATCHED;
	double whole = 0, dark = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		int64_t counted = p->cpu[i].value[e] - p->cpu[i].booked_value[e];
		bool blind = shadow && is_blind(p, e, i);

		p->parts.grown[i] = counted > 0 && !blind ? counted : 0;
		p->parts.weight[i] = by_count ? (double)p->parts.grown[i] : 0;
		whole += p->parts.weight[i];
		dark += blind ? (double)time_on(p, i) : 0;
	}
	for (uint32_t i = 0; i < p->n && (away || dark > 0 || whole <= 0); i++)
		p->parts.weight[i] =
			away || (dark > 0 && !is_blind(p, e, i)) ? 0 : (double)time_on(p, i);
	if (shadow && dark <= 0 && sp_home_off_of(p, e) >= 0)
		weigh_home(p, sp_home_off_of(p, e), new, away);
}

/* Interrupted perhaps, but not moved. */
static void attribute_unmoved(struct sp_percpu *p, uint32_t e, const struct sp_answer *a)
{
	int64_t new = a->value[e] - p->window[e].value;

	for (uint32_t i = 0; i <= p->n; i++)
		p->parts.at[i * p->k + e] = p->parts.proven[i * p->k + e] =
			(int)i == p->segment.home ? new : 0;
	p->parts.proven[(uint32_t)p->segment.home * p->k + e] += p->unread.owed[e];
	sp_window_owed(&p->window[e], p->unread.owed[e], (uint32_t)p->segment.home);
	sp_window_stayed(&p->window[e], a->value[e], (uint32_t)p->segment.home);
}

/* Notes the CPU that got counts of event e which no counter of ours had, since it or another CPU is
 * not watched. */
static void find_dark(struct sp_percpu *p, uint32_t e, bool shadow, uint32_t at)
{
	for (uint32_t i = 0; i < p->n && shadow; i++)
		if (p->parts.total[i] > 0 && is_blind(p, e, i))
			p->parts.dark = i + 1;
	if (at == p->n
		    ? p->parts.total[at] > 0
		    : shadow && p->segment.gap == SP_WHY_UNWATCHED &&
			      p->parts.total[at] > p->parts.grown[at] &&
			      sp_clock_was_away(&p->times, &p->scan.before.sum, &p->scan.last.sum))
		p->parts.dark = at + 1;
}

static void attribute_event(struct sp_percpu *p, uint32_t e, const struct sp_answer *a,
			    const struct sample *l, uint32_t at)
{
	struct sp_window *w = &p->window[e];
	bool shadow = has_shadow(p, e), counted = is_counted(p, e);
	struct sp_window_seen seen = { .value = a->value[e],
				       .at = at,
				       .weight = p->parts.weight,
				       .grown = shadow ? p->parts.grown : NULL };
	int64_t rest = a->value[e] - w->value;

	seen.timed = p->sum[e].timed;

	if (shadow && l->low) {
		bool sure = proves_by_limits(p, e, l, a->value[e]);

		seen.low = p->parts.low;
		/* (What counters that rest elsewhere than at home would have counted nobody
		 * knows.) */
		seen.high = l->high && p->segment.gap == SP_WHY_NONE && counted && sure &&
					    !sp_home_off_hides(p, e)
				    ? p->parts.high
				    : NULL;
		seen.now = a->counts_on && sure ? p->parts.high : NULL;
	}
	if (rest > 0) {
		seen.away = shadow ? 0 : time_away(p);
		weigh(p, e, rest, shadow,
		      shadow ? counted || sp_is_theirs(p) : p->kind != SP_BY_RESIDENCY);
	}
	sp_window_moved(w, &seen, &(struct sp_window_shares){ p->parts.total, p->parts.share });
	for (uint32_t i = 0; i <= p->n; i++) {
		p->parts.at[i * p->k + e] = p->parts.total[i];
		p->parts.proven[i * p->k + e] = p->parts.share[i];
	}
	p->parts.elsewhere[e] += p->parts.total[p->n];
	if (rest > 0)
		find_dark(p, e, shadow, at);
}

/* Of all that was booked so far. */
static int64_t not_proven(const struct sp_percpu *p, uint32_t e)
{
	const struct sp_window *w = &p->window[e];
	int64_t sum = p->parts.elsewhere[e] > 0 ? p->parts.elsewhere[e] : 0;

	for (uint32_t i = 0; i < p->n; i++)
		sum += w->cpu[i].total > w->cpu[i].reported ? w->cpu[i].total - w->cpu[i].reported
							    : 0;
	return sum;
}

/* Of threads that inherit no clock says where they were: was more counted than all copies have by
 * now?  (A little more it is at times where all CPUs are watched, too: a child that is made around
 * PAPI's reset.) */
static bool was_more(struct sp_percpu *p, uint32_t e, int64_t value)
{
	const struct sp_window *w = &p->window[e];
	int64_t now;

	if (!p->target.inherits || p->perf_fds.counts || !sp_scan_sum(p, e, &now))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		if (w->cpu[i].anchor == SP_UNKNOWN)
			return false;
		now -= w->cpu[i].anchor;
	}
	return value - w->before > now && p->n < sp_cpus_online;
}

/* elsewhere: some of the window was counted on a CPU that is none of ours. */
static enum sp_why reason(const struct sp_percpu *p, uint32_t e, const struct sample *l,
			  bool elsewhere)
{
	if (p->kind != SP_BY_EXACT)
		return p->why || !elsewhere ? p->why : SP_WHY_UNWATCHED;
	if (p->target.foreign)
		return SP_WHY_OPENER;
	if (p->sum[e].clock)
		return SP_WHY_CLOCK;
	if (!has_shadow(p, e))
		return p->why;
	if (p->segment.distrust && !p->window[e].sound)
		return p->segment.distrust;
	if (!l->low && p->segment.home >= 0)
		return SP_WHY_HANDLER;
	if (sp_is_theirs(p))
		return !l->low						 ? SP_WHY_HANDLER
		       : elsewhere || p->segment.gap == SP_WHY_UNWATCHED ? SP_WHY_UNWATCHED
									 : SP_WHY_RUNNING;
	if (p->segment.stood && !is_counted(p, e))
		return p->segment.stood;
	return p->segment.gap ? p->segment.gap : l->stayed ? SP_WHY_EDGE : SP_WHY_INSIDE;
}

/* Of a part that is watched, which limit that is. */
static enum sp_why why_of(const struct sp_percpu *p, uint32_t e, const struct sample *l,
			  bool elsewhere)
{
	enum sp_why why = reason(p, e, l, elsewhere);

	return why == SP_WHY_UNWATCHED ? p->clock->limit : why;
}

/* Another thread that has slept since the scan before, when all was proven: nothing is new. */
static bool is_still(const struct sp_percpu *p, const struct sp_answer *a, const struct sample *l)
{
	if (!l->before || !sp_is_theirs(p) || !p->scan.last.unmoved ||
	    sp_has_advanced(&p->cpu[p->scan.last.sum.at]) || p->segment.open_why != SP_WHY_NONE)
		return false;
	for (uint32_t e = 0; e < p->k; e++)
		if (p->window[e].value != a->value[e])
			return false;
	return true;
}

static enum sp_why attribute_events(struct sp_percpu *p, const struct sp_answer *a,
				    const struct sample *l, uint32_t at)
{
	bool all = true;

	p->parts.dark = 0;
	if (is_still(p, a, l)) {
		memset(p->parts.at, 0, (p->n + 1) * p->k * sizeof(*p->parts.at));
		memset(p->parts.proven, 0, (p->n + 1) * p->k * sizeof(*p->parts.proven));
		return SP_WHY_NONE;
	}

	if (p->perf_fds.leader[SP_HARDWARE] >= 0 && !was_where_none_is(p, SP_HARDWARE))
		p->perf_fds.starving = has_run(p, SP_HARDWARE) ? 0 : p->perf_fds.starving + 1;
	for (uint32_t e = 0; e < p->k; e++) {
		int64_t was = not_proven(p, e), elsewhere = p->parts.elsewhere[e], is;
		bool sound = p->window[e].sound;

		if (l->unmoved && may_stay(&p->window[e], a->value[e]))
			attribute_unmoved(p, e, a);
		else
			attribute_event(p, e, a, l, at);
		p->unread.owed[e] = 0;
		is = not_proven(p, e);
		all = all && !is;
		/* (A difference of counters is not believed, either, where the copies are no bound:
		 * window.h.) */
		if (sound && !p->window[e].sound)
			p->segment.distrust = p->sum[e].falls && is > was ? why_of(p, e, l, false)
									  : SP_WHY_COPIES;
		if (is > was)
			p->segment.open_why = why_of(p, e, l,
						     p->parts.elsewhere[e] > elsewhere ||
							     was_more(p, e, a->value[e]));
	}
	p->segment.open_why = all ? SP_WHY_NONE : p->segment.open_why;
	return p->segment.open_why;
}

/* ---- what is told of it ---------------------------------------------------------- */

static bool has_part(const struct sp_percpu *p, uint32_t i)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->parts.at[i * p->k + e] || p->parts.proven[i * p->k + e])
			return true;
	return p->cpu[i].now.high != p->cpu[i].booked_ns;
}

static void note_booked_times(struct sp_percpu *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->cpu[i].booked_ns != p->cpu[i].now.high)
			p->cpu[i].seen = p->scan.last.ticks;
		p->cpu[i].booked_ns = p->cpu[i].now.high;
		memcpy(p->cpu[i].booked_value, p->cpu[i].value, p->k * sizeof(int64_t));
	}
	p->booked_ns.home = p->segment.home;
	p->booked_ns.moves = p->scan.last.moves;
	p->booked_ns.ticks = p->fast.begun = p->scan.last.ticks;
}

/* The parts, that of the reading's CPU last; those that have nothing are none. */
static void book_shares(struct sp_percpu *p, uint32_t at, int cpu, struct sp_shares *s)
{
	size_t row = p->k * sizeof(*p->parts.at);
	int64_t last[p->k];
	uint32_t n = 0;

	memcpy(last, &p->parts.proven[at * p->k], row);
	for (uint32_t i = 0; i < p->n; i++) {
		if (i == at || !has_part(p, i))
			continue;
		p->parts.cpus[n] = p->cpu[i].cpu;
		p->parts.ns[n] = time_on(p, i);
		memmove(&p->parts.at[n * p->k], &p->parts.at[i * p->k], row);
		memmove(&p->parts.proven[n * p->k], &p->parts.proven[i * p->k], row);
		n++;
	}
	memcpy(&p->parts.proven[n * p->k], last, row);
	p->parts.ns[n] = at < p->n ? time_on(p, at) : 0;
	*s = (struct sp_shares){ .how = p->kind,
				 .n = n,
				 .cpu = p->parts.cpus,
				 .at = p->parts.at,
				 .proven = p->parts.proven,
				 .ns = p->parts.ns,
				 .last = at < p->n ? p->cpu[at].cpu : cpu,
				 .moves = p->scan.last.moves - p->booked_ns.moves };
	note_booked_times(p);
}

/* Where the reading is booked: where the thread is, or was last; of one that has ended, where it
 * has counted last. */
static uint32_t reading_at(const struct sp_percpu *p, int cpu)
{
	int i = cpu < 0 ? -1 : sp_scan_index(p, cpu);

	for (uint32_t c = 0; c < p->n && cpu < 0 && i < 0; c++)
		if (p->cpu[c].now.high != p->cpu[c].booked_ns)
			i = (int)c;
	return i < 0 ? p->n : (uint32_t)i;
}

/* The copies were read before PAPI was called (ask). */
static bool sample_before(struct sp_percpu *p, struct sample *l)
{
	l->low = l->before = true;
	if (sp_is_theirs(p)) {
		l->stayed = l->high = sp_scan_needs_most(p) && sp_scan_slept(p);
		return true;
	}
	l->stayed = p->segment.home >= 0 && p->scan.last.proof == sp_proof_now();
	l->papi = l->stayed && p->beside.had;
	l->high = l->papi;
	if (l->stayed || p->segment.home < 0)
		return true;
	l->twice = l->high = true;
	return scan(p, NULL);
}

/* They are read after it: what PAPI's counters have counted since is told by those, if they count
 * on. */
static bool sample_after(struct sp_percpu *p, const struct sp_answer *a, struct sample *l)
{
	if (!scan(p, !sp_is_theirs(p) && a->counts_on ? a->perf_fds : NULL))
		return false;
	if (sp_is_theirs(p))
		return true;
	l->high = p->segment.home >= 0;
	l->stayed = p->scan.last.quiet && p->scan.last.proof == a->open;
	/* Where it moved, copies were read after those of the CPU where it is now. */
	l->papi = (p->beside.had && l->stayed) ||
		  (a->counts_on && !l->stayed && sp_scan_papis(p, a->perf_fds, p->beside.papi));
	l->low = l->high || l->stayed || l->papi;
	/* A handler has zeroed them meanwhile. */
	if (load_relaxed(&p->unread.lost))
		l->low = l->high = false;
	return true;
}

/* Has a handler booked since the copies were read? */
static bool is_behind(const struct sp_percpu *p, const struct sp_answer *a)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->window[e].value != a->last[e])
			return true;
	return load_relaxed(&p->unread.missed) || load_relaxed(&p->unread.lost) ||
	       load_relaxed(&p->fast.fresh);
}

static bool sample(struct sp_percpu *p, const struct sp_answer *a, struct sample *l)
{
	bool read_by_tid = p->others.read_by_tid == sp_thread_state.tid && !is_behind(p, a);

	p->others.read_by_tid = 0;
	*l = (struct sample){ .low = false };
	if (!read_by_tid)
		catch_up(p, a->last);
	if (!(read_by_tid ? sample_before(p, l) : sample_after(p, a, l)))
		return false;
	l->unmoved = p->segment.unmoved && (l->stayed || !l->before || l->twice) &&
		     !sp_is_theirs(p) && p->why != SP_WHY_MULTIPLEXED;
	p->segment.is_home_proven = l->unmoved || ((l->before || l->stayed) && !l->twice);
	return true;
}

/* Attributes a reading without a scan to the CPU where it was read; the scan at the end of the
 * segment may prove it.  False: the reading needs a scan. */
static bool skip(struct sp_percpu *p, const struct sp_answer *a)
{
	int at;

	catch_up(p, a->last);
	for (uint32_t e = 0; e < p->k; e++)
		if (p->sum[e].falls || !may_stay(&p->window[e], a->value[e]))
			return false;
	at = a->cpu < 0 ? -1 : sp_scan_index(p, a->cpu);
	for (uint32_t e = 0; e < p->k; e++) {
		int64_t new = a->value[e] - p->window[e].value;

		p->unread.owed[e] += new;
		if (at >= 0)
			p->cpu[at].booked_value[e] += new;
		else
			p->parts.elsewhere[e] += new;
		sp_window_skipped(&p->window[e], a->value[e], at < 0 ? p->n : (uint32_t)at);
	}
	p->segment.is_home_proven = p->segment.unmoved && at >= 0 && at == p->segment.home;
	stays_here(p);
	p->segment.is_home_proven = p->segment.is_home_proven && at == p->segment.home;
	p->unread.skipped = true;
	return true;
}

/* The thread is read on a CPU that is not watched, where it is since PAPI was called.  False: it
 * will not be watched, either. */
static bool follow(struct sp_percpu *p, const struct sp_answer *a, int cpu)
{
	uint32_t proof = p->scan.last.proof;
	bool is_home_proven = p->segment.is_home_proven;

	if (!a->counts_on || sp_is_theirs(p) || !p->scan.last.quiet || proof != sp_proof_now() ||
	    a->perf_fds->seccomp_filters != sp_seccomp_filters() ||
	    !sp_plan_follow(p, a->perf_fds, cpu) || !scan(p, NULL))
		return false;
	p->segment.is_home_proven = is_home_proven && p->segment.home >= 0 && p->scan.last.quiet &&
				    p->scan.last.proof == proof;
	p->booked_ns.home = p->segment.is_home_proven ? p->segment.home : p->booked_ns.home;
	return true;
}

bool sp_percpu_window(struct sp_percpu *p, const struct sp_answer *answer, struct sp_shares *shares)
{
	enum sp_why why;
	struct sample l;
	uint32_t at;
	bool skips;
	int cpu;

	*shares = (struct sp_shares){ .how = p->kind, .why = SP_WHY_HANDLER };
	if (!sp_percpu_take_here(p)) {
		sp_percpu_missed(p);
		return false;
	}
	skips = p->unread.skips || (p->others.read_by_tid != sp_thread_state.tid && !may_scan(p));
	p->unread.skips = false;
	if (skips && p->clock && p->scan.marked && !p->scan.trouble && !p->unread.unseen &&
	    skip(p, answer)) {
		shares->why = SP_WHY_CREDIT;
		sp_percpu_give(p);
		return false;
	}
	p->unread.unseen = p->unread.unseen || skips;
	if (!p->clock || !p->scan.marked || p->scan.trouble || p->unread.unseen ||
	    !sample(p, answer, &l)) {
		shares->why = p->scan.trouble		 ? p->scan.trouble
			      : p->perf_fds.is_displaced ? SP_WHY_OUSTED
			      : p->unread.unseen	 ? SP_WHY_CREDIT
							 : SP_WHY_HANDLER;
		p->unread.missed = true;
		store_relaxed(&p->fast.ready, 0);
		if (p->clock && !p->scan.trouble && p->unread.unseen)
			stays_unseen(p);
		sp_percpu_give(p);
		return false;
	}
	cpu = sp_is_theirs(p) ? answer->cpu : sp_cpu_here();
	at = reading_at(p, cpu);
	why = attribute_events(p, answer, &l, at);
	book_shares(p, at, cpu, shares);
	shares->why = why;
	shares->dark = !p->parts.dark	      ? SP_NO_CPU
		       : p->parts.dark > p->n ? cpu
					      : p->cpu[p->parts.dark - 1].cpu;
	if (answer->counts_on)
		sp_home_off_window(p, l.stayed && !l.before);
	else
		sp_home_off_begin(p, false);
	p->segment.wide |= at == p->n ? cpu >= 0 && !follow(p, answer, cpu)
				      : p->segment.gap == SP_WHY_UNWATCHED &&
						sp_lifetime_cpus(p->target.tid,
								 p->natives + !p->has_times) > p->n;
	/* The next call that ends the segment proves it. */
	if (why != SP_WHY_NONE && answer->counts_on)
		store_relaxed(&p->fast.ready, 0);
	return true;
}

void sp_percpu_done(struct sp_percpu *p)
{
	sp_percpu_give(p);
}

/* ---- a zeroing ------------------------------------------------------------------- */

/* Do hardware counters of ours run beside PAPI's, which have started?  If not, windows are split by
 * time, and what is proven without a scan is told from the first one on. */
static void probe(struct sp_percpu *p)
{
	int here = sp_scan_index(p, sp_cpu_here());
	uint64_t count[SP_NATIVES_MOST];
	struct sp_percpu_cpu first, second;

	if (here < 0)
		return;
	/* (What the last scan has stays of one moment.) */
	first = second = p->cpu[here];
	if (!sp_scan_group(p, &first, SP_HARDWARE, count) ||
	    !sp_scan_group(p, &second, SP_HARDWARE, count))
		return;
	p->perf_fds.probed = true;
	if (second.now.enabled[SP_HARDWARE] != first.now.enabled[SP_HARDWARE] &&
	    second.now.ran[SP_HARDWARE] == first.now.ran[SP_HARDWARE])
		p->perf_fds.starving = 1;
}

/* PAPI has zeroed it: what its counters have by now, and then the copies. */
static void restart_segment(struct sp_percpu *p, const struct sp_perf_fds *perf_fds)
{
	int64_t had[SP_PERCPU_EVENTS];
	bool has_papi_values, is;

	/* (From here on a handler's are later.) */
	store_relaxed(&p->unread.lost, false);
	store_relaxed(&p->unread.missed, false);
	store_relaxed(&p->fast.fresh, 0);
	if (!may_begin(p)) {
		stays_unseen(p);
		return;
	}
	p->unread.unseen = false;
	has_papi_values = sp_scan_papis(p, perf_fds, had);
	p->segment.unmoved = p->segment.is_home_proven;
	is = scan(p, NULL);
	if (is && sp_home_off_wake(p))
		is = scan(p, NULL);
	if (is)
		begin(p, has_papi_values ? had : NULL, p->n);
	note_booked_times(p);
}

void sp_percpu_zeroed(struct sp_percpu *p, uint32_t open, const struct sp_perf_fds *perf_fds)
{
	bool probed = false;

	store_relaxed(&p->others.found, false);
	if (!sp_percpu_take_here(p)) {
		sp_percpu_lost(p);
		return;
	}
	if (p->clock && !p->scan.trouble) {
		if (p->perf_fds.counts && !p->perf_fds.probed && !sp_is_theirs(p)) {
			probe(p);
			probed = p->perf_fds.probed;
			store_relaxed(&p->fast.ready, p->scan.marked && (p->segment.home < 0 ||
									 p->perf_fds.probed));
		}
		p->others.read_by_tid = 0;
		if ((is_ready(p, open) && open == sp_proof_now()) || sp_percpu_stays(p) >= 0) {
			store_relaxed(&p->unread.lost, false);
			store_relaxed(&p->unread.missed, false);
			sp_percpu_fresh(p);
			if (probed)
				sp_home_off_begin(p, true);
		} else if (p->clock) {
			restart_segment(p, perf_fds);
		}
	}
	sp_percpu_give(p);
}

void sp_percpu_starts(struct sp_percpu *p, const struct sp_perf_fds *perf_fds, bool started)
{
	if (!p->clock || !sp_percpu_take_here(p))
		return;
	if (p->target.tid == sp_thread_state.tid &&
	    !__atomic_exchange_n(&p->others.visited, false, __ATOMIC_RELAXED))
		store_relaxed(&p->others.shared, false);
	sp_plan_starts(p);
	if (p->clock && p->target.own && p->target.tid == sp_thread_state.tid && !p->scan.trouble &&
	    p->scan.marked && sp_scan_index(p, sp_cpu_here()) < 0 &&
	    perf_fds->seccomp_filters == sp_seccomp_filters())
		(void)sp_plan_follow(p, perf_fds, sp_cpu_here());
	/* Before PAPI's own start: nothing of ours counts where it need not. */
	if (p->clock && p->target.own && !p->scan.trouble && !is_ready(p, sp_proof_now()) &&
	    !may_begin(p)) {
		stays_unseen(p);
	} else if (p->clock && p->target.own && !p->scan.trouble && !is_ready(p, sp_proof_now())) {
		p->unread.unseen = false;
		p->segment.is_home_proven = sp_scan(p, NULL) && !started;
		if (p->segment.is_home_proven)
			sp_home_off_begin(p, false);
		/* (Whether its hardware counters find a place is only known when PAPI's run.) */
		note_booked_times(p);
	}
	p->others.read_by_tid = 0;
	store_relaxed(&p->unread.lost, false);
	store_relaxed(&p->unread.missed, false);
	sp_percpu_give(p);
}

int sp_percpu_where(const struct sp_percpu *p)
{
	return load_relaxed(&p->others.found) ? load_relaxed(&p->others.where) : SP_NO_CPU;
}

void sp_percpu_is_at(struct sp_percpu *p, int cpu)
{
	if (load_relaxed(&p->others.found))
		store_relaxed(&p->others.where, cpu);
}

bool sp_percpu_needs_time(const struct sp_percpu *p)
{
	return p->target.own && !load_relaxed(&p->others.shared) &&
	       (p->kind == SP_BY_RESIDENCY || p->perf_fds.starving);
}

void sp_percpu_missed(struct sp_percpu *p)
{
	store_relaxed(&p->unread.missed, true);
}

void sp_percpu_lost(struct sp_percpu *p)
{
	store_relaxed(&p->unread.lost, true);
	store_relaxed(&p->fast.ready, 0);
}

void sp_percpu_distrust(struct sp_percpu *p)
{
	/* (What PAPI multiplexes itself it opens at each start.) */
	p->scan.trouble = p->why == SP_WHY_MULTIPLEXED ? SP_WHY_MULTIPLEXED : SP_WHY_UNSEEN;
	sp_percpu_lost(p);
}
