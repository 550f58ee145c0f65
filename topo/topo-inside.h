/* topo-inside.h: shared by the files of libsspapi-topo.so only. */
#ifndef SP_TOPO_INSIDE_H
#define SP_TOPO_INSIDE_H

#include <setjmp.h>

#include "../core/store/layout.h"

#define SP_TOPO_COMPONENTS	65536u	/* of one machine; more are refused */
/* Limits of a file or description. hwloc's time and the sets' text are quadratic: 25,000 objects,
 * or 8,192 below one, take 10 s. The largest machines of 2026 have 2,000 CPUs in 6,000 objects. */
#define SP_TOPO_DESCRIBED	8192u
#define SP_TOPO_SIBLINGS	2048u	/* only hwloc's synthetic source compares siblings */
#define SP_TOPO_CPUS		65536u	/* limit of OS indexes */
#define SP_TOPO_GPUS	256		/* of this machine; further ones are ignored */
#define SP_TOPO_FIX		"; make one with: lstopo machine.xml"

/* topo.map lists these functions, too */
#define SP_TOPO_EXPORT	__attribute__((visibility("default")))

/* The caller's buffer for the reason. */
struct sp_topo_report {
	char *why;
	size_t bytes;
};

/* Write the reason and return -error. */
int sp_topo_refuse(const struct sp_topo_report *report, int error, const char *why);

/* Read a file and add a NUL; free it with sp_unmap(*xml, *bytes + 1). 0 or -errno. */
int sp_topo_read(const char *path, char **xml, size_t *bytes, const struct sp_topo_report *report);

/* Check whether hwloc can safely parse the text, of at most this number of objects: 0 or -errno;
 * -EOPNOTSUPP without a reason: hwloc 3 wrote it. */
int sp_topo_check_xml(const char *xml, uint32_t most, const struct sp_topo_report *report);
int sp_topo_check_synthetic(const char *text, const struct sp_topo_report *report);

extern const char *sp_topo_pmus;	/* folder of the PMUs (core/base/pmus.h); tests change it */

/* A GPU of this machine. */
struct sp_gpu {
	uint64_t bus;			/* PCI address as a number, for sorting */
	enum sp_vendor vendor;
	char address[24];		/* 0000:41:00.0 */
	char model[64];
	char cpus[4096];		/* local CPUs, as the kernel's list; or "" */
};

/* The vendor of a GPU, by PCI class (0x0302) and vendor number; SP_VENDOR_NONE for other
 * devices. */
enum sp_vendor sp_topo_gpu_vendor(unsigned pci_class, unsigned vendor);

/* Find this machine's GPUs, in the order of their addresses. Returns their number, at most
 * SP_TOPO_GPUS. */
int sp_topo_gpus(struct sp_gpu *gpu);

extern const char *sp_topo_root;	/* folder that contains /sys and /proc; tests change it */

/* Target of the jump after a failed assertion in hwloc; NULL: abort. Only in libsspapi-topo.so: the
 * sspapi command does not link topo-getenv.o. */
extern __thread jmp_buf *sp_topo_abort_jump;

#endif
