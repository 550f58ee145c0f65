/* split.c: windows: what was counted where; see split.h.  What is opened for them is plan.c, their reading is scan.c. */
#include <string.h>

#include "../life/process.h"
#include "../life/bus.h"
#include "hold.h"
#include "scan.h"
#include "plan.h"
#include "proof.h"
#include "split.h"
#include "split-own.h"

/* Time of the CPU where the window began that was before it: the thread stayed there, and ran. */
static uint64_t told(const struct sp_split *p)
{
	return p->own ? sp_ticks_ns(p->gate.begun - p->mark_ticks) : 0;
}

/* ---- does the kernel vouch for it? ------------------------------------------- */

static uint64_t least(const struct sp_split_cpu *c)
{
	return c->now.low > c->mark.high ? c->now.low - c->mark.high : 0;
}

static uint64_t most(const struct sp_split_cpu *c)
{
	return c->now.high - c->mark.low;
}

/* Did our counters run all the time that the thread was there? */
static bool ran_all_the_time(const struct sp_split_cpu *c, enum sp_group g)
{
	uint64_t ran = c->now.ran[g] - c->mark.ran[g];

	return ran >= least(c) && ran <= most(c);
}

/* Before Linux 6.2 hardware's events have a clock of their own, which a switch reads some time before or after the
 * software's.  By that clock the group of the CPU where the window began says how long the thread ran anywhere:
 * the groups ran that long, taken together, but for the time that reading them one after the other took. */
static bool ran_together(const struct sp_split *p)
{
	uint64_t ran = 0, may = 2000 + sp_ticks_ns(p->scan_ticks), all;

	if (p->home < 0)
		return false;
	all = p->cpu[p->home].now.enabled - p->cpu[p->home].mark.enabled;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct sp_split_cpu *c = &p->cpu[i];

		if (!sp_went_on(c))
			continue;
		if (c->now.ran[SP_HARDWARE] - c->mark.ran[SP_HARDWARE] < least(c) / 2)
			return false;
		ran += c->now.ran[SP_HARDWARE] - c->mark.ran[SP_HARDWARE];
	}
	return ran + may >= all && ran <= all + may;
}

static bool vouched(const struct sp_split *p, enum sp_group g)
{
	if (p->leader[g] < 0)
		return false;
	if (g == SP_HARDWARE && !sp_one_clock)
		return ran_together(p);
	for (uint32_t i = 0; i < p->n; i++)
		if (sp_went_on(&p->cpu[i]) && !ran_all_the_time(&p->cpu[i], g))
			return false;
	return true;
}

/* Was the thread nowhere else? */
static bool closes(const struct sp_split *p)
{
	uint64_t ran = p->total_now - p->total_mark, low = 0, high = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		low += least(&p->cpu[i]);
		high += most(&p->cpu[i]);
	}
	return low <= ran && ran <= high;
}

/* ---- a window ------------------------------------------------------------------ */

/* What our counters have of event e on that CPU. */
static int64_t grown(const struct sp_split_cpu *c, uint32_t e)
{
	return c->value[e] - c->mark_value[e];
}

/* Is every native of event e in a group that the kernel vouches for? */
static bool is_vouched(const struct sp_split *p, uint32_t e, const bool *group)
{
	for (uint32_t t = 0; t < p->sum[e].n; t++)
		if (!group[p->group[p->sum[e].native[t]]])
			return false;
	return p->sum[e].n != 0;
}

static bool visited(const struct sp_split *p, uint32_t i)
{
	return p->cpu[i].now.low != p->cpu[i].mark.high || p->cpu[i].now.high != p->cpu[i].mark.high;
}

/* The time there in this window. */
static uint64_t time_on(const struct sp_split *p, uint32_t i)
{
	uint64_t ns = most(&p->cpu[i]), before = (int)i == p->home ? told(p) : 0;

	return ns > before ? ns - before : 0;
}

/* Shares of event e by weight. */
static void share_by_weight(const struct sp_split *p, uint32_t e, int64_t delta)
{
	double whole = 0;

	for (uint32_t i = 0; i < p->n; i++)
		whole += p->weight[i];
	for (uint32_t i = 0; i < p->n; i++) {
		int64_t share = whole > 0 ? sp_rounded((double)delta * (p->weight[i] / whole)) : 0;

		p->at[i * p->k + e] = share;
		delta -= share;
		whole -= p->weight[i];
	}
}

