/* budget.h: limits the CPU time for shadow counters under SSPAPI_ATTRIBUTION=auto.
 *
 * The budget is a fixed time per process, plus a hundredth of its CPU time. Each opening, closing
 * and scan is charged as measured, or as estimated from past ones if measuring would take a system
 * call. A set with shadow counters reserves the time of one scan for the reading that ends its
 * period. Shadow counters count all the time, so that scan also proves the readings before it.
 *
 * Pure functions of struct sp_budget, except sp_budget_charge(), which adds to it. Callers add
 * reserved time to `used_ns` themselves. Any thread, also in signal handlers. Times in ns.
 * tests/unit/t-budget.c has the model.
 */
#ifndef SP_PROCESS_BUDGET_H
#define SP_PROCESS_BUDGET_H

#include "../../core/base/base.h"
#include "../../core/base/sys.h"

/* Measured calls, and their CPU time. */
struct sp_price {
	uint64_t ns, calls;
};

struct sp_budget {
	uint64_t fixed;			/* may be spent whatever the process has run */
	uint64_t used_ns;		/* spent so far, including reserved time */
	struct sp_price open, scan;	/* per perf fd; per CPU of a scan */
};

#define SP_OPEN_NS	6000u		/* price until SP_FEW calls were measured */
#define SP_SCAN_NS	1500u
#define SP_FEW		64u		/* the first ones take longer */
#define SP_OWN_FDS	4u		/* of a thread without those per CPU; one is spare */
#define SP_OWN_READS	3u		/* of a scan, in addition to one per CPU */

/* Machines with more CPUs run more threads, which open counters before any has run for long. */
static inline uint64_t sp_budget_fixed(uint32_t cpus)
{
	return 20000000 + 5000000 * sp_min(cpus, 16);
}

/* life: the process's CPU time in ns. */
static inline uint64_t sp_budget_left(const struct sp_budget *b, uint64_t life)
{
	uint64_t limit = b->fixed + life / 100, used_ns = load_relaxed(&b->used_ns);

	return limit > used_ns ? limit - used_ns : 0;
}

/* Adds `ns` to the time spent and to the price *p, b->open or b->scan. No lock. */
static inline void sp_budget_charge(struct sp_budget *b, struct sp_price *p, uint64_t ns,
				    uint32_t calls)
{
	sp_add(&b->used_ns, ns);
	sp_add(&p->ns, ns);
	sp_add(&p->calls, calls);
}

/* The time to open `fds` perf fds. */
static inline uint64_t sp_budget_open(const struct sp_budget *b, uint32_t fds)
{
	return fds * ((SP_FEW * SP_OPEN_NS + load_relaxed(&b->open.ns)) /
		      (SP_FEW + load_relaxed(&b->open.calls)));
}

/* The time to read one perf fd. */
static inline uint64_t sp_budget_read(const struct sp_budget *b)
{
	return (SP_FEW * SP_SCAN_NS + load_relaxed(&b->scan.ns)) /
	       (SP_FEW + load_relaxed(&b->scan.calls));
}

/* The time to scan `cpus` CPUs. */
static inline uint64_t sp_budget_scan(const struct sp_budget *b, uint32_t cpus)
{
	return (cpus + SP_OWN_READS) * sp_budget_read(b);
}

/* The part of `left` that is not reserved. Half of the fixed part is reserved, minus `used`. */
static inline uint64_t sp_budget_shared(const struct sp_budget *b, uint64_t left, uint64_t used)
{
	uint64_t kept = b->fixed / 2 > used ? b->fixed / 2 - used : 0;

	return left > kept ? left - kept : 0;
}

/* May a scan be made whose time was not reserved? Half of the fixed part is for openings. */
static inline bool sp_budget_may_scan(const struct sp_budget *b, uint64_t left, uint32_t cpus)
{
	return sp_budget_shared(b, left, load_relaxed(&b->open.ns)) >= sp_budget_scan(b, cpus);
}

/* The part of `left` that may be spent on openings. Half of the fixed part is for scans. */
static inline uint64_t sp_budget_beyond_scans(const struct sp_budget *b, uint64_t left)
{
	uint64_t open_ns = load_relaxed(&b->open.ns);

	return sp_budget_shared(b, left, load_relaxed(&b->used_ns) - open_ns);
}

/* May this number of perf fds be opened to follow a thread? */
static inline bool sp_budget_may_follow(const struct sp_budget *b, uint64_t left, uint32_t fds)
{
	return sp_budget_beyond_scans(b, left) >= sp_budget_open(b, fds);
}

/* The number of CPUs that `ns` pays for: perf fds, a scan and the reserved one. */
static inline uint32_t sp_budget_payable_cpus(const struct sp_budget *b, uint64_t ns,
					      uint32_t fds_per_cpu)
{
	uint64_t own = sp_budget_open(b, SP_OWN_FDS) + 2 * sp_budget_scan(b, 0);
	uint64_t cost =
		sp_budget_open(b, fds_per_cpu) + 2 * (sp_budget_scan(b, 1) - sp_budget_scan(b, 0));

	return ns > own ? (uint32_t)sp_min((ns - own) / cost, UINT32_MAX) : 0;
}

/* The number of n CPUs that one of `parts` threads can watch: all, or few, to follow the thread. */
static inline uint32_t sp_budget_cpus(const struct sp_budget *b, uint64_t left, uint32_t parts,
				      uint32_t n, uint32_t fds_per_cpu)
{
	uint32_t can = sp_budget_payable_cpus(b, left / parts, fds_per_cpu);

	if (can == 0 || can >= n)
		return can;
	return (uint32_t)sp_max(sp_budget_payable_cpus(b, sp_budget_beyond_scans(b, left) / parts,
						       fds_per_cpu),
				1);
}

#endif
