/* view-hwloc-job.h: what the hwloc view is for several machines. */
#ifndef SP_VIEW_HWLOC_JOB_H
#define SP_VIEW_HWLOC_JOB_H

#include "view-common.h"

/* The whole XML of a model with several machines; infos writes
 * what is shown of a component into its object (whole: one that stands for a machine), subtype that
 * attribute of its tag, if it has one. */
void sp_view_hwloc_job(struct sp_out *o, const struct sp_model *m,
		       void (*infos)(void *painter, uint32_t component, bool whole),
		       void (*subtype)(void *painter, uint32_t component), void *painter);

#endif
