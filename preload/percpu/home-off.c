/* home-off.c: switches a CPU's hardware counters off and on; see home-off.h. */
#include "shadow-fds.h"
#include "percpu-fast.h"
#include "home-off.h"
#include "shadow-read.h"

/* ns: a switch takes 1 us, so that a thread that moves all the time has its counters on. */
#define APART	200000u

int sp_rest_of(const struct sp_split *p, uint32_t e)
{
	return p->rest.at >= 0 && p->opened.leader[SP_HARDWARE] >= 0 && p->sum[e].hardware && p->window[e].cpu[p->rest.at].anchor == SP_UNKNOWN ? p->rest.at : -1;
}

bool sp_rest_hides(const struct sp_split *p, uint32_t e)
{
	return p->rest.at >= 0 && p->sum[e].hardware && sp_rest_of(p, e) < 0;
}

/* Once the thread was where none of ours count, or another thread reads: home's part would not be known again and again. */
static bool may(const struct sp_split *p, bool soon)
{
	return p->rest.can && !sp_get(&p->rest.never) && !sp_is_theirs(p) && p->opened.leader[SP_HARDWARE] >= 0 && p->clock->counting == p &&
	       p->opened.probed && !p->opened.starving && p->segment.home >= 0 && p->cpu[p->segment.home].fd[p->opened.leader[SP_HARDWARE]] >= 0 &&
	       (soon || p->rest.at == p->segment.home || sp_ticks_ns(p->scan.last.ticks - p->rest.since) > APART);
}

static bool turn(const struct sp_split *p, int i, bool on)
{
	return sp_counter_switch(p->cpu[i].fd[p->opened.leader[SP_HARDWARE]], on);
}

/* Do the events of another thread count, which the program may switch off at any time? If not, nothing was changed, or the copies are
 * not believed any more. (That prctl switches the thread's events one by one, in the order in which they were opened: if the clock's first
 * one still counts after ours was switched on, it has not come to ours yet.) */
static bool counts_on(struct sp_split *p, int i)
{
	struct sp_split_cpu once = p->cpu[i];
	uint64_t count[SP_NATIVES_MOST];

	if (sp_clock_is_on(p->clock))
		return true;
	if (!turn(p, i, false) || !sp_scan_group(p, &once, SP_HARDWARE, count) || once.now.ran[SP_HARDWARE] != p->cpu[i].now.ran[SP_HARDWARE]) {
		for (uint32_t e = 0; e < p->k; e++)
			sp_window_distrust(&p->window[e]);
		p->segment.distrust = SP_WHY_SWITCHED_OFF;
	}
	return false;
}

bool sp_rest_wake(struct sp_split *p)
{
	bool other = p->target.tid != sp_self.tid;
	struct sp_clock_look now;
	int i = p->rest.at;

	/* The program may have switched the thread's events off (PR_TASK_PERF_EVENTS_DISABLE): its clock stands still then. */
	if (i < 0 || (!other && !p->scan.last.sum.known))
		return false;
	if (other && p->opened.leader[SP_HARDWARE] >= 0 && (!turn(p, i, true) || !counts_on(p, i)))
		return false;
	p->rest.at = -1;
	p->rest.since = p->scan.last.ticks;
	if (p->opened.leader[SP_HARDWARE] < 0 || (!other && !turn(p, i, true)))
		return false;
	/* They have not run for as long as the thread was there since the scan. */
	if (i == p->segment.home && sp_residency_look(&p->times.at[i], &now))
		p->cpu[i].now.high = now.ran;
	return true;
}

static void rest(struct sp_split *p)
{
	int home = p->segment.home;

	if (p->rest.at == home || (p->rest.at >= 0 && !sp_rest_wake(p)) || !turn(p, home, false))
		return;
	p->rest.at = home;
	p->rest.since = p->scan.last.ticks;
}

void sp_rest_begin(struct sp_split *p, bool soon)
{
	if (p->scan.last.quiet && may(p, soon))
		rest(p);
	else if (p->rest.at >= 0 && (p->rest.at != p->segment.home || sp_get(&p->rest.never)))
		(void)sp_rest_wake(p);
}

/* Are home's counters the ones that rest, and all windows know? */
static bool is_home(const struct sp_split *p)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->sum[e].hardware && sp_rest_of(p, e) < 0)
			return false;
	return p->rest.at == p->segment.home;
}

static bool is_proven(const struct sp_split *p)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->sum[e].hardware && !sp_window_may_rest(&p->window[e]))
			return false;
	return true;
}

void sp_rest_window(struct sp_split *p, bool stayed)
{
	if (stayed && p->scan.last.quiet && may(p, false) && is_proven(p)) {
		for (uint32_t e = 0; e < p->k; e++) {
			for (uint32_t i = 0; i < p->n; i++)
				p->parts.low[i] = p->cpu[i].value[e];
			if (p->sum[e].hardware)
				sp_window_rest(&p->window[e], p->parts.low, (uint32_t)p->segment.home);
		}
		rest(p);
	} else if (p->rest.at >= 0 && !is_home(p)) {
		(void)sp_rest_wake(p);
	}
}
