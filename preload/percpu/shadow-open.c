/* shadow-open.c: opens and closes the shadow counters of a set; see percpu.h. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../core/base/conf.h"
#include "../../core/base/cpu-list.h"
#include "../../core/base/seccomp.h"
#include "../../core/base/lock.h"
#include "../../core/base/out.h"
#include "../../core/base/perf.h"
#include "../process/process.h"
#include "target.h"
#include "shadow-fds.h"
#include "percpu-lifetime.h"
#include "shadow-open.h"
#include "event-cpus.h"
#include "rseq-proof.h"
#include "percpu-internal.h"
#include "page-proof.h"

/* Limit, since a process that ends closes all its perf fds, at 4 us each. */
#define MAX_THREAD_SETS	32u
#define MAX_STARVED_WINDOWS 16u		/* until hardware counters that never run are closed */

bool sp_has_one_clock;
uint64_t sp_tick_ns = 1ull << 32;
SP_AT_START static uint64_t first_ticks, first_ns;

/* ---- once in a process --------------------------------------------------------- */

__attribute__((constructor)) static void at_start(void)
{
	first_ticks = sp_ticks();
	first_ns = sp_clock_ns();
	sp_clock_begin();
	sp_page_proof_begin();
}

static unsigned number_at(const char **p)
{
	unsigned n = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++)
		n = n * 10 + (unsigned)(**p - '0');
	*p += **p == '.';
	return n;
}

static bool one_clock(void)
{
	struct utsname u;
	const char *p = u.release;
	unsigned major;

	if (uname(&u) != 0)
		return false;
	major = number_at(&p);
	return major > 6 || (major == 6 && number_at(&p) >= 2);
}

static int open_own(const struct perf_event_attr *attr, int leader)
{
	return sp_perf_open(attr, 0, -1, leader, 0);
}

void sp_percpu_begin(void)
{
	uint64_t ticks = sp_ticks() - first_ticks, ns = sp_clock_ns() - first_ns;

	if (ticks)
		sp_tick_ns = (uint64_t)(((unsigned __int128)ns << 32) / ticks);
	if (sp_conf.attribution == SP_BY_READING)
		return;
	sp_clock_budget();
	sp_has_one_clock = one_clock();
	sp_cpus_online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	sp_counters_begin(sp_conf.descriptors);
	sp_pmus_read(SP_PMUS_DIR, open_own);
	if (!load_relaxed(&sp_process.proof_works))
		sp_page_proof_test();
}

void sp_percpu_child(void)
{
	sp_counters_child();
	sp_lifetime_child();
}

/* ---- opening ------------------------------------------------------------------- */

static bool is_software(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE;
}

/* The same as PAPI's event, but without sampling, never pinned, and read with times. */
static struct perf_event_attr attr_of(const struct sp_native *n, bool leads, bool inherits)
{
	struct perf_event_attr a = n->attr;

	a.pinned = 0;
	a.inherit = inherits;
	a.sample_period = 0;
	a.freq = 0;
	a.sample_type = 0;
	a.wakeup_events = 0;
	a.watermark = 0;
	a.precise_ip = 0;
	a.disabled = leads && !is_software(&n->attr);
	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			(inherits ? 0 : PERF_FORMAT_GROUP);
	return a;
}

/* Is the error that of one CPU? On a machine with cores of two kinds some CPUs lack an event. */
static bool is_cpu_error(int error)
{
	return error == -ENOENT || error == -ENODEV || error == -EINVAL || error == -EOPNOTSUPP;
}

static void close_cpu(struct sp_percpu *p, struct sp_percpu_cpu *c, enum sp_group g)
{
	for (uint32_t i = p->natives; i-- > 0;)
		if (p->shadow.group[i] == g) {
			sp_counter_close(c->fd[i]);
			c->fd[i] = -1;
		}
}

/* Does the CPU lack all events of the group? PAPI's counters, which are the same events, then do
 * not count there: ENOENT means that no PMU of this CPU has the event. A group may have a
 * tracepoint, which counts on all CPUs, and an event of one kind of cores. */
static bool lacks_events(const struct sp_percpu *p, const struct sp_percpu_cpu *c,
			 const struct sp_perf_fds *o, enum sp_group g)
{
	for (uint32_t i = 0; i < p->natives; i++) {
		struct perf_event_attr a;
		int fd;

		if (p->shadow.group[i] != g || !sp_pmu_is_on(&o->at[i].attr, c->cpu))
			continue;
		a = attr_of(&o->at[i], true, p->target.inherits);
		fd = sp_counter_open(&a, p->target.tid, c->cpu, -1);
		sp_counter_close(fd);
		if (fd != -ENOENT)
			return false;
	}
	return true;
}

