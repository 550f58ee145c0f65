/* shadow-read.c: reads our counters of all CPUs for a set; see shadow-read.h. */
#include <string.h>

#include "../../core/base/sys.h"
#include "clock.h"
#include "shadow-fds.h"
#include "shadow-read.h"
#include "rseq-proof.h"

int sp_scan_index(const struct sp_percpu *p, int cpu)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->cpu[i].cpu == cpu)
			return (int)i;
	return -1;
}

/* ---- counts of one CPU ---------------------------------------------------------- */

bool sp_scan_group(struct sp_percpu *p, struct sp_percpu_cpu *c, enum sp_group g, uint64_t *count)
{
	uint64_t v[3 + SP_NATIVES_MOST];	/* number, enabled, running, values */
	uint32_t at = 3;

	if (p->perf_fds.leader[g] < 0 || c->fd[p->perf_fds.leader[g]] < 0)
		return true;
	if (!sp_counter_read(c->fd[p->perf_fds.leader[g]], v, 3 + p->perf_fds.size[g]))
		return false;
	c->now.enabled[g] = v[1];
	c->now.ran[g] = v[2];
	for (uint32_t i = 0; i < p->natives; i++)
		if (p->perf_fds.group[i] == g)
			count[i] = v[at++];
	return true;
}

/* Inherited ones cannot be read as groups before Linux 6.12: one by one. */
static bool read_singles(struct sp_percpu *p, struct sp_percpu_cpu *c, uint64_t *count)
{
	uint64_t v[3];

	for (uint32_t i = 0; i < p->natives; i++) {
		if (c->fd[i] < 0)
			continue;
		if (!sp_counter_read(c->fd[i], v, 3))
			return false;
		count[i] = v[0];
		c->now.enabled[p->perf_fds.group[i]] = v[1];
		c->now.ran[p->perf_fds.group[i]] = v[2];
	}
	return true;
}

/* A sum of counts, to the nearest whole number. */
static int64_t value_of(const struct sp_percpu *p, uint32_t e, const uint64_t *count)
{
	double sum = 0;

	if (p->sum[e].n == 1 && p->sum[e].factor[0] == 1)
		return (int64_t)count[p->sum[e].native[0]];
	for (uint32_t t = 0; t < p->sum[e].n; t++)
		sum += p->sum[e].factor[t] * (double)count[p->sum[e].native[t]];
	return (int64_t)(sum < 0 ? sum - 0.5 : sum + 0.5);
}

static bool read_natives(struct sp_percpu *p, struct sp_percpu_cpu *c, uint64_t *count)
{
	return p->target.inherits ? read_singles(p, c, count)
				  : sp_scan_group(p, c, SP_SOFTWARE, count) &&
					    sp_scan_group(p, c, SP_HARDWARE, count);
}

static void write_values(const struct sp_percpu *p, struct sp_percpu_cpu *c, const uint64_t *count)
{
	for (uint32_t e = 0; e < p->k; e++)
		c->value[e] = value_of(p, e, count);
}

/* The CPU's times, and of copies that tell them what they have; *look is the caller's copy of the
 * times. */
static bool read_times(struct sp_percpu *p, struct sp_percpu_cpu *c, uint64_t *count,
		       struct sp_clock_sample *sample)
{
	if (!p->has_times)
		return sp_residency_read(&p->times.at[c - p->cpu], sample);
	if (!sp_scan_group(p, c, SP_SOFTWARE, count))
		return false;
	*sample = (struct sp_clock_sample){ .enabled = c->now.enabled[SP_SOFTWARE],
					    .ran = c->now.ran[SP_SOFTWARE] };
	return true;
}

/* What the copies have beside that. */
static bool read_rest(struct sp_percpu *p, struct sp_percpu_cpu *c, uint64_t *count)
{
	return p->has_times ? sp_scan_group(p, c, SP_HARDWARE, count) : read_natives(p, c, count);
}

bool sp_scan_needs_most(const struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++)
		for (uint32_t i = 0; i < p->n; i++)
			if (p->sum[e].falls || p->window[e].cpu[i].anchor == SP_UNKNOWN)
				return true;
	return false;
}

/* What a sum was between two looks: at least by the first one, but for what is taken off in it; at
 * most the other way round. */
static int64_t papi_limit(const struct sp_percpu *p, uint32_t e, const uint64_t *added,
			  const uint64_t *taken)
{
	uint64_t both[SP_NATIVES_MOST] = { 0 };

	for (uint32_t t = 0; t < p->sum[e].n; t++) {
		uint32_t n = p->sum[e].native[t];

		both[n] = p->sum[e].factor[t] < 0 ? taken[n] : added[n];
	}
	return value_of(p, e, both);
}

