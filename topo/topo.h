/* topo.h: a machine's component tree, from hwloc or without it, as plain
 * records (core/store/format.h) that a store can keep.  No hwloc type appears here.
 *
 * sp_topo_load runs on the application's thread and may call malloc and read
 * /sys; it leaves the thread's binding, environment and descriptors as they
 * were.  What it returns belongs to the caller until sp_topo_free.
 */
#ifndef SP_TOPO_H
#define SP_TOPO_H

#include "../core/store/format.h"

struct sp_topo {
	uint32_t n;			/* components, in the order of a walk from the root */
	uint32_t n_cpus;		/* highest OS index of a PU, plus one */
	struct sp_component *component;
	char *xml;			/* hwloc's own, valid for lstopo --input */
	uint64_t xml_bytes;		/* without a closing NUL */
	uint32_t n_kinds;		/* 0: CPUs are all alike */
	struct sp_cpu_kind *kind;	/* in hwloc's order: components' cpu_kind */
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

#endif