/* Opens one group on one CPU. 0; 1: the CPU cannot count it; or -errno. */
static int open_group(struct sp_percpu *p, struct sp_percpu_cpu *c, const struct sp_perf_fds *o,
		      enum sp_group g)
{
	int leader = -1;

	for (uint32_t i = 0; i < p->natives; i++) {
		struct perf_event_attr a;

		if (p->shadow.group[i] != g)
			continue;
		a = attr_of(&o->at[i], leader < 0, p->target.inherits);
		c->fd[i] = sp_pmu_is_on(&a, c->cpu)
				   ? sp_counter_open(&a, p->target.tid, c->cpu, leader)
				   : -ENOENT;
		if (is_cpu_error(c->fd[i])) {
			c->is_refused |= c->fd[i] == -EINVAL || c->fd[i] == -EOPNOTSUPP;
			c->has_no_events[g] = c->fd[i] == -ENOENT && lacks_events(p, c, o, g);
			close_cpu(p, c, g);
			return 1;
		}
		if (c->fd[i] < 0)
			return c->fd[i];
		if (!p->target.inherits && leader < 0)
			leader = c->fd[i];
	}
	return 0;
}

/* Stops watching all but the first n CPUs. */
static void watch_only(struct sp_percpu *p, uint32_t n)
{
	for (uint32_t i = p->n; i-- > n;)
		for (int g = SP_GROUPS; g-- > 0;)
			close_cpu(p, &p->cpu[i], (enum sp_group)g);
	p->n = n;
}

/* ENOENT is not a refusal: the CPU has no such event. */
static enum sp_why why_of_error(int error)
{
	return error == -ENOENT			      ? SP_WHY_UNWATCHED
	       : error == -EDQUOT		      ? SP_WHY_BUDGET
	       : error == -EMFILE || error == -ENFILE ? SP_WHY_DESCRIPTORS
	       : error == -ENOMEM		      ? SP_WHY_MEMORY
	       : error == -ESRCH		      ? SP_WHY_ENDED
						      : SP_WHY_REFUSED;
}

/* Opens one group on all CPUs, closing this thread's oldest sets to make room. */
static int open_on_all_cpus(struct sp_percpu *p, const struct sp_perf_fds *o, enum sp_group g)
{
	bool refused = false;
	uint32_t have = 0;
	int r = 0;

	for (uint32_t i = 0; i < p->n && r >= 0; i++) {
		r = open_group(p, &p->cpu[i], o, g);
		have += r == 0;
		refused = refused || p->cpu[i].is_refused;
		if (r != -EDQUOT && r != -EMFILE)
			continue;
		if (sp_lifetime_close_oldest(p->clock, p)) {
			sp_lifetime_close(p, (int)g);
			i = UINT32_MAX;	/* begins again with the first */
			r = have = 0;
		} else if (have) {	/* the nearest CPUs have theirs */
			watch_only(p, i);
			p->clock->limit = why_of_error(r);
			r = 0;
		}
	}
	if (r >= 0 && !have)
		r = refused ? -EINVAL : -ENOENT;
	if (r < 0)
		sp_lifetime_close(p, (int)g);
	return r;
}

static void open_counters(struct sp_percpu *p, const struct sp_perf_fds *o)
{
	bool any = false;

	for (int g = 0; g < SP_GROUPS; g++) {
		int r;

		p->shadow.leader[g] = -1;
		p->shadow.size[g] = 0;
		for (uint32_t i = p->natives; i-- > 0;)
			if (p->shadow.group[i] == g) {
				p->shadow.leader[g] = (int)i;
				p->shadow.size[g]++;
			}
		if (p->shadow.leader[g] < 0)
			continue;
		r = open_on_all_cpus(p, o, (enum sp_group)g);
		any = any || r >= 0;
		if (r < 0) {
			p->shadow.leader[g] = -1;
			p->why = why_of_error(r);
		}
	}
	p->shadow.has_hardware = p->shadow.leader[SP_HARDWARE] >= 0;
	if (!any)
		p->kind = SP_BY_RESIDENCY;
}

/* Sets the running times to those of software shadow counters, which always run, if all CPUs have
 * some; otherwise to the clock's. The kernel updates inherited times at different moments, so these
 * need a clock. False: *why is the reason. */
