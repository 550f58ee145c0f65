/* clock.c: opens, reads and closes a thread's clock; see clock.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../../core/base/conf.h"
#include "../../core/base/sys.h"
#include "../process/process.h"
#include "clock.h"
#include "shadow-fds.h"
#include "perf-fds.h"
#include "page-proof.h"

uint32_t sp_cpus_online;

/* ---- cost ---------------------------------------------------------------------- */

uint64_t sp_clock_ns(void)
{
	return sp_ns_of(CLOCK_MONOTONIC);
}

/* CPU time, since waiting for a CPU costs nothing. By real time the budget was gone after a tenth
 * of the threads when other programs ran. */
uint64_t sp_clock_own_ns(void)
{
	return sp_ns_of(CLOCK_THREAD_CPUTIME_ID);
}

/* the kernel adds up the time of all threads: 20 us for 1000 */
#define MAX_AGE_NS	10000000u

/* CPU time of the whole process, at most MAX_AGE_NS old. It includes sspapi's own. */
static uint64_t process_cpu_ns(void)
{
	static uint64_t read_at, cpu_ns;
	uint64_t now = sp_clock_ns();

	if (now - load_relaxed(&read_at) > MAX_AGE_NS) {
		store_relaxed(&read_at, now);
		store_relaxed(&cpu_ns, sp_ns_of(CLOCK_PROCESS_CPUTIME_ID));
	}
	return load_relaxed(&cpu_ns);
}

static uint64_t remaining_budget_ns(void)
{
	uint64_t left = sp_budget_left(&sp_process.budget, 0);

	return left > 3 * sp_process.budget.fixed / 4
		       ? left
		       : sp_budget_left(&sp_process.budget, process_cpu_ns());
}

bool sp_clock_can_afford(uint64_t ns)
{
	return ns <= remaining_budget_ns();
}

bool sp_clock_may_follow(uint32_t fds)
{
	return sp_conf.attribution != SP_BY_AUTO ||
	       sp_budget_may_follow(&sp_process.budget, remaining_budget_ns(), fds);
}

bool sp_clock_may_scan(uint32_t cpus)
{
	return sp_conf.attribution != SP_BY_AUTO ||
	       sp_budget_may_scan(&sp_process.budget, remaining_budget_ns(), cpus);
}

/* ---- opening ------------------------------------------------------------------- */

/* The event for times is of a PMU that sets seldom use. PAPI_start makes the kernel (6.18)
 * reschedule each event of the PMU of the events that it switches on, 0.1 us each. Start and stop
 * of two software events took 1.93 us with dummy events here, and 1.78 us with these as well as
 * without any. */
#define TIME	PERF_COUNT_SW_TASK_CLOCK
#define MOVES	PERF_COUNT_SW_CPU_MIGRATIONS

static struct perf_event_attr attr_of(uint64_t event)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = event,
		.exclude_hv = 1,
		/* otherwise perf_event_paranoid 2 refuses it */
		.exclude_kernel = event != MOVES,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
}

static int open_one(int tid, int cpu, bool inherits, uint64_t event, int leader)
{
	struct perf_event_attr a = attr_of(event);

	a.inherit = inherits;
	return sp_counter_open(&a, tid, cpu, leader);
}

static int open_disabled(int tid)
{
	struct perf_event_attr a = attr_of(TIME);

	a.disabled = 1;
	return sp_counter_open(&a, tid, -1, -1);
}

void sp_clock_close(struct sp_clock *c)
{
	sp_page_proof_unmap(c->page);
	sp_counter_close(c->moves_fd);
	sp_counter_close(c->moves_leader);
	sp_counter_close(c->disabled_fd);
	for (uint32_t i = 0; i < c->times.n; i++)
		sp_counter_close(c->times.at[i].fd);
	sp_unmap(c, c->bytes);
}

SP_AT_START static struct sp_cpus at_start;	/* of the process */

