/*
 * mallocs: counts 5 EV_A in a program whose malloc or hwloc is its own, so that sspapi's hwloc must mix with neither.
 * usage: mallocs
 * Built with OWN_MALLOC: malloc is the program's; USES_HWLOC: it uses libhwloc before and after it counts;
 * OTHER_HWLOC: functions of another hwloc are in the program. Afterwards it opens libhwloc and frees what that gave.
 */
#include "scene.h"

#include <dlfcn.h>

#ifdef OWN_MALLOC
#include "unit/own-malloc.h"
#endif

#ifdef OTHER_HWLOC
void hwloc_topology_init(void);
void hwloc_bitmap_alloc(void);
void hwloc_get_api_version(void);
void hwloc_topology_init(void) { abort(); }
void hwloc_bitmap_alloc(void) { abort(); }
void hwloc_get_api_version(void) { abort(); }
#endif

#ifdef USES_HWLOC
#include <hwloc.h>

static void use_hwloc(void)
{
	hwloc_topology_t topology;
	char *cpus = NULL;

	if (hwloc_topology_init(&topology) || hwloc_topology_load(topology) ||
	    hwloc_bitmap_list_asprintf(&cpus, hwloc_topology_get_topology_cpuset(topology)) < 0)
		die("hwloc");
	puts(cpus);
	free(cpus);
	hwloc_topology_destroy(topology);
}
#else
static void use_hwloc(void)
{
}
#endif

/* A plugin that brings hwloc gets one that lives by the program's malloc and environment. (Beside OTHER_HWLOC it could
 * not run natively.) */
static void open_hwloc(void)
{
#ifndef OTHER_HWLOC
	void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL), *set;
	void *(*allocate)(void);
	int (*print)(char **, void *);
	char *text = NULL;

	if (!library) {
		puts("no libhwloc");
		return;
	}
	*(void **)&allocate = dlsym(library, "hwloc_bitmap_alloc_full");
	*(void **)&print = dlsym(library, "hwloc_bitmap_list_asprintf");
	set = allocate();
	if (print(&text, set) < 0)
		die("hwloc_bitmap_list_asprintf");
	puts(text);
	free(text);
#endif
}

int main(void)
{
	struct counted *c;

	use_hwloc();
	up();
	c = SET("EV_A");
	pin(0);
	begin(c);
	fake_count("EV_A", 5);
	end(c);
	print_handed(c, "");
	use_hwloc();
	open_hwloc();
	return 0;
}
