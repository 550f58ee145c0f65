/* witness.c: opens the page that changes when a thread moves, and looks at it; see witness.h. */
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../core/base/locked.h"
#include "../../core/base/sys.h"
#include "../process/process.h"
#include "counters.h"
#include "opened.h"
#include "witness.h"

static uint32_t most, held;		/* pages; most 0: none, or they do not tell */
static uint32_t change[2];		/* of the word, where a software event is switched on: another PMU's, the page's */

static __thread struct {
	const struct perf_event_mmap_page *page;
	uint32_t generation;		/* a child of fork has no page there */
	int fd;				/* -1: the thread does not go by it */
	int cpu;			/* since then */
	uint64_t seen;			/* the CPU's number, if it was told, and the word */
} own __attribute__((tls_model("initial-exec")));

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

#define THE_EVENT PERF_COUNT_SW_TASK_CLOCK	/* as the clock's: clock.c */

int sp_witness_open(int tid)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = THE_EVENT,
				     .exclude_kernel = 1, .exclude_hv = 1 };

	return sp_counter_open(&a, tid, -1, -1);
}

/* A fault of ours would be one that PAPI counts, perhaps: the kernel fetches it now. */
static const struct perf_event_mmap_page *map(int fd)
{
	long r = fd < 0 ? -1 : sp_sys(SYS_mmap, 0, page_size(), PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

#define A_CHANGE 2u			/* of the word: it is odd while the kernel writes the page */

/* (A move in between changes it, too: the least counts.) */
static uint32_t change_at_switch(const struct perf_event_mmap_page *page, uint64_t event)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = event, .pinned = 1,
				     .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1 };
	int fd = sp_counter_open(&a, 0, -1, -1);
	uint32_t least = UINT32_MAX;

	for (int i = 0; i < 4; i++) {
		uint32_t before = sp_get(&page->lock);

		if (!sp_counter_switch(fd, true))
			least = 0;
		least = (uint32_t)sp_min(least, sp_get(&page->lock) - before);
		(void)sp_counter_switch(fd, false);
	}
	sp_counter_close(fd);
	return least;
}

void sp_witness_test(void)
{
	uint32_t share = sp_locked_share(), before;
	int fd = share ? sp_witness_open(0) : -1;
	const struct perf_event_mmap_page *page = map(fd);

	sp_put(&most, 0);
	/* The shortest may be over before the thread sleeps. */
	for (struct timespec nap = { 0, 1000 }; page && nap.tv_nsec <= 1000000 && !most; nap.tv_nsec *= 10) {
		before = sp_get(&page->lock);
		(void)sp_sys(SYS_nanosleep, &nap, NULL);
		sp_put(&most, sp_get(&page->lock) != before ? share : 0);
	}
	if (sp_get(&most)) {
		sp_put(&change[false], change_at_switch(page, PERF_COUNT_SW_PAGE_FAULTS));
		sp_put(&change[true], change_at_switch(page, THE_EVENT));
	}
	sp_unmap((void *)page, page_size());
	sp_counter_close(fd);
}

bool sp_witness_is_full(void)
{
	return sp_get(&most) && sp_get(&held) >= sp_get(&most);
}

bool sp_witness_has_room(void)
{
	return sp_get(&held) < sp_get(&most);
}

static bool is_there(void)
{
	return own.page && own.generation == sp_process.generation;
}

void *sp_witness_map(int fd)
{
	const struct perf_event_mmap_page *page;

	if (is_there())
		return NULL;
	if (sp_add(&held, 1) >= sp_get(&most) || !(page = map(fd))) {
		sp_add(&held, -1u);
		return NULL;
	}
	sp_put(&own.fd, -1);
	sp_order();
	sp_put(&own.page, page);
	own.generation = sp_process.generation;
	own.seen = 0;
	own.cpu = -1;
	sp_order();
	sp_put(&own.fd, fd);
	return (void *)page;
}

void sp_witness_unmap(void *page)
{
	/* (A handler on top of who made this thread's clock made one, too: what this thread goes by stays.) */
	if (!page || (page == own.page && is_there()))
		return;
	sp_unmap(page, page_size());
	sp_add(&held, -1u);
}

/* Does the thread go by it? */
static bool is_used(void)
{
	return is_there() && sp_get(&own.fd) >= 0;
}

void sp_witness_starts(void)
{
	if (is_used() && !sp_counter_switch(own.fd, true))
		sp_put(&own.fd, -1);
}

void sp_witness_started(const struct sp_opened *o, int cpu)
{
	uint64_t is;
	bool changes;

	if (!is_used() || sp_opened_leaders(o) != 1)
		return;
	changes = o->at[0].attr.type == PERF_TYPE_SOFTWARE && change[o->at[0].attr.config == THE_EVENT] == A_CHANGE;
	/* (The CPU's number shows a move, which takes two changes to come back.) */
	is = (uint64_t)(uint32_t)cpu << 32 | sp_get(&own.page->lock);
	if (is == own.seen + A_CHANGE && (cpu >= 0 || changes))
		sp_put(&own.seen, is);
}

bool sp_witness_stayed(int cpu)
{
	uint64_t is;

	if (!is_used())
		return false;
	is = (uint64_t)(uint32_t)cpu << 32 | sp_get(&own.page->lock);
	if (SP_LIKELY(sp_get(&own.seen) == is))
		return true;
	/* The word first: a thread that is moved in between sees another one the next time. */
	sp_put(&own.seen, is);
	sp_order();
	sp_put(&own.cpu, sched_getcpu());
	return false;
}

bool sp_witness_is_on(int cpu)
{
	if (!is_used())
		return false;
	if (SP_LIKELY(sp_get(&own.cpu) == cpu))
		return true;
	sp_put(&own.cpu, cpu);
	return false;
}

void sp_witness_child(void)
{
	held = 0;
}