static long read_affinity(int tid, struct sp_cpus *m)
{
	memset(m, 0, sizeof(*m));
	return sp_sys(SYS_sched_getaffinity, tid, sizeof(m->word), m->word);
}

void sp_clock_begin(void)
{
	read_affinity(0, &at_start);
}

void sp_clock_budget(void)
{
	sp_process.budget.fixed = sp_budget_fixed(sp_cpus_count(&at_start));
}

/* The number of threads; 1 without /proc. */
static uint32_t count_threads(void)
{
	struct statx x = { .stx_nlink = 0 };

	return sp_sys(SYS_statx, AT_FDCWD, "/proc/self/task", 0, STATX_NLINK, &x) < 0 ||
			       x.stx_nlink < 3
		       ? 1
		       : x.stx_nlink - 2;
}

uint32_t sp_clock_max_cpus(const struct sp_cpus *m, uint32_t fds_per_cpu, uint32_t begun,
			   enum sp_why *limit)
{
	uint32_t cpus = sp_cpus_count(&at_start), n_threads = count_threads(), n = sp_cpus_count(m);
	uint32_t parts = sp_cpu_neighbors_share(cpus, n_threads, begun), by_time = n;
	uint64_t by_fds = sp_counters_left() / parts;

	by_fds = by_fds > SP_OWN_FDS ? (by_fds - SP_OWN_FDS) / fds_per_cpu : 0;
	if (sp_conf.attribution == SP_BY_AUTO)
		by_time = sp_budget_cpus(&sp_process.budget, remaining_budget_ns(), parts, n,
					 fds_per_cpu);
	*limit = n <= sp_min(by_fds, by_time) ? SP_WHY_UNWATCHED
		 : by_fds < by_time	      ? SP_WHY_BUDGET
					      : SP_WHY_CREDIT;
	return (uint32_t)sp_min(n, sp_min(sp_max(by_fds, 1), by_time));
}

long sp_clock_find_cpus(int tid, const struct sp_clock *before, uint32_t fds_per_cpu,
			struct sp_cpus *m)
{
	struct sp_cpus wide;
	long r = read_affinity(tid, m);

	for (uint32_t i = 0; before && i < before->n; i++)
		sp_cpus_set(m, (uint32_t)before->cpu[i], true);
	wide = *m;
	sp_cpus_add(&wide, &at_start);
	if ((uint64_t)sp_cpus_count(&wide) * fds_per_cpu + SP_OWN_FDS <= sp_counters_left() / 4)
		*m = wide;
	return r;
}

/* ---- was the thread on an unwatched CPU? --------------------------------------- */

bool sp_residency_read(const struct sp_residency_at *t, struct sp_clock_sample *l)
{
	uint64_t v[3 + SP_MAX_NATIVES];

	*l = (struct sp_clock_sample){ .ran = 0 };
	if (t->fd < 0)
		return true;
	if (!sp_counter_read(t->fd, v, t->words))
		return false;
	l->enabled = v[1];
	l->ran = v[2];
	return true;
}

bool sp_clock_read_moves(const struct sp_clock *c, uint64_t *moves)
{
	uint64_t v[3] = { 0 };
	bool is_valid = c->moves_fd < 0 || sp_counter_read(c->moves_fd, v, 3);

	*moves = v[0];
	return is_valid;
}

bool sp_clock_is_counting(const struct sp_clock *c)
{
	uint64_t first[3], again[3];

	return c->moves_leader >= 0 && sp_counter_read(c->moves_leader, first, 3) &&
	       sp_counter_read(c->moves_leader, again, 3) && again[1] != first[1];
}

#define TRIES 3				/* the closest of them counts */

/* The first event that is open. */
static uint32_t first_of(const struct sp_residency *t)
{
	uint32_t i = 0;

	while (i + 1 < t->n && t->at[i].fd < 0)
		i++;
	return i;
}

void sp_residency_forget(struct sp_residency *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->at[i].is_compared = false;
	t->slack = UINT64_MAX;
}

