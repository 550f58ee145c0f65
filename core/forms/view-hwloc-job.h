/* view-hwloc-job.h: what the hwloc view is for several machines. */
#ifndef SP_VIEW_HWLOC_JOB_H
#define SP_VIEW_HWLOC_JOB_H

#include "../model/view-common.h"

static inline bool sp_is_cache(const struct sp_component *c)
{
	return c->type[0] == 'L' && c->type[1] >= '1' && c->type[1] <= '5';
}

void sp_hex_word(struct sp_out *o, uint32_t v);	/* 8 digits */

/* The whole XML of a model with several machines; infos writes
 * what is shown of a component into its object (whole: one that stands for a machine), subtype that
 * attribute of its tag, if it has one. */
void sp_view_hwloc_job(struct sp_out *o, const struct sp_model *m,
		       void (*infos)(void *painter, uint32_t component, bool whole),
		       void (*subtype)(void *painter, uint32_t component), void *painter);

#endif
