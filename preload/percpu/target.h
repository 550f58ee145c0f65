/* target.h: whose counts an event set holds, as PAPI asked the kernel for them (perf-fds.h).
 *
 * Not what the program asked PAPI for: PAPI does that at its next opening of the counters, by
 * whichever thread calls it then, and a call that it refuses opens them, too (seen: an event that a
 * thread could not add to another one's set made the set count that thread).  A pure function of
 * what is open.
 */
#ifndef SP_TARGET_H
#define SP_TARGET_H

#include "perf-fds.h"

#define SP_CPUS_MIXED	(-3)

/*
 * The domains that the kernel does not tell apart here. Linux ignores exclude_hv on x86-64, and
 * libpfm4 clears it for every event where it knows an x86 CPU: PAPI_DOM_USER alone looked like
 * user+supervisor.
 */
#ifdef __x86_64__
#define SP_DOMAINS_UNSEEN (SP_DOMAIN_OTHER | SP_DOMAIN_SUPERVISOR)
#else
#define SP_DOMAINS_UNSEEN SP_DOMAIN_OTHER
#endif

struct sp_count_target {
	bool is_known; /* false: nothing is open, not all was seen, or not all of
					 * it is of one thread */
	bool is_attached; /* PAPI named the thread (PAPI_attach); else it is who
					 * opened them, or the CPU's */
	bool inherits;			/* one of them counts threads made later, too */
	int tid;			/* the thread; -1: any that runs on the CPU; 0: not known */
	uint32_t thread;		/* sp_thread_state.id of that who opened them for itself;
					 * 0 */
	uint32_t domain;		/* that of all of them together (sp_target_domain) */
	uint32_t digest; /* the CPU and the domain of each, in one number */
	int cpu;			/* all count on this one only; -1: on any; SP_CPUS_MIXED:
					 * not all on the same */
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
