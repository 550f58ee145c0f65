/* scan.h: reads what our counters have, on all CPUs.
 *
 * The caller has the split (hold.h).
 */
#ifndef SP_SCAN_H
#define SP_SCAN_H

#include "../life/process.h"
#include "split-own.h"

/* Not the caller's own counts: what is counted goes on while the caller looks. */
static inline bool sp_is_theirs(const struct sp_split *p)
{
	return !p->own || p->tid != sp_self.tid;
}

static inline bool sp_went_on(const struct sp_split_cpu *c)
{
	return c->now.low != c->mark.low || c->now.high != c->mark.high || c->mark.low != c->mark.high;
}

/* A sum of counts, to the nearest whole number. */
static inline int64_t sp_rounded(double x)
{
	return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

int sp_scan_index(const struct sp_split *p, int cpu);		/* of p->cpu; -1: none of ours */

/* p->now and the values of all CPUs.  *at: where the thread is during the scan: an index; -1: it does not run, or on none of
 * ours.  False: p->trouble says why. */
bool sp_scan(struct sp_split *p, int *at);

/* The window begins with what the scan saw, where it saw the thread; there are no marks. */
void sp_scan_mark(struct sp_split *p, int at);
void sp_scan_unmark(struct sp_split *p);

/* One counter of a clock: its time, and its value (NULL: not wanted).  False: it is not ours any more. */
bool sp_scan_clock(int fd, uint64_t *ns, uint64_t *value);

/* The counts of one group on one CPU, by native. */
bool sp_scan_group(struct sp_split *p, struct sp_split_cpu *c, enum sp_group g, uint64_t *count);

/* What the caller's own counters without an edge have here, before PAPI is called. */
void sp_scan_early(struct sp_split *p);

/* What PAPI's own counters have more than `counts` (NULL: since they were zeroed), on all CPUs.  False: they do not
 * tell. */
bool sp_scan_papis(struct sp_split *p, const struct sp_opened *o, const long long *counts, int64_t *more);

#endif
