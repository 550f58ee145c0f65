/* scan.c: see scan.h. */
#include <string.h>

#include "../../core/sys.h"
#include "clock.h"
#include "counters.h"
#include "scan.h"
#include "proof.h"

#define LOOKS	6			/* until the thread has stayed for the time of one */

int sp_scan_index(const struct sp_split *p, int cpu)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->cpu[i].cpu == cpu)
			return (int)i;
	return -1;
}

/* The clock's time there; false: it is not ours any more. */
bool sp_scan_clock(int fd, uint64_t *ns, uint64_t *value)
{
	uint64_t v[3];			/* value, enabled, running */

	if (fd < 0) {			/* a CPU that is offline */
		*ns = 0;
		return true;
	}
	if (!sp_counter_read(fd, v, 3))
		return false;
	*ns = v[2];
	if (value)
		*value = v[0];
	return true;
}

bool sp_scan_group(struct sp_split *p, struct sp_split_cpu *c, enum sp_group g, uint64_t *count)
{
	uint64_t v[3 + SP_NATIVES_MOST];	/* number, enabled, running, values */
	uint32_t at = 3;

	if (p->leader[g] < 0)
		return true;
	if (!sp_counter_read(c->fd[p->leader[g]], v, 3 + p->size[g]))
		return false;
	c->now.ran[g] = v[2];
	if (g == SP_HARDWARE)
		c->now.enabled = v[1];
	for (uint32_t i = 0; i < p->natives; i++)
		if (p->group[i] == g)
			count[i] = v[at++];
	return true;
}

/* Inherited ones cannot be read as groups before Linux 6.12: one by one. */
static bool read_singles(struct sp_split *p, struct sp_split_cpu *c, uint64_t *count)
{
	uint64_t v[3];

	for (uint32_t i = 0; i < p->natives; i++) {
		if (c->fd[i] < 0)
			continue;
		if (!sp_counter_read(c->fd[i], v, 3))
			return false;
		count[i] = v[0];
		c->now.ran[p->group[i]] = v[2];
		if (p->group[i] == SP_HARDWARE)
			c->now.enabled = v[1];
	}
	return true;
}

static int64_t value_of(const struct sp_split *p, uint32_t e, const uint64_t *count)
{
	double sum = 0;

	if (p->sum[e].n == 1 && p->sum[e].factor[0] == 1)
		return (int64_t)count[p->sum[e].native[0]];
	for (uint32_t t = 0; t < p->sum[e].n; t++)
		sum += p->sum[e].factor[t] * (double)count[p->sum[e].native[t]];
	return sp_rounded(sum);
}

static bool read_counters(struct sp_split *p, struct sp_split_cpu *c)
{
	uint64_t count[SP_NATIVES_MOST] = { 0 };
	bool read = p->inherits ? read_singles(p, c, count) :
				  sp_scan_group(p, c, SP_SOFTWARE, count) && sp_scan_group(p, c, SP_HARDWARE, count);

	for (uint32_t e = 0; e < p->k && read; e++)
		c->value[e] = value_of(p, e, count);
	return read;
}

/* Of one CPU: the clock, the counters, and where the thread may run the clock once more: where it stands still in
 * between, the counters are of one moment. */
static bool read_there(struct sp_split *p, struct sp_split_cpu *c, bool here)
{
	if (!sp_scan_clock(c->dummy, &c->now.low, NULL))
		return false;
	c->now.high = c->now.low;
	if (p->marked && !here && !sp_went_on(c)) {
		memcpy(c->now.ran, c->mark.ran, sizeof(c->now.ran));
		c->now.enabled = c->mark.enabled;
		memcpy(c->value, c->mark_value, p->k * sizeof(*c->value));
		return true;
	}
	return read_counters(p, c);
}

static bool read_total(struct sp_split *p)
{
	return sp_scan_clock(p->clock->total, &p->total_now, &p->moves_now);
}

/* The CPU where the caller itself runs comes first: what it counts from PAPI's return until its counters are read is
 * not the window's. */
static bool read_all(struct sp_split *p, int here)
{
	if (here >= 0 && !read_there(p, &p->cpu[here], true))
		return false;
	p->read_ticks = sp_ticks();
	if (here >= 0 && (!read_total(p) || !sp_scan_clock(p->cpu[here].dummy, &p->cpu[here].now.high, NULL)))
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if ((int)i != here && !read_there(p, &p->cpu[i], false))
			return false;
	return here >= 0 || read_total(p);
}