bool sp_scan_sum(struct sp_percpu *p, uint32_t e, int64_t *sum)
{
	*sum = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t count[SP_NATIVES_MOST] = { 0 };
		struct sp_percpu_cpu once = p->cpu[i];

		if (!read_natives(p, &once, count))
			return false;
		*sum += value_of(p, e, count);
	}
	return true;
}

/* ---- PAPI's own counters ---------------------------------------------------------- */

static bool is_counter(int fd)
{
	uint64_t is;

	return sp_sys(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &is) >= 0;
}

static bool read_papis_group(const struct sp_perf_fds *o, unsigned head, unsigned each,
			     uint64_t *count)
{
	uint64_t v[3 + 2 * SP_NATIVES_MOST] = { 0 };

	if (!is_counter(o->at->fd) ||
	    sp_sys(SYS_read, o->at->fd, v, (head + 1 + each * o->n) * sizeof(*v)) < 0 ||
	    v[0] != o->n)
		return false;
	for (uint32_t i = 0; i < o->n; i++)
		count[i] = v[head + 1 + each * i];
	return true;
}

static bool read_papis_singles(const struct sp_perf_fds *o, unsigned words, uint64_t *count)
{
	uint64_t v[4];

	for (uint32_t i = 0; i < o->n; i++) {
		if (!is_counter(o->at[i].fd) ||
		    sp_sys(SYS_read, o->at[i].fd, v, words * sizeof(*v)) < 0)
			return false;
		count[i] = v[0];
	}
	return true;
}

bool sp_scan_papis(struct sp_percpu *p, const struct sp_perf_fds *o, int64_t *value)
{
	uint64_t count[SP_NATIVES_MOST], format;
	unsigned times, id;

	if (!p->natives || o->n != p->natives)
		return false;
	format = o->at->attr.read_format;
	times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		!!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	id = !!(format & PERF_FORMAT_ID);
	if (format & PERF_FORMAT_GROUP ? !read_papis_group(o, times, 1 + id, count) :
					 !read_papis_singles(o, 1 + times + id, count))
		return false;
	for (uint32_t e = 0; e < p->k; e++)
		value[e] = value_of(p, e, count);
	return true;
}

/* ---- all CPUs ------------------------------------------------------------------- */

/* Where the thread was not since the scan before, nothing was counted. */
static bool read_there(struct sp_percpu *p, struct sp_percpu_cpu *c, struct sp_clock_sample *sample)
{
	uint64_t count[SP_NATIVES_MOST] = { 0 };

	if (!read_times(p, c, count, sample))
		return false;
	c->now.low = c->now.high = sample->ran;
	if (p->scan.marked && !sp_has_advanced(c)) {
		memcpy(c->now.ran, c->mark.ran, sizeof(c->now.ran));
		memcpy(c->now.enabled, c->mark.enabled, sizeof(c->now.enabled));
		memcpy(c->value, c->mark_value, p->k * sizeof(*c->value));
		return true;
	}
	if (!read_rest(p, c, count))
		return false;
	write_values(p, c, count);
	return true;
}

/* PAPI's counters between two looks at the copies of the caller's CPU, the first of which gave
 * `first`. */
static bool read_papi_between(struct sp_percpu *p, const struct sp_percpu_cpu *c,
			      const struct sp_perf_fds *o, const uint64_t *first)
{
	struct sp_percpu_cpu once = *c;		/* its times stay those of the first look */
	uint64_t second[SP_NATIVES_MOST];

	memcpy(second, first, sizeof(second));
	if (!sp_scan_papis(p, o, p->beside.papi) ||
	    (sp_scan_needs_most(p) && !read_natives(p, &once, second)))
		return false;
	for (uint32_t e = 0; e < p->k; e++) {
		p->beside.least[e] = papi_limit(p, e, first, second);
		p->beside.most[e] = papi_limit(p, e, second, first);
	}
	return true;
}

/* The CPU where the caller itself runs, whose clock goes on meanwhile. */
static bool read_here(struct sp_percpu *p, struct sp_percpu_cpu *c, struct sp_clock_sample *sample,
		      const struct sp_perf_fds *o)
{
	uint64_t count[SP_NATIVES_MOST] = { 0 };

	if (!read_times(p, c, count, sample) || !read_rest(p, c, count))
		return false;
	write_values(p, c, count);
	c->now.low = c->now.high = sample->ran;
	p->beside.had = o && read_papi_between(p, c, o, count);
	return true;
}

