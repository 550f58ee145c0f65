/* hwloc.h: the hwloc format: a machine's topology as hwloc XML, with the counts on its objects.
 *
 * libhwloc writes it (topo/topo-hwloc.c) in a child of the command. Write errors: -EBADMSG: hwloc
 * does not read the store's topology; -ELIBACC: no libsspapi-topo.so or libhwloc; -EXDEV: the run
 * has several machines, which need a file each.
 */
#pragma once

#include "../../formats/format-writer.h"

void sp_format_hwloc(struct sp_out *o, const struct sp_selection *s);	/* the first machine */
/* Returns 0 or -errno. */
int sp_hwloc_write(struct sp_out *o, const struct sp_selection *s, uint32_t machine);

/* Returns false if no counted event has this name, but others were counted. */
bool sp_hwloc_colors(const struct sp_model *m, const char *name);
const char *sp_hwloc_color_by(void);	/* SSPAPI_COLOR_BY; NULL: not set */

/* NULL: libsspapi-topo.so next to the command; set by tests */
extern const char *sp_hwloc_library;
