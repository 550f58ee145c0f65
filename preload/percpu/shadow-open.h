/* shadow-open.h: what is opened for a set's split (percpu.h), and when it counts. */
#ifndef SP_SHADOW_OPEN_H
#define SP_SHADOW_OPEN_H

#include "../../core/store/layout.h"
#include "percpu-fast.h"
#include "cpu-select.h"

/* What is to be split. */
struct sp_percpu_request {
	const struct sp_perf_fds *perf_fds;
	int tid;			/* whose counts they are */
	bool is_own; /* the calling thread's */
	bool inherits, overflows, multiplexed;
	uint32_t k;
	const struct sp_terms *const *terms;	/* [k] */
};

/* Once in a process, before anything counts; and in a child of fork. */
void sp_percpu_begin(void);
void sp_percpu_child(void);

/* Counters of ours for what is wanted, before PAPI starts it: those of *p where they still fit,
 * else others.  *why: why it is less than the setting asks for.  How it will be split. */
enum sp_attribution sp_percpu_prepare(struct sp_percpu **p, const struct sp_percpu_request *want,
				      enum sp_why *why);

/* Are they still those for what PAPI has open?  (The same events, opened again, are.)  By the set's
 * user. */
bool sp_percpu_matches(struct sp_percpu *p, const struct sp_perf_fds *perf_fds);

/* The kernel's PMU, of one kind of cores, that counts this event, once PAPI has opened it; NULL:
 * any, or not known. */
const char *sp_percpu_pmu(const struct sp_percpu_request *want, uint32_t event);

/* The domain that the event is counted in (target.h), once PAPI has opened it; 0: not known. */
uint32_t sp_percpu_domain(const struct sp_percpu_request *want, uint32_t event);

/* By event, what the edges of a window on several CPUs may put on a neighbour. */
void sp_percpu_error_margins(const struct sp_percpu *p, uint64_t *edge);
bool sp_percpu_counts_moves(const struct sp_percpu *p);

/* Under auto: keeps the time of the scan aside that ends the segment, if there is some. What the
 * counters have by then proves what was read before. */
void sp_shadow_reserve_scan(struct sp_percpu *p);

/* CPUs that the thread could run on when they were opened, as "0-3,8". */
void sp_percpu_allowed(const struct sp_percpu *p, char *text, size_t n);

/* Its thread, the caller, runs on this CPU, which is not watched: watches it from now on, in place
 * of the one that it has left for longest if there is no room.  Reads nothing.  False: it cannot.
 * The caller has it (percpu-lifetime.h). */
bool sp_shadow_follow(struct sp_percpu *p, const struct sp_perf_fds *perf_fds, int cpu);

/* Its thread, the caller, is about to go to these CPUs while it runs: copies there, too, as far as
 * there is room.  The caller has it (percpu-lifetime.h). */
void sp_shadow_add_cpus(struct sp_percpu *p, const struct sp_perf_fds *perf_fds,
			const struct sp_cpus *more);

/* Before PAPI starts the set: its hardware counters are on, no other set's of the thread; those
 * that never found a place go.  The caller has it (percpu-lifetime.h). */
void sp_shadow_before_start(struct sp_percpu *p);

#endif
