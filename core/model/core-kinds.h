/* core-kinds.h: P cores, E cores: what kind of core a count is from.
 *
 * Kinds are hwloc's (cpukinds); the model has them with their sums.  Not to be taken
 * for an event's kind, which is counter or gauge.
 */
#ifndef SP_CORE_KINDS_H
#define SP_CORE_KINDS_H

#include "model.h"

#define SP_KIND_NONE	UINT8_MAX	/* in kind_of: not told apart */

/* The kind of the CPU or core `component` (-1: none); -1: it has none, or all are alike. */
static inline int32_t sp_kind_of(const struct sp_model *m, int32_t component)
{
	return component >= 0 && m->n_kinds > 1 && m->kind_of[component] < m->n_kinds ? m->kind_of[component] : -1;
}

/* The kinds that the event can be counted on, a bit each, if not on all: those whose PMU the store says that it is of (or, where
 * it does not, its name).  0: it counts on all, or nothing tells. */
uint32_t sp_kinds_of_event(const struct sp_model *m, uint32_t event);

/* The kinds that counts were booked on below this component, a bit each. */
static inline uint32_t sp_kinds_below(const struct sp_model *m, uint32_t component)
{
	return m->n_kinds > 1 ? m->kinds_below[component] : 0;
}

static inline bool sp_kinds_several(uint32_t kinds)
{
	return (kinds & (kinds - 1)) != 0;
}

/* The kinds that the relation was counted on; with bit SP_KINDS_MOST: also on no known kind. */
uint32_t sp_kinds_of_row(struct sp_model *m, struct sp_row *row);

struct sp_tree;

/* For model-open.c: takes in the kinds of the components from number `from` on. */
void sp_kinds_index(struct sp_model *m, const struct sp_tree *tree, uint32_t from);

#endif
