/* parts.c: what a wrapper cannot do without, to be preloaded instead of libsspapi; built once
 * for each PART and run by scripts/bench, which shows what a reading's cost is made of.
 *
 *	PART 1	PAPI_read is passed on
 *	PART 2	+ the CPU's number, and whether the thread left it (two looks at the rseq area)
 *	PART 3	2 + the time-stamp counter
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#if PART >= 2 && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ 1
#endif

struct seen {			/* one line, as ours */
	int (*real)(int, long long *);
	uint64_t cpu, left, ticks;
};
__attribute__((visibility("hidden"))) struct seen seen __attribute__((aligned(64)));

__attribute__((constructor)) static void at_start(void)
{
	seen.real = (int (*)(int, long long *))dlsym(RTLD_NEXT, "PAPI_read");
}

static inline void look(void)
{
#ifdef HAVE_RSEQ
	const char *r = (const char *)__builtin_thread_pointer() + __rseq_offset;

	seen.left += *(const volatile uint64_t *)(r + offsetof(struct rseq, rseq_cs)) == seen.ticks;
#endif
}

int PAPI_read(int set, long long *values);
int PAPI_read(int set, long long *values)
{
	int rc;

	look();
	rc = seen.real(set, values);
	look();
#ifdef HAVE_RSEQ
	seen.cpu = ((const volatile struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset))->cpu_id;
#endif
#if PART == 3 && defined(__x86_64__)
	seen.ticks = __builtin_ia32_rdtsc();
#endif
	return rc;
}
