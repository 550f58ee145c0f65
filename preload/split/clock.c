/* clock.c: see clock.h. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "../../core/lock.h"
#include "../../core/sys.h"
#include "../life/process.h"
#include "clock.h"
#include "counters.h"
#include "split-own.h"

static __thread struct sp_clock *mine __attribute__((tls_model("initial-exec")));
static struct sp_clock *clocks;		/* own ones; guarded by: */
static struct sp_lock lock;
static uint32_t n_clocks, reap_at = 16;

/* ---- what it may cost ------------------------------------------------------ */

#define FIXED	20000000u		/* ns a process may spend before it has run for long */

static uint64_t ns_of(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t sp_clock_ns(void)
{
	return ns_of(CLOCK_MONOTONIC);
}

/* What passes while it waits for a CPU is not spent: beside others the credit was gone after a tenth of the
 * threads. */
uint64_t sp_clock_own_ns(void)
{
	return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

void sp_clock_spent(uint64_t ns)
{
	sp_add(&sp_process.spent, ns);
}

/* All its threads' time on CPUs: what it spends is such time, too. */
static uint64_t life(void)
{
	return ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

bool sp_clock_may_spend(uint64_t ns)
{
	uint64_t will = sp_get(&sp_process.spent) + ns;

	return will <= FIXED || will - FIXED <= life() / 100;
}

/* ---- opening ----------------------------------------------------------------- */

static int open_one(int tid, int cpu, bool inherits, bool migrations)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .inherit = inherits, .exclude_hv = 1,
		.config = migrations ? PERF_COUNT_SW_CPU_MIGRATIONS : PERF_COUNT_SW_DUMMY,
		.exclude_kernel = !migrations,	/* or perf_event_paranoid 2 refuses it */
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return sp_counter_open(&a, tid, cpu, -1);
}

static void close_all(struct sp_clock *c)
{
	sp_counter_close(c->total);
	for (uint32_t i = 0; i < c->n; i++)
		sp_counter_close(c->at[i].fd);
	sp_unmap(c, c->bytes);
}

/* The kernel counts moves in its own domain, which ordinary users may not count. */
static int open_total(struct sp_clock *c, int tid, bool inherits)
{
	c->migrations = true;
	c->total = open_one(tid, -1, inherits, true);
	if (c->total == -EACCES || c->total == -EPERM) {
		c->migrations = false;
		c->total = open_one(tid, -1, inherits, false);
	}
	return c->total;
}

struct mask {
	unsigned long word[SP_CLOCK_CPUS / (8 * sizeof(long))];
};
#define BITS (8 * sizeof(long))

static struct mask at_start;		/* of the process */

static long take_mask(int tid, struct mask *m)
{
	memset(m, 0, sizeof(*m));
	return sp_sys(SYS_sched_getaffinity, tid, sizeof(m->word), m->word);
}

void sp_clock_begin(void)
{
	take_mask(0, &at_start);
}

static uint32_t count(const struct mask *m)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < SP_COUNT(m->word); i++)
		n += (uint32_t)__builtin_popcountl(m->word[i]);
	return n;
}

static void add_mask(struct mask *to, const struct mask *more)
{
	for (unsigned i = 0; i < SP_COUNT(to->word); i++)
		to->word[i] |= more->word[i];
}

/* <= 0: why not. */
static long choose_cpus(int tid, uint32_t natives, struct mask *m)
{
	struct mask wide;
	long r = take_mask(tid, m);

	for (uint32_t i = 0; mine && mine->tid == tid && mine->stale && i < mine->n; i++)
		m->word[(unsigned)mine->at[i].cpu / BITS] |= 1ul << (unsigned)mine->at[i].cpu % BITS;
	wide = *m;
	add_mask(&wide, &at_start);
	if ((uint64_t)count(&wide) * (natives + 1) + 1 <= sp_counters_left() / 4)
		*m = wide;
	return r;
}

uint32_t sp_clock_cpus(int tid, uint32_t natives)
{
	struct mask m;

	return choose_cpus(tid, natives, &m) > 0 ? count(&m) : 0;
}

static struct sp_clock *make(int tid, bool inherits, const struct mask *m, int *error)
{
	uint32_t n = count(m);
	struct sp_clock *c;
	uint64_t size = sizeof(*c) + n * sizeof(c->at[0]);

	c = n ? sp_map(size) : NULL;
	if (!c) {
		*error = -ENOMEM;
		return NULL;
	}
	/* Another set may count the page faults of the thread that makes it; and those after a fork, where a page that the
	 * child has, too, is one at the next store. */
	sp_wipe_on_fork(c, size);
	(void)sp_sys(SYS_madvise, c, sp_align(size, 4096), MADV_POPULATE_WRITE);
	c->bytes = size;
	c->tid = tid;
	c->generation = sp_process.generation;
	*error = open_total(c, tid, inherits);
	for (uint32_t cpu = 0; cpu < SP_CLOCK_CPUS && *error >= 0; cpu++) {
		if (!(m->word[cpu / BITS] >> cpu % BITS & 1))
			continue;
		c->at[c->n].cpu = (int)cpu;
		*error = c->at[c->n].fd = open_one(tid, (int)cpu, inherits, false);
		if (*error == -ENODEV)		/* it is offline */
			*error = 0;
		else
			c->n++;
	}
	if (*error < 0) {
		close_all(c);
		return NULL;
	}
	return c;
}