static bool find_times(struct sp_percpu *p, enum sp_why *why)
{
	int leads = p->shadow.leader[SP_SOFTWARE], r;

	p->times.n = p->n;
	p->has_times = leads >= 0 && !p->target.inherits;
	for (uint32_t i = 0; i < p->n && p->has_times; i++) {
		p->times.at[i] =
			(struct sp_residency_at){ .fd = p->cpu[i].fd[leads],
						  .words = 3 + p->shadow.size[SP_SOFTWARE] };
		p->has_times = p->cpu[i].fd[leads] >= 0;
	}
	sp_residency_forget(&p->times);
	if (p->has_times)
		return true;
	r = sp_clock_open_times(p->clock);
	if (r < 0) {
		*why = why_of_error(r);
		return false;
	}
	memcpy(p->times.at, p->clock->times.at, p->n * sizeof(*p->times.at));
	return true;
}

/* ---- the set's events ---------------------------------------------------------- */

/* CPU-CLOCK differs from PAPI's by about 100 ns per move, sometimes by 50 us. TASK-CLOCK is
 * exact. */
static bool is_clock(const struct sp_native *n)
{
	return is_software(&n->attr) && n->attr.config == PERF_COUNT_SW_CPU_CLOCK;
}

/* Error margin of a hardware event: some dozen kernel instructions on the way to a counter.
 * Software events are exact. */
static uint64_t margin_of(const struct sp_native *n)
{
	return is_software(&n->attr) ? 0 : 100;
}

/* PAPI opens natives in the order of the events that use them first. */
static uint32_t native_index(uint32_t *code, uint32_t *n, uint32_t native)
{
	uint32_t i = 0;

	while (i < *n && code[i] != native)
		i++;
	if (i == *n && *n < SP_MAX_NATIVES)
		code[(*n)++] = native;
	return i;
}

static bool fill_sums(struct sp_percpu *p, const struct sp_percpu_request *w)
{
	uint32_t code[SP_MAX_NATIVES], n = 0;

	for (uint32_t e = 0; e < w->k; e++) {
		const struct sp_terms *t = w->terms[e];

		p->sum[e].n = t->n;
		for (uint32_t i = 0; i < t->n; i++) {
			uint32_t at = native_index(code, &n, t->native[i]);

			if (at >= w->perf_fds->n)
				return false;
			p->sum[e].native[i] = (uint8_t)at;
			p->sum[e].factor[i] = t->factor[i];
			p->sum[e].margin +=
				(uint64_t)((t->factor[i] < 0 ? -t->factor[i] : t->factor[i]) *
					   (double)margin_of(&w->perf_fds->at[at]));
			p->sum[e].is_cpu_clock |= is_clock(&w->perf_fds->at[at]);
			p->sum[e].can_fall |= t->factor[i] < 0;
			p->sum[e].has_clock |=
				is_software(&w->perf_fds->at[at].attr) &&
				w->perf_fds->at[at].attr.config <= PERF_COUNT_SW_TASK_CLOCK;
			p->sum[e].has_hardware |= !is_software(&w->perf_fds->at[at].attr);
		}
	}
	return n == w->perf_fds->n;
}

/* Calls fn for each native of the event until it returns false. Also false if PAPI's perf fds are
 * not those of the set's events. */
static bool each_native(const struct sp_percpu_request *w,
			bool (*fn)(const struct sp_native *n, void *arg), uint32_t event, void *arg)
{
	uint32_t code[SP_MAX_NATIVES], n = 0;
	bool all = w->k <= SP_MAX_PERCPU_EVENTS && !w->perf_fds->unlisted &&
		   !w->perf_fds->is_reordered;

	for (uint32_t e = 0; all && e < w->k; e++)
		for (uint32_t i = 0; i < w->terms[e]->n; i++) {
			uint32_t at = native_index(code, &n, w->terms[e]->native[i]);

			if (e == event)
				all = all && at < w->perf_fds->n && fn(&w->perf_fds->at[at], arg);
		}
	return all && n == w->perf_fds->n;
}

static bool add_domain(const struct sp_native *n, void *domain)
{
	*(uint32_t *)domain |= sp_target_domain(&n->attr);
	return true;
}

uint32_t sp_percpu_domain(const struct sp_percpu_request *w, uint32_t event)
{
	uint32_t domain = 0;

	return each_native(w, add_domain, event, &domain) ? domain : 0;
}

static bool is_one_pmu(const struct sp_native *n, void *name)
{
	const char **one = name, *its = sp_pmu_name(&n->attr);

	if (!its || (*one && *one != its))
		return false;
	*one = its;
	return true;
}

const char *sp_percpu_pmu(const struct sp_percpu_request *w, uint32_t event)
{
	const char *name = NULL;

	return sp_pmus_differ() && each_native(w, is_one_pmu, event, &name) ? name : NULL;
}

