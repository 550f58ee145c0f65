/* target.h: the thread or CPU whose events an event set counts, as PAPI opened them (perf-fds.h).
 *
 * The program's request may differ: PAPI opens the counters at its next call, from whichever
 * thread, and also for a request that it refuses. Pure functions of the perf fds.
 */
#ifndef SP_TARGET_H
#define SP_TARGET_H

#include "perf-fds.h"

#define SP_CPUS_MIXED	(-3)

/* The domains that the kernel does not distinguish: Linux ignores exclude_hv on x86-64. libpfm4
 * clears it there, so that PAPI_DOM_USER would appear as user+supervisor. */
#ifdef __x86_64__
#define SP_DOMAINS_UNSEEN (SP_DOMAIN_OTHER | SP_DOMAIN_SUPERVISOR)
#else
#define SP_DOMAINS_UNSEEN SP_DOMAIN_OTHER
#endif

struct sp_count_target {
	bool is_known;			/* false: no events, unknown ones, or several threads' */
	bool is_attached;		/* PAPI named the thread (PAPI_attach) */
	bool inherits;			/* one of them also counts threads made later */
	int tid;			/* -1: any that runs on the CPU; 0: unknown */
	uint32_t thread;		/* sp_thread_state.id that opened them for itself; 0 */
	uint32_t domain;		/* of all events together (sp_target_domain) */
	uint32_t digest;		/* of the CPU and domain of each event */
	int cpu;			/* -1: any; SP_CPUS_MIXED: several */
};

struct sp_count_target sp_count_target(const struct sp_perf_fds *o);

/* The domain of one counter, without SP_DOMAINS_UNSEEN. */
uint32_t sp_target_domain(const struct perf_event_attr *a);

static inline bool sp_target_is_same(const struct sp_count_target *a,
				     const struct sp_count_target *b)
{
	return a->is_known == b->is_known && a->is_attached == b->is_attached &&
	       a->inherits == b->inherits && a->tid == b->tid && a->thread == b->thread &&
	       a->digest == b->digest;
}

#endif
