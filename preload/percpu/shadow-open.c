/* shadow-open.c: what is opened for a set's split, and what is given back; see percpu.h. */
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

#define PERCPU_EACH	32u		/* of a thread: a process that ends closes what it has, 4 us
					 * each */
#define STARVED		16u		/* windows until counters that never run are closed */

bool sp_one_clock;
uint64_t sp_tick_ns = 1ull << 32;
SP_AT_START static uint64_t first_ticks, first_ns;

/* ---- once in a process ------------------------------------------------------- */

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
	sp_one_clock = one_clock();
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

/* ---- opening --------------------------------------------------------------------- */

static bool is_software(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE;
}

/* As PAPI's, but that it samples nothing, never takes a counter that another one has, and is read
 * whole. */
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

/* What one CPU cannot count is that CPU's matter: on a machine with cores of two kinds an event is
 * some CPUs'. */
static bool is_of_cpu(int error)
{
	return error == -ENOENT || error == -ENODEV || error == -EINVAL || error == -EOPNOTSUPP;
}

static void close_cpu(struct sp_percpu *p, struct sp_percpu_cpu *c, enum sp_group g)
{
	for (uint32_t i = p->natives; i-- > 0;)
		if (p->perf_fds.group[i] == g) {
			sp_counter_close(c->fd[i]);
			c->fd[i] = -1;
		}
}

/* Can this CPU count none of the group?  Then nor can PAPI's counters, which are the same events:
 * ENOENT says that no PMU of this CPU has the event.  (A tracepoint beside an event of one kind of
 * cores counts on all.) */
static bool lacks_events(const struct sp_percpu *p, const struct sp_percpu_cpu *c,
			 const struct sp_perf_fds *o, enum sp_group g)
{
	for (uint32_t i = 0; i < p->natives; i++) {
		struct perf_event_attr a;
		int fd;

		if (p->perf_fds.group[i] != g || !sp_pmu_is_on(&o->at[i].attr, c->cpu))
			continue;
		a = attr_of(&o->at[i], true, p->target.inherits);
		fd = sp_counter_open(&a, p->target.tid, c->cpu, -1);
		sp_counter_close(fd);
		if (fd != -ENOENT)
			return false;
	}
	return true;
}

/* One group on one CPU; 0, 1: the CPU cannot count it, or -errno. */
static int open_group(struct sp_percpu *p, struct sp_percpu_cpu *c, const struct sp_perf_fds *o,
		      enum sp_group g)
{
	int leader = -1;