static enum sp_why obstacle(const struct sp_percpu_request *w)
{
	if (w->multiplexed)
		return SP_WHY_MULTIPLEXED;
	if (w->perf_fds->is_reordered)
		return SP_WHY_UNSEEN;
	if (w->perf_fds->unlisted)
		return SP_WHY_MANY;
	for (uint32_t e = 0; e < w->k; e++)
		if (!w->terms[e]->n)
			return SP_WHY_FORMULA;
	for (uint32_t i = 0; i < w->perf_fds->n; i++)
		if (!sp_pmu_is_known(&w->perf_fds->at[i].attr))
			return SP_WHY_UNSEEN;
	return SP_WHY_NONE;
}

static uint64_t mix_word(uint64_t d, uint64_t word)
{
	d = (d ^ word) * 0x9e3779b97f4a7c15ull;
	return d ^ d >> 29;
}

/* Leaves out `inherit`, which is compared separately: an option sets it for our events before PAPI
 * sets it for its own. Works in words, since PAPI reopens the events at each start if a thread
 * alternates between two sets. */
static uint64_t digest(const struct sp_perf_fds *o)
{
	uint64_t d = SP_DIGEST + o->n + o->unlisted, word[sizeof(struct perf_event_attr) / 8];

	_Static_assert(sizeof(struct perf_event_attr) % 8 == 0, "whole words");
	for (uint32_t i = 0; i < o->n; i++) {
		struct perf_event_attr a = o->at[i].attr;

		a.inherit = 0;
		memcpy(word, &a, sizeof(word));
		for (size_t w = 0; w < SP_COUNT(word); w++)
			d = mix_word(d, word[w]);
		d = mix_word(d, (uint32_t)o->at[i].cpu);
	}
	return d;
}

static struct sp_percpu *make_percpu(const struct sp_percpu_request *w, struct sp_clock *c)
{
	uint64_t n = c->room, k = w->k, natives = w->perf_fds->n,
		 sum = sp_align(sizeof(struct sp_percpu), 64), cpus, windows, shares, values, times,
		 fds, end;
	struct sp_percpu *p;

	cpus = sp_align(sum + k * sizeof(((struct sp_percpu *)0)->sum[0]), 64);
	windows = cpus + n * sizeof(struct sp_percpu_cpu);
	shares = windows + k * sizeof(struct sp_window) + k * n * sizeof(struct sp_window_cpu);
	values = shares + 2 * (n + 1) * k * 8 + 3 * (n + 1) * 8 + 4 * n * 8 + sp_align(n * 4, 8);
	times = values + (3 * n + 5) * k * 8;
	fds = times + n * sizeof(struct sp_residency_at);
	end = fds + n * natives * sizeof(int);
	p = sp_lifetime_alloc(end);
	if (!p)
		return NULL;
	p->bytes = end;
	p->sum = (void *)((char *)p + sum);
	p->cpu = (void *)((char *)p + cpus);
	p->window = (void *)((char *)p + windows);
	p->parts.counts = (int64_t *)((char *)p + shares);
	p->parts.proven = p->parts.counts + (n + 1) * k;
	p->parts.total = p->parts.proven + (n + 1) * k;
	p->parts.share = p->parts.total + n + 1;
	p->parts.ns = (uint64_t *)(p->parts.share + n + 1);
	p->parts.low = (int64_t *)(p->parts.ns + n + 1);
	p->parts.high = p->parts.low + n;
	p->parts.grown = p->parts.high + n;
	p->parts.weight = (double *)(p->parts.grown + n);
	p->parts.cpus = (int32_t *)(p->parts.weight + n);
	for (uint64_t i = 0; i < n; i++) {
		p->cpu[i].cpu = i < c->n ? c->cpu[i] : -1;
		p->cpu[i].value = (int64_t *)((char *)p + values) + 3 * i * k;
		p->cpu[i].prev_value = p->cpu[i].value + k;
		p->cpu[i].attributed_value = p->cpu[i].prev_value + k;
		p->cpu[i].fd = (int *)((char *)p + fds) + i * natives;
		for (uint32_t e = 0; e < natives; e++)
			p->cpu[i].fd[e] = -1;
	}
	p->skips.counts = (int64_t *)((char *)p + values) + 3 * n * k;
	p->papi.value = p->skips.counts + k;
	p->papi.shadow_low = p->papi.value + k;
	p->papi.shadow_high = p->papi.shadow_low + k;
	p->parts.elsewhere = p->papi.shadow_high + k;
	p->times.at = (void *)((char *)p + times);
	p->clock = c;
	p->shadow.allowed = c->allowed;
	p->n = c->n;
	p->room = (uint32_t)n;
	p->k = (uint32_t)k;
	p->target.tid = w->tid;
	p->target.thread = w->perf_fds->at->thread;
	p->target.is_own = w->is_own && !w->inherits;
	p->target.inherits = w->inherits;
	p->fast.changes = load_relaxed(&w->perf_fds->changes);
	p->fast.time_from = UINT64_MAX;		/* until its first start */
	p->shadow.digest = digest(w->perf_fds);
	p->target.is_foreign = w->perf_fds->opener != sp_thread_state.tid;
	p->shadow.leader[0] = p->shadow.leader[1] = -1;
	p->period.home = p->attributed.home = p->home_off.index = -1;
	p->sharing.cpu = SP_NO_CPU;
	return p;
}

