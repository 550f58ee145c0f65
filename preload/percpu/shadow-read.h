/* shadow-read.h: scans: reads the shadow counters of a set on all CPUs. The caller has taken the
 * set (percpu-lifetime.h). */
#ifndef SP_SHADOW_READ_H
#define SP_SHADOW_READ_H

#include "../process/process.h"
#include "percpu-internal.h"

/* Does the set count another thread than the caller, or do several threads read it? Counting may
 * then go on during a scan. */
static inline bool sp_is_remote(const struct sp_percpu *p)
{
	return !p->target.is_own || load_relaxed(&p->sharing.is_shared) ||
	       p->target.tid != sp_thread_state.tid;
}

/* Has the thread run there since the previous scan? */
static inline bool sp_has_advanced(const struct sp_percpu_cpu *c)
{
	return c->now.low != c->prev.low || c->now.high != c->prev.high ||
	       c->prev.low != c->prev.high;
}

int sp_scan_index(const struct sp_percpu *p, int cpu);	/* index in p->cpu; -1: not watched */

/* Reads the times and counts of all CPUs; the last scan becomes the previous one. Also reads PAPI's
 * counters `o` (NULL: none) into p->papi, right after the shadow counters of the caller's CPU.
 * False: p->scan.failure is the reason. */
bool sp_scan(struct sp_percpu *p, const struct sp_perf_fds *o);

/* Will the next scan read one CPU only, since the thread was nowhere else? */
bool sp_scan_is_short(const struct sp_percpu *p);

/* Has the other thread slept since before the last scan? */
bool sp_scan_has_slept(const struct sp_percpu *p);

/* Is an upper limit of shadow counters needed? Yes for a CPU without an anchor (window.h), and for
 * a difference of counters. */
bool sp_scan_needs_upper_limit(const struct sp_percpu *p);

/* Reads the counts of one group on one CPU to count[native]. */
bool sp_scan_read_group(struct sp_percpu *p, struct sp_percpu_cpu *c, enum sp_group g,
			uint64_t *count);

/* Sums the shadow counters of event e on all CPUs now. */
bool sp_scan_read_sum(struct sp_percpu *p, uint32_t e, int64_t *sum);

/* Reads PAPI's own counters to value[event]. False: impossible. */
bool sp_scan_read_papi(struct sp_percpu *p, const struct sp_perf_fds *o, int64_t *value);

#endif
