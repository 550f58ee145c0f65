/* percpu-fast.h: the part of a split (percpu.h) that every start and stop looks at, and the words
 * that its files share. */
#ifndef SP_PERCPU_FAST_H
#define SP_PERCPU_FAST_H

#include "perf-fds.h"

#define SP_TERMS_MOST	12u		/* natives of one event (PAPI_MAX_INFO_TERMS) */
#define SP_PERCPU_EVENTS	64u		/* of a set; one with more is not split */

/* An event as a sum of natives: factor[i] times the native event of code native[i]. */
struct sp_terms {
	uint32_t n;			/* 0: it is none, or not known */
	uint32_t native[SP_TERMS_MOST];
	double factor[SP_TERMS_MOST];
};

/* The first words of a split, which every start and stop looks at. */
struct sp_percpu_fast {
	uint32_t ready;			/* a window of the calling thread's own may begin without a
					 * scan; 0: not so */
	uint32_t proof;			/* if sp_proof_now() is still this */
	uint32_t changes;		/* of what PAPI had open when it was made (perf-fds.h) */
	uint32_t fresh;			/* PAPI has zeroed the set since, while the thread stayed: a
					 * segment has begun (window.h) */
	uint64_t begun;			/* sp_ticks() from which on its time is not told yet */
};

struct sp_percpu;

static inline bool sp_percpu_is_ready(const struct sp_percpu *p, uint32_t proof)
{
	const struct sp_percpu_fast *g = (const struct sp_percpu_fast *)p;

	return load_relaxed(&g->ready) & (g->proof == proof);
}

/* PAPI has zeroed the set, and it was and is ready. */
static inline void sp_percpu_fresh(struct sp_percpu *p)
{
	store_relaxed(&((struct sp_percpu_fast *)p)->fresh, 1);
}

/* The processor's time, of any CPU: no system call, a few ns. */
static inline uint64_t sp_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	return 0;
#endif
}

extern uint64_t sp_tick_ns SP_HIDDEN;		/* of a tick, in 2^-32 ns */
static inline uint64_t sp_ticks_ns(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * sp_tick_ns >> 32);
}

static inline void sp_percpu_begun(struct sp_percpu *p, uint64_t now)
{
	((struct sp_percpu_fast *)p)->begun = now;
}

/* The time since it began that is not told yet, all of it on one CPU, where all windows were
 * proven. */
static inline uint64_t sp_percpu_ran(struct sp_percpu *p, uint64_t now)
{
	struct sp_percpu_fast *g = (struct sp_percpu_fast *)p;
	uint64_t begun = g->begun;

	if (SP_UNLIKELY(begun > now))	/* a handler has started it again since */
		return 0;
	g->begun = now;
	return sp_ticks_ns(now - begun);
}

#endif
