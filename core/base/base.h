/* base.h: the few words that every file here uses.
 *
 * Errors in core: functions return 0 (or a count) on success and -errno on
 * failure; functions that return a pointer return NULL.  Nothing here prints,
 * exits or calls malloc: this code runs inside somebody else's program.
 *
 * Memory order is named at each use: the owner of a store word writes it with
 * store_relaxed (relaxed), publishes with store_release (release), and whoever else
 * reads does so with load_relaxed / load_acquire.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SP_LIKELY(x)	__builtin_expect(!!(x), 1)
#define SP_UNLIKELY(x)	__builtin_expect(!!(x), 0)
#define SP_COLD		__attribute__((cold, noinline))
/* On the path of a reading: after PAPI's system calls the processor has forgotten where a
 * call goes and returns to, so that each costs some 5 ns there. */
#define SP_HOT_INLINE	static inline __attribute__((always_inline))
#define SP_PRINTF(f, a)	__attribute__((format(printf, f, a)))
/* A variable that each process writes at its start: in the page of .data, which the loader writes
 * anyway, since each page more costs a process that does not use PAPI two page faults. */
#define SP_AT_START	__attribute__((section(".data.start")))
#define SP_HIDDEN	__attribute__((visibility("hidden")))	/* a variable: asked for without the
								 * table of addresses */
#define SP_COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define SP_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))		/* two numbers, as qsort(3) asks */

#define load_relaxed(p)	__atomic_load_n((p), __ATOMIC_RELAXED)
#define store_relaxed(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define sp_add(p, v)	__atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define sp_cas(p, old, new) \
	__atomic_compare_exchange_n((p), (old), (new), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* A signal handler of this thread, or a reader of the store after SIGKILL,
 * sees the stores before this line before those after it. */
#define sp_order()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

/* What only this thread and its handlers write, in one step where the processor has one.  Another
 * thread may look. */
#ifdef __SANITIZE_THREAD__
#define load_plain(p)	load_relaxed(p)
#define increment_own(p)	sp_add((p), 1)
#define sp_clear(p, b)	__atomic_fetch_and((p), ~(b), __ATOMIC_RELAXED)
#else
#define load_plain(p)	(*(p))
#define increment_own(p)	(++*(p))
#define sp_clear(p, b)	(*(p) &= ~(b))
#endif

static inline uint64_t sp_align(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* FNV-1a of n bytes, continuing d, which begins as SP_DIGEST. */
#define SP_DIGEST	0xcbf29ce484222325u
static inline uint64_t sp_digest(uint64_t d, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		d = (d ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
	return d;
}

static inline uint64_t sp_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t sp_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* gcc 10 has no __builtin_thread_pointer on x86-64. */
static inline uintptr_t sp_thread_pointer(void)
{
#if defined(__x86_64__) && !defined(__clang__) && __GNUC__ < 11
	uintptr_t at;

	__asm__("mov %%fs:0, %0" : "=r"(at));
	return at;
#else
	return (uintptr_t)__builtin_thread_pointer();
#endif
}
