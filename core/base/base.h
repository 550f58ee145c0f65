/* base.h: compiler attributes, atomic accesses and small functions that all files use.
 *
 * Core's functions return 0 (or a count) or -errno; those that return a pointer return NULL on
 * failure. Core runs in the application's process: it never prints, exits or calls malloc.
 *
 * The owner of a store word writes it with store_relaxed and publishes it with store_release. Other
 * threads and processes read it with load_relaxed or load_acquire.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SP_LIKELY(x)	__builtin_expect(!!(x), 1)
#define SP_UNLIKELY(x)	__builtin_expect(!!(x), 0)
#define SP_COLD		__attribute__((cold, noinline))
/* Inline a function on the path of a reading. PAPI's system calls flush the branch predictor, so
 * that each call and return after them costs about 5 ns. */
#define SP_HOT_INLINE	static inline __attribute__((always_inline))
#define SP_PRINTF(f, a)	__attribute__((format(printf, f, a)))
/* Place a variable that every process writes at its start in the page of .data that the loader
 * writes anyway. Another page costs a process that does not use PAPI two page faults. */
#define SP_AT_START	__attribute__((section(".data.start")))
/* a variable that needs no GOT entry */
#define SP_HIDDEN	__attribute__((visibility("hidden")))
#define SP_COUNT(a)	(sizeof(a) / sizeof((a)[0]))
/* as a comparison function of qsort(3) returns */
#define SP_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#define load_relaxed(p)	__atomic_load_n((p), __ATOMIC_RELAXED)
#define store_relaxed(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define sp_add(p, v)	__atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define sp_cas(p, old, new) \
	__atomic_compare_exchange_n((p), (old), (new), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* Compiler barrier: a signal handler of this thread, or a reader of the store after SIGKILL, sees
 * the stores before it no later than those after it. */
#define sp_order()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Change words that only this thread and its signal handlers write, in one instruction if the
 * processor has one. Other threads may read them. */
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

/* FNV-1a of n bytes, continuing d; the first d is SP_DIGEST. */
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

/* Inline assembly, since gcc 10 has no __builtin_thread_pointer on x86-64. */
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