	for (uint32_t i = 0; i < p->natives; i++) {
		struct perf_event_attr a;

		if (p->perf_fds.group[i] != g)
			continue;
		a = attr_of(&o->at[i], leader < 0, p->target.inherits);
		c->fd[i] = sp_pmu_is_on(&a, c->cpu)
				   ? sp_counter_open(&a, p->target.tid, c->cpu, leader)
				   : -ENOENT;
		if (is_of_cpu(c->fd[i])) {
			c->blind |= c->fd[i] == -EINVAL || c->fd[i] == -EOPNOTSUPP;
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

/* Only the first n CPUs are watched. */
static void leave(struct sp_percpu *p, uint32_t n)
{
	for (uint32_t i = p->n; i-- > n;)
		for (int g = SP_GROUPS; g-- > 0;)
			close_cpu(p, &p->cpu[i], (enum sp_group)g);
	p->n = n;
}

/* (Where a CPU has no such event, nobody refused anything.) */
static enum sp_why why_not(int error)
{
	return error == -ENOENT			      ? SP_WHY_UNWATCHED
	       : error == -EDQUOT		      ? SP_WHY_BUDGET
	       : error == -EMFILE || error == -ENFILE ? SP_WHY_DESCRIPTORS
	       : error == -ENOMEM		      ? SP_WHY_MEMORY
	       : error == -ESRCH		      ? SP_WHY_ENDED
						      : SP_WHY_REFUSED;
}

/* Room is made by what this thread's other sets hold. */
static int open_everywhere(struct sp_percpu *p, const struct sp_perf_fds *o, enum sp_group g)
{
	bool blind = false;
	uint32_t have = 0;
	int r = 0;

	for (uint32_t i = 0; i < p->n && r >= 0; i++) {
		r = open_group(p, &p->cpu[i], o, g);
		have += r == 0;
		blind = blind || p->cpu[i].blind;
		if (r != -EDQUOT && r != -EMFILE)
			continue;
		if (sp_lifetime_close_oldest(p->clock, p)) {
			sp_lifetime_close(p, (int)g);
			i = UINT32_MAX;		/* from the first one again */
			r = have = 0;
		} else if (have) {		/* the nearest have theirs, and are watched */
			leave(p, i);
			p->clock->limit = why_not(r);
			r = 0;
		}
	}
	if (r >= 0 && !have)
		r = blind ? -EINVAL : -ENOENT;
	if (r < 0)
		sp_lifetime_close(p, (int)g);
	return r;
}

static void open_counters(struct sp_percpu *p, const struct sp_perf_fds *o)
{
	bool any = false;

	for (int g = 0; g < SP_GROUPS; g++) {
		int r;

		p->perf_fds.leader[g] = -1;
		p->perf_fds.size[g] = 0;
		for (uint32_t i = p->natives; i-- > 0;)
			if (p->perf_fds.group[i] == g) {
				p->perf_fds.leader[g] = (int)i;
				p->perf_fds.size[g]++;
			}
		if (p->perf_fds.leader[g] < 0)
			continue;
		r = open_everywhere(p, o, (enum sp_group)g);
		any = any || r >= 0;
		if (r < 0) {
			p->perf_fds.leader[g] = -1;
			p->why = why_not(r);
		}
	}
	p->perf_fds.counts = p->perf_fds.leader[SP_HARDWARE] >= 0;
	if (!any)
		p->kind = SP_BY_RESIDENCY;
}

/* Whose running times are the thread's: those of the copies of software's events, which always run,
 * if each CPU has some. (Of children that inherit the kernel brings the times up to date at
 * different moments.)  False: *why is why not. */
static bool find_times(struct sp_percpu *p, enum sp_why *why)
{
	int leads = p->perf_fds.leader[SP_SOFTWARE], r;

	p->times.n = p->n;
	p->has_times = leads >= 0 && !p->target.inherits;
	for (uint32_t i = 0; i < p->n && p->has_times; i++) {
		p->times.at[i] =
			(struct sp_residency_at){ .fd = p->cpu[i].fd[leads],
						  .words = 3 + p->perf_fds.size[SP_SOFTWARE] };
		p->has_times = p->cpu[i].fd[leads] >= 0;
	}
	sp_residency_forget(&p->times);
	if (p->has_times)
		return true;
	r = sp_clock_time(p->clock);
	if (r < 0) {
		*why = why_not(r);
		return false;
	}
	memcpy(p->times.at, p->clock->times.at, p->n * sizeof(*p->times.at));
	return true;
}

/* ---- what is wanted ------------------------------------------------------------------ */

/* Copies of CPU-CLOCK differ from PAPI's by some 100 ns a move, at times by 50 us; TASK-CLOCK is
 * exact. */
static bool is_clock(const struct sp_native *n)
{
	return is_software(&n->attr) && n->attr.config == PERF_COUNT_SW_CPU_CLOCK;
}

/* Some dozen instructions of the kernel's on its way to a counter; software's events are exact. */
static uint64_t edge_of(const struct sp_native *n)
{
	return is_software(&n->attr) ? 0 : 100;
}

/* PAPI opens natives in the order in which events brought them. */
static uint32_t native_index(uint32_t *code, uint32_t *n, uint32_t is)
{
	uint32_t i = 0;

	while (i < *n && code[i] != is)
		i++;
	if (i == *n && *n < SP_NATIVES_MOST)
		code[(*n)++] = is;
	return i;
}

static bool sum_up(struct sp_percpu *p, const struct sp_percpu_want *w)
{
	uint32_t code[SP_NATIVES_MOST], n = 0;

	for (uint32_t e = 0; e < w->k; e++) {
		const struct sp_terms *t = w->terms[e];

		p->sum[e].n = t->n;
		for (uint32_t i = 0; i < t->n; i++) {
			uint32_t at = native_index(code, &n, t->native[i]);

			if (at >= w->perf_fds->n)
				return false;
			p->sum[e].native[i] = (uint8_t)at;
			p->sum[e].factor[i] = t->factor[i];
			p->sum[e].edge +=
				(uint64_t)((t->factor[i] < 0 ? -t->factor[i] : t->factor[i]) *
					   (double)edge_of(&w->perf_fds->at[at]));
			p->sum[e].clock |= is_clock(&w->perf_fds->at[at]);
			p->sum[e].falls |= t->factor[i] < 0;
			p->sum[e].timed |=
				is_software(&w->perf_fds->at[at].attr) &&
				w->perf_fds->at[at].attr.config <= PERF_COUNT_SW_TASK_CLOCK;
			p->sum[e].hardware |= !is_software(&w->perf_fds->at[at].attr);
		}
	}
	return n == w->perf_fds->n;
}

/* fn of each native of the event, until it says false.  False, too: PAPI has not opened what the
 * set's events are made of. */
static bool each_native(const struct sp_percpu_want *w,
			bool (*fn)(const struct sp_native *n, void *arg), uint32_t event, void *arg)
{
	uint32_t code[SP_NATIVES_MOST], n = 0;
	bool all = w->k <= SP_PERCPU_EVENTS && !w->perf_fds->more && !w->perf_fds->reordered;

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

uint32_t sp_percpu_domain(const struct sp_percpu_want *w, uint32_t event)
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

const char *sp_percpu_pmu(const struct sp_percpu_want *w, uint32_t event)
{
	const char *name = NULL;

	return sp_pmus_differ() && each_native(w, is_one_pmu, event, &name) ? name : NULL;
}

static enum sp_why obstacle(const struct sp_percpu_want *w)
{
	if (w->multiplexed)
		return SP_WHY_MULTIPLEXED;
	if (w->perf_fds->reordered)
		return SP_WHY_UNSEEN;
	if (w->perf_fds->more)
		return SP_WHY_MANY;
	for (uint32_t e = 0; e < w->k; e++)
		if (!w->terms[e]->n)
			return SP_WHY_FORMULA;
	for (uint32_t i = 0; i < w->perf_fds->n; i++)
		if (!sp_pmu_is_known(&w->perf_fds->at[i].attr))
			return SP_WHY_UNSEEN;
	return SP_WHY_NONE;
}

static uint64_t mix(uint64_t d, uint64_t word)
{
	d = (d ^ word) * 0x9e3779b97f4a7c15ull;
	return d ^ d >> 29;
}

/* `inherit` is left out and compared separately: an option sets it for our events before PAPI sets
 * it for its own. By words: PAPI opens the events of two sets that a thread starts in turn at each
 * start. */
static uint64_t digest(const struct sp_perf_fds *o)
{
	uint64_t d = SP_DIGEST + o->n + o->more, word[sizeof(struct perf_event_attr) / 8];

	_Static_assert(sizeof(struct perf_event_attr) % 8 == 0, "whole words");
	for (uint32_t i = 0; i < o->n; i++) {
		struct perf_event_attr a = o->at[i].attr;

		a.inherit = 0;
		memcpy(word, &a, sizeof(word));
		for (size_t w = 0; w < SP_COUNT(word); w++)
			d = mix(d, word[w]);
		d = mix(d, (uint32_t)o->at[i].cpu);
	}
	return d;
}

static struct sp_percpu *make(const struct sp_percpu_want *w, struct sp_clock *c)
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
	p = sp_lifetime_memory(end);
	if (!p)
		return NULL;
	p->bytes = end;
	p->sum = (void *)((char *)p + sum);
	p->cpu = (void *)((char *)p + cpus);
	p->window = (void *)((char *)p + windows);
	p->parts.at = (int64_t *)((char *)p + shares);
	p->parts.proven = p->parts.at + (n + 1) * k;
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
		p->cpu[i].mark_value = p->cpu[i].value + k;
		p->cpu[i].booked_value = p->cpu[i].mark_value + k;
		p->cpu[i].fd = (int *)((char *)p + fds) + i * natives;
		for (uint32_t e = 0; e < natives; e++)
			p->cpu[i].fd[e] = -1;
	}
	p->unread.owed = (int64_t *)((char *)p + values) + 3 * n * k;
	p->beside.papi = p->unread.owed + k;
	p->beside.least = p->beside.papi + k;
	p->beside.most = p->beside.least + k;
	p->parts.elsewhere = p->beside.most + k;
	p->times.at = (void *)((char *)p + times);
	p->clock = c;
	p->perf_fds.may = c->may;
	p->n = c->n;
	p->room = (uint32_t)n;
	p->k = (uint32_t)k;
	p->target.tid = w->tid;
	p->target.thread = w->perf_fds->at->thread;
	p->target.own = w->own && !w->inherits;
	p->target.inherits = w->inherits;
	p->fast.changes = w->perf_fds->changes;
	p->perf_fds.digest = digest(w->perf_fds);
	p->target.foreign = w->perf_fds->opener != sp_thread_state.tid;
	p->perf_fds.leader[0] = p->perf_fds.leader[1] = -1;
	p->segment.home = p->booked_ns.home = p->rest.at = -1;
	p->others.where = SP_NO_CPU;
	return p;
}

static void make_windows(struct sp_percpu *p)
{
	struct sp_window_cpu *cpu = (void *)(p->window + p->k);

	for (uint32_t e = 0; e < p->k; e++)
		sp_window_init(&p->window[e], cpu + (uint64_t)e * p->room, p->n, p->sum[e].falls);
}

/* Descriptors for each CPU. */
static uint32_t each_of(const struct sp_percpu_want *w)
{
	for (uint32_t i = 0; i < w->perf_fds->n && !w->inherits; i++)
		if (is_software(&w->perf_fds->at[i].attr))
			return w->perf_fds->n;
	return w->perf_fds->n + 1;
}

/* Hardware counters of an own set may be off where its thread stays (home-off.h). (Before Linux 6.2
 * they tell there how long the others should have run.) */
static bool can_switch_off(const struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++)
		if (p->sum[e].hardware && (p->sum[e].falls || p->sum[e].clock))
			return false;
	return sp_one_clock && p->target.own && !p->target.foreign && p->kind == SP_BY_EXACT &&
	       p->perf_fds.counts;
}

/* With its clock, and counters where they can be had and there is credit for them: by `how`, and
 * else *why says why not. */
static struct sp_percpu *open_percpu(const struct sp_percpu_want *w, enum sp_attribution how,
				     enum sp_why *why)
{
	uint32_t each = how == SP_BY_EXACT ? each_of(w) : 1;
	struct sp_clock *c;
	struct sp_percpu *p;
	int error = 0;

