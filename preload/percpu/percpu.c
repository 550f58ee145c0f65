/* percpu.c: attributes the windows of a set; see percpu.h. shadow-open.c opens the shadow counters,
 * shadow-read.c reads them, and window.c decides which counts they prove. */
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

/* ---- did the shadow counters run? ---------------------------------------------- */

static uint64_t min_ns(const struct sp_percpu_cpu *c)
{
	return c->now.low > c->prev.high ? c->now.low - c->prev.high : 0;
}

static uint64_t max_ns(const struct sp_percpu_cpu *c)
{
	return c->now.high - c->prev.low;
}

static bool ran_all_the_time(const struct sp_percpu_cpu *c, enum sp_group g)
{
	uint64_t ran = c->now.ran[g] - c->prev.ran[g];

	return ran >= min_ns(c) && ran <= max_ns(c);
}

/* Before Linux 6.2 hardware events have their own clock, which a switch reads some time before or
 * after that of software events. The group of the previous home shows how long the thread ran
 * anywhere. All groups together must have run that long, except for the time of reading them one
 * after another. */
static bool ran_together(const struct sp_percpu *p)
{
	uint64_t ran = 0, tolerance = 2000 + sp_ticks_ns(p->scan.last.duration), all;

	if (p->period.prev_home < 0)
		return false;
	all = p->cpu[p->period.prev_home].now.enabled[SP_HARDWARE] -
	      p->cpu[p->period.prev_home].prev.enabled[SP_HARDWARE];
	for (uint32_t i = 0; i < p->n; i++) {
		const struct sp_percpu_cpu *c = &p->cpu[i];

		if (!sp_has_advanced(c))
			continue;
		if (c->now.ran[SP_HARDWARE] - c->prev.ran[SP_HARDWARE] < min_ns(c) / 2)
			return false;
		ran += c->now.ran[SP_HARDWARE] - c->prev.ran[SP_HARDWARE];
	}
	return ran + tolerance >= all && ran <= all + tolerance;
}

/* Did the group run since the previous scan, wherever the thread was? CPUs where PAPI's counters
 * count none of the group need no shadow counters, and those of home may be off. */
static bool has_run(const struct sp_percpu *p, enum sp_group g)
{
	if (p->shadow.leader[g] < 0)
		return false;
	if (g == SP_HARDWARE && !sp_has_one_clock)
		return ran_together(p);
	for (uint32_t i = 0; i < p->n; i++)
		if (sp_has_advanced(&p->cpu[i]) && !p->cpu[i].has_no_events[g] &&
		    !(g == SP_HARDWARE && p->home_off.index == (int)i) &&
		    (p->cpu[i].is_refused || !ran_all_the_time(&p->cpu[i], g)))
			return false;
	return true;
}

/* Did the shadow counters of every native of event e run? */
static bool is_counted(const struct sp_percpu *p, uint32_t e)
{
	for (uint32_t t = 0; t < p->sum[e].n; t++)
		if (!p->period.ran[p->shadow.group[p->sum[e].native[t]]])
			return false;
	return p->sum[e].n != 0;
}

/* Are there shadow counters of event e that count the same as PAPI's? */
static bool has_shadow(const struct sp_percpu *p, uint32_t e)
{
	for (uint32_t t = 0; t < p->sum[e].n; t++)
		if (p->shadow.leader[p->shadow.group[p->sum[e].native[t]]] < 0)
			return false;
	return p->sum[e].n && !p->sum[e].is_cpu_clock && !p->target.is_foreign &&
	       p->kind == SP_BY_EXACT;
}

/* After a scan: why may the thread have been on unwatched CPUs since the previous scan? */
static enum sp_why find_gap(struct sp_percpu *p)
{
	if (p->period.home < 0 && !sp_is_remote(p))
		return SP_WHY_UNWATCHED;
	if (p->scan.last.n_reenabled != p->scan.prev.n_reenabled)
		return SP_WHY_SWITCHED_OFF;
	if (sp_clock_adds_up(&p->times, &p->scan.prev.sum, &p->scan.last.sum))
		return SP_WHY_NONE;
	/* The kernel updates the times of inherited events at different moments. */
	if (!p->target.inherits &&
	    sp_clock_was_away(&p->times, &p->scan.prev.sum, &p->scan.last.sum))
		return SP_WHY_UNWATCHED;
	return sp_is_remote(p) ? SP_WHY_RUNNING : SP_WHY_INSIDE;
}

/* Was the thread on a CPU where the kernel refused this group? */
static bool was_without_shadow(const struct sp_percpu *p, enum sp_group g)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (sp_has_advanced(&p->cpu[i]) && p->cpu[i].fd[p->shadow.leader[g]] < 0 &&
		    !p->cpu[i].has_no_events[g])
			return true;
	return false;
}

/* Was the thread on one CPU from the previous scan to the last one, by the clock, to the ns? */
static bool was_only_home(struct sp_percpu *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if ((int)i != p->period.home && p->cpu[i].now.high != p->cpu[i].prev.high)
			return false;
	return p->period.home >= 0 && find_gap(p) == SP_WHY_NONE;
}

/* The budget of `auto` also pays for scans. Otherwise 400 threads that start a set and sleep
 * between two windows spend a third of their time on them. */
static bool may_scan(const struct sp_percpu *p)
{
	return sp_clock_may_scan(p->n) || (sp_clock_may_scan(1) && sp_scan_is_short(p));
}

/* May the scan that ends a period be made? Its time was reserved. */
static bool may_scan_at_end(struct sp_percpu *p)
{
	uint64_t reserved_ns = p->skips.reserved_ns;

	sp_add(&sp_process.budget.used_ns, -reserved_ns);
	p->skips.reserved_ns = 0;
	return reserved_ns || may_scan(p);
}