static void make_windows(struct sp_percpu *p)
{
	struct sp_window_cpu *cpu = (void *)(p->window + p->k);

	for (uint32_t e = 0; e < p->k; e++)
		sp_window_init(&p->window[e], cpu + (uint64_t)e * p->room, p->n,
			       p->sum[e].can_fall);
}

/* Descriptors per CPU. */
static uint32_t count_fds_per_cpu(const struct sp_percpu_request *w)
{
	for (uint32_t i = 0; i < w->perf_fds->n && !w->inherits; i++)
		if (is_software(&w->perf_fds->at[i].attr))
			return w->perf_fds->n;
	return w->perf_fds->n + 1;
}

/* Hardware counters of an own set may be off at home (home-off.h). Not before Linux 6.2, since they
 * show how long the others should have run. */
static bool can_switch_off(const struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->sum[e].has_hardware && (p->sum[e].can_fall || p->sum[e].is_cpu_clock))
			return false;
	return sp_has_one_clock && p->target.is_own && !p->target.is_foreign &&
	       p->kind == SP_BY_EXACT && p->shadow.has_hardware;
}

/* Opens a clock and, if the method allows, shadow counters. NULL or less than `how`: *why is the
 * reason. */
static struct sp_percpu *open_percpu(const struct sp_percpu_request *w, enum sp_attribution how,
				     enum sp_why *why)
{
	uint32_t fds_per_cpu = how == SP_BY_EXACT ? count_fds_per_cpu(w) : 1;
	struct sp_clock *c;
	struct sp_percpu *p;
	int error = 0;

	c = w->is_own && !w->inherits
		    ? sp_lifetime_own_clock(fds_per_cpu, &error)
		    : sp_lifetime_other_clock(w->tid, w->inherits, fds_per_cpu, &error);
	p = c ? make_percpu(w, c) : NULL;
	if (!p) {
		*why = c ? SP_WHY_MEMORY : why_of_error(error);
		sp_lifetime_drop_clock(c);
		return NULL;
	}
	p->kind = how;
	p->why = sp_conf.attribution == SP_BY_RESIDENCY ? SP_WHY_NONE : obstacle(w);
	if (p->why == SP_WHY_NONE)
		p->why = *why;
	if (p->why == SP_WHY_NONE && p->kind == SP_BY_EXACT && !fill_sums(p, w))
		p->why = SP_WHY_UNSEEN;
	if (p->kind == SP_BY_EXACT && p->why == SP_WHY_NONE) {
		p->natives = w->perf_fds->n;
		for (uint32_t i = 0; i < p->natives; i++)
			p->shadow.group[i] =
				is_software(&w->perf_fds->at[i].attr) ? SP_SOFTWARE : SP_HARDWARE;
		open_counters(p, w->perf_fds);
		if (p->kind == SP_BY_EXACT && w->overflows) {
			p->kind = SP_BY_APPROXIMATE;
			p->why = SP_WHY_OVERFLOW;
		}
	} else {
		p->kind = SP_BY_RESIDENCY;
	}
	if (!find_times(p, why)) {
		sp_percpu_drop(&p);
		return NULL;
	}
	make_windows(p);
	p->home_off.is_possible = can_switch_off(p);
	if (p->target.is_own && sp_lifetime_count_percpu(c) >= MAX_THREAD_SETS)
		(void)sp_lifetime_close_oldest(c, p);
	sp_lifetime_add_percpu(c, p);
	return p;
}

/* Returns the method that SSPAPI_ATTRIBUTION requests, as far as `auto` has the budget; otherwise
 * *why is the reason. */
static enum sp_attribution choose_method(const struct sp_percpu_request *w, enum sp_why *why)
{
	enum sp_attribution how = (enum sp_attribution)sp_conf.attribution;

