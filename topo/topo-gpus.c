/* topo-gpus.c: finds this machine's GPUs in sysfs and the drivers' files.
 *
 * hwloc's own search uses libudev and libpciaccess, which freed memory of the application's malloc
 * and crashed it.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/base/sys.h"
#include "topo-inside.h"

#ifndef SP_TOPO_ROOT			/* a test's build sets it to another machine's files */
#define SP_TOPO_ROOT ""
#endif

#define DEVICES	"/sys/bus/pci/devices"

const char *sp_topo_root = SP_TOPO_ROOT;

static bool read_text(const char *dir, const char *device, const char *file, char *to, size_t bytes)
{
	char path[512];
	int n = snprintf(path, sizeof(path), "%s%s/%s/%s", sp_topo_root, dir, device, file);
	long got = n < (int)sizeof(path) ? sp_read_file(path, to, bytes - 1) : -1;

	if (got > 0)
		to[got] = 0;
	return got > 0;
}

static unsigned long read_hex(const char *device, const char *file)
{
	char text[32];

	return read_text(DEVICES, device, file, text, sizeof(text)) ? strtoul(text, NULL, 16) : 0;
}

/* Returns whether the class is a display controller or a processing accelerator. */
static bool is_gpu(unsigned pci_class)
{
	return pci_class >> 8 == 0x03 || pci_class >> 8 == 0x12;
}

enum sp_vendor sp_topo_gpu_vendor(unsigned pci_class, unsigned vendor)
{
	if (!is_gpu(pci_class))
		return SP_VENDOR_NONE;
	switch (vendor) {
	case 0x10de:
		return SP_VENDOR_NVIDIA;
	case 0x1002:
		return SP_VENDOR_AMD;
	case 0x8086:
		return SP_VENDOR_INTEL;
	}
	return SP_VENDOR_NONE;
}

/* Read the model that the driver reports: NVIDIA's from its /proc file, AMD's from sysfs. Otherwise
 * use the vendor's and device's numbers, as lspci -n. */
static void read_model(struct sp_gpu *g, const char *device)
{
	char text[512], *model = text;

	if (read_text("/proc/driver/nvidia/gpus", device, "information", text, sizeof(text)) &&
	    (model = strstr(text, "Model:")) != NULL)
		model += strlen("Model:");
	else if (!read_text(DEVICES, device, "product_name", model = text, sizeof(text)))
		*text = 0;
	model += strspn(model, " \t");
	snprintf(g->model, sizeof(g->model), "%.*s", (int)strcspn(model, "\n"), model);
	if (!*g->model)
		snprintf(g->model, sizeof(g->model), "%04lx:%04lx", read_hex(device, "vendor"),
			 read_hex(device, "device"));
}

static bool read_gpu(struct sp_gpu *g, const char *device)
{
	unsigned domain, bus, slot, function, pci_class;

	if (strlen(device) >= sizeof(g->address) ||
	    sscanf(device, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return false;
	pci_class = (unsigned)read_hex(device, "class") >> 8;
	/* a server has hundreds of devices: read no second file of others */
	if (!is_gpu(pci_class))
		return false;
	*g = (struct sp_gpu){ .vendor = sp_topo_gpu_vendor(pci_class,
							   (unsigned)read_hex(device, "vendor")) };
	if (g->vendor == SP_VENDOR_NONE)
		return false;
	strcpy(g->address, device);
	g->bus = (uint64_t)domain << 24 | bus << 16 | slot << 8 | function;
	if (!read_text(DEVICES, device, "local_cpulist", g->cpus, sizeof(g->cpus)))
		*g->cpus = 0;
	read_model(g, device);
	return true;
}

static int by_bus(const void *a, const void *b)
{
	const struct sp_gpu *x = a, *y = b;

	return x->bus < y->bus ? -1 : x->bus > y->bus;
}

int sp_topo_gpus(struct sp_gpu *gpu)
{
	char path[512];
	struct dirent *d;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "%s" DEVICES, sp_topo_root);
	dir = opendir(path);
	while (dir && n < SP_TOPO_GPUS && (d = readdir(dir)) != NULL)
		n += read_gpu(&gpu[n], d->d_name);
	if (dir)
		closedir(dir);
	qsort(gpu, (size_t)n, sizeof(*gpu), by_bus);
	return n;
}