/* May the scan that begins a period be made? */
static bool may_scan_at_begin(struct sp_percpu *p)
{
	if (p->scan.has_baseline && !may_scan(p))
		return false;
	sp_shadow_reserve_scan(p);
	return true;
}

/* Another thread's proof may have the same number as the owner's. */
static bool is_ready(const struct sp_percpu *p, uint32_t proof)
{
	return !sp_is_remote(p) && sp_percpu_is_ready(p, proof);
}

/* Skips the scan: windows are proven while the thread stays on its CPU. */
static void begin_unscanned(struct sp_percpu *p)
{
	p->sharing.read_by_tid = 0;
	store_relaxed(&p->fast.proof, sp_proof_now());
	p->period.home = sp_is_remote(p) ? -1 : sp_scan_index(p, sp_cpu_here());
	store_relaxed(&p->fast.is_ready, 0);
}

/* Skips the scan that begins a period, so that no scan happens until the next period. */
static void begin_unscanned_period(struct sp_percpu *p)
{
	begin_unscanned(p);
	p->period.is_unmoved = p->period.is_home_proven = false;
	p->skips.period = true;
	store_relaxed(&p->fast.is_ready,
		      !sp_is_remote(p) && (p->shadow.is_probed || !p->shadow.has_hardware ||
					   p->period.home < 0));
}

static bool scan(struct sp_percpu *p, const struct sp_perf_fds *o)
{
	p->period.prev_home = p->period.home;
	p->skips.reading = false;
	if (!sp_scan(p, o))
		return false;
	if (p->scan.last.n_reenabled != p->scan.prev.n_reenabled)
		p->home_off.index = -1;	/* the program's prctl has switched them on, too */
	if (p->period.gap_why == SP_WHY_NONE || p->period.gap_why == SP_WHY_RUNNING) {
		enum sp_why gap = find_gap(p);

		p->period.gap_why = gap ? gap : p->period.gap_why;
		if (gap == SP_WHY_UNWATCHED)
			store_relaxed(&p->home_off.is_disabled, true);
	}
	for (int g = 0; g < SP_GROUPS; g++) {
		if (!p->period.ran[g] || has_run(p, (enum sp_group)g))
			continue;
		p->period.ran[g] = false;
		if (p->shadow.leader[g] >= 0 && !p->period.idle_why)
			p->period.idle_why = was_without_shadow(p, (enum sp_group)g)
						      ? SP_WHY_UNWATCHED
					      : g == SP_HARDWARE ? SP_WHY_STARVED
								 : SP_WHY_NONE;
	}
	p->period.is_home_proven = p->period.is_unmoved =
		p->period.is_unmoved && p->period.prev_home == p->period.home &&
		was_only_home(p);
	return true;
}

/* ---- the windows' state -------------------------------------------------------- */

static void copy_shadow_values(const struct sp_percpu *p, uint32_t e, int64_t *to)
{
	for (uint32_t i = 0; i < p->n; i++)
		to[i] = p->cpu[i].value[e];
}

static void begin_windows(struct sp_percpu *p, const int64_t *papi_values, uint32_t home)
{
	for (uint32_t e = 0; e < p->k; e++) {
		copy_shadow_values(p, e, p->parts.low);
		sp_window_begin(&p->window[e], p->parts.low, papi_values ? papi_values[e] : 0,
				home);
	}
	memset(p->skips.counts, 0, p->k * sizeof(*p->skips.counts));
	p->period.gap_why = p->period.idle_why = p->period.distrust_why = SP_WHY_NONE;
	p->period.ran[SP_SOFTWARE] = p->period.ran[SP_HARDWARE] = true;
}

static void distrust(struct sp_percpu *p, enum sp_why why)
{
	for (uint32_t e = 0; e < p->k; e++)
		sp_window_distrust(&p->window[e]);
	p->period.distrust_why = why;
}

/* Was no other reader's value later? */
static bool may_stay(const struct sp_window *w, int64_t value)
{
	return value >= w->value && w->value == w->greatest;
}

/* Adds the readings since the last scan that were attributed without one: proven if the thread
 * stayed at home. Nested calls are unknown here. */
static void catch_up(struct sp_percpu *p, const int64_t *last)
{
	bool missed_reset = __atomic_exchange_n(&p->skips.missed_reset, false, __ATOMIC_RELAXED),
	     is_reset = load_relaxed(&p->fast.is_reset);
	bool missed_value = __atomic_exchange_n(&p->skips.missed_value, false, __ATOMIC_RELAXED);
	uint32_t home = p->period.home < 0 ? p->n : (uint32_t)p->period.home;

	p->period.is_unmoved = p->period.is_home_proven && !missed_value && !missed_reset;
	store_relaxed(&p->fast.is_reset, 0);
	if (is_reset || missed_reset)
		begin_windows(p, NULL, home);
	/* Values are missing, so it is unclear which others were attributed as proven. Their counts
	 * would be proven twice. */
	if (missed_reset || (missed_value && (is_reset || home < p->n)))
		distrust(p, SP_WHY_HANDLER);
	for (uint32_t e = 0; e < p->k; e++) {
		bool known = home < p->n || !(sp_is_remote(p) || p->sum[e].can_fall);

		/* Otherwise it counts twice when counts are distributed by growth. */
		if (home < p->n)
			p->cpu[home].attributed_value[e] += last[e] - p->window[e].value;
		if (known && !missed_value && !missed_reset && may_stay(&p->window[e], last[e]))
			sp_window_attribute_stayed(&p->window[e], last[e], home);
		else
			sp_window_miss(&p->window[e], last[e], home);
	}
}

/* Charges a read of one event at the average price of past reads. */
static bool may_read_one(void)
{
	if (!sp_clock_may_scan(1))
		return false;
	sp_add(&sp_process.budget.used_ns, sp_budget_read(&sp_process.budget));
	return true;
}