	c = w->own && !w->inherits ? sp_lifetime_own(each, &error)
				   : sp_lifetime_other(w->tid, w->inherits, each, &error);
	p = c ? make(w, c) : NULL;
	if (!p) {
		*why = c ? SP_WHY_MEMORY : why_not(error);
		sp_lifetime_drop(c);
		return NULL;
	}
	p->kind = how;
	p->why = sp_conf.attribution == SP_BY_RESIDENCY ? SP_WHY_NONE : obstacle(w);
	if (p->why == SP_WHY_NONE)
		p->why = *why;
	if (p->why == SP_WHY_NONE && p->kind == SP_BY_EXACT && !sum_up(p, w))
		p->why = SP_WHY_UNSEEN;
	if (p->kind == SP_BY_EXACT && p->why == SP_WHY_NONE) {
		p->natives = w->perf_fds->n;
		for (uint32_t i = 0; i < p->natives; i++)
			p->perf_fds.group[i] =
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
	p->rest.can = can_switch_off(p);
	if (p->target.own && sp_lifetime_count(c) >= PERCPU_EACH)
		(void)sp_lifetime_close_oldest(c, p);
	sp_lifetime_add(c, p);
	return p;
}

/* What the setting asks for, as far as auto can pay for it; else *why is why not. */
static enum sp_attribution affords(const struct sp_percpu_want *w, enum sp_why *why)
{
	enum sp_attribution how = (enum sp_attribution)sp_conf.attribution;