static void share_by_time(const struct sp_split *p, uint32_t e, int64_t delta)
{
	for (uint32_t i = 0; i < p->n; i++)
		p->weight[i] = (double)time_on(p, i);
	share_by_weight(p, e, delta);
}

/* PAPI's counter stands still in the application's handler, ours do not: in proportion. */
static void share_in_proportion(const struct sp_split *p, uint32_t e, int64_t delta)
{
	double whole = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		int64_t g = grown(&p->cpu[i], e);

		p->weight[i] = g > 0 ? (double)g : 0;
		whole += p->weight[i];
	}
	if (whole > 0)
		share_by_weight(p, e, delta);
	else
		share_by_time(p, e, delta);
}

enum share { COUNTED, CLAMPED, NOT_SHARED };

/* What a clock counted on the CPU of the scan, less what it counted from PAPI's return to the scan.  Where the
 * thread did not run all that time, which the processor's time tells nothing of, it is not known. */
static int64_t clock_at_scan(const struct sp_split *p, uint32_t e, int64_t counted, enum share *how)
{
	double since = (double)sp_ticks_ns(p->read_ticks - p->answer_ticks);

	if (p->answer_proof != p->scanned) {
		*how = CLAMPED;
		return counted;
	}
	counted -= sp_rounded(p->sum[e].clocks * since);
	if (counted + (int64_t)p->sum[e].edge < 0)
		*how = CLAMPED;
	return counted < 0 ? 0 : counted;
}

/* Each CPU what was counted there, `rest` what they leave.  Where more was counted elsewhere than there is, the CPU of the
 * scan has that much less: within the edge of a window that is what it counted after PAPI's return. */
static enum share share_as_counted(const struct sp_split *p, uint32_t e, int64_t delta, uint32_t rest, int at)
{
	bool clock = !sp_is_theirs(p) && p->sum[e].clocks > 0;
	enum share how = COUNTED;
	int64_t left = delta;

	for (uint32_t i = 0; i < p->n; i++) {
		int64_t counted;

		if (i == rest || !visited(p, i))
			continue;
		counted = grown(&p->cpu[i], e) - ((int)i == at ? p->since[e] : 0);
		p->at[i * p->k + e] = clock && (int)i == at ? clock_at_scan(p, e, counted, &how) : counted;
		left -= p->at[i * p->k + e];
	}
	if (left < 0 && at >= 0) {
		if (left + (int64_t)p->sum[e].edge < 0)
			how = CLAMPED;
		p->at[(uint32_t)at * p->k + e] += left;
		left = p->at[(uint32_t)at * p->k + e] < 0 ? -1 : 0;
	}
	p->at[rest * p->k + e] = left;
	return delta < 0 || left < 0 ? NOT_SHARED : how;
}

/* Who gets what the others leave, so that nothing is lost by when we looked: of the caller's own counts the CPU
 * where the window began; else the one where the thread runs now; where it does not run, the one where it
 * began, which alone may have counted what our marks do not have. */
static int rest_of(const struct sp_split *p, int at)
{
	return !sp_is_theirs(p) || at < 0 ? p->home : at;
}

/* Was all that was counted from before PAPI was called until our scan counted on `rest`, if anything was?  So the scan
 * is as good as one of the moment of PAPI's return. */
static bool only_there(const struct sp_split *p, int rest)
{
	if (p->asked != sp_self.tid)
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if ((int)i != rest && p->cpu[i].before != p->cpu[i].now.high)
			return false;
	return true;
}

void sp_split_ask(struct sp_split *p, bool ends)
{
	if (!(ends || sp_is_theirs(p)) || !p->clock || !sp_split_take_here(p))
		return;
	if (!sp_is_theirs(p)) {
		sp_scan_early(p);
	} else {
		p->asked = sp_self.tid;
		for (uint32_t i = 0; p->clock && i < p->n; i++)
			if (!sp_scan_clock(p->cpu[i].dummy, &p->cpu[i].before, NULL))
				p->asked = 0;
	}
	sp_split_give(p);
}

static uint32_t visits(const struct sp_split *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		n += visited(p, i);
	return n;
}

static enum sp_why doubt(const struct sp_split *p, int at, int rest)
{
	bool caller = p->tid == sp_self.tid;