/* The time on no CPU of ours, from two looks at one event before and after all others, which have
 * run for `others`. */
static void bound_papi_value(struct sp_percpu *p, int by, const struct sp_clock_sample *first,
			     const struct sp_clock_sample *again, uint64_t others)
{
	p->scan.last.sum = (struct sp_clock_sum){ .at = by,
						  .is_limited = true,
						  .least = sp_clock_sum(first, by, others).time,
						  .most = sp_clock_sum(again, by, others).time };
}

/* Did the caller stay on CPU i, and nowhere else?  Its clock says so: it ran there as long as it
 * ran anywhere. */
static bool read_again(struct sp_percpu *p, int i, const struct sp_clock_sample *first,
		       uint64_t others)
{
	struct sp_clock_sample again;

	if (!sp_residency_read(&p->times.at[i], &again))
		return false;
	p->cpu[i].now.high = again.ran;
	p->scan.last.caller_ns = again.enabled - first->enabled;
	bound_papi_value(p, i, first, &again, others);
	if (again.enabled - first->enabled == again.ran - first->ran && again.ran != first->ran)
		p->scan.last.sum = sp_clock_sum(first, i, others);
	return true;
}

/* At the scan that *sum is of the thread was on CPU i alone.  Has it been nowhere else until this
 * look at that CPU?  Where it has not run nothing was counted. */
static bool is_unmoved(const struct sp_percpu *p, const struct sp_clock_sum *sum, int i,
		       const struct sp_clock_sample *sample)
{
	uint64_t others = 0;

	if (!p->scan.marked || p->target.inherits || !sum->known || sum->at != i)
		return false;
	for (uint32_t c = 0; c < p->n; c++)
		others += (int)c == i ? 0 : p->cpu[c].now.low;
	return sp_clock_sum(sample, i, others).time == sum->time;
}

bool sp_scan_is_short(const struct sp_percpu *p)
{
	int i = p->target.tid == sp_thread_state.tid ? sp_scan_index(p, sp_cpu_here())
						     : p->scan.last.sum.at;
	struct sp_clock_sample sample;

	return i >= 0 && sp_residency_read(&p->times.at[i], &sample) &&
	       is_unmoved(p, &p->scan.last.sum, i, &sample);
}

/* The caller runs on a CPU that is not watched: an event that tells the time on all of them, looked
 * at before and after the others, shows how long. */
static bool read_away(struct sp_percpu *p)
{
	struct sp_clock_sample first, again, sample;
	uint64_t others = 0;
	uint32_t by = 0;

	while (by + 1 < p->n && p->times.at[by].fd < 0)
		by++;
	if (!sp_residency_read(&p->times.at[by], &first))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		if (!read_there(p, &p->cpu[i], &sample))
			return false;
		others += i == by ? 0 : p->cpu[i].now.low;
	}
	if (!sp_residency_read(&p->times.at[by], &again))
		return false;
	bound_papi_value(p, (int)by, &first, &again, others);
	return true;
}

static bool read_all(struct sp_percpu *p, int here, const struct sp_perf_fds *o)
{
	struct sp_clock_sample first, sample;
	uint64_t others = 0;

	p->beside.had = false;
	if (here < 0)
		return read_away(p);
	if (!read_here(p, &p->cpu[here], &first, o))
		return false;
	p->scan.last.unmoved = is_unmoved(p, &p->scan.before.sum, here, &first);
	for (uint32_t i = 0; i < p->n; i++) {
		if ((int)i == here)
			continue;
		if (!p->scan.last.unmoved && !read_there(p, &p->cpu[i], &sample))
			return false;
		others += p->cpu[i].now.low;
	}
	return read_again(p, here, &first, others);
}

/* Of another thread. Where it was unmoved, one look tells all. Else: did it sleep, or run on one
 * CPU alone, during the scan?  Then its times on the others are of one moment. */
static bool read_theirs(struct sp_percpu *p)
{
	int by = p->scan.before.sum.known ? p->scan.before.sum.at : p->others.ran_at;
	struct sp_clock_sample first, again, sample;
	uint64_t others = 0;

	if (!read_there(p, &p->cpu[by], &first))
		return false;
	p->scan.last.enabled = first.enabled;
	p->scan.last.unmoved = is_unmoved(p, &p->scan.before.sum, by, &first);
	for (uint32_t i = 0; i < p->n; i++) {
		if (!p->scan.last.unmoved && (int)i != by && !read_there(p, &p->cpu[i], &sample))
			return false;
		others += (int)i == by ? 0 : p->cpu[i].now.low;
	}
	/* (Hardware counters were read after the times.) */
	if ((!p->scan.last.unmoved || p->perf_fds.counts) &&
	    !sp_residency_read(&p->times.at[by], &again))
		return false;
	if (!p->scan.last.unmoved || p->perf_fds.counts)
		p->cpu[by].now.high = again.ran;
	if (p->scan.last.unmoved) {
		p->scan.last.sum = p->scan.before.sum;
		return true;
	}
	bound_papi_value(p, by, &first, &again, others);
	if (p->scan.last.sum.least == p->scan.last.sum.most && !p->target.inherits)
		p->scan.last.sum = sp_clock_sum(&first, by, others);
	return true;
}