int sp_percpu_stayed_cpu(struct sp_percpu *p)
{
	if (sp_proof_has_mark() || sp_is_remote(p) || !load_relaxed(&p->fast.is_ready) ||
	    !p->period.is_home_proven || p->skips.period || p->scan.failure ||
	    p->period.home < 0 || load_relaxed(&p->skips.missed_value) ||
	    load_relaxed(&p->skips.missed_reset) || !may_read_one() || !sp_scan_is_short(p))
		return SP_NO_CPU;
	return p->cpu[p->period.home].cpu;
}

void sp_percpu_read_before(struct sp_percpu *p, bool ends, const int64_t *last,
			   const struct sp_perf_fds *perf_fds)
{
	bool remote = sp_is_remote(p);

	store_relaxed(&p->sharing.is_cpu_known, false);
	/* Another thread's reset may be scanning it. */
	if (!(ends || remote) || !sp_percpu_take_here(p))
		return;
	if (!p->clock || !p->scan.has_baseline || p->scan.failure || p->skips.period ||
	    is_ready(p, sp_proof_now()) || sp_percpu_stayed_cpu(p) >= 0) {
		;
	} else if (!(ends ? may_scan_at_end(p) : may_scan(p))) {
		p->skips.this_call = true;
	} else {
		catch_up(p, last);
		/* Prevents rseq from proving this call, which would ignore the scan. */
		if (p->skips.reading)
			sp_add(&sp_thread_state.losses, 1);
		p->sharing.read_by_tid =
			scan(p, remote ? NULL : perf_fds) ? sp_thread_state.tid : 0;
	}
	sp_percpu_give(p);
}

/* Gives home an anchor while its count is known, before the thread goes to CPUs where its count may
 * not be. */
static void anchor_home(struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++) {
		copy_shadow_values(p, e, p->parts.high);
		p->parts.high[p->period.home] = p->papi.shadow_high[e];
		if (has_shadow(p, e) && is_counted(p, e))
			sp_window_anchor(&p->window[e], p->papi.value[e], p->parts.high);
	}
}

void sp_percpu_before_affinity(struct sp_percpu *p, const struct sp_cpus *to, const int64_t *last,
			       const struct sp_perf_fds *perf_fds)
{
	if (!p->target.is_own || p->target.tid != sp_thread_state.tid || sp_is_remote(p) ||
	    !sp_percpu_take_here(p))
		return;
	if (p->clock && p->scan.has_baseline && !p->scan.failure && !p->skips.period &&
	    perf_fds->seccomp_filters == sp_seccomp_filters() && may_scan(p)) {
		bool is_scanned;

		catch_up(p, last);
		/* Makes home's counters count from the next scan on. The program may have switched
		 * the thread's events off since the last one. */
		if (p->home_off.index >= 0 && scan(p, perf_fds))
			(void)sp_home_off_switch_on(p);
		is_scanned = scan(p, perf_fds);
		if (is_scanned && p->period.home >= 0 && p->papi.is_read &&
		    p->scan.last.caller_stayed && p->period.gap_why == SP_WHY_NONE)
			anchor_home(p);
		p->sharing.read_by_tid = 0;
		if (is_scanned)
			sp_shadow_add_cpus(p, perf_fds, to);
	}
	sp_percpu_give(p);
}

bool sp_percpu_add_allowed(struct sp_percpu *p, const struct sp_cpus *to)
{
	uint32_t n = sp_cpus_count(&p->shadow.allowed);

	sp_cpus_add(&p->shadow.allowed, to);
	return sp_cpus_count(&p->shadow.allowed) != n;
}

bool sp_percpu_share(struct sp_percpu *p)
{
	if (p->target.is_own && p->target.tid != sp_thread_state.tid) {
		store_relaxed(&p->home_off.is_disabled, true);
		store_relaxed(&p->sharing.was_read_elsewhere, true);
	}
	return p->target.is_own && p->target.tid != sp_thread_state.tid &&
	       !__atomic_exchange_n(&p->sharing.is_shared, true, __ATOMIC_RELAXED);
}

bool sp_percpu_is_shared(const struct sp_percpu *p)
{
	return load_relaxed(&p->sharing.is_shared);
}

/* ---- a window ------------------------------------------------------------------ */

/* The evidence of one scan, for all events. */
struct sample {
	/* The shadow counters are a lower limit; also an upper one, if the times add up. */
	bool has_low, has_high;
	bool is_before;			/* The scan was before PAPI's call. */
	bool is_double;			/* Another scan, the last one, was after it. */
	/* The thread did not move between the scan and PAPI's read. Another thread: it slept. */
	bool has_stayed;
	/* The thread was on one CPU from the previous reading to this one, which counted all new
	 * counts. */
	bool is_unmoved;
	/* PAPI's counters, which keep counting, were read after the shadow counters. */
	bool has_papi;
};

/* Sets the limits of event e's shadow counters when PAPI read its counters. If the thread stayed,
 * those of other CPUs did not change, and its own grew as PAPI's counters did. False: there is no
 * upper limit. */
static bool set_limits(struct sp_percpu *p, uint32_t e, const struct sample *l, int64_t value)
{
	int64_t since = l->has_papi ? value - p->papi.value[e] : 0;
	bool has_limit = true;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct sp_percpu_cpu *c = &p->cpu[i];

		p->parts.low[i] = l->is_double ? c->prev_value[e] : c->value[e];
		p->parts.high[i] = c->value[e];
		if (l->has_stayed && (int)i != p->period.home)
			continue;
		/* Off: keeps the value that it will count from. */
		if ((int)i == sp_home_off_index(p, e))
			continue;
		if (l->has_stayed && l->has_papi) {
			p->parts.low[i] = p->papi.shadow_low[e] + since;
			p->parts.high[i] = p->papi.shadow_high[e] + since;
		} else if (p->sum[e].can_fall || (!l->is_before && !l->has_papi)) {
			p->parts.low[i] = SP_UNKNOWN;
			has_limit = has_limit && !p->sum[e].can_fall;
		} else if (!l->is_before) {
			p->parts.low[i] += since;
		}
	}
	return has_limit;
}

