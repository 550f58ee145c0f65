/* clock.c: see clock.h. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "../../core/sys.h"
#include "../life/process.h"
#include "clock.h"
#include "counters.h"
#include "witness.h"

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

/* Whose running time is wanted: of a PMU of the kernel's that sets seldom have.  What PAPI_start switches on makes the kernel
 * (6.18) put each event of the same PMU on its CPU again, 0.1 us each: start and stop of two software events took 1.93 us with
 * dummies in place of these, 1.78 us with these as without any. */
#define TIME	PERF_COUNT_SW_TASK_CLOCK
#define MOVES	PERF_COUNT_SW_CPU_MIGRATIONS

static struct perf_event_attr attr_of(uint64_t event)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr), .config = event, .exclude_hv = 1,
		.exclude_kernel = event != MOVES,	/* or perf_event_paranoid 2 refuses it */
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
}

static int open_one(int tid, int cpu, bool inherits, uint64_t event)
{
	struct perf_event_attr a = attr_of(event);

	a.inherit = inherits;
	return sp_counter_open(&a, tid, cpu, -1);
}

static int open_off(int tid)
{
	struct perf_event_attr a = attr_of(TIME);

	a.disabled = 1;
	return sp_counter_open(&a, tid, -1, -1);
}

void sp_clock_close(struct sp_clock *c)
{
	sp_witness_unmap(c->page);
	sp_counter_close(c->page_fd);
	sp_counter_close(c->moves);
	sp_counter_close(c->off);
	for (uint32_t i = 0; i < c->n; i++)
		sp_counter_close(c->at[i].fd);
	sp_unmap(c, c->bytes);
}

#define BITS (8 * sizeof(long))

static struct sp_clock_mask at_start;		/* of the process */

static long take_mask(int tid, struct sp_clock_mask *m)
{
	memset(m, 0, sizeof(*m));
	return sp_sys(SYS_sched_getaffinity, tid, sizeof(m->word), m->word);
}

void sp_clock_begin(void)
{
	take_mask(0, &at_start);
}

uint32_t sp_clock_count(const struct sp_clock_mask *m)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < SP_COUNT(m->word); i++)
		n += (uint32_t)__builtin_popcountl(m->word[i]);
	return n;
}

static void add_mask(struct sp_clock_mask *to, const struct sp_clock_mask *more)
{
	for (unsigned i = 0; i < SP_COUNT(to->word); i++)
		to->word[i] |= more->word[i];
}

long sp_clock_cpus(int tid, const struct sp_clock *before, uint32_t natives, struct sp_clock_mask *m)
{
	struct sp_clock_mask wide;
	long r = take_mask(tid, m);

	for (uint32_t i = 0; before && i < before->n; i++)
		m->word[(unsigned)before->at[i].cpu / BITS] |= 1ul << (unsigned)before->at[i].cpu % BITS;
	wide = *m;
	add_mask(&wide, &at_start);
	if ((uint64_t)sp_clock_count(&wide) * (natives + 1) + 1 <= sp_counters_left() / 4)
		*m = wide;
	return r;
}

/* ---- on no other CPU? ---------------------------------------------------------- */

bool sp_clock_look(int fd, struct sp_clock_look *l)
{
	*l = (struct sp_clock_look){ 0 };
	return fd < 0 || sp_counter_read(fd, (uint64_t *)l, 3);
}

#define LOOKS 3			/* the closest of them counts */

/* Each event's time runs while the thread runs anywhere, from when it was opened: how far it lags behind the first one's shows
 * by a look between two looks at that one. */
static void compare(struct sp_clock *c)
{
	struct sp_clock_look before, it, after;
	uint64_t closest = UINT64_MAX;
	int64_t least, most;

	for (uint32_t i = 1; i < c->n; i++) {
		c->at[i].low = INT64_MIN / 2;
		c->at[i].high = INT64_MAX / 2;
		for (int n = 0; n < LOOKS && sp_clock_look(c->at[0].fd, &before); n++) {
			if (!sp_clock_look(c->at[i].fd, &it) || !sp_clock_look(c->at[0].fd, &after))
				break;
			least = (int64_t)(before.enabled - it.enabled);
			most = (int64_t)(after.enabled - it.enabled);
			c->at[i].low = least > c->at[i].low ? least : c->at[i].low;
			c->at[i].high = most < c->at[i].high ? most : c->at[i].high;
			closest = sp_min(closest, after.enabled - before.enabled);
		}
	}
	c->slack = closest == UINT64_MAX ? 0 : 2 * closest;
}

uint32_t sp_clock_switched(struct sp_clock *c)
{
	struct sp_clock_look look;

	if (c->off >= 0 && sp_clock_look(c->off, &look) && look.enabled) {
		compare(c);
		sp_counter_close(c->off);
		c->off = open_off(c->tid);
		c->switched++;
	}
	return c->switched;
}

struct sp_clock_sum sp_clock_sum(const struct sp_clock_look *here, int at, uint64_t others)
{
	return (struct sp_clock_sum){ .known = true, .at = at, .time = (int64_t)(here->enabled - here->ran - others) };
}

bool sp_clock_closes(const struct sp_clock *c, const struct sp_clock_sum *from, const struct sp_clock_sum *to)
{
	int64_t least, most;

	if (!from->known || !to->known)
		return false;
	if (from->at == to->at)
		return from->time == to->time;
	least = to->time + c->at[to->at].low - from->time - c->at[from->at].high;
	most = to->time + c->at[to->at].high - from->time - c->at[from->at].low;
	return least <= 0 && most <= (int64_t)c->slack;
}

bool sp_clock_was_away(const struct sp_clock *c, const struct sp_clock_sum *from, const struct sp_clock_sum *to)
{
	int64_t most = from->known ? from->time : from->most, least = to->known ? to->time : to->least;

	if (!(from->known || from->bounded) || !(to->known || to->bounded))
		return false;
	return from->at == to->at ? least > most : least + c->at[to->at].low > most + c->at[from->at].high;
}

struct sp_clock *sp_clock_make(int tid, bool inherits, const struct sp_clock_mask *m, int *error)
{
	uint32_t n = sp_clock_count(m);
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
	c->page_fd = -1;
	/* (The kernel counts moves in its own domain, which ordinary users may not count.) */
	c->moves = open_one(tid, -1, inherits, MOVES);
	*error = c->moves == -EACCES || c->moves == -EPERM ? 0 : c->moves;
	c->off = *error < 0 || inherits || tid != sp_self.tid ? -1 : open_off(tid);
	for (uint32_t cpu = 0; cpu < SP_CLOCK_CPUS && *error >= 0; cpu++) {
		if (!(m->word[cpu / BITS] >> cpu % BITS & 1))
			continue;
		c->at[c->n].cpu = (int)cpu;
		*error = c->at[c->n].fd = open_one(tid, (int)cpu, inherits, TIME);
		if (*error == -ENODEV)		/* it is offline */
			*error = 0;
		else
			c->n++;
	}
	if (*error < 0) {
		sp_clock_close(c);
		return NULL;
	}
	compare(c);
	return c;
}
