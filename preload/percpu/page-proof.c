/* page-proof.c: maps the mmap page that changes when a thread moves; see page-proof.h. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../core/base/seccomp.h"
#include "../../core/base/lock.h"
#include "../../core/base/mlock-budget.h"
#include "../../core/base/perf.h"
#include "../process/process.h"
#include "perf-fds.h"
#include "rseq-proof.h"
#include "page-proof.h"

static uint32_t max_pages, n_pages;	/* max_pages 0: pages are not allowed, or prove nothing */
SP_AT_START static uint32_t seccomp_filters;	/* when the program started */

static __thread struct {
	const struct perf_event_mmap_page *page;
	uint32_t generation;		/* a child of fork has no page there */
} own __attribute__((tls_model("initial-exec")));

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Uses the PMU of the clock (clock.c). */
static const struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE,
					      .size = sizeof(event),
					      .config = PERF_COUNT_SW_TASK_CLOCK,
					      .exclude_kernel = 1,
					      .exclude_hv = 1 };

/* Creates a thread that opens an event of thread `tid`, stores the descriptor or -errno in *fd and
 * ends, which clears *runs. Returns its tid, or -errno. The thread shares the caller's stack, which
 * it does not use, and TLS, so it runs no C code. */
static long open_by_another(long tid, int *fd, int *runs)
{
	const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			   CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
#if defined(__x86_64__)
	register long rdi __asm__("rdi") = flags, rsi __asm__("rsi"), rdx __asm__("rdx") = 0;
	register int *r10 __asm__("r10") = runs;
	register long r8 __asm__("r8") = 0;
	long r = SYS_clone;

	__asm__ volatile("mov %%rsp, %%rsi; syscall; test %%rax, %%rax; jnz 1f;"
			 "mov %[event], %%rdi; mov %[tid], %%rsi; mov $-1, %%rdx; mov $-1, %%r10; "
			 "mov %[cloexec], %%r8d;"
			 "mov %[open], %%eax; syscall; mov %%eax, (%[fd]); xor %%edi, %%edi; mov "
			 "%[exit], %%eax; syscall; 1:"
			 : "+a"(r), "+r"(rdi), "=&r"(rsi), "+r"(rdx), "+r"(r10), "+r"(r8)
			 : [event] "r"(&event), [tid] "r"(tid), [fd] "r"(fd),
			   [cloexec] "i"(PERF_FLAG_FD_CLOEXEC), [open] "i"(SYS_perf_event_open),
			   [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory", "cc");
	return r;
#elif defined(__aarch64__)
	register long x0 __asm__("x0") = flags, x1 __asm__("x1"), x2 __asm__("x2") = 0,
			 x3 __asm__("x3") = 0, x8 __asm__("x8") = SYS_clone;
	register int *x4 __asm__("x4") = runs;

	__asm__ volatile(
		"mov x1, sp; svc #0; cbnz x0, 1f;"
		"mov x0, %[event]; mov x1, %[tid]; mov x2, #-1; mov x3, #-1; mov x4, %[cloexec];"
		"mov x8, %[open]; svc #0; str w0, [%[fd]]; mov x0, #0; mov x8, %[exit]; svc #0; 1:"
		: "+r"(x0), "=&r"(x1), "+r"(x2), "+r"(x3), "+r"(x4), "+r"(x8)
		: [event] "r"(&event), [tid] "r"(tid), [fd] "r"(fd),
		  [cloexec] "i"(PERF_FLAG_FD_CLOEXEC), [open] "i"(SYS_perf_event_open),
		  [exit] "i"(SYS_exit)
		: "memory", "cc");
	return x0;
#else
	(void)tid, (void)fd, (void)runs, (void)flags;
	return -ENOSYS;
#endif
}

/* Opens the page's event by another thread that ends at once. prctl(PR_TASK_PERF_EVENTS_DISABLE)
 * switches off the events that the calling thread opened, and the page would then show no moves.
 * Waits for that thread's end, since unshare(2) fails in a process of several threads. */
static int open_unowned(int tid)
{
	long pid = sp_sys(SYS_getpid), other;
	int fd = -EAGAIN, runs = 1;
	struct sp_lock_state signals;

	/* A seccomp filter that was installed since may kill a process that creates a thread. Under
	 * earlier ones, such as a container's, programs create theirs. */
	if (sp_seccomp_filters() != seccomp_filters)
		return -EACCES;
	sp_signals_block(&signals);	/* the other thread inherits the caller's mask */
	other = open_by_another(tid, &fd, &runs);
	while (other > 0 && load_acquire(&runs))
		(void)sp_sys(SYS_futex, &runs, FUTEX_WAIT, 1, NULL, NULL, 0);
	/* Sleep, since the thread may have a lower priority than the caller. */
	while (other > 0 && sp_sys(SYS_tgkill, pid, other, 0) == 0)
		(void)sp_sys(SYS_nanosleep, &(struct timespec){ .tv_nsec = 1000 }, NULL);
	sp_signals_restore(&signals);
	return fd;
}

/* Populates the page, since PAPI may count page faults. */
static const struct perf_event_mmap_page *map(int fd)
{
	long r = fd < 0 ? -1
			: sp_sys(SYS_mmap, 0, page_size(), PROT_READ, MAP_SHARED | MAP_POPULATE, fd,
				 0);

	return r < 0 && r > -4096 ? NULL : (void *)r;
}

void sp_page_proof_begin(void)
{
	seccomp_filters = sp_seccomp_filters();
}

void sp_page_proof_test(void)
{
	uint32_t share = sp_mlock_budget_share(), before;
	int fd = share ? sp_perf_open(&event, 0, -1, -1, 0) : -1;
	const struct perf_event_mmap_page *page = map(fd);

	store_relaxed(&max_pages, 0);
	/* The shortest may end before the thread sleeps. */
	for (struct timespec delay = { 0, 1000 }; page && delay.tv_nsec <= 1000000 && !max_pages;
	     delay.tv_nsec *= 10) {
		before = load_relaxed(&page->lock);
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
		store_relaxed(&max_pages, load_relaxed(&page->lock) != before ? share : 0);
	}
	sp_unmap((void *)page, page_size());
	sp_close(fd);
}

bool sp_page_proof_is_full(void)
{
	return load_relaxed(&max_pages) && load_relaxed(&n_pages) >= load_relaxed(&max_pages);
}

bool sp_page_proof_has_room(void)
{
	return load_relaxed(&n_pages) < load_relaxed(&max_pages);
}

static bool has_page(void)
{
	return own.page && own.generation == sp_process.generation;
}

void *sp_page_proof_map(void)
{
	const struct perf_event_mmap_page *page = NULL;
	int fd;

	if (has_page() || sp_thread_state.shares_tls)
		return NULL;
	if (sp_add(&n_pages, 1) < load_relaxed(&max_pages)) {
		fd = open_unowned(sp_thread_state.tid);
		page = map(fd);
		sp_close(fd);
	}
	if (!page) {
		sp_add(&n_pages, -1u);
		return NULL;
	}
	own.generation = sp_process.generation;
	store_relaxed(&own.page, page);
	sp_proof_use_page((const sp_mark_word *)&page->lock);
	return (void *)page;
}

void sp_page_proof_unmap(void *page)
{
	/* A handler may have made a clock and page while this thread was making its own. The page
	 * in use stays mapped. */
	if (!page || (page == own.page && has_page()))
		return;
	sp_unmap(page, page_size());
	sp_add(&n_pages, -1u);
}

/* of the word, which is odd while the kernel writes the page */
#define LOCK_STEP	2u

bool sp_page_proof_after_start(const struct sp_perf_fds *o, uint32_t proof)
{
	int saved = errno;
	uint64_t now;

	if (!sp_thread_state.by_page || sp_perf_fds_leaders(o) != 1)
		return false;
	now = load_relaxed(sp_thread_state.mark.word);
	sp_order();
	if (now == sp_thread_state.mark.expected + LOCK_STEP &&
	    sched_getcpu() == load_relaxed(&sp_thread_state.cpu))
		store_relaxed(&sp_thread_state.mark.expected, now);
	errno = saved;
	return sp_proof_is_valid(proof);
}

void sp_page_proof_child(void)
{
	n_pages = 0;
	sp_proof_disarm();
}