/* The time there since time was attributed last. Time that was attributed without a scan was at
 * home. */
static uint64_t time_on(const struct sp_percpu *p, uint32_t i)
{
	uint64_t ns = p->cpu[i].now.high - p->cpu[i].attributed_ns, attributed_ns = 0;

	if ((int)i == p->attributed.home)
		attributed_ns = sp_ticks_ns(load_relaxed(&p->fast.time_from) - p->attributed.ticks);
	return ns > attributed_ns ? ns - attributed_ns : 0;
}

/* Is there no running shadow counter of event e on CPU i, though PAPI's counter counts there? */
static bool lacks_shadow(const struct sp_percpu *p, uint32_t e, uint32_t i)
{
	const struct sp_percpu_cpu *c = &p->cpu[i];

	if (p->home_off.index == (int)i && sp_home_off_hides(p, e))
		return true;
	for (uint32_t t = 0; t < p->sum[e].n; t++) {
		uint32_t n = p->sum[e].native[t];

		if (c->fd[n] < 0 && !c->has_no_events[p->shadow.group[n]])
			return true;
	}
	return false;
}

/* The time on unwatched CPUs. The kernel updates the times of inherited events at different
 * moments. */
static double time_away(struct sp_percpu *p)
{
	return p->period.gap_why == SP_WHY_UNWATCHED && !p->target.inherits
		       ? (double)sp_clock_time_away(&p->times, &p->scan.prev.sum, &p->scan.last.sum)
		       : 0;
}

/* Home's counters are off: of `new`, the counts that the others do not have are home's. If the
 * thread was also on unwatched CPUs, home and those share them in proportion to time. */
static void weigh_home(struct sp_percpu *p, int home, int64_t new, bool away)
{
	double home_ns = (double)time_on(p, (uint32_t)home), away_ns = away ? time_away(p) : 0;

	for (uint32_t i = 0; i < p->n; i++) {
		new -= (int)i == home ? 0 : p->parts.grown[i];
		p->parts.weight[i] = 0;
	}
	p->parts.grown[home] = new > 0 && home_ns > 0
				       ? (int64_t)((double)new * (home_ns / (home_ns + away_ns)))
				       : 0;
}

/* Sets the weights of unproven counts: by growth of the shadow counters, or by time if those did
 * not run. If the thread was on unwatched CPUs, the counts that no shadow counter has go to the CPU
 * of the reading. */
static void weigh(struct sp_percpu *p, uint32_t e, int64_t new, bool shadow, bool by_count)
{
	bool away = shadow && !p->target.inherits && p->period.gap_why == SP_WHY_UNWATCHED;
	double whole = 0, unknown_ns = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		int64_t counted = p->cpu[i].value[e] - p->cpu[i].attributed_value[e];
		bool unknown = shadow && lacks_shadow(p, e, i);

		p->parts.grown[i] = counted > 0 && !unknown ? counted : 0;
		p->parts.weight[i] = by_count ? (double)p->parts.grown[i] : 0;
		whole += p->parts.weight[i];
		unknown_ns += unknown ? (double)time_on(p, i) : 0;
	}
	for (uint32_t i = 0; i < p->n && (away || unknown_ns > 0 || whole <= 0); i++)
		p->parts.weight[i] = away || (unknown_ns > 0 && !lacks_shadow(p, e, i))
					     ? 0
					     : (double)time_on(p, i);
	if (shadow && unknown_ns <= 0 && sp_home_off_index(p, e) >= 0)
		weigh_home(p, sp_home_off_index(p, e), new, away);
}

/* Attributes all new counts to home: the thread may have been interrupted, but did not move. */
static void attribute_unmoved(struct sp_percpu *p, uint32_t e, const struct sp_percpu_reading *r)
{
	int64_t new = r->value[e] - p->window[e].value;

	for (uint32_t i = 0; i <= p->n; i++)
		p->parts.counts[i * p->k + e] = p->parts.proven[i * p->k + e] =
			(int)i == p->period.home ? new : 0;
	p->parts.proven[(uint32_t)p->period.home * p->k + e] += p->skips.counts[e];
	sp_window_prove_skipped(&p->window[e], p->skips.counts[e], (uint32_t)p->period.home);
	sp_window_attribute_stayed(&p->window[e], r->value[e], (uint32_t)p->period.home);
}

/* Notes the CPU that got counts of event e that no shadow counter had, because it or another CPU is
 * not watched. */
static void find_unwatched(struct sp_percpu *p, uint32_t e, bool shadow, uint32_t at)
{
	for (uint32_t i = 0; i < p->n && shadow; i++)
		if (p->parts.total[i] > 0 && lacks_shadow(p, e, i))
			p->parts.unwatched_row = i + 1;
	if (at == p->n ? p->parts.total[at] > 0
		       : shadow && p->period.gap_why == SP_WHY_UNWATCHED &&
				 p->parts.total[at] > p->parts.grown[at] &&
				 sp_clock_was_away(&p->times, &p->scan.prev.sum, &p->scan.last.sum))
		p->parts.unwatched_row = at + 1;
}

