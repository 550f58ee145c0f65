/* core-kinds.h: finds the kind of core (hwloc's cpukinds: P cores, E cores) of a count, since a
 * metric over several kinds is meaningless. Not to be confused with an event's kind, counter or
 * gauge. */
#ifndef SP_CORE_KINDS_H
#define SP_CORE_KINDS_H

#include "model.h"

static inline bool sp_kinds_several(uint32_t kinds)
{
	return (kinds & (kinds - 1)) != 0;
}

/* The kind of the CPU or core `component`; -1 if it has none, is -1, or all cores are alike. */
static inline int32_t sp_kind_of(const struct sp_model *m, int32_t component)
{
	return component >= 0 && sp_kinds_several(m->kinds) ? m->component[component].cpu_kind : -1;
}

/* Bit mask of the kinds to which counts were attributed below this component. */
static inline uint32_t sp_kinds_below(const struct sp_model *m, uint32_t component)
{
	return sp_kinds_several(m->kinds) ? m->kinds_below[component] : 0;
}

/* The bit for counts of no known kind, if there are several kinds. */
static inline uint32_t sp_kind_unknown(const struct sp_model *m)
{
	return sp_kinds_several(m->kinds) ? 1u << SP_KINDS_MOST : 0;
}

#endif