	if (p->was_disturbed || sp_get(&p->disturbed) || p->still || p->still_mark)
		return SP_WHY_DISTURBED;
	/* Clocks that went on while they were read one after the other do not add up either. */
	if (!closes(p) || rest < 0 || (caller && at < 0))
		return sp_is_theirs(p) && p->others ? SP_WHY_RUNNING : SP_WHY_ELSEWHERE;
	if (!sp_is_theirs(p))
		return SP_WHY_NONE;
	/* Marks that were taken while it ran are late by what it counted meanwhile. */
	return p->others + caller > 1 || (p->unclear && at >= 0 && at != p->home) ? SP_WHY_RUNNING : SP_WHY_NONE;
}

/* What the caller's own marks, or what was counted after PAPI's return, leave open; or another thread's. */
static enum sp_why open_question(const struct sp_split *p)
{
	return sp_is_theirs(p) ? SP_WHY_RUNNING : SP_WHY_INSIDE;
}

static enum sp_why why_less(const struct sp_split *p, enum share share, bool known)
{
	if (share == COUNTED)
		return open_question(p);
	if (p->why != SP_WHY_NONE || p->kind != SP_BY_EXACT)
		return p->why;
	return known ? SP_WHY_INSIDE : SP_WHY_STARVED;
}

static enum sp_why split_events(struct sp_split *p, const int64_t *delta, int at)
{
	int rest = rest_of(p, at);
	enum sp_why doubts = doubt(p, at, rest), why = doubts;
	bool group[SP_GROUPS];

	for (int g = 0; g < SP_GROUPS; g++)
		group[g] = vouched(p, (enum sp_group)g);
	if (p->leader[SP_HARDWARE] >= 0)
		p->starving = group[SP_HARDWARE] ? 0 : p->starving + 1;
	for (uint32_t e = 0; e < p->k; e++) {
		bool known = p->kind == SP_BY_EXACT && rest >= 0 && is_vouched(p, e, group);
		enum share share = p->kind == SP_BY_APPROXIMATE ? CLAMPED : NOT_SHARED;

		if (p->kind == SP_BY_APPROXIMATE)
			share_in_proportion(p, e, delta[e]);
		else if (known)
			share = share_as_counted(p, e, delta[e], (uint32_t)rest, at);
		if (share == NOT_SHARED)
			share_by_time(p, e, delta[e]);
		p->exact[e] = share == COUNTED && doubts == SP_WHY_NONE && !p->unsure[e] && !p->unmarked[e];
		if (!p->exact[e] && why == SP_WHY_NONE)
			why = why_less(p, share, known);
	}
	return why;
}

/* All of it on one CPU, where it need not be counted to be known. */
static enum sp_why all_on(struct sp_split *p, const int64_t *delta, uint32_t i)
{
	enum sp_why doubts = doubt(p, (int)i, (int)i), why = doubts;

	for (uint32_t e = 0; e < p->k; e++) {
		p->at[i * p->k + e] = delta[e];
		p->exact[e] = doubts == SP_WHY_NONE && !p->unmarked[e];
		if (!p->exact[e] && why == SP_WHY_NONE)
			why = open_question(p);
	}
	return why;
}

/* The parts, the CPU of the reading last; those that have nothing are none. */
static void tell(struct sp_split *p, int last, struct sp_shares *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		if ((int)i == last || !visited(p, i))
			continue;
		p->cpus[n] = p->cpu[i].cpu;
		p->ns[n] = time_on(p, i);
		memmove(&p->at[n * p->k], &p->at[i * p->k], p->k * sizeof(*p->at));
		n++;
	}
	p->ns[n] = last >= 0 ? time_on(p, (uint32_t)last) : 0;
	*s = (struct sp_shares){ .how = p->kind, .n = n, .cpu = p->cpus, .at = p->at, .exact = p->exact, .ns = p->ns,
				 .last = last >= 0 ? p->cpu[last].cpu : SP_NO_CPU,
				 .moves = p->clock->migrations ? p->moves_now - p->moves_mark : 0 };
}

/* Where the reading is booked: where the thread is, or was last. */
static int reading_at(const struct sp_split *p, int at)
{
	int best = p->home;

	if (at >= 0)
		return at;
	if (!sp_is_theirs(p))
		return -1;
	for (uint32_t i = 0; i < p->n; i++)
		if (visited(p, i) && (best < 0 || !visited(p, (uint32_t)best)))
			best = (int)i;
	return best;
}

/* Of another thread's counts the CPU where it runs was given what PAPI had counted, and not what we read after
 * it: the next window goes on from there. */