static void attribute_event(struct sp_percpu *p, uint32_t e, const struct sp_percpu_reading *r,
			    const struct sample *l, uint32_t at)
{
	struct sp_window *w = &p->window[e];
	bool shadow = has_shadow(p, e), counted = is_counted(p, e);
	struct sp_window_reading window_reading = { .value = r->value[e],
						    .at = at,
						    .weight = p->parts.weight,
						    .grown = shadow ? p->parts.grown : NULL };
	int64_t rest = r->value[e] - w->value;

	window_reading.is_clock = p->sum[e].has_clock;

	if (shadow && l->has_low) {
		bool has_limit = set_limits(p, e, l, r->value[e]);

		window_reading.low = p->parts.low;
		/* No limit is known for counters that are off elsewhere than at home. */
		window_reading.high = l->has_high && p->period.gap_why == SP_WHY_NONE && counted &&
						      has_limit && !sp_home_off_hides(p, e)
					      ? p->parts.high
					      : NULL;
		window_reading.now = r->keeps_counting && has_limit ? p->parts.high : NULL;
	}
	if (rest > 0) {
		window_reading.away_weight = shadow ? 0 : time_away(p);
		weigh(p, e, rest, shadow,
		      shadow ? counted || sp_is_remote(p) : p->kind != SP_BY_RESIDENCY);
	}
	sp_window_attribute(w, &window_reading,
			    &(struct sp_window_shares){ p->parts.total, p->parts.share });
	for (uint32_t i = 0; i <= p->n; i++) {
		p->parts.counts[i * p->k + e] = p->parts.total[i];
		p->parts.proven[i * p->k + e] = p->parts.share[i];
	}
	p->parts.elsewhere[e] += p->parts.total[p->n];
	if (rest > 0)
		find_unwatched(p, e, shadow, at);
}

/* The unproven counts of all windows so far. */
static int64_t count_unproven(const struct sp_percpu *p, uint32_t e)
{
	const struct sp_window *w = &p->window[e];
	int64_t sum = p->parts.elsewhere[e] > 0 ? p->parts.elsewhere[e] : 0;

	for (uint32_t i = 0; i < p->n; i++)
		sum += w->cpu[i].total > w->cpu[i].reported ? w->cpu[i].total - w->cpu[i].reported
							    : 0;
	return sum;
}

/* Inherited events have no clock that shows where their threads were. Has PAPI counted more than
 * all shadow counters have by now? The difference may also be a child that was made around PAPI's
 * reset, so this only matters if some CPU is not watched. */
static bool has_counted_more(struct sp_percpu *p, uint32_t e, int64_t value)
{
	const struct sp_window *w = &p->window[e];
	int64_t now;

	if (!p->target.inherits || p->shadow.has_hardware || !sp_scan_read_sum(p, e, &now))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		if (w->cpu[i].anchor == SP_UNKNOWN)
			return false;
		now -= w->cpu[i].anchor;
	}
	return value - w->before > now && p->n < sp_cpus_online;
}

/* elsewhere: some counts of the window are from unwatched CPUs. */
static enum sp_why find_reason(const struct sp_percpu *p, uint32_t e, const struct sample *l,
			       bool elsewhere)
{
	if (p->kind != SP_BY_EXACT)
		return p->why || !elsewhere ? p->why : SP_WHY_UNWATCHED;
	if (p->target.is_foreign)
		return SP_WHY_OPENER;
	if (p->sum[e].is_cpu_clock)
		return SP_WHY_CLOCK;
	if (!has_shadow(p, e))
		return p->why;
	if (p->period.distrust_why && !p->window[e].is_sound)
		return p->period.distrust_why;
	if (!l->has_low && p->period.home >= 0)
		return SP_WHY_HANDLER;
	if (sp_is_remote(p))
		return !l->has_low					     ? SP_WHY_HANDLER
		       : elsewhere || p->period.gap_why == SP_WHY_UNWATCHED ? SP_WHY_UNWATCHED
									     : SP_WHY_RUNNING;
	if (p->period.idle_why && !is_counted(p, e))
		return p->period.idle_why;
	return p->period.gap_why ? p->period.gap_why
	       : l->has_stayed	  ? SP_WHY_EDGE
				  : SP_WHY_INSIDE;
}

/* Replaces SP_WHY_UNWATCHED by the limit that keeps CPUs from being watched. */
static enum sp_why find_why(const struct sp_percpu *p, uint32_t e, const struct sample *l,
			    bool elsewhere)
{
	enum sp_why why = find_reason(p, e, l, elsewhere);

	return why == SP_WHY_UNWATCHED ? p->clock->limit : why;
}

/* Has another thread slept since the previous scan, at which all was proven? */
static bool has_slept(const struct sp_percpu *p, const struct sp_percpu_reading *r,
		      const struct sample *l)
{
	if (!l->is_before || !sp_is_remote(p) || !p->scan.last.is_unmoved ||
	    sp_has_advanced(&p->cpu[p->scan.last.sum.at]) || p->period.unproven_why != SP_WHY_NONE)
		return false;
	for (uint32_t e = 0; e < p->k; e++)
		if (p->window[e].value != r->value[e])
			return false;
	return true;
}

static enum sp_why attribute_events(struct sp_percpu *p, const struct sp_percpu_reading *r,
				    const struct sample *l, uint32_t at)
{
	bool all = true;

	p->parts.unwatched_row = 0;
	if (has_slept(p, r, l)) {
		memset(p->parts.counts, 0, (p->n + 1) * p->k * sizeof(*p->parts.counts));
		memset(p->parts.proven, 0, (p->n + 1) * p->k * sizeof(*p->parts.proven));
		return SP_WHY_NONE;
	}

	if (p->shadow.leader[SP_HARDWARE] >= 0 && !was_without_shadow(p, SP_HARDWARE))
		p->shadow.starved_windows =
			has_run(p, SP_HARDWARE) ? 0 : p->shadow.starved_windows + 1;
	for (uint32_t e = 0; e < p->k; e++) {
		int64_t before = count_unproven(p, e), elsewhere = p->parts.elsewhere[e], unproven;
		bool sound = p->window[e].is_sound;

		if (l->is_unmoved && may_stay(&p->window[e], r->value[e]))
			attribute_unmoved(p, e, r);
		else
			attribute_event(p, e, r, l, at);
		p->skips.counts[e] = 0;
		unproven = count_unproven(p, e);
		all = all && !unproven;
		/* A difference of counters is not trusted either if its shadow counters are no
		 * limit (window.h). */
		if (sound && !p->window[e].is_sound)
			p->period.distrust_why = p->sum[e].can_fall && unproven > before
							 ? find_why(p, e, l, false)
							 : SP_WHY_SHADOW;
		if (unproven > before)
			p->period.unproven_why =
				find_why(p, e, l,
					 p->parts.elsewhere[e] > elsewhere ||
						 has_counted_more(p, e, r->value[e]));
	}
	p->period.unproven_why = all ? SP_WHY_NONE : p->period.unproven_why;
	return p->period.unproven_why;
}

