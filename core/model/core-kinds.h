/* core-kinds.h: what kind of core a count is from (hwloc's cpukinds: P cores, E cores), since a
 * metric of several kinds is neither's.  Not to be taken for an event's kind, which is counter or
 * gauge.
 */
#ifndef SP_CORE_KINDS_H
#define SP_CORE_KINDS_H

#include "model.h"

static inline bool sp_kinds_several(uint32_t kinds)
{
	return (kinds & (kinds - 1)) != 0;
}

/* The kind of the CPU or core `component` (-1: none); -1: it has none, or all are alike. */
static inline int32_t sp_kind_of(const struct sp_model *m, int32_t component)
{
	return component >= 0 && sp_kinds_several(m->kinds) ? m->component[component].cpu_kind : -1;
}

/* The kinds that counts were booked on below this component, a bit each. */
static inline uint32_t sp_kinds_below(const struct sp_model *m, uint32_t component)
{
	return sp_kinds_several(m->kinds) ? m->kinds_below[component] : 0;
}

/* The bit of counts that are on no known kind, where kinds differ. */
static inline uint32_t sp_kind_unknown(const struct sp_model *m)
{
	return sp_kinds_several(m->kinds) ? 1u << SP_KINDS_MOST : 0;
}

#endif
