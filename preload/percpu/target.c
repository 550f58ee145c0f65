/* target.c: finds the target of perf fds; see target.h. */
#include "../../core/store/domain.h"
#include "target.h"

uint32_t sp_target_domain(const struct perf_event_attr *a)
{
	return ((a->exclude_user ? 0 : SP_DOMAIN_USER) |
		(a->exclude_kernel ? 0 : SP_DOMAIN_KERNEL) |
		(a->exclude_hv ? 0 : SP_DOMAIN_SUPERVISOR)) &
	       ~SP_DOMAINS_UNSEEN;
}

struct sp_count_target sp_count_target(const struct sp_perf_fds *o)
{
	const struct sp_native *first = o->at;
	struct sp_count_target c = { .cpu = -1 };

	if (!o->n)
		return c;
	c = (struct sp_count_target){ .is_known = !o->is_mixed && !load_relaxed(&o->has_missed),
				      .is_attached = first->tid >= 0 && !first->thread,
				      .tid = first->tid,
				      .thread = first->thread,
				      .cpu = first->cpu };
	for (uint32_t i = 0; i < o->n; i++) {
		const struct sp_native *n = &o->at[i];

		c.is_known = c.is_known && n->tid == c.tid && n->thread == c.thread;
		c.inherits = c.inherits || n->attr.inherit;
		c.domain |= sp_target_domain(&n->attr);
		c.digest = c.digest * 0x9e3779b1u +
			   ((uint32_t)n->cpu << 4 | sp_target_domain(&n->attr)) + 1;
		if (n->cpu != c.cpu)
			c.cpu = SP_CPUS_MIXED;
	}
	return c;
}