struct sp_clock *sp_clock_of(int tid, bool inherits, uint32_t natives, int *error)
{
	struct mask m;
	long r = choose_cpus(tid, natives, &m);

	*error = (int)r;
	return r > 0 ? make(tid, inherits, &m, error) : NULL;
}

/* The calling thread's own goes, and the counters of all sets that go by it.  False: one is looked at right now. */
static bool retire(struct sp_clock *c)
{
	struct sp_held held;
	bool may;

	sp_lock_take(&lock, &held);
	may = sp_split_close_all(c->splits);
	for (struct sp_clock **at = &clocks; may && *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			sp_put(&n_clocks, n_clocks - 1);
			break;
		}
	sp_lock_give(&lock, &held);
	if (may) {
		mine = NULL;		/* before it is gone: a handler may ask for it */
		close_all(c);
	}
	return may;
}

struct sp_clock *sp_clock_own(uint32_t natives, int *error)
{
	struct sp_held held;
	struct mask m;

	if (mine && mine->generation != sp_process.generation)
		mine = NULL;
	if (mine && !mine->stale)
		return mine;
	if (sp_get(&n_clocks) >= sp_get(&reap_at))
		sp_clock_reap();
	*error = (int)choose_cpus(sp_self.tid, natives, &m);
	if (*error <= 0 || (mine && !retire(mine)))
		return mine;
	mine = make(sp_self.tid, false, &m, error);
	if (!mine && (*error == -EDQUOT || *error == -EMFILE)) {
		sp_clock_reap();
		mine = make(sp_self.tid, false, &m, error);
	}
	if (!mine)
		return NULL;
	mine->own = true;
	sp_lock_take(&lock, &held);
	mine->next = clocks;
	clocks = mine;
	sp_put(&n_clocks, n_clocks + 1);
	sp_lock_give(&lock, &held);
	return mine;
}

void sp_clock_drop(struct sp_clock *c)
{
	if (c && !c->own && c->generation == sp_process.generation)
		close_all(c);
}

/* ---- who goes by it ------------------------------------------------------------ */

void sp_clock_add(struct sp_clock *c, struct sp_split *p)
{
	struct sp_held held;

	sp_lock_take(&lock, &held);
	p->next = c->splits;
	c->splits = p;
	sp_lock_give(&lock, &held);
}

void sp_clock_unlink(struct sp_clock *c, struct sp_split *p)
{
	for (struct sp_split **at = &c->splits; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	if (c->counting == p)
		c->counting = NULL;
}

void sp_clock_remove(struct sp_clock *c, struct sp_split *p)
{
	struct sp_held held;

	sp_lock_take(&lock, &held);
	sp_clock_unlink(c, p);
	sp_lock_give(&lock, &held);
}

uint32_t sp_clock_splits(struct sp_clock *c)
{
	struct sp_held held;
	uint32_t n = 0;

	sp_lock_take(&lock, &held);
	for (const struct sp_split *p = c->splits; p; p = p->next)
		n++;
	sp_lock_give(&lock, &held);
	return n;
}

struct sp_split *sp_clock_take_oldest(struct sp_clock *c, const struct sp_split *but)
{
	struct sp_split *last = NULL;
	struct sp_held held;

	sp_lock_take(&lock, &held);
	for (struct sp_split *p = c->splits; p; p = p->next)
		if (p != but)
			last = p;
	if (last && !sp_split_take_here(last))
		last = NULL;
	if (last)
		sp_clock_unlink(c, last);
	sp_lock_give(&lock, &held);
	return last;
}

struct sp_split *sp_clock_counts(struct sp_clock *c, struct sp_split *p)
{
	struct sp_split *before;
	struct sp_held held;

	sp_lock_take(&lock, &held);
	before = c->counting;
	c->counting = p;
	if (before && !sp_split_take_here(before))
		before = NULL;
	sp_lock_give(&lock, &held);
	return before;
}

/* A thread's number may be another's by now: that one has made its own clock, and this is not it. */
static bool over(const struct sp_clock *c)
{
	return c != mine && (c->tid == sp_self.tid || sp_thread_ended(c->tid));
}

void sp_clock_reap(void)
{
	struct sp_clock **at, *c;
	struct sp_held held;

	sp_lock_take(&lock, &held);
	for (at = &clocks; (c = *at) != NULL;) {
		if (!over(c) || !sp_split_close_all(c->splits)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		sp_put(&n_clocks, n_clocks - 1);
		close_all(c);
	}
	sp_put(&reap_at, n_clocks * 2 > 16 ? n_clocks * 2 : 16);
	sp_lock_give(&lock, &held);
}

void sp_clock_child(void)
{
	clocks = NULL;
	mine = NULL;
	n_clocks = 0;
	lock.taken = 0;
}