	if (how == SP_BY_AUTO)
		how = sp_lifetime_affordable(w->tid, w->own && !w->inherits, each_of(w), why);
	if (how == SP_BY_EXACT || sp_conf.attribution != SP_BY_AUTO)
		*why = SP_WHY_NONE;
	return how;
}

void sp_plan_keeps(struct sp_percpu *p)
{
	uint64_t ns = sp_budget_scan(&sp_process.budget, p->n);

	/* (The opening has counted on the first one.) */
	if (p->unread.reserved_ns || sp_conf.attribution != SP_BY_AUTO ||
	    (p->scan.marked && !sp_clock_can_afford(ns)))
		return;
	sp_add(&sp_process.budget.used_ns, ns);
	p->unread.reserved_ns = ns;
}

static bool fits(struct sp_percpu *p, const struct sp_percpu_want *w)
{
	/* (A thread's own that another one starts is shared from then on.) */
	return p && sp_percpu_matches(p, w->perf_fds) && p->target.tid == w->tid &&
	       (p->target.own || !w->own || w->inherits) && p->target.inherits == w->inherits &&
	       p->k == w->k && (p->kind == SP_BY_APPROXIMATE) == (w->overflows && p->natives);
}

/* It goes on for another relation: what is booked there is not what is proven here. */
static void reset_proven(struct sp_percpu *p)
{
	for (uint32_t e = 0; e < p->k; e++) {
		for (uint32_t i = 0; i < p->n; i++) {
			struct sp_window_cpu *c = &p->window[e].cpu[i];

			c->total = c->reported = c->proven;
		}
		p->parts.elsewhere[e] = 0;
	}
	p->segment.open_why = SP_WHY_NONE;
}

static bool is_same(const struct sp_percpu *p, const struct sp_perf_fds *o)
{
	struct sp_count_target is = sp_count_target(o);

	for (uint32_t i = 0; i < o->n; i++)
		if (o->at[i].attr.inherit != p->target.inherits)
			return false;
	return is.known && is.tid == p->target.tid && is.thread == p->target.thread &&
	       digest(o) == p->perf_fds.digest;
}

/* A scan that failed says so: it is opened anew. */
bool sp_percpu_matches(struct sp_percpu *p, const struct sp_perf_fds *perf_fds)
{
	if (!p->clock || p->scan.trouble != SP_WHY_NONE || p->segment.wide)
		return false;
	if (p->fast.changes != perf_fds->changes && is_same(p, perf_fds))
		p->fast.changes = perf_fds->changes;
	return p->fast.changes == perf_fds->changes;
}

/* Linux numbers its PMUs from 0: of a number far above somebody in front of the kernel counts, and
 * copies can be had of nobody. */
#define PMUS_OF_LINUX	4096u
static bool is_of_linux(const struct sp_perf_fds *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (o->at[i].attr.type >= PMUS_OF_LINUX)
			return false;
	return o->n != 0;
}

enum sp_attribution sp_percpu_prepare(struct sp_percpu **at, const struct sp_percpu_want *w,
				      enum sp_why *why)
{
	enum sp_attribution how = SP_BY_READING;
	struct sp_clock *clock;
	uint64_t begun;
	enum sp_why limit;

