/* topo.h: reads a machine's component tree, with or without hwloc, as records (core/store/layout.h)
 * for the store. Has no hwloc type.
 *
 * sp_topo_load runs in the application's thread and may call malloc and read /sys. It leaves the
 * thread's binding, environment and descriptors unchanged. The caller owns the result and frees it
 * with sp_topo_free.
 */
#ifndef SP_TOPO_H
#define SP_TOPO_H

#include "../core/store/layout.h"

struct sp_topo {
	uint32_t n;			/* components, in the order of a walk from the root */
	uint32_t n_cpus;		/* highest OS index of a PU, plus one */
	struct sp_component *component;
	char *xml;			/* hwloc's XML, valid for lstopo --input */
	uint64_t xml_bytes;		/* without a NUL */
};

/* Load the topology. source: NULL for this machine, the path of an hwloc XML file, or "synthetic:"
 * and an hwloc synthetic description. Returns 0, or -errno with a line in `why`, which has neither
 * the path nor a newline. -ENODATA: hwloc cannot read this machine; use sp_topo_flat. */
int sp_topo_load(struct sp_topo *t, const char *source, char *why, size_t why_bytes);

/* Make a Machine with its PUs from the kernel's lists, without hwloc or malloc. 0 or -errno. */
int sp_topo_flat(struct sp_topo *t);

void sp_topo_free(struct sp_topo *t);

/* Adds infos and labels to an hwloc object during sp_topo_paint. Texts are copied. */
struct sp_topo_object {
	void (*info)(struct sp_topo_object *o, const char *name, const char *value);
	/* Label it in lstopo's picture: a cache after its type, other objects in a box with this
	 * lstopoStyle. */
	void (*label)(struct sp_topo_object *o, const char *text, const char *style);
};

struct sp_topo_painter {
	void *arg;
	void (*paint)(void *arg, uint32_t component, struct sp_topo_object *o);
	/* Returns whether to remove this info of an object: an earlier dump left it, or a new one
	 * replaces it. */
	bool (*is_old)(void *arg, const char *name, const char *value);
};

/* Paint the components of t's XML, or of its CPUs if it has none, and write hwloc's XML to fd. A
 * component that the XML lacks becomes a Misc object. Call it in a child of the command, since
 * hwloc may crash on an untrusted XML. 0 or -errno; -EINVAL: hwloc refuses the XML. */
int sp_topo_paint(const struct sp_topo *t, const struct sp_topo_painter *p, int fd);

#endif