/* ---- the result ---------------------------------------------------------------- */

static bool has_part(const struct sp_percpu *p, uint32_t i)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->parts.counts[i * p->k + e] || p->parts.proven[i * p->k + e])
			return true;
	return p->cpu[i].now.high != p->cpu[i].attributed_ns;
}

static void save_times(struct sp_percpu *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->cpu[i].attributed_ns != p->cpu[i].now.high)
			p->cpu[i].last_seen = p->scan.last.ticks;
		p->cpu[i].attributed_ns = p->cpu[i].now.high;
		memcpy(p->cpu[i].attributed_value, p->cpu[i].value, p->k * sizeof(int64_t));
	}
	p->attributed.home = p->period.home;
	p->attributed.moves = p->scan.last.moves;
	p->attributed.ticks = p->scan.last.ticks;
	store_relaxed(&p->fast.time_from, p->scan.last.ticks);
}

/* Moves the rows that have counts to the front, and that of the reading's CPU to the end. */
static void fill_shares(struct sp_percpu *p, uint32_t at, int cpu, struct sp_shares *s)
{
	size_t row = p->k * sizeof(*p->parts.counts);
	int64_t last[p->k];
	uint32_t n = 0;

	memcpy(last, &p->parts.proven[at * p->k], row);
	for (uint32_t i = 0; i < p->n; i++) {
		if (i == at || !has_part(p, i))
			continue;
		p->parts.cpus[n] = p->cpu[i].cpu;
		p->parts.ns[n] = time_on(p, i);
		memmove(&p->parts.counts[n * p->k], &p->parts.counts[i * p->k], row);
		memmove(&p->parts.proven[n * p->k], &p->parts.proven[i * p->k], row);
		n++;
	}
	memcpy(&p->parts.proven[n * p->k], last, row);
	p->parts.ns[n] = at < p->n ? time_on(p, at) : 0;
	*s = (struct sp_shares){ .how = p->kind,
				 .n = n,
				 .cpu = p->parts.cpus,
				 .counts = p->parts.counts,
				 .proven = p->parts.proven,
				 .ns = p->parts.ns,
				 .last = at < p->n ? p->cpu[at].cpu : cpu,
				 .moves = p->scan.last.moves - p->attributed.moves };
	save_times(p);
}

/* The index of the reading's CPU: the thread's present or last CPU. If the thread has ended: the
 * CPU that counted last. */
static uint32_t find_reading_cpu(const struct sp_percpu *p, int cpu)
{
	int i = cpu < 0 ? -1 : sp_scan_index(p, cpu);

	for (uint32_t c = 0; c < p->n && cpu < 0 && i < 0; c++)
		if (p->cpu[c].now.high != p->cpu[c].attributed_ns)
			i = (int)c;
	return i < 0 ? p->n : (uint32_t)i;
}

/* Evidence of a scan before PAPI was called. */
static bool sample_before(struct sp_percpu *p, struct sample *l)
{
	l->has_low = l->is_before = true;
	if (sp_is_remote(p)) {
		l->has_stayed = l->has_high = sp_scan_needs_upper_limit(p) && sp_scan_has_slept(p);
		return true;
	}
	l->has_stayed = p->period.home >= 0 && p->scan.last.proof == sp_proof_now();
	l->has_papi = l->has_stayed && p->papi.is_read;
	l->has_high = l->has_papi;
	if (l->has_stayed || p->period.home < 0)
		return true;
	l->is_double = l->has_high = true;
	return scan(p, NULL);
}

/* Scans after PAPI's return. If PAPI's counters keep counting, they show the counts since its
 * return. */
static bool sample_after(struct sp_percpu *p, const struct sp_percpu_reading *r, struct sample *l)
{
	if (!scan(p, !sp_is_remote(p) && r->keeps_counting ? r->perf_fds : NULL))
		return false;
	if (sp_is_remote(p))
		return true;
	l->has_high = p->period.home >= 0;
	l->has_stayed = p->scan.last.caller_stayed && p->scan.last.proof == r->proof;
	/* If the thread moved, other shadow counters were read after those of its present CPU. */
	l->has_papi = (p->papi.is_read && l->has_stayed) ||
		      (r->keeps_counting && !l->has_stayed &&
		       sp_scan_read_papi(p, r->perf_fds, p->papi.value));
	l->has_low = l->has_high || l->has_stayed || l->has_papi;
	/* A handler has reset them meanwhile. */
	if (load_relaxed(&p->skips.missed_reset))
		l->has_low = l->has_high = false;
	return true;
}

/* Has a handler's reading or reset come since the shadow counters were read? */
static bool has_missed(const struct sp_percpu *p, const struct sp_percpu_reading *r)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->window[e].value != r->last[e])
			return true;
	return load_relaxed(&p->skips.missed_value) || load_relaxed(&p->skips.missed_reset) ||
	       load_relaxed(&p->fast.is_reset);
}