static void mark_after(struct sp_split *p, int at)
{
	bool theirs = sp_is_theirs(p), unclear = theirs && p->unclear && at >= 0;
	int home = unclear || at < 0 ? p->home : at;

	if (theirs && at >= 0)
		for (uint32_t e = 0; e < p->k; e++)
			p->cpu[at].value[e] = p->cpu[at].mark_value[e] + p->rest[e];
	sp_scan_mark(p, home);
	p->unclear = unclear;
}

/* What event e had more on that CPU at the scan than when PAPI was called; before that the thread was there or on
 * `early`, or, where nothing was read, where the window began. */
static int64_t grown_late(const struct sp_split *p, uint32_t i, uint32_t e)
{
	if ((int)i == p->early)
		return p->cpu[i].value[e] - p->early_value[e];
	return p->early >= 0 && p->scanned == p->early_proof ? 0 : grown(&p->cpu[i], e);
}

/* Of an event without an edge: PAPI's return is somewhere between the two scans.  PAPI's own fault, where it writes the
 * answer to an array that nothing was written to, comes after it. */
static void doubt_late(struct sp_split *p, uint32_t e, int at)
{
	p->since[e] = at >= 0 && at == p->early ? grown_late(p, (uint32_t)at, e) : 0;
	for (uint32_t i = 0; i < p->n; i++)
		if ((int)i != p->home && visited(p, i) && grown_late(p, i, e))
			p->unsure[e] = true;
}

/* What was counted between PAPI's return and our scan is not to be told from what PAPI handed out, unless PAPI's own
 * counters tell it, which have counted on, or nothing was.  Where the caller is where the window began, and was all
 * that time, it goes there anyway.  Events with an edge: a thread that was not interrupted counted nothing, nor one
 * that was only made to wait; a handler may have, and another thread elsewhere. */
static void find_doubts(struct sp_split *p, const struct sp_answer *a, int at)
{
	bool theirs = sp_is_theirs(p), away = p->scanned != a->open, ask = away || at != p->home;
	bool sure = theirs ? only_there(p, rest_of(p, at)) :
		    !away || !sp_get(&sp_process.proof_works) || !sp_get(&sp_bus_handlers);
	int64_t more[SP_SPLIT_EVENTS];
	bool told = !theirs && p->plain && a->counts && ask && sp_scan_papis(p, a->opened, a->counts, more);

	/* (Only rseq tells of a handler.) */
	away = !sp_get(&sp_process.proof_works) || sp_proof_now() != a->open;
	for (uint32_t e = 0; e < p->k; e++) {
		bool plain = !theirs && !p->sum[e].edge;

		p->since[e] = plain && told ? more[e] : 0;
		p->unsure[e] = plain ? told && away && more[e] : !sure;
		if (plain && ask && !told)
			doubt_late(p, e, at);
	}
}

bool sp_split_window(struct sp_split *p, const struct sp_answer *answer, struct sp_shares *shares)
{
	uint64_t begun = sp_clock_own_ns();
	enum sp_why why;
	bool moved;
	int at, last;

	p->answer_proof = sp_proof_now();
	p->answer_ticks = sp_ticks();
	*shares = (struct sp_shares){ .how = p->kind, .why = SP_WHY_DISTURBED };
	if (!sp_split_take_here(p)) {
		sp_split_disturbed(p);
		return false;
	}
	p->was_disturbed = __atomic_exchange_n(&p->disturbed, false, __ATOMIC_RELAXED);
	if (!p->clock || !p->marked || p->trouble == SP_WHY_UNSEEN || !sp_scan(p, &at) || (!sp_is_theirs(p) && at < 0)) {
		if (p->clock && p->marked && !p->trouble)
			p->trouble = SP_WHY_ELSEWHERE;
		shares->why = p->trouble ? p->trouble : SP_WHY_DISTURBED;
		if (p->trouble == SP_WHY_BUSY)
			p->trouble = SP_WHY_NONE;	/* that passes */
		sp_scan_unmark(p);
		sp_split_give(p);
		return false;
	}
	memset(p->at, 0, (uint64_t)p->n * p->k * sizeof(*p->at));
	last = reading_at(p, at);
	moved = last < 0 || visits(p) != visited(p, (uint32_t)last) || (last != p->home && !sp_is_theirs(p));
	if (moved)
		find_doubts(p, answer, at);
	why = moved ? split_events(p, answer->delta, at) : all_on(p, answer->delta, (uint32_t)last);
	for (uint32_t e = 0; e < p->k; e++)
		p->unmarked[e] = moved && p->unsure[e];
	p->asked = 0;
	if (at >= 0)
		memcpy(p->rest, &p->at[(uint32_t)at * p->k], p->k * sizeof(*p->rest));
	tell(p, last, shares);
	shares->why = why;
	mark_after(p, at);
	sp_clock_spent(sp_clock_own_ns() - begun);
	return true;
}

