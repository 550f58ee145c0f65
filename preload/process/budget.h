/* budget.h: what a process may spend on shadow counters under SSPAPI_ATTRIBUTION=auto.
 *
 * A fixed time per process, and from then on a hundredth of its CPU time. What is spent is measured, once: the CPU time of
 * each opening, closing and scan. What the next one will take is estimated from those before it. A set that has shadow
 * counters keeps the time of one scan aside for the reading that ends its segment: shadow counters count all the time, so
 * that this scan proves the readings before it, too.
 *
 * Pure functions of struct sp_budget; any thread, also in signal handlers. Times in ns.
 */
#ifndef SP_PROCESS_BUDGET_H
#define SP_PROCESS_BUDGET_H

#include "../../core/base/base.h"
#include "../../core/base/sys.h"

struct sp_budget {
	uint64_t fixed;			/* may be spent whatever the process has run */
	uint64_t spent;			/* so far, with what is kept aside */
	uint64_t open_ns, scan_ns;	/* a perf fd takes to open, a CPU to scan: means of the last ones, or 0: none yet */
};

#define SP_OPEN_NS	6000u		/* until one was measured */
#define SP_SCAN_NS	1500u
#define SP_OWN_FDS	3u		/* of a thread beside those of each CPU */

/* A machine with more CPUs runs more threads, each of which opens counters at its start, when none has run for long. */
static inline uint64_t sp_budget_fixed(uint32_t cpus)
{
	return 10000000 + 5000000 * (uint64_t)sp_min(cpus, 18);
}

/* The process has run for `life` ns of CPU time. */
static inline uint64_t sp_budget_left(const struct sp_budget *b, uint64_t life)
{
	uint64_t may = b->fixed + life / 100, spent = sp_get(&b->spent);

	return may > spent ? may - spent : 0;
}

static inline uint64_t sp_budget_open(const struct sp_budget *b, uint32_t fds)
{
	uint64_t each = sp_get(&b->open_ns);

	return fds * (each ? each : SP_OPEN_NS);
}

static inline uint64_t sp_budget_scan(const struct sp_budget *b, uint32_t cpus)
{
	uint64_t each = sp_get(&b->scan_ns);

	return cpus * (each ? each : SP_SCAN_NS);
}

static inline void sp_budget_mean(uint64_t *mean, uint64_t ns, uint32_t n)
{
	uint64_t was = sp_get(mean);

	if (n)
		sp_put(mean, was ? (7 * was + ns / n) / 8 : ns / n);
}

static inline void sp_budget_opened(struct sp_budget *b, uint64_t ns, uint32_t fds)
{
	sp_add(&b->spent, ns);
	sp_budget_mean(&b->open_ns, ns, fds);
}

static inline void sp_budget_scanned(struct sp_budget *b, uint64_t ns, uint32_t cpus)
{
	sp_add(&b->spent, ns);
	sp_budget_mean(&b->scan_ns, ns, cpus);
}

/* How many CPUs can be watched with `ns` and `fds`, each by so many perf fds: the scan after the opening is paid, and one
 * is kept aside. 0: there is no time; one needs no fds that are left. */
static inline uint32_t sp_budget_cpus(const struct sp_budget *b, uint64_t ns, uint64_t fds, uint32_t each)
{
	uint64_t cost = sp_budget_open(b, each) + 2 * sp_budget_scan(b, 1), own = sp_budget_open(b, SP_OWN_FDS);

	fds = fds > SP_OWN_FDS ? sp_max((fds - SP_OWN_FDS) / each, 1) : 1;
	return (uint32_t)sp_min(fds, ns > own ? (ns - own) / cost : 0);
}

#endif
