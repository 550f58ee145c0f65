/* shadow-read.c: reads the shadow counters of a set on all CPUs; see shadow-read.h. */
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

/* ---- counts of one CPU --------------------------------------------------------- */

bool sp_scan_read_group(struct sp_percpu *p, struct sp_percpu_cpu *c, enum sp_group g,
			uint64_t *count)
{
	uint64_t v[3 + SP_MAX_NATIVES];	/* number, enabled, running, values */
	uint32_t at = 3;

	if (p->shadow.leader[g] < 0 || c->fd[p->shadow.leader[g]] < 0)
		return true;
	if (!sp_counter_read(c->fd[p->shadow.leader[g]], v, 3 + p->shadow.size[g]))
		return false;
	c->now.enabled[g] = v[1];
	c->now.ran[g] = v[2];
	for (uint32_t i = 0; i < p->natives; i++)
		if (p->shadow.group[i] == g)
			count[i] = v[at++];
	return true;
}

/* Reads events one by one: before Linux 6.12 inherited ones cannot be read as groups. */
static bool read_singles(struct sp_percpu *p, struct sp_percpu_cpu *c, uint64_t *count)
{
	uint64_t v[3];

	for (uint32_t i = 0; i < p->natives; i++) {
		if (c->fd[i] < 0)
			continue;
		if (!sp_counter_read(c->fd[i], v, 3))
			return false;
		count[i] = v[0];
		c->now.enabled[p->shadow.group[i]] = v[1];
		c->now.ran[p->shadow.group[i]] = v[2];
	}
	return true;
}

/* A sum of counts, to the nearest integer. */
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
				  : sp_scan_read_group(p, c, SP_SOFTWARE, count) &&
					    sp_scan_read_group(p, c, SP_HARDWARE, count);
}

static void set_values(const struct sp_percpu *p, struct sp_percpu_cpu *c, const uint64_t *count)
{
	for (uint32_t e = 0; e < p->k; e++)
		c->value[e] = value_of(p, e, count);
}

/* Reads the CPU's times to *sample, and the counts that come with them. */
static bool read_times(struct sp_percpu *p, struct sp_percpu_cpu *c, uint64_t *count,
		       struct sp_clock_sample *sample)
{
	if (!p->has_times)
		return sp_residency_read(&p->times.at[c - p->cpu], sample);
	if (!sp_scan_read_group(p, c, SP_SOFTWARE, count))
		return false;
	*sample = (struct sp_clock_sample){ .enabled = c->now.enabled[SP_SOFTWARE],
					    .ran = c->now.ran[SP_SOFTWARE] };
	return true;
}

/* Reads the remaining counts. */
static bool read_rest(struct sp_percpu *p, struct sp_percpu_cpu *c, uint64_t *count)
{
	return p->has_times ? sp_scan_read_group(p, c, SP_HARDWARE, count)
			    : read_natives(p, c, count);
}

bool sp_scan_needs_upper_limit(const struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++)
		for (uint32_t i = 0; i < p->n; i++)
			if (p->sum[e].can_fall || p->window[e].cpu[i].anchor == SP_UNKNOWN)
				return true;
	return false;
}

/* The limit of a sum between two reads of its natives. Lower limit: `added` is the first read,
 * `taken` the second. Upper limit: the reverse. */
static int64_t limit_of(const struct sp_percpu *p, uint32_t e, const uint64_t *added,
			const uint64_t *taken)
{
	uint64_t limit[SP_MAX_NATIVES] = { 0 };

	for (uint32_t t = 0; t < p->sum[e].n; t++) {
		uint32_t n = p->sum[e].native[t];

		limit[n] = p->sum[e].factor[t] < 0 ? taken[n] : added[n];
	}
	return value_of(p, e, limit);
}

bool sp_scan_read_sum(struct sp_percpu *p, uint32_t e, int64_t *sum)
{
	*sum = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t count[SP_MAX_NATIVES] = { 0 };
		struct sp_percpu_cpu copy = p->cpu[i];

		if (!read_natives(p, &copy, count))
			return false;
		*sum += value_of(p, e, count);
	}
	return true;
}