/* Measures how far an event's time is behind the first one's, by a read between two reads of that
 * one. Its time runs from when it was opened, while the thread runs anywhere. */
static void compare(struct sp_residency *t, int i)
{
	struct sp_residency_at *at = &t->at[i], *first = &t->at[first_of(t)];
	struct sp_clock_sample before, sample, after;
	uint64_t begun = sp_clock_own_ns();

	if (at->is_compared)
		return;
	at->is_compared = true;
	at->low = at == first ? 0 : INT64_MIN / 2;
	at->high = at == first ? 0 : INT64_MAX / 2;
	for (int n = 0; at != first && n < TRIES && sp_residency_read(first, &before); n++) {
		int64_t least, most;

		if (!sp_residency_read(at, &sample) || !sp_residency_read(first, &after))
			break;
		least = (int64_t)(before.enabled - sample.enabled);
		most = (int64_t)(after.enabled - sample.enabled);
		at->low = least > at->low ? least : at->low;
		at->high = most < at->high ? most : at->high;
		t->slack = sp_min(t->slack, 2 * (after.enabled - before.enabled));
	}
	sp_budget_charge(&sp_process.budget, &sp_process.budget.scan, sp_clock_own_ns() - begun, 0);
}

uint32_t sp_clock_count_reenabled(struct sp_clock *c)
{
	uint64_t v[3];

	/* Without the event, assumes that it did. */
	if (c->disabled_fd < 0 || (sp_counter_read(c->disabled_fd, v, 3) && v[1])) {
		sp_counter_close(c->disabled_fd);
		c->disabled_fd = open_disabled(c->tid);
		c->n_reenabled++;
	}
	return c->n_reenabled;
}

struct sp_clock_sum sp_clock_sum(const struct sp_clock_sample *sample, int at, uint64_t others)
{
	return (struct sp_clock_sum){ .is_known = true,
				      .at = at,
				      .time = (int64_t)(sample->enabled - sample->ran - others) };
}

bool sp_clock_adds_up(struct sp_residency *t, const struct sp_clock_sum *from,
		      const struct sp_clock_sum *to)
{
	int64_t least, most;

	if (!from->is_known || !to->is_known)
		return false;
	if (from->at == to->at)
		return from->time == to->time;
	compare(t, from->at);
	compare(t, to->at);
	least = to->time + t->at[to->at].low - from->time - t->at[from->at].high;
	most = to->time + t->at[to->at].high - from->time - t->at[from->at].low;
	return least <= 0 && most <= (int64_t)t->slack;
}

bool sp_clock_was_away(struct sp_residency *t, const struct sp_clock_sum *from,
		       const struct sp_clock_sum *to)
{
	int64_t most = from->is_known ? from->time : from->most,
		least = to->is_known ? to->time : to->least;

	if (!(from->is_known || from->is_limited) || !(to->is_known || to->is_limited))
		return false;
	if (from->at == to->at)
		return least > most;
	compare(t, from->at);
	compare(t, to->at);
	return least + t->at[to->at].low > most + t->at[from->at].high;
}

uint64_t sp_clock_time_away(struct sp_residency *t, const struct sp_clock_sum *from,
			    const struct sp_clock_sum *to)
{
	int64_t least = from->is_known ? from->time : from->least,
		most = to->is_known ? to->time : to->most, ns = most - least;

	if (from->at != to->at) {
		compare(t, from->at);
		compare(t, to->at);
		ns += t->at[to->at].high - t->at[from->at].low;
	}
	return (from->is_known || from->is_limited) && (to->is_known || to->is_limited) && ns > 0
		       ? (uint64_t)ns
		       : 0;
}