	if (how == SP_BY_AUTO)
		how = sp_lifetime_affordable(w->tid, w->is_own && !w->inherits,
					     count_fds_per_cpu(w), why);
	if (how == SP_BY_EXACT || sp_conf.attribution != SP_BY_AUTO)
		*why = SP_WHY_NONE;
	return how;
}

void sp_shadow_reserve_scan(struct sp_percpu *p)
{
	uint64_t ns = sp_budget_scan(&sp_process.budget, p->n);

	/* Opening included the first one in its cost. */
	if (p->skips.reserved_ns || sp_conf.attribution != SP_BY_AUTO ||
	    (p->scan.has_baseline && !sp_clock_can_afford(ns)))
		return;
	sp_add(&sp_process.budget.used_ns, ns);
	p->skips.reserved_ns = ns;
}

static bool fits(struct sp_percpu *p, const struct sp_percpu_request *w)
{
	/* A thread's own set that another one starts is shared from then on. */
	return p && sp_percpu_matches(p, w->perf_fds) && p->target.tid == w->tid &&
	       (p->target.is_own || !w->is_own || w->inherits) &&
	       p->target.inherits == w->inherits && p->k == w->k &&
	       (p->kind == SP_BY_APPROXIMATE) == (w->overflows && p->natives);
}

/* Continues for another relation, to which earlier counts do not belong. */
static void reset_proven(struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++) {
		for (uint32_t i = 0; i < p->n; i++) {
			struct sp_window_cpu *c = &p->window[e].cpu[i];

			c->total = c->reported = c->proven;
		}
		p->parts.elsewhere[e] = 0;
	}
	p->period.unproven_why = SP_WHY_NONE;
}

static bool is_same_target(const struct sp_percpu *p, const struct sp_perf_fds *o)
{
	struct sp_count_target target = sp_count_target(o);

	for (uint32_t i = 0; i < o->n; i++)
		if (o->at[i].attr.inherit != p->target.inherits)
			return false;
	return target.is_known && target.tid == p->target.tid &&
	       target.thread == p->target.thread && digest(o) == p->shadow.digest;
}

/* After a failed scan, opens them again. */
bool sp_percpu_matches(struct sp_percpu *p, const struct sp_perf_fds *perf_fds)
{
	uint32_t changes = load_relaxed(&perf_fds->changes);

	/* another thread may be scanning it */
	if (!load_relaxed(&p->clock) || load_relaxed(&p->scan.failure) != SP_WHY_NONE ||
	    load_relaxed(&p->period.was_unwatched))
		return false;
	if (load_relaxed(&p->fast.changes) != changes && is_same_target(p, perf_fds))
		store_relaxed(&p->fast.changes, changes);
	return load_relaxed(&p->fast.changes) == changes;
}

/* Linux numbers its PMUs from 0. A very high number comes from a library that emulates
 * perf_event_open, which offers no shadow counters. */
#define PMUS_OF_LINUX	4096u
static bool is_of_linux(const struct sp_perf_fds *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (o->at[i].attr.type >= PMUS_OF_LINUX)
			return false;
	return o->n != 0;
}

enum sp_attribution sp_percpu_prepare(struct sp_percpu **at, const struct sp_percpu_request *w,
				      enum sp_why *why)
{
	enum sp_attribution how = SP_BY_READING;
	struct sp_percpu *p = load_relaxed(at);
	struct sp_clock *clock;
	uint64_t begun;
	enum sp_why limit;

	*why = SP_WHY_NONE;
	if (p && p->period.was_unwatched && choose_method(w, &limit) == SP_BY_READING)
		/* some watched CPUs are better than none */
		store_relaxed(&p->period.was_unwatched, false);
	if (fits(p, w) && sp_percpu_take_here(p)) {
		if (!w->is_own && p->target.is_own) {
			store_relaxed(&p->sharing.is_shared, true);
			store_relaxed(&p->sharing.was_read_elsewhere, true);
		}
		reset_proven(p);
		sp_percpu_give(p);
		*why = p->why;
		return p->kind;
	}
	clock = p ? load_relaxed(&p->clock) : NULL;
	if (clock && p->period.was_unwatched)
		clock->is_stale = true;
	sp_percpu_drop(at);
	if (sp_conf.attribution == SP_BY_READING)
		return SP_BY_READING;
	if (w->k > SP_MAX_PERCPU_EVENTS)
		*why = SP_WHY_MANY;
	else if (!sp_conf.descriptors)
		*why = SP_WHY_OFF;
	else if (w->multiplexed && sp_conf.attribution == SP_BY_AUTO)	/* it is never proven */
		*why = SP_WHY_MULTIPLEXED;
	else if (!is_of_linux(w->perf_fds))
		*why = SP_WHY_UNSEEN;
	else if (sp_seccomp_filters() != w->perf_fds->seccomp_filters)
		*why = SP_WHY_FILTER;
	else
		how = choose_method(w, why);
	if (how == SP_BY_READING)
		return SP_BY_READING;
	begun = sp_clock_own_ns();
	p = open_percpu(w, how, why);
	sp_budget_charge(&sp_process.budget, &sp_process.budget.open, sp_clock_own_ns() - begun,
			 p ? p->n * (how == SP_BY_EXACT ? count_fds_per_cpu(w) : 1) + SP_OWN_FDS
			   : 0);
	if (!p)
		return SP_BY_READING;
	sp_shadow_reserve_scan(p);
	*why = p->why;
	store_release(at, p);		/* from now on other threads may scan it */
	return p->kind;
}

