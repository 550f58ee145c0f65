/* view-hwloc.h: what the hwloc view's files share. */
#ifndef SP_VIEW_HWLOC_H
#define SP_VIEW_HWLOC_H

#include "view-common.h"

/* The whole XML of a model with several machines; infos(painter, component, indent) writes
 * what is shown of a component into its object. */
void sp_view_hwloc_job(struct sp_out *o, const struct sp_model *m,
		       void (*infos)(void *painter, uint32_t component, const char *indent), void *painter);

#endif