/* ---- PAPI's own counters ------------------------------------------------------- */

static bool is_counter(int fd)
{
	uint64_t kernel_id;

	return sp_sys(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &kernel_id) >= 0;
}

static bool read_papis_group(const struct sp_perf_fds *o, unsigned head, unsigned each,
			     uint64_t *count)
{
	uint64_t v[3 + 2 * SP_MAX_NATIVES] = { 0 };

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

bool sp_scan_read_papi(struct sp_percpu *p, const struct sp_perf_fds *o, int64_t *value)
{
	uint64_t count[SP_MAX_NATIVES], format;
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

/* ---- all CPUs ------------------------------------------------------------------ */

/* Reads one CPU; nothing was counted there if the thread has not run there since the previous
 * scan. */
static bool read_cpu(struct sp_percpu *p, struct sp_percpu_cpu *c, struct sp_clock_sample *sample)
{
	uint64_t count[SP_MAX_NATIVES] = { 0 };

	if (!read_times(p, c, count, sample))
		return false;
	c->now.low = c->now.high = sample->ran;
	if (p->scan.has_baseline && !sp_has_advanced(c)) {
		memcpy(c->now.ran, c->prev.ran, sizeof(c->now.ran));
		memcpy(c->now.enabled, c->prev.enabled, sizeof(c->now.enabled));
		memcpy(c->value, c->prev_value, p->k * sizeof(*c->value));
		return true;
	}
	if (!read_rest(p, c, count))
		return false;
	set_values(p, c, count);
	return true;
}

/* Reads PAPI's counters between two reads of the shadow counters of the caller's CPU, of which
 * `first` is the first. */
static bool read_papi_between(struct sp_percpu *p, const struct sp_percpu_cpu *c,
			      const struct sp_perf_fds *o, const uint64_t *first)
{
	struct sp_percpu_cpu copy = *c; /* keeps the times of the first read */
	uint64_t second[SP_MAX_NATIVES];

	memcpy(second, first, sizeof(second));
	if (!sp_scan_read_papi(p, o, p->papi.value) ||
	    (sp_scan_needs_upper_limit(p) && !read_natives(p, &copy, second)))
		return false;
	for (uint32_t e = 0; e < p->k; e++) {
		p->papi.shadow_low[e] = limit_of(p, e, first, second);
		p->papi.shadow_high[e] = limit_of(p, e, second, first);
	}
	return true;
}

/* Reads the caller's own CPU, whose clock runs meanwhile. */
static bool read_own_cpu(struct sp_percpu *p, struct sp_percpu_cpu *c,
			 struct sp_clock_sample *sample, const struct sp_perf_fds *o)
{
	uint64_t count[SP_MAX_NATIVES] = { 0 };

	if (!read_times(p, c, count, sample) || !read_rest(p, c, count))
		return false;
	set_values(p, c, count);
	c->now.low = c->now.high = sample->ran;
	p->papi.is_read = o && read_papi_between(p, c, o, count);
	return true;
}

/* Limits the time on unwatched CPUs by two reads of one event, before and after all others, which
 * have run for `others`. */
static void limit_sum(struct sp_percpu *p, int timer, const struct sp_clock_sample *first,
		      const struct sp_clock_sample *again, uint64_t others)
{
	p->scan.last.sum = (struct sp_clock_sum){ .at = timer,
						  .is_limited = true,
						  .least = sp_clock_sum(first, timer, others).time,
						  .most = sp_clock_sum(again, timer, others).time };
}

/* Reads CPU i again. Its clock ran there as long as anywhere if the caller has stayed on CPU i. */
static bool read_again(struct sp_percpu *p, int i, const struct sp_clock_sample *first,
		       uint64_t others)
{
	struct sp_clock_sample again;

	if (!sp_residency_read(&p->times.at[i], &again))
		return false;
	p->cpu[i].now.high = again.ran;
	p->scan.last.caller_ns = again.enabled - first->enabled;
	limit_sum(p, i, first, &again, others);
	if (again.enabled - first->enabled == again.ran - first->ran && again.ran != first->ran)
		p->scan.last.sum = sp_clock_sum(first, i, others);
	return true;
}

/* Was the thread only on CPU i from the scan of *sum, which found it there, until this read of that
 * CPU? */
static bool is_unmoved(const struct sp_percpu *p, const struct sp_clock_sum *sum, int i,
		       const struct sp_clock_sample *sample)
{
	uint64_t others = 0;

	if (!p->scan.has_baseline || p->target.inherits || !sum->is_known || sum->at != i)
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

/* The caller runs on an unwatched CPU. Reads an event with times before and after all others, which
 * limits its time there. */
static bool read_from_unwatched(struct sp_percpu *p)
{
	struct sp_clock_sample first, again, sample;
	uint64_t others = 0;
	uint32_t timer = 0;

	while (timer + 1 < p->n && p->times.at[timer].fd < 0)
		timer++;
	if (!sp_residency_read(&p->times.at[timer], &first))
		return false;
	for (uint32_t i = 0; i < p->n; i++) {
		if (!read_cpu(p, &p->cpu[i], &sample))
			return false;
		others += i == timer ? 0 : p->cpu[i].now.low;
	}
	if (!sp_residency_read(&p->times.at[timer], &again))
		return false;
	limit_sum(p, (int)timer, &first, &again, others);
	return true;
}

static bool read_all(struct sp_percpu *p, int own_index, const struct sp_perf_fds *o)
{
	struct sp_clock_sample first, sample;
	uint64_t others = 0;

	p->papi.is_read = false;
	if (own_index < 0)
		return read_from_unwatched(p);
	if (!read_own_cpu(p, &p->cpu[own_index], &first, o))
		return false;
	p->scan.last.is_unmoved = is_unmoved(p, &p->scan.prev.sum, own_index, &first);
	for (uint32_t i = 0; i < p->n; i++) {
		if ((int)i == own_index)
			continue;
		if (!p->scan.last.is_unmoved && !read_cpu(p, &p->cpu[i], &sample))
			return false;
		others += p->cpu[i].now.low;
	}
	return read_again(p, own_index, &first, others);
}

/* Reads another thread's set. If the thread was unmoved, one read is enough. If it slept or ran on
 * one CPU during the scan, its times on the others are of one moment. */
static bool read_remote(struct sp_percpu *p)
{
	int timer = p->scan.prev.sum.is_known ? p->scan.prev.sum.at : p->sharing.last_index;
	struct sp_clock_sample first, again, sample;
	uint64_t others = 0;

	if (!read_cpu(p, &p->cpu[timer], &first))
		return false;
	p->scan.last.enabled = first.enabled;
	p->scan.last.is_unmoved = is_unmoved(p, &p->scan.prev.sum, timer, &first);
	for (uint32_t i = 0; i < p->n; i++) {
		if (!p->scan.last.is_unmoved && (int)i != timer &&
		    !read_cpu(p, &p->cpu[i], &sample))
			return false;
		others += (int)i == timer ? 0 : p->cpu[i].now.low;
	}
	/* Hardware counters were read after the times. */
	if ((!p->scan.last.is_unmoved || p->shadow.has_hardware) &&
	    !sp_residency_read(&p->times.at[timer], &again))
		return false;
	if (!p->scan.last.is_unmoved || p->shadow.has_hardware)
		p->cpu[timer].now.high = again.ran;
	if (p->scan.last.is_unmoved) {
		p->scan.last.sum = p->scan.prev.sum;
		return true;
	}
	limit_sum(p, timer, &first, &again, others);
	if (p->scan.last.sum.least == p->scan.last.sum.most && !p->target.inherits)
		p->scan.last.sum = sp_clock_sum(&first, timer, others);
	return true;
}

/* The CPU on which another thread ran last: the only one on which it has run since the previous
 * scan, or the previous one if it has not run. */
static int find_target_cpu(struct sp_percpu *p)
{
	const struct sp_clock_sum *from = &p->scan.prev.sum, *to = &p->scan.last.sum;
	int ran = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (sp_has_advanced(&p->cpu[i])) {
			p->sharing.last_index = (int)i;
			ran++;
		}
	if (ran > 1 || !from->is_known || !to->is_known || from->at != to->at ||
	    from->time != to->time)
		return SP_NO_CPU;
	return ran ? p->cpu[p->sharing.last_index].cpu : load_relaxed(&p->sharing.cpu);
}

bool sp_scan_has_slept(const struct sp_percpu *p)
{
	struct sp_clock_sample now;

	return p->scan.last.sum.is_known &&
	       sp_residency_read(&p->times.at[p->scan.last.sum.at], &now) &&
	       now.enabled == p->scan.last.enabled;
}

static void save_previous(struct sp_percpu *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		p->cpu[i].prev = p->cpu[i].now;
		memcpy(p->cpu[i].prev_value, p->cpu[i].value, p->k * sizeof(int64_t));
	}
	p->scan.prev = p->scan.last;
}

/* If a scan does not show the caller's CPU time, one in this many is timed by a system call. The
 * others are charged at its price. */
#define SCANS_PER_TIMED 16u

static void charge(struct sp_percpu *p, bool remote, int own_index, uint64_t begun_ns)
{
	uint32_t reads = p->scan.last.is_unmoved && remote
				 ? 1
				 : (p->scan.last.is_unmoved ? 1 : p->n) + SP_OWN_READS;
	struct sp_budget *b = &sp_process.budget;

	if (own_index < 0 && !begun_ns)
		sp_add(&b->used_ns, reads * sp_budget_read(b));
	else
		sp_budget_charge(b, &b->scan,
				 own_index >= 0 ? p->scan.last.caller_ns
						: sp_clock_own_ns() - begun_ns,
				 reads);
}

bool sp_scan(struct sp_percpu *p, const struct sp_perf_fds *o)
{
	bool remote = sp_is_remote(p), read;
	uint64_t begun = sp_ticks(), begun_ns;
	int own_index;

	if (p->scan.has_baseline)
		save_previous(p);
	p->scan.last = (struct sp_scan){ .proof = sp_proof_now(),
					 .n_reenabled = p->scan.prev.n_reenabled };
	own_index = p->target.tid == sp_thread_state.tid ? sp_scan_index(p, sp_cpu_here()) : -1;
	begun_ns = own_index < 0 && p->sharing.n_scans++ % SCANS_PER_TIMED == 0 ? sp_clock_own_ns()
										: 0;
	if (!remote)
		p->scan.last.n_reenabled = sp_clock_count_reenabled(p->clock);
	if (p->scan.last.n_reenabled != p->scan.prev.n_reenabled)
		sp_residency_forget(&p->times);
	read = remote && own_index < 0 ? read_remote(p) : read_all(p, own_index, o);
	p->scan.last.moves = p->scan.prev.moves;
	read = read &&
	       (p->scan.last.is_unmoved || sp_clock_read_moves(p->clock, &p->scan.last.moves));
	p->scan.last.caller_stayed = p->scan.last.proof == sp_proof_now();
	p->scan.last.ticks = sp_ticks();
	p->scan.last.duration = p->scan.last.ticks - begun;
	charge(p, remote, own_index, begun_ns);
	store_relaxed(&p->sharing.cpu,
		      read && remote && own_index < 0 ? find_target_cpu(p) : SP_NO_CPU);
	store_relaxed(&p->sharing.is_cpu_known, read);
	p->period.home = remote ? -1 : own_index;
	store_relaxed(&p->scan.failure, read ? SP_WHY_NONE : SP_WHY_CLOSED);
	if (read && !p->scan.has_baseline)
		save_previous(p);
	p->scan.has_baseline = read;
	store_relaxed(&p->fast.proof, p->scan.last.proof);
	/* There is nothing to probe on an unwatched CPU. */
	store_relaxed(&p->fast.is_ready,
		      read && !remote && (p->scan.last.caller_stayed || !sp_proof_has_mark()) &&
			      (p->shadow.is_probed || !p->shadow.has_hardware || own_index < 0));
	return read;
}
