/* topo-inside.h: what the files of libsspapi-topo.so share; nobody else's. */
#ifndef SP_TOPO_INSIDE_H
#define SP_TOPO_INSIDE_H

#include <setjmp.h>

#include "../core/store/layout.h"

#define SP_TOPO_COMPONENTS	65536u	/* of one machine; more is refused */
#define SP_TOPO_CPUS		65536u	/* OS indexes end before it */
#define SP_TOPO_GPUS	256		/* of this machine; no more are looked for */
#define SP_TOPO_FIX		"; make one with: lstopo machine.xml"

#define SP_TOPO_EXPORT	__attribute__((visibility("default")))	/* topo.map names them, too */

/* The caller's line: what is wrong. */
struct sp_topo_report {
	char *why;
	size_t bytes;
};

/* Writes the line and returns -error. */
int sp_topo_refuse(const struct sp_topo_report *report, int error, const char *why);

/* A file's bytes and a NUL behind them, for sp_unmap(bytes + 1); 0 or -errno. */
int sp_topo_read(const char *path, char **xml, size_t *bytes, const struct sp_topo_report *report);

/* Whether hwloc may be shown this: 0 or -errno; -EOPNOTSUPP, and no line: hwloc 3 has written
 * it. */
int sp_topo_check_xml(const char *xml, const struct sp_topo_report *report);
int sp_topo_check_synthetic(const char *text, const struct sp_topo_report *report);

extern const char *sp_topo_pmus;	/* the folder of this machine's PMUs (core/base/pmus.h); a
					 * test has its own */

/* A GPU of this machine. */
struct sp_gpu {
	uint64_t bus;			/* its address as a number, for the order */
	enum sp_vendor vendor;
	char address[24];		/* 0000:41:00.0 */
	char model[64];
	char cpus[4096];		/* those near it, as the kernel's list; or "" */
};

/* The vendor whose GPU a PCI device of this class (0x0302) and vendor number is, or
 * SP_VENDOR_NONE. */
enum sp_vendor sp_topo_gpu_vendor(unsigned pci_class, unsigned vendor);

/* This machine's GPUs in the order of their addresses; how many of the SP_TOPO_GPUS there is room
 * for. */
int sp_topo_gpus(struct sp_gpu *gpu);

extern const char *sp_topo_root;	/* the folder above /sys and /proc; a test has its own */

/* Where an assertion of hwloc that fails goes instead of abort(3); NULL: nowhere.
 * Only in the DSO: the sspapi command links no topo-getenv.o. */
extern __thread jmp_buf *sp_topo_abort_jump;

#endif