	*why = SP_WHY_NONE;
	if (*at && (*at)->segment.wide && affords(w, &limit) == SP_BY_READING)
		(*at)->segment.wide = false;		/* a partial watch is better than none */
	if (fits(*at, w)) {
		if (!w->own && (*at)->target.own)
			(*at)->others.shared = (*at)->others.visited = true;
		reset_proven(*at);
		*why = (*at)->why;
		return (*at)->kind;
	}
	clock = *at ? load_relaxed(&(*at)->clock) : NULL;
	if (clock && (*at)->segment.wide)
		clock->stale = true;
	sp_percpu_drop(at);
	if (sp_conf.attribution == SP_BY_READING)
		return SP_BY_READING;
	if (w->k > SP_PERCPU_EVENTS)
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
		how = affords(w, why);
	if (how == SP_BY_READING)
		return SP_BY_READING;
	begun = sp_clock_own_ns();
	*at = open_percpu(w, how, why);
	sp_budget_charge(&sp_process.budget, &sp_process.budget.open, sp_clock_own_ns() - begun,
			 *at ? (*at)->n * (how == SP_BY_EXACT ? each_of(w) : 1) + SP_OWN_FDS : 0);
	if (!*at)
		return SP_BY_READING;
	sp_plan_keeps(*at);
	*why = (*at)->why;
	return (*at)->kind;
}

/* ---- a CPU more ------------------------------------------------------------------------ */

static bool open_more(struct sp_percpu *p, struct sp_percpu_cpu *c, const struct sp_perf_fds *o)
{
	for (int g = 0; g < SP_GROUPS; g++)
		if (p->perf_fds.leader[g] >= 0 && open_group(p, c, o, (enum sp_group)g) < 0)
			return false;
	if (p->perf_fds.counts && p->clock->counting == p &&
	    c->fd[p->perf_fds.leader[SP_HARDWARE]] >= 0)
		(void)sp_counter_switch(c->fd[p->perf_fds.leader[SP_HARDWARE]], true);
	return !p->has_times || c->fd[p->perf_fds.leader[SP_SOFTWARE]] >= 0;
}

/* Opens shadow counters as CPU i of p, which has none.  False: nothing stays open. */
static bool open_cpu(struct sp_percpu *p, uint32_t i, const struct sp_perf_fds *o, int cpu)
{
	struct sp_percpu_cpu *c = &p->cpu[i];
	struct sp_clock_sample sample = { .ran = 0 };
	int at = p->has_times ? 0 : sp_clock_add(p->clock, cpu);

	if (at < 0)
		return false;
	*c = (struct sp_percpu_cpu){ .cpu = cpu,
				     .fd = c->fd,
				     .mark_value = c->mark_value,
				     .value = c->value,
				     .booked_value = c->booked_value };
	for (uint32_t e = 0; e < p->natives; e++)
		c->fd[e] = -1;
	memset(c->value, 0, 3 * p->k * sizeof(*c->value));
	if (open_more(p, c, o)) {
		p->times.at[i] =
			p->has_times
				? (struct sp_residency_at){ .fd = c->fd[p->perf_fds.leader
										[SP_SOFTWARE]],
							    .words = 3 +
								     p->perf_fds.size[SP_SOFTWARE] }
				: p->clock->times.at[at];
		if (sp_residency_read(&p->times.at[i], &sample)) {
			c->now = c->mark =
				(struct sp_seen_at){ .low = sample.ran, .high = sample.ran };
			c->booked_ns = sample.ran;
			return true;
		}
	}
	for (int g = 0; g < SP_GROUPS; g++)
		close_cpu(p, c, (enum sp_group)g);
	c->cpu = SP_NO_CPU;
	p->times.at[i].fd = -1;
	return false;
}

/* The counts there start at 0: what the set has counted there before is proven, or elsewhere. */
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
		if (p->sum[e].falls)
			return false;
	return p->has_times;
}

static void replace_cpu(struct sp_percpu *p, const struct sp_perf_fds *o, int cpu)
{
	uint32_t i = 0;

	for (uint32_t c = 1; c < p->n; c++)
		i = p->cpu[c].seen < p->cpu[i].seen ? c : i;
	for (int g = 0; g < SP_GROUPS; g++)
		close_cpu(p, &p->cpu[i], (enum sp_group)g);
	for (uint32_t e = 0; e < p->k; e++)
		p->parts.elsewhere[e] += sp_window_replace(&p->window[e], i);
	if (p->booked_ns.home == (int)i)
		p->booked_ns.home = -1;
	if (p->rest.at == (int)i)
		p->rest.at = -1;
	(void)open_cpu(p, i, o, cpu);
}

bool sp_plan_follow(struct sp_percpu *p, const struct sp_perf_fds *o, int cpu)
{
	uint64_t begun = sp_clock_own_ns();
	uint32_t each = p->natives + !p->has_times;
	bool is;

	if (!sp_clock_may_follow(each))
		return false;
	is = add_cpu(p, o, cpu);
	if (!is && may_replace(p)) {
		replace_cpu(p, o, cpu);
		is = true;
	}
	if (is) {			/* by other events: what the last scan says of all is
					 * over */
		sp_residency_forget(&p->times);
		p->scan.last.sum = (struct sp_clock_sum){ .known = false };
	}
	sp_budget_charge(&sp_process.budget, &sp_process.budget.open, sp_clock_own_ns() - begun,
			 each);
	return is;
}

void sp_plan_add(struct sp_percpu *p, const struct sp_perf_fds *o, const struct sp_cpus *more)
{
	uint64_t begun = sp_clock_own_ns();
	uint32_t n = p->n, each = p->natives + !p->has_times;

	for (uint32_t cpu = 0; cpu < SP_CPUS_MOST; cpu++) {
		uint32_t i = 0;

		while (i < p->n && p->cpu[i].cpu != (int)cpu)
			i++;
		if (!sp_cpus_has(more, cpu) || i < p->n)
			continue;
		if ((sp_conf.attribution == SP_BY_AUTO &&
		     !sp_clock_can_afford(sp_budget_open(&sp_process.budget, each))) ||
		    !add_cpu(p, o, (int)cpu))
			break;
	}
	if (p->n == n)
		return;
	sp_residency_forget(&p->times);
	sp_budget_charge(&sp_process.budget, &sp_process.budget.open, sp_clock_own_ns() - begun,
			 (p->n - n) * each);
}

/* ---- starting ----------------------------------------------------------------------- */

static void turn(struct sp_percpu *p, bool on)
{
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t e = 0; e < p->natives; e++)
			if (p->perf_fds.group[e] == SP_HARDWARE && p->cpu[i].fd[e] >= 0 &&
			    ((int)e == p->perf_fds.leader[SP_HARDWARE] || p->target.inherits))
				(void)sp_counter_switch(p->cpu[i].fd[e], on);
	store_relaxed(&p->fast.ready, 0);
	p->scan.marked = false;
	p->perf_fds.is_displaced = !on;
	p->rest.at = -1;
}

