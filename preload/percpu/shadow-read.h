/* shadow-read.h: reads what our counters have, on all CPUs.
 *
 * The caller has the split (percpu-lifetime.h).
 */
#ifndef SP_SHADOW_READ_H
#define SP_SHADOW_READ_H

#include "../process/process.h"
#include "percpu-internal.h"

/* Not the caller's own counts: what is counted goes on while the caller looks. */
static inline bool sp_is_remote(const struct sp_percpu *p)
{
	return !p->target.is_own || load_relaxed(&p->sharing.is_shared) ||
	       p->target.tid != sp_thread_state.tid;
}

/* Was the thread there since the scan before? */
static inline bool sp_has_advanced(const struct sp_percpu_cpu *c)
{
	return c->now.low != c->prev.low || c->now.high != c->prev.high ||
	       c->prev.low != c->prev.high;
}

int sp_scan_index(const struct sp_percpu *p, int cpu);		/* of p->cpu; -1: none of ours */

/* Times and counts of all CPUs, as they are now; those of the last scan become those of the scan
 * before.  Right after the shadow counters of the caller's own CPU also PAPI's counters `o` (NULL:
 * not wanted), to p->beside (struct sp_percpu_papi).  False: p->scan.trouble is the reason. */
bool sp_scan(struct sp_percpu *p, const struct sp_perf_fds *o);

/* The next one will read one CPU only: the thread was nowhere else since the last one. */
bool sp_scan_is_short(const struct sp_percpu *p);

/* The last scan was of another thread, which slept, and has slept until now. */
bool sp_scan_has_slept(const struct sp_percpu *p);

/* Does it matter what shadow counters had at most?  That of a CPU without an anchor (window.h)
 * does, and a difference of counters. */
bool sp_scan_needs_upper_limit(const struct sp_percpu *p);

/* The counts of one group on one CPU, by native. */
bool sp_scan_read_group(struct sp_percpu *p, struct sp_percpu_cpu *c, enum sp_group g,
			uint64_t *count);

/* What the copies of event e have now, on all CPUs together. */
bool sp_scan_read_sum(struct sp_percpu *p, uint32_t e, int64_t *sum);

/* What PAPI's own counters have, by event.  False: they do not tell. */
bool sp_scan_read_papi(struct sp_percpu *p, const struct sp_perf_fds *o, int64_t *value);

#endif
