/* home-off.c: switches home's hardware counters off and on; see home-off.h. */
#include "shadow-fds.h"
#include "percpu-fast.h"
#include "home-off.h"
#include "shadow-read.h"

/* A switch takes 1 us: for a thread that moves often, the counters stay on. */
#define MIN_SWITCH_NS	200000u

int sp_home_off_index(const struct sp_percpu *p, uint32_t e)
{
	return p->home_off.index >= 0 && p->shadow.leader[SP_HARDWARE] >= 0 &&
			       p->sum[e].has_hardware &&
			       p->window[e].cpu[p->home_off.index].anchor == SP_UNKNOWN
		       ? p->home_off.index
		       : -1;
}

bool sp_home_off_hides(const struct sp_percpu *p, uint32_t e)
{
	return p->home_off.index >= 0 && p->sum[e].has_hardware && sp_home_off_index(p, e) < 0;
}

/* Forbidden once the thread was on an unwatched CPU, or another thread read it: home's part would
 * be unknown repeatedly. */
static bool may_switch_off(const struct sp_percpu *p, bool soon)
{
	return p->home_off.is_possible && !load_relaxed(&p->home_off.is_disabled) &&
	       !sp_is_remote(p) && p->shadow.leader[SP_HARDWARE] >= 0 && p->clock->counting == p &&
	       p->shadow.is_probed && !p->shadow.starved_windows && p->period.home >= 0 &&
	       p->cpu[p->period.home].fd[p->shadow.leader[SP_HARDWARE]] >= 0 &&
	       (soon || p->home_off.index == p->period.home ||
		sp_ticks_ns(p->scan.last.ticks - p->home_off.since) > MIN_SWITCH_NS);
}

static bool switch_cpu(const struct sp_percpu *p, int i, bool on)
{
	return sp_counter_switch(p->cpu[i].fd[p->shadow.leader[SP_HARDWARE]], on);
}

/* The program may switch another thread's events off at any time. Do they count now? If not, the
 * counter is off again, or the shadow counters are not trusted any more. prctl switches events one
 * by one in the order of opening. If the clock's first one still counts after this counter was
 * switched on, it has not reached this one yet. */
static bool keeps_counting(struct sp_percpu *p, int i)
{
	struct sp_percpu_cpu copy = p->cpu[i];
	uint64_t count[SP_MAX_NATIVES];

	if (sp_clock_is_counting(p->clock))
		return true;
	if (!switch_cpu(p, i, false) || !sp_scan_read_group(p, &copy, SP_HARDWARE, count) ||
	    copy.now.ran[SP_HARDWARE] != p->cpu[i].now.ran[SP_HARDWARE]) {
		for (uint32_t e = 0; e < p->k; e++)
			sp_window_distrust(&p->window[e]);
		p->period.distrust_why = SP_WHY_SWITCHED_OFF;
	}
	return false;
}

bool sp_home_off_switch_on(struct sp_percpu *p)
{
	bool other = p->target.tid != sp_thread_state.tid;
	struct sp_clock_sample now;
	int i = p->home_off.index;

	/* The program may have switched the thread's events off (PR_TASK_PERF_EVENTS_DISABLE),
	 * which stops its clock. */
	if (i < 0 || (!other && !p->scan.last.sum.is_known))
		return false;
	if (other && p->shadow.leader[SP_HARDWARE] >= 0 &&
	    (!switch_cpu(p, i, true) || !keeps_counting(p, i)))
		return false;
	p->home_off.index = -1;
	p->home_off.since = p->scan.last.ticks;
	if (p->shadow.leader[SP_HARDWARE] < 0 || (!other && !switch_cpu(p, i, true)))
		return false;
	/* The counters were off while the thread was there after the scan. */
	if (i == p->period.home && sp_residency_read(&p->times.at[i], &now))
		p->cpu[i].now.high = now.ran;
	return true;
}

static void switch_off_home(struct sp_percpu *p)
{
	int home = p->period.home;

	if (p->home_off.index == home || (p->home_off.index >= 0 && !sp_home_off_switch_on(p)) ||
	    !switch_cpu(p, home, false))
		return;
	p->home_off.index = home;
	p->home_off.since = p->scan.last.ticks;
}

void sp_home_off_begin(struct sp_percpu *p, bool soon)
{
	if (p->scan.last.caller_stayed && may_switch_off(p, soon))
		switch_off_home(p);
	else if (p->home_off.index >= 0 &&
		 (p->home_off.index != p->period.home || load_relaxed(&p->home_off.is_disabled)))
		(void)sp_home_off_switch_on(p);
}

/* Are home's counters the ones that are off, with no anchor in any window? */
static bool is_home(const struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->sum[e].has_hardware && sp_home_off_index(p, e) < 0)
			return false;
	return p->home_off.index == p->period.home;
}

static bool is_proven(const struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->sum[e].has_hardware && !sp_window_may_switch_off(&p->window[e]))
			return false;
	return true;
}

void sp_home_off_window(struct sp_percpu *p, bool stayed)
{
	if (stayed && p->scan.last.caller_stayed && may_switch_off(p, false) && is_proven(p)) {
		for (uint32_t e = 0; e < p->k; e++) {
			for (uint32_t i = 0; i < p->n; i++)
				p->parts.low[i] = p->cpu[i].value[e];
			if (p->sum[e].has_hardware)
				sp_window_switch_off(&p->window[e], p->parts.low,
						     (uint32_t)p->period.home);
		}
		switch_off_home(p);
	} else if (p->home_off.index >= 0 && !is_home(p)) {
		(void)sp_home_off_switch_on(p);
	}
}