static bool sample(struct sp_percpu *p, const struct sp_percpu_reading *r, struct sample *l)
{
	bool read_by_tid = p->sharing.read_by_tid == sp_thread_state.tid && !has_missed(p, r);

	p->sharing.read_by_tid = 0;
	*l = (struct sample){ .has_low = false };
	if (!read_by_tid)
		catch_up(p, r->last);
	if (!(read_by_tid ? sample_before(p, l) : sample_after(p, r, l)))
		return false;
	l->is_unmoved = p->period.is_unmoved && (l->has_stayed || !l->is_before || l->is_double) &&
			!sp_is_remote(p) && p->why != SP_WHY_MULTIPLEXED;
	p->period.is_home_proven =
		l->is_unmoved || ((l->is_before || l->has_stayed) && !l->is_double);
	return true;
}

/* Attributes a reading without a scan to the CPU of the caller. The scan at the end of the period
 * may prove it. False: the reading needs a scan. */
static bool skip_reading(struct sp_percpu *p, const struct sp_percpu_reading *r)
{
	int at;

	catch_up(p, r->last);
	for (uint32_t e = 0; e < p->k; e++)
		if (p->sum[e].can_fall || !may_stay(&p->window[e], r->value[e]))
			return false;
	at = r->cpu < 0 ? -1 : sp_scan_index(p, r->cpu);
	for (uint32_t e = 0; e < p->k; e++) {
		int64_t new = r->value[e] - p->window[e].value;

		p->skips.counts[e] += new;
		if (at >= 0)
			p->cpu[at].attributed_value[e] += new;
		else
			p->parts.elsewhere[e] += new;
		sp_window_skip(&p->window[e], r->value[e], at < 0 ? p->n : (uint32_t)at);
	}
	p->period.is_home_proven = p->period.is_unmoved && at >= 0 && at == p->period.home;
	begin_unscanned(p);
	p->period.is_home_proven = p->period.is_home_proven && at == p->period.home;
	p->skips.reading = true;
	return true;
}

/* Watches the unwatched CPU on which the thread has been since PAPI was called. False:
 * impossible. */
static bool follow_thread(struct sp_percpu *p, const struct sp_percpu_reading *r, int cpu)
{
	uint32_t proof = p->scan.last.proof;
	bool is_home_proven = p->period.is_home_proven;

	if (!r->keeps_counting || sp_is_remote(p) || !p->scan.last.caller_stayed ||
	    proof != sp_proof_now() || r->perf_fds->seccomp_filters != sp_seccomp_filters() ||
	    !sp_shadow_follow(p, r->perf_fds, cpu) || !scan(p, NULL))
		return false;
	p->period.is_home_proven = is_home_proven && p->period.home >= 0 &&
				    p->scan.last.caller_stayed && p->scan.last.proof == proof;
	p->attributed.home = p->period.is_home_proven ? p->period.home : p->attributed.home;
	return true;
}

bool sp_percpu_window(struct sp_percpu *p, const struct sp_percpu_reading *reading,
		      struct sp_shares *shares)
{
	enum sp_why why;
	struct sample l;
	uint32_t at;
	bool skips;
	int cpu;

	*shares = (struct sp_shares){ .how = p->kind, .why = SP_WHY_HANDLER };
	if (!sp_percpu_take_here(p)) {
		sp_percpu_note_missed(p);
		return false;
	}
	skips = p->skips.this_call ||
		(p->sharing.read_by_tid != sp_thread_state.tid && !may_scan(p));
	p->skips.this_call = false;
	if (skips && p->clock && p->scan.has_baseline && !p->scan.failure && !p->skips.period &&
	    skip_reading(p, reading)) {
		shares->why = SP_WHY_CREDIT;
		sp_percpu_give(p);
		return false;
	}
	p->skips.period = p->skips.period || skips;
	if (!p->clock || !p->scan.has_baseline || p->scan.failure || p->skips.period ||
	    !sample(p, reading, &l)) {
		shares->why = p->scan.failure	       ? p->scan.failure
			      : p->shadow.is_displaced ? SP_WHY_DISPLACED
			      : p->skips.period       ? SP_WHY_CREDIT
						       : SP_WHY_HANDLER;
		p->skips.missed_value = true;
		store_relaxed(&p->fast.is_ready, 0);
		if (p->clock && !p->scan.failure && p->skips.period)
			begin_unscanned_period(p);
		sp_percpu_give(p);
		return false;
	}
	cpu = sp_is_remote(p) ? reading->cpu : sp_cpu_here();
	at = find_reading_cpu(p, cpu);
	why = attribute_events(p, reading, &l, at);
	fill_shares(p, at, cpu, shares);
	shares->why = why;
	shares->unwatched_cpu = !p->parts.unwatched_row ? SP_NO_CPU
				: p->parts.unwatched_row > p->n
					? cpu
					: p->cpu[p->parts.unwatched_row - 1].cpu;
	if (reading->keeps_counting)
		sp_home_off_window(p, l.has_stayed && !l.is_before);
	else
		sp_home_off_begin(p, false);
	if (at == p->n ? cpu >= 0 && !follow_thread(p, reading, cpu)
		       : p->period.gap_why == SP_WHY_UNWATCHED &&
				 sp_lifetime_count_cpus(p->target.tid,
							p->natives + !p->has_times) > p->n)
		store_relaxed(&p->period.was_unwatched, true);
	/* Lets the next call that ends the period scan, and prove it. */
	if (why != SP_WHY_NONE && reading->keeps_counting)
		store_relaxed(&p->fast.is_ready, 0);
	return true;
}

void sp_percpu_end_window(struct sp_percpu *p)
{
	sp_percpu_give(p);
}

/* ---- a reset ------------------------------------------------------------------- */

/* Tests whether hardware shadow counters run while PAPI's do. If not, windows are attributed by
 * time, from the first one on. */
