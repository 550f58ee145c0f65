/* percpu-fast.h: the part of struct sp_percpu that starts and stops read, and shared types. */
#ifndef SP_PERCPU_FAST_H
#define SP_PERCPU_FAST_H

#include "perf-fds.h"

#define SP_MAX_TERMS 12u		/* natives of one event (PAPI_MAX_INFO_TERMS) */
#define SP_MAX_PERCPU_EVENTS 64u	/* a set with more events has no shadow counters */

/* An event as a sum of natives: factor[i] times the native event of code native[i]. */
struct sp_terms {
	uint32_t n;			/* 0: no sum, or unknown */
	uint32_t native[SP_MAX_TERMS];
	double factor[SP_MAX_TERMS];
};

/* The first words of struct sp_percpu, in one cache line. */
struct sp_percpu_fast {
	uint32_t is_ready;		/* an own window may begin without a scan */
	uint32_t proof;			/* if sp_proof_now() still returns this */
	uint32_t changes;		/* that perf_fds had when these were opened */
	uint32_t is_reset;		/* a reset has begun a period since (window.h) */
	uint64_t time_from;		/* sp_ticks() from which on time is not attributed yet */
};

struct sp_percpu;

static inline bool sp_percpu_is_ready(const struct sp_percpu *p, uint32_t proof)
{
	const struct sp_percpu_fast *g = (const struct sp_percpu_fast *)p;

	return load_relaxed(&g->is_ready) & (load_relaxed(&g->proof) == proof);
}

/* PAPI has reset the set, which was and is ready. */
static inline void sp_percpu_note_reset(struct sp_percpu *p)
{
	store_relaxed(&((struct sp_percpu_fast *)p)->is_reset, 1);
}

/* The processor's time counter, the same on all CPUs: no system call, a few ns. */
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

extern uint64_t sp_tick_ns SP_HIDDEN;	/* 2^-32 ns per tick */
static inline uint64_t sp_ticks_ns(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * sp_tick_ns >> 32);
}

static inline void sp_percpu_set_time_from(struct sp_percpu *p, uint64_t now)
{
	store_relaxed(&((struct sp_percpu_fast *)p)->time_from, now);
}

/* Returns the ns since time_from, which were on one CPU and proven, and begins anew. */
static inline uint64_t sp_percpu_take_time(struct sp_percpu *p, uint64_t now)
{
	struct sp_percpu_fast *g = (struct sp_percpu_fast *)p;
	uint64_t begun = load_relaxed(&g->time_from);

	if (SP_UNLIKELY(begun > now))	/* a handler has started it again since */
		return 0;
	store_relaxed(&g->time_from, now);
	return sp_ticks_ns(now - begun);
}

#endif
