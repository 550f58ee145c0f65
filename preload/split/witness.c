/* witness.c: opens the page that changes when a thread moves; see witness.h. */
#include <errno.h>
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
#include "proof.h"
#include "witness.h"

static uint32_t most, held;		/* pages; most 0: none, or they do not tell */

static __thread struct {
	const struct perf_event_mmap_page *page;
	uint32_t generation;		/* a child of fork has no page there */
	int fd;				/* of its event */
} own __attribute__((tls_model("initial-exec")));

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Of the clock's PMU: clock.c. */
int sp_witness_open(int tid)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_TASK_CLOCK,
				     .exclude_kernel = 1, .exclude_hv = 1 };

	return sp_counter_open(&a, tid, -1, -1);
}

/* A fault of ours would be one that PAPI counts, perhaps: the kernel fetches it now. */
static const struct perf_event_mmap_page *map(int fd)
{
	long r = fd < 0 ? -1 : sp_sys(SYS_mmap, 0, page_size(), PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
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
	own.generation = sp_process.generation;
	sp_put(&own.fd, fd);
	sp_order();
	sp_put(&own.page, page);
	if (!sp_self.is_guest)
		sp_proof_by_page((const sp_mark_word *)&page->lock);
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

void sp_witness_starts(void)
{
	if (sp_self.by_page && !sp_counter_switch(own.fd, true))
		sp_proof_disarm();
	sp_witness_begins();
}

#define A_CHANGE 2u			/* of the word: it is odd while the kernel writes the page */

bool sp_witness_started(const struct sp_opened *o, uint32_t open)
{
	int saved = errno;
	uint64_t is;

	if (!sp_self.by_page || sp_opened_leaders(o) != 1)
		return false;
	is = sp_get(sp_self.mark.word);
	sp_order();
	if (is == sp_self.mark.is + A_CHANGE && sched_getcpu() == sp_get(&sp_self.cpu))
		sp_put(&sp_self.mark.is, is);
	errno = saved;
	return sp_proof_holds(open);
}

void sp_witness_child(void)
{
	held = 0;
	sp_proof_disarm();
}