int sp_clock_open_times(struct sp_clock *c)
{
	int r = 0;

	for (uint32_t i = 0; !c->has_times && i < c->n && r >= 0; i++) {
		struct sp_residency_at *t = &c->times.at[i];

		r = t->fd = open_one(c->tid, c->cpu[i], c->inherits, TIME, -1);
		t->words = 3;
		c->times.n = i + 1;
		if (r == -ENODEV)	/* it is offline */
			r = 0;
	}
	if (r < 0) {
		for (uint32_t i = 0; i < c->times.n; i++)
			sp_counter_close(c->times.at[i].fd);
		c->times.n = 0;
		return r;
	}
	c->has_times = true;
	return 0;
}

int sp_clock_add_cpu(struct sp_clock *c, int cpu)
{
	int i = 0, fd;

	while (i < (int)c->n && c->cpu[i] != cpu)
		i++;
	if (i < (int)c->n)
		return i;
	if (c->n == c->room)
		return -EDQUOT;
	fd = c->has_times ? open_one(c->tid, cpu, c->inherits, TIME, -1) : -1;
	if (c->has_times && fd < 0)
		return fd;
	sp_cpus_set(&c->allowed, (uint32_t)cpu, true);
	c->times.at[i] = (struct sp_residency_at){ .fd = fd, .words = 3 };
	c->cpu[i] = cpu;
	c->n++;
	if (c->has_times)
		c->times.n = c->n;
	return i;
}

/* Opens the counter of moves in a group with a clock. Alone it would be one more event of the
 * software PMU, which PAPI_start and PAPI_stop reschedule: 40 to 130 ns per pair. -errno; 0 without
 * rights to the kernel's domain, which leaves moves uncounted. */
static int open_moves(struct sp_clock *c)
{
	c->moves_leader = open_one(c->tid, -1, c->inherits, TIME, -1);
	c->moves_fd = c->moves_leader < 0
			      ? c->moves_leader
			      : open_one(c->tid, -1, c->inherits, MOVES, c->moves_leader);
	if (c->moves_fd < 0) {
		sp_counter_close(c->moves_leader);
		c->moves_leader = -1;
	}
	return c->moves_fd == -EACCES || c->moves_fd == -EPERM ? 0 : c->moves_fd;
}

struct sp_clock *sp_clock_make(int tid, bool inherits, const struct sp_cpus *m, uint32_t most,
			       int neighbors, enum sp_why limit, int *error)
{
	uint64_t room = sp_max(most, sp_min(most + SP_EXTRA_CPUS, sp_cpus_online)),
		 size = sizeof(struct sp_clock) +
			room * (sizeof(struct sp_residency_at) + sizeof(int32_t));
	struct sp_clock *c;

	c = most ? sp_map(size) : NULL;
	if (!c) {
		*error = -ENOMEM;
		return NULL;
	}
	/* Prefault: another set may count the page faults of this thread. Also after a fork, when
	 * the first store to a page shared with the child is a fault. */
	sp_wipe_on_fork(c, size);
	(void)sp_sys(SYS_madvise, c, sp_align(size, 4096), MADV_POPULATE_WRITE);
	c->bytes = size;
	c->tid = tid;
	c->inherits = inherits;
	c->generation = sp_process.generation;
	c->allowed = *m;
	c->limit = limit;
	c->times.at = (struct sp_residency_at *)(c + 1);
	c->cpu = (int32_t *)(c->times.at + room);
	c->room = (uint32_t)room;
	if (most < sp_cpus_count(m) && neighbors >= 0)
		sp_cpu_neighbors_read(&c->neighbors, SP_CPU_TOPOLOGY_DIR, (uint32_t)neighbors);
	c->n = sp_cpu_neighbors_choose(&c->neighbors, m, most, c->cpu);
	c->moves_fd = c->moves_leader = -1;
	*error = limit == SP_WHY_UNWATCHED ? open_moves(c) : 0;
	c->disabled_fd =
		*error < 0 || inherits || tid != sp_thread_state.tid ? -1 : open_disabled(tid);
	if (*error < 0) {
		sp_clock_close(c);
		return NULL;
	}
	return c;
}