/* ---- one more CPU -------------------------------------------------------------- */

static bool open_groups(struct sp_percpu *p, struct sp_percpu_cpu *c, const struct sp_perf_fds *o)
{
	for (int g = 0; g < SP_GROUPS; g++)
		if (p->shadow.leader[g] >= 0 && open_group(p, c, o, (enum sp_group)g) < 0)
			return false;
	if (p->shadow.has_hardware && p->clock->counting == p &&
	    c->fd[p->shadow.leader[SP_HARDWARE]] >= 0)
		(void)sp_counter_switch(c->fd[p->shadow.leader[SP_HARDWARE]], true);
	return !p->has_times || c->fd[p->shadow.leader[SP_SOFTWARE]] >= 0;
}

/* Opens shadow counters as CPU i, which has none. False: nothing stays open. */
static bool open_cpu(struct sp_percpu *p, uint32_t i, const struct sp_perf_fds *o, int cpu)
{
	struct sp_percpu_cpu *c = &p->cpu[i];
	struct sp_clock_sample sample = { .ran = 0 };
	int at = p->has_times ? 0 : sp_clock_add_cpu(p->clock, cpu);

	if (at < 0)
		return false;
	*c = (struct sp_percpu_cpu){ .cpu = cpu,
				     .fd = c->fd,
				     .prev_value = c->prev_value,
				     .value = c->value,
				     .attributed_value = c->attributed_value };
	for (uint32_t e = 0; e < p->natives; e++)
		c->fd[e] = -1;
	memset(c->value, 0, 3 * p->k * sizeof(*c->value));
	if (open_groups(p, c, o)) {
		p->times.at[i] =
			p->has_times
				? (struct sp_residency_at){ .fd = c->fd[p->shadow.leader
										[SP_SOFTWARE]],
							    .words = 3 +
								     p->shadow.size[SP_SOFTWARE] }
				: p->clock->times.at[at];
		if (sp_residency_read(&p->times.at[i], &sample)) {
			c->now = c->prev =
				(struct sp_cpu_times){ .low = sample.ran, .high = sample.ran };
			c->attributed_ns = sample.ran;
			return true;
		}
	}
	for (int g = 0; g < SP_GROUPS; g++)
		close_cpu(p, c, (enum sp_group)g);
	c->cpu = SP_NO_CPU;
	p->times.at[i].fd = -1;
	return false;
}

/* Counts there begin at 0: earlier ones there are proven or in `elsewhere`. */
static bool add_cpu(struct sp_percpu *p, const struct sp_perf_fds *o, int cpu)
{
	if (p->n == p->room || !open_cpu(p, p->n, o, cpu))
		return false;
	for (uint32_t e = 0; e < p->k; e++)
		sp_window_add(&p->window[e]);
	p->times.n = ++p->n;
	return true;
}

static bool may_replace(const struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->sum[e].can_fall)
			return false;
	return p->has_times;
}

static void replace_cpu(struct sp_percpu *p, const struct sp_perf_fds *o, int cpu)
{
	uint32_t i = 0;

	for (uint32_t c = 1; c < p->n; c++)
		i = p->cpu[c].last_seen < p->cpu[i].last_seen ? c : i;
	for (int g = 0; g < SP_GROUPS; g++)
		close_cpu(p, &p->cpu[i], (enum sp_group)g);
	for (uint32_t e = 0; e < p->k; e++)
		p->parts.elsewhere[e] += sp_window_replace(&p->window[e], i);
	if (p->attributed.home == (int)i)
		p->attributed.home = -1;
	if (p->home_off.index == (int)i)
		p->home_off.index = -1;
	(void)open_cpu(p, i, o, cpu);
}