/* Another thread's, or where rseq tells nothing, or tells of an interruption: who runs where shows by the clock itself. */
static bool read_again(struct sp_split *p, int here, int *running)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct sp_split_cpu *c = &p->cpu[i];
		uint64_t before = c->now.low;

		if (!sp_scan_clock(c->dummy, &c->now.high, NULL))
			return false;
		if (c->now.high == before || (int)i == here)
			continue;
		p->others++;
		*running = *running < 0 ? (int)i : *running;
		/* They may have been read before it ran; the clock is last. */
		if (!read_counters(p, c) || !sp_scan_clock(c->dummy, &c->now.high, NULL))
			return false;
	}
	return true;
}

/* All of it once; *again: it was not of one moment. */
static bool scan_once(struct sp_split *p, int *at, bool *again)
{
	bool caller = p->tid == sp_self.tid;
	int here;

	p->gate.proof = sp_proof_now();
	*at = here = caller ? sp_scan_index(p, sp_cpu_here()) : -1;
	p->others = 0;
	*again = false;
	if (!read_all(p, here))
		return false;
	p->still = !sp_is_theirs(p) && here >= 0 && p->cpu[here].now.high == p->cpu[here].now.low;
	p->scanned = sp_proof_now();
	if (!sp_is_theirs(p) && p->scanned == p->gate.proof)
		return true;
	/* A busy machine interrupts a scan six times one after the other (seen), but does not move it. */
	if (!read_again(p, here, at))
		return false;
	*again = !p->inherits && p->others + caller > 1;
	return true;
}

/* *at: where the thread is during the scan: an index; -1: it does not run, or on none of ours. */
bool sp_scan(struct sp_split *p, int *at)
{
	uint64_t begun = sp_ticks();
	bool again = true, read = true;

	for (int tries = 0; tries < LOOKS && read && again; tries++)
		read = scan_once(p, at, &again);
	if (!read || again)
		p->trouble = read ? SP_WHY_BUSY : SP_WHY_CLOSED;
	p->scan_ticks = sp_ticks() - begun;
	return read && !again;
}

void sp_scan_mark(struct sp_split *p, int at)
{
	for (uint32_t i = 0; i < p->n; i++) {
		p->cpu[i].mark = p->cpu[i].now;
		memcpy(p->cpu[i].mark_value, p->cpu[i].value, p->k * sizeof(int64_t));
	}
	p->total_mark = p->total_now;
	p->still_mark = p->still;
	p->moves_mark = p->moves_now;
	p->home = at;
	p->early = -1;
	p->marked = true;
	p->mark_ticks = p->gate.begun = sp_ticks();
	sp_put(&p->gate.ready, !sp_is_theirs(p) && at >= 0 && (p->probed || !p->counts) && !sp_get(&p->disturbed) &&
			       !memchr(p->unmarked, true, p->k));
}

void sp_scan_unmark(struct sp_split *p)
{
	p->marked = false;
	sp_put(&p->gate.ready, 0);
}

/* Of the caller's own counts what will be new on this CPU shows what was counted while PAPI was at it. */
void sp_scan_early(struct sp_split *p)
{
	uint64_t count[SP_NATIVES_MOST] = { 0 };
	int here;

	p->early = -1;
	p->early_proof = sp_proof_now();
	here = sp_scan_index(p, sp_cpu_here());
	if (!p->plain || !p->marked || here < 0 || !sp_scan_group(p, &p->cpu[here], SP_SOFTWARE, count))
		return;
	for (uint32_t e = 0; e < p->k; e++)
		p->early_value[e] = p->sum[e].edge ? 0 : value_of(p, e, count);
	p->early = here;
}


/* ---- PAPI's own counters ------------------------------------------------------ */

/* What PAPI's own counters have more than `counts` (NULL: since they were zeroed), on all CPUs.  False: they do not
 * tell. */
bool sp_scan_papis(struct sp_split *p, const struct sp_opened *o, const long long *counts, int64_t *more)
{
	const struct sp_native *leader = o->at;
	uint64_t v[3 + 2 * SP_NATIVES_MOST] = { 0 }, count[SP_NATIVES_MOST], is;
	unsigned head = 1, each = 1;

	if (!p->natives || o->n != p->natives || !(leader->attr.read_format & PERF_FORMAT_GROUP) ||
	    sp_sys(SYS_ioctl, leader->fd, PERF_EVENT_IOC_ID, &is) < 0)
		return false;
	head += !!(leader->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED);
	head += !!(leader->attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	each += !!(leader->attr.read_format & PERF_FORMAT_ID);
	if (sp_sys(SYS_read, leader->fd, v, (head + each * p->natives) * sizeof(*v)) < 0 || v[0] != p->natives)
		return false;
	for (uint32_t i = 0; i < p->natives; i++)
		count[i] = v[head + each * i];
	for (uint32_t e = 0; e < p->k; e++)
		more[e] = value_of(p, e, count) - (counts ? counts[e] : 0);
	return true;
}