/* The CPU on which another thread ran last: the only one where it ran since the scan before, or the
 * one from then if it has not run. */
static int find_where(struct sp_percpu *p)
{
	const struct sp_clock_sum *from = &p->scan.before.sum, *to = &p->scan.last.sum;
	int ran = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (sp_has_advanced(&p->cpu[i])) {
			p->others.ran_at = (int)i;
			ran++;
		}
	if (ran > 1 || !from->known || !to->known || from->at != to->at || from->time != to->time)
		return SP_NO_CPU;
	return ran ? p->cpu[p->others.ran_at].cpu : load_relaxed(&p->others.where);
}

bool sp_scan_slept(const struct sp_percpu *p)
{
	struct sp_clock_sample now;

	return p->scan.last.sum.known &&
	       sp_residency_read(&p->times.at[p->scan.last.sum.at], &now) &&
	       now.enabled == p->scan.last.enabled;
}

static void mark(struct sp_percpu *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		p->cpu[i].mark = p->cpu[i].now;
		memcpy(p->cpu[i].mark_value, p->cpu[i].value, p->k * sizeof(int64_t));
	}
	p->scan.before = p->scan.last;
}

/* Of a scan by which the caller's own time cannot be told, each so many are timed, by a system
 * call; the others are charged as those took. */
#define TIMED	16u

static void charge(struct sp_percpu *p, bool theirs, int here, uint64_t begun_ns)
{
	uint32_t looks = p->scan.last.unmoved && theirs
				 ? 1
				 : (p->scan.last.unmoved ? 1 : p->n) + SP_OWN_READS;
	struct sp_budget *b = &sp_process.budget;

	if (here < 0 && !begun_ns)
		sp_add(&b->used_ns, looks * sp_budget_look(b));
	else
		sp_budget_charge(b, &b->scan,
				 here >= 0 ? p->scan.last.caller_ns : sp_clock_own_ns() - begun_ns,
				 looks);
}

bool sp_scan(struct sp_percpu *p, const struct sp_perf_fds *o)
{
	bool theirs = sp_is_theirs(p), read;
	uint64_t begun = sp_ticks(), begun_ns;
	int here;

	if (p->scan.marked)
		mark(p);
	p->scan.last =
		(struct sp_scan){ .proof = sp_proof_now(), .switched = p->scan.before.switched };
	here = p->target.tid == sp_thread_state.tid ? sp_scan_index(p, sp_cpu_here()) : -1;
	begun_ns = here < 0 && p->others.scans++ % TIMED == 0 ? sp_clock_own_ns() : 0;
	if (!theirs)
		p->scan.last.switched = sp_clock_switched(p->clock);
	if (p->scan.last.switched != p->scan.before.switched)
		sp_residency_forget(&p->times);
	read = theirs && here < 0 ? read_theirs(p) : read_all(p, here, o);
	p->scan.last.moves = p->scan.before.moves;
	read = read && (p->scan.last.unmoved || sp_clock_moves(p->clock, &p->scan.last.moves));
	p->scan.last.quiet = p->scan.last.proof == sp_proof_now();
	p->scan.last.ticks = sp_ticks();
	p->scan.last.took = p->scan.last.ticks - begun;
	charge(p, theirs, here, begun_ns);
	store_relaxed(&p->others.where, read && theirs && here < 0 ? find_where(p) : SP_NO_CPU);
	store_relaxed(&p->others.found, read);
	p->segment.home = theirs ? -1 : here;
	p->scan.trouble = read ? SP_WHY_NONE : SP_WHY_CLOSED;
	if (read && !p->scan.marked)
		mark(p);
	p->scan.marked = read;
	p->fast.proof = p->scan.last.proof;
	/* (On a CPU that is none of ours there is nothing to probe.) */
	store_relaxed(&p->fast.ready,
		      read && !theirs && (p->scan.last.quiet || !sp_proof_is_there()) &&
			      (p->perf_fds.probed || !p->perf_fds.counts || here < 0));
	return read;
}
