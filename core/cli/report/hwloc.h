/* hwloc.h: the hwloc format: a machine's topology as hwloc's XML, with the counts on its objects.
 *
 * libhwloc writes it (topo/topo-hwloc.c), in a child of the command. Errors of writing: -EBADMSG,
 * hwloc does not read the topology in the store; -ELIBACC, there is no libsspapi-topo.so or
 * libhwloc; -EXDEV, a run of several machines, each of which has a file of its own.
 */
#pragma once

#include "../../formats/format-writer.h"

void sp_format_hwloc(struct sp_out *o, const struct sp_selection *s);	/* of the first machine */
/* 0 or -errno */
int sp_hwloc_write(struct sp_out *o, const struct sp_selection *s, uint32_t machine);

/* False: no counted event has this name, but others were counted. */
bool sp_hwloc_colors(const struct sp_model *m, const char *name);
const char *sp_hwloc_color_by(void);	/* SSPAPI_COLOR_BY; NULL: not set */

extern const char *sp_hwloc_library;	/* NULL: libsspapi-topo.so beside the command; a test has
					 * its own path */