/* Counters that found no place beside PAPI's own: flexible ones that never fit keep the kernel's
 * timer going. */
static void close_starved(struct sp_percpu *p)
{
	sp_lifetime_close(p, SP_HARDWARE);
	p->perf_fds.leader[SP_HARDWARE] = -1;
	p->perf_fds.counts = false;
	p->why = SP_WHY_STARVED;
	p->perf_fds.starving = 0;
	if (p->perf_fds.leader[SP_SOFTWARE] < 0)
		p->kind = SP_BY_RESIDENCY;
}

/* Hardware's counters are few: those of the set that a thread uses right now. */
static void change_counting(struct sp_percpu *p)
{
	struct sp_clock *c = p->clock;
	struct sp_percpu *before;

	if (c->counting == p || (!p->perf_fds.counts && p->why != SP_WHY_MULTIPLEXED))
		return;
	before = sp_lifetime_counts(c, p->perf_fds.counts ? p : NULL);
	if (before) {
		turn(before, false);
		sp_percpu_give(before);
	}
	if (p->perf_fds.counts)
		turn(p, true);
}

void sp_plan_starts(struct sp_percpu *p)
{
	if (p->perf_fds.starving >= STARVED)
		close_starved(p);
	if (p->clock)
		change_counting(p);
}

void sp_percpu_allowed(const struct sp_percpu *p, char *text, size_t n)
{
	struct sp_out o;

	sp_out_init(&o, -1, text, n - 1);
	sp_out_cpu_list(&o, p->perf_fds.may.word, sizeof(p->perf_fds.may.word));
	text[o.error ? 0 : o.used] = 0;
}

void sp_percpu_edges(const struct sp_percpu *p, uint64_t *edge)
{
	for (uint32_t e = 0; e < p->k; e++)
		edge[e] = p->sum[e].edge;
}

bool sp_percpu_counts_moves(const struct sp_percpu *p)
{
	return p->clock && p->clock->moves >= 0;
}