static void probe_hardware(struct sp_percpu *p)
{
	int own_index = sp_scan_index(p, sp_cpu_here());
	uint64_t count[SP_MAX_NATIVES];
	struct sp_percpu_cpu first, second;

	if (own_index < 0)
		return;
	/* Keeps the values of the last scan, which are all of one moment. */
	first = second = p->cpu[own_index];
	if (!sp_scan_read_group(p, &first, SP_HARDWARE, count) ||
	    !sp_scan_read_group(p, &second, SP_HARDWARE, count))
		return;
	p->shadow.is_probed = true;
	if (second.now.enabled[SP_HARDWARE] != first.now.enabled[SP_HARDWARE] &&
	    second.now.ran[SP_HARDWARE] == first.now.ran[SP_HARDWARE])
		p->shadow.starved_windows = 1;
}

/* Begins a period after PAPI's reset: reads PAPI's counters, then the shadow counters. */
static void restart_period(struct sp_percpu *p, const struct sp_perf_fds *perf_fds)
{
	int64_t papi_values[SP_MAX_PERCPU_EVENTS];
	bool has_papi_values, is_scanned;

	/* Notes of handlers from here on are later than the reset. */
	store_relaxed(&p->skips.missed_reset, false);
	store_relaxed(&p->skips.missed_value, false);
	store_relaxed(&p->fast.is_reset, 0);
	if (!may_scan_at_begin(p)) {
		begin_unscanned_period(p);
		return;
	}
	p->skips.period = false;
	has_papi_values = sp_scan_read_papi(p, perf_fds, papi_values);
	p->period.is_unmoved = p->period.is_home_proven;
	is_scanned = scan(p, NULL);
	if (is_scanned && sp_home_off_switch_on(p))
		is_scanned = scan(p, NULL);
	if (is_scanned)
		begin_windows(p, has_papi_values ? papi_values : NULL, p->n);
	save_times(p);
}

void sp_percpu_after_reset(struct sp_percpu *p, uint32_t proof, const struct sp_perf_fds *perf_fds)
{
	bool probed = false;

	store_relaxed(&p->sharing.is_cpu_known, false);
	if (!sp_percpu_take_here(p)) {
		sp_percpu_note_missed_reset(p);
		return;
	}
	if (p->clock && !p->scan.failure) {
		if (p->shadow.has_hardware && !p->shadow.is_probed && !sp_is_remote(p)) {
			probe_hardware(p);
			probed = p->shadow.is_probed;
			store_relaxed(&p->fast.is_ready,
				      p->scan.has_baseline &&
					      (p->period.home < 0 || p->shadow.is_probed));
		}
		p->sharing.read_by_tid = 0;
		if ((is_ready(p, proof) && proof == sp_proof_now()) ||
		    sp_percpu_stayed_cpu(p) >= 0) {
			store_relaxed(&p->skips.missed_reset, false);
			store_relaxed(&p->skips.missed_value, false);
			sp_percpu_note_reset(p);
			if (probed)
				sp_home_off_begin(p, true);
		} else if (p->clock) {
			restart_period(p, perf_fds);
		}
	}
	sp_percpu_give(p);
}

void sp_percpu_before_start(struct sp_percpu *p, const struct sp_perf_fds *perf_fds, bool started)
{
	if (!load_relaxed(&p->clock) || !sp_percpu_take_here(p))
		return;
	if (p->target.tid == sp_thread_state.tid &&
	    !__atomic_exchange_n(&p->sharing.was_read_elsewhere, false, __ATOMIC_RELAXED))
		store_relaxed(&p->sharing.is_shared, false);
	sp_shadow_before_start(p);
	if (p->clock && p->target.is_own && p->target.tid == sp_thread_state.tid &&
	    !p->scan.failure && p->scan.has_baseline && sp_scan_index(p, sp_cpu_here()) < 0 &&
	    perf_fds->seccomp_filters == sp_seccomp_filters())
		(void)sp_shadow_follow(p, perf_fds, sp_cpu_here());
	/* Scans before PAPI starts, so that none of our counters runs without need. */
	if (p->clock && p->target.is_own && !p->scan.failure && !is_ready(p, sp_proof_now()) &&
	    !may_scan_at_begin(p)) {
		begin_unscanned_period(p);
	} else if (p->clock && p->target.is_own && !p->scan.failure &&
		   !is_ready(p, sp_proof_now())) {
		p->skips.period = false;
		p->period.is_home_proven = sp_scan(p, NULL) && !started;
		if (p->period.is_home_proven)
			sp_home_off_begin(p, false);
		/* Whether the hardware counters run is seen after PAPI's start. */
		save_times(p);
	}
	p->sharing.read_by_tid = 0;
	store_relaxed(&p->skips.missed_reset, false);
	store_relaxed(&p->skips.missed_value, false);
	sp_percpu_give(p);
}

int sp_percpu_target_cpu(const struct sp_percpu *p)
{
	return load_relaxed(&p->sharing.is_cpu_known) ? load_relaxed(&p->sharing.cpu) : SP_NO_CPU;
}

void sp_percpu_set_target_cpu(struct sp_percpu *p, int cpu)
{
	if (load_relaxed(&p->sharing.is_cpu_known))
		store_relaxed(&p->sharing.cpu, cpu);
}

bool sp_percpu_needs_time(const struct sp_percpu *p)
{
	return p->target.is_own && !load_relaxed(&p->sharing.is_shared) &&
	       (p->kind == SP_BY_RESIDENCY || p->shadow.starved_windows);
}

void sp_percpu_note_missed(struct sp_percpu *p)
{
	store_relaxed(&p->skips.missed_value, true);
}

void sp_percpu_note_missed_reset(struct sp_percpu *p)
{
	store_relaxed(&p->skips.missed_reset, true);
	store_relaxed(&p->fast.is_ready, 0);
}

void sp_percpu_distrust(struct sp_percpu *p)
{
	/* PAPI opens the events that it multiplexes itself at each start. */
	store_relaxed(&p->scan.failure,
		      p->why == SP_WHY_MULTIPLEXED ? SP_WHY_MULTIPLEXED : SP_WHY_UNSEEN);
	sp_percpu_note_missed_reset(p);
}
