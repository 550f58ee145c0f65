/* topo.h: a machine's component tree, from hwloc or without it, as plain
 * records (core/store/layout.h) that a store can keep.  No hwloc type appears here.
 *
 * sp_topo_load runs on the application's thread and may call malloc and read
 * /sys; it leaves the thread's binding, environment and descriptors as they
 * were.  What it returns belongs to the caller until sp_topo_free.
 */
#ifndef SP_TOPO_H
#define SP_TOPO_H

#include "../core/store/layout.h"

struct sp_topo {
	uint32_t n;			/* components, in the order of a walk from the root */
	uint32_t n_cpus;		/* highest OS index of a PU, plus one */
	struct sp_component *component;
	char *xml;			/* hwloc's own, valid for lstopo --input */
	uint64_t xml_bytes;		/* without a closing NUL */
};

/* source: NULL, this machine; else the path of an hwloc XML file, or, after
 * "synthetic:", an hwloc synthetic description.  0, or -errno with a line in why
 * (what is wrong with it, without the path, no newline); -ENODATA: hwloc cannot see
 * this machine, which sp_topo_flat can. */
int sp_topo_load(struct sp_topo *t, const char *source, char *why, size_t why_bytes);

/* Without hwloc: a Machine with its PUs, from the kernel's lists alone; uses
 * no malloc.  0 or -errno. */
int sp_topo_flat(struct sp_topo *t);

void sp_topo_free(struct sp_topo *t);

/* An object of hwloc's while it is painted: what is added to it. Texts are copied. */
struct sp_topo_object {
	void (*info)(struct sp_topo_object *o, const char *name, const char *value);
	/* In lstopo's picture: of a cache behind its type, of others in a box of that
	 * lstopoStyle. */
	void (*label)(struct sp_topo_object *o, const char *text, const char *style);
};

struct sp_topo_painter {
	void *arg;
	void (*paint)(void *arg, uint32_t component, struct sp_topo_object *o);
	/* Does this info of any object go, since an earlier dump left it there, or a new one
	 * comes? */
	bool (*is_old)(void *arg, const char *name, const char *value);
};

/* t's XML, or, where it has none, its CPUs alone, with what is painted on each component, as
 * hwloc's XML to fd. A component that the XML lacks becomes a Misc object. hwloc may crash on a
 * stranger's XML: to be called in a child of the command. 0 or -errno; -EINVAL: hwloc refuses the
 * XML. */
int sp_topo_paint(const struct sp_topo *t, const struct sp_topo_painter *p, int fd);

#endif