void sp_split_done(struct sp_split *p)
{
	sp_split_give(p);
}

/* Do hardware counters of ours run beside PAPI's, which have started?  If not, windows are split by time, and what is
 * proven without a scan is told from the first one on. */
static void probe(struct sp_split *p)
{
	int here = sp_scan_index(p, sp_cpu_here());
	uint64_t count[SP_NATIVES_MOST], ran, enabled;
	struct sp_split_cpu *c;

	if (here < 0)
		return;
	c = &p->cpu[here];
	if (!sp_scan_group(p, c, SP_HARDWARE, count))
		return;
	ran = c->now.ran[SP_HARDWARE];
	enabled = c->now.enabled;
	if (!sp_scan_group(p, c, SP_HARDWARE, count))
		return;
	p->probed = true;
	if (c->now.enabled != enabled && c->now.ran[SP_HARDWARE] == ran)
		p->starving = 1;
}

/* Has the thread been elsewhere since the marks, or is that not known? */
static bool was_elsewhere(const struct sp_split *p, bool known, int at)
{
	return !known || visits(p) != visited(p, (uint32_t)at);
}

/* What was counted between PAPI's zeroing and our scan, and where, the marks do not have: PAPI's own counters tell
 * whether anything was. */
static void doubt_marks(struct sp_split *p, const struct sp_opened *o)
{
	int64_t more[SP_SPLIT_EVENTS];
	bool told = sp_scan_papis(p, o, NULL, more);

	for (uint32_t e = 0; e < p->k; e++)
		p->unmarked[e] = !told || more[e] < 0 || more[e] > (int64_t)p->sum[e].edge;
}

void sp_split_zeroed(struct sp_split *p, uint32_t open, const struct sp_opened *started)
{
	uint64_t begun = sp_clock_own_ns();
	uint32_t proof = sp_proof_now();
	bool known;
	int at;

	if (!sp_split_take_here(p)) {
		sp_split_disturbed(p);
		return;
	}
	sp_put(&p->disturbed, false);
	memset(p->unmarked, 0, p->k * sizeof(*p->unmarked));
	known = p->marked;
	if (started && p->counts && !p->probed && !sp_is_theirs(p) && p->clock)
		probe(p);
	sp_scan_unmark(p);
	if (p->clock && p->trouble != SP_WHY_UNSEEN && sp_scan(p, &at)) {
		if (sp_is_theirs(p))
			sp_put(&p->disturbed, !only_there(p, at));
		else if (started && (open != proof || p->gate.proof != proof) && (at < 0 || was_elsewhere(p, known, at)))
			doubt_marks(p, started);
		sp_scan_mark(p, at);
		p->unclear = sp_is_theirs(p) && (p->tid != sp_self.tid || p->others);
	} else if (p->trouble == SP_WHY_BUSY) {
		p->trouble = SP_WHY_NONE;
	}
	sp_split_give(p);
	sp_clock_spent(sp_clock_own_ns() - begun);
}

bool sp_split_needs_time(const struct sp_split *p)
{
	return p->own && (p->kind == SP_BY_RESIDENCY || p->starving);
}

void sp_split_disturbed(struct sp_split *p)
{
	sp_put(&p->disturbed, true);
	sp_put(&p->gate.ready, 0);
}

void sp_split_starts(struct sp_split *p)
{
	bool begins;

	if (!p->clock || !sp_split_take_here(p))
		return;
	sp_plan_starts(p);
	begins = p->own && !sp_split_is_ready(p, sp_proof_now());
	sp_split_give(p);
	/* Before PAPI's own start: nothing of ours counts where it need not. */
	if (begins)
		sp_split_zeroed(p, sp_proof_now(), NULL);
}

void sp_split_unseen(struct sp_split *p)
{
	p->trouble = SP_WHY_UNSEEN;
	sp_split_disturbed(p);
}