bool sp_shadow_follow(struct sp_percpu *p, const struct sp_perf_fds *o, int cpu)
{
	uint64_t begun = sp_clock_own_ns();
	uint32_t fds_per_cpu = p->natives + !p->has_times;
	bool is_watched;

	if (!sp_clock_may_follow(fds_per_cpu))
		return false;
	is_watched = add_cpu(p, o, cpu);
	if (!is_watched && may_replace(p)) {
		replace_cpu(p, o, cpu);
		is_watched = true;
	}
	if (is_watched) { /* the last scan's sum used other events */
		sp_residency_forget(&p->times);
		p->scan.last.sum = (struct sp_clock_sum){ .is_known = false };
	}
	sp_budget_charge(&sp_process.budget, &sp_process.budget.open, sp_clock_own_ns() - begun,
			 fds_per_cpu);
	return is_watched;
}

void sp_shadow_add_cpus(struct sp_percpu *p, const struct sp_perf_fds *o,
			const struct sp_cpus *more)
{
	uint64_t begun = sp_clock_own_ns();
	uint32_t n = p->n, fds_per_cpu = p->natives + !p->has_times;

	for (uint32_t cpu = 0; cpu < SP_MAX_CPUS; cpu++) {
		uint32_t i = 0;

		while (i < p->n && p->cpu[i].cpu != (int)cpu)
			i++;
		if (!sp_cpus_has(more, cpu) || i < p->n)
			continue;
		if ((sp_conf.attribution == SP_BY_AUTO &&
		     !sp_clock_can_afford(sp_budget_open(&sp_process.budget, fds_per_cpu))) ||
		    !add_cpu(p, o, (int)cpu))
			break;
	}
	if (p->n == n)
		return;
	sp_residency_forget(&p->times);
	sp_budget_charge(&sp_process.budget, &sp_process.budget.open, sp_clock_own_ns() - begun,
			 (p->n - n) * fds_per_cpu);
}

/* ---- starting ------------------------------------------------------------------ */

static void switch_hardware(struct sp_percpu *p, bool on)
{
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t e = 0; e < p->natives; e++)
			if (p->shadow.group[e] == SP_HARDWARE && p->cpu[i].fd[e] >= 0 &&
			    ((int)e == p->shadow.leader[SP_HARDWARE] || p->target.inherits))
				(void)sp_counter_switch(p->cpu[i].fd[e], on);
	store_relaxed(&p->fast.is_ready, 0);
	p->scan.has_baseline = false;
	p->shadow.is_displaced = !on;
	p->home_off.index = -1;
}

/* Closes flexible counters that never ran next to PAPI's, since they keep the kernel's timer
 * going. */
static void close_starved(struct sp_percpu *p)
{
	sp_lifetime_close(p, SP_HARDWARE);
	p->shadow.leader[SP_HARDWARE] = -1;
	p->shadow.has_hardware = false;
	p->why = SP_WHY_STARVED;
	p->shadow.starved_windows = 0;
	if (p->shadow.leader[SP_SOFTWARE] < 0)
		p->kind = SP_BY_RESIDENCY;
}

/* Leaves the few hardware counters to the set that the thread uses right now. */
static void switch_counting(struct sp_percpu *p)
{
	struct sp_clock *c = p->clock;
	struct sp_percpu *before;

	if (c->counting == p || (!p->shadow.has_hardware && p->why != SP_WHY_MULTIPLEXED))
		return;
	before = sp_lifetime_set_counting(c, p->shadow.has_hardware ? p : NULL);
	if (before) {
		switch_hardware(before, false);
		sp_percpu_give(before);
	}
	if (p->shadow.has_hardware)
		switch_hardware(p, true);
}

void sp_shadow_before_start(struct sp_percpu *p)
{
	if (p->shadow.starved_windows >= MAX_STARVED_WINDOWS)
		close_starved(p);
	if (p->clock)
		switch_counting(p);
}

void sp_percpu_allowed(const struct sp_percpu *p, char *text, size_t n)
{
	struct sp_out o;

	sp_out_init(&o, -1, text, n - 1);
	sp_out_cpu_list(&o, p->shadow.allowed.word, sizeof(p->shadow.allowed.word));
	text[o.error ? 0 : o.used] = 0;
}

void sp_percpu_error_margins(const struct sp_percpu *p, uint64_t *edge)
{
	for (uint32_t e = 0; e < p->k; e++)
		edge[e] = p->sum[e].margin;
}

bool sp_percpu_counts_moves(const struct sp_percpu *p)
{
	return p->clock && p->clock->moves_fd >= 0;
}
