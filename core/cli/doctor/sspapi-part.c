/* sspapi-part.c: sspapi's own libraries, and hwloc. */
#include <dlfcn.h>

#include "../../../topo/topo.h"
#include "../tool/cmd.h"
#include "doctor.h"

static void library(struct sp_doctor *d)
{
	const char *path = sp_cli_library("libsspapi.so");

	if (access(path, R_OK) < 0) {
		sp_doctor_report(d, SP_BLOCKING, "%s does not exist", path);
		sp_doctor_fix(d, "run make install, or keep the command in the folder of its "
				 "library");
	} else if (strpbrk(path, " :")) {
		sp_doctor_report(d, SP_BLOCKING,
				 "%s: the loader cannot preload from a path with a space or colon",
				 path);
		sp_doctor_fix(d, "install it somewhere else");
	} else {
		sp_doctor_report(d, SP_GOOD, "%s is preloaded", path);
	}
}

typedef int (*load_fn)(struct sp_topo *, const char *, char *, size_t);

static unsigned how_many(const struct sp_topo *t, const char *type)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += strncmp(t->component[i].type, type, sizeof(t->component[i].type)) == 0;
	return n;
}

/* Runs in a child: loads hwloc and its plug-ins. */
static void topology(struct sp_doctor *d, void *arg)
{
	const char *source = arg, *path = sp_cli_library("libsspapi-topo.so");
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	load_fn load = library ? (load_fn)dlsym(library, "sp_topo_load") : NULL;
	struct sp_topo t;
	char why[300] = "";
	int r;

	if (!load) {
		sp_doctor_report(
			d, SP_WORTH,
			"no hwloc: %s; the dump will have CPUs without cores, caches and packages",
			library ? "not sspapi's library" : dlerror());
		sp_doctor_fix(d, "install libhwloc (scripts/deps), and keep libsspapi-topo.so in "
				 "the folder of libsspapi.so, or in sspapi/ below it");
		return;
	}
	r = load(&t, source, why, sizeof(why));
	if (r < 0) {
		sp_doctor_report(d, SP_WORTH, "%s%shwloc: %s", source ? source : "",
				 source ? ": " : "", *why ? why : strerror(-r));
		sp_doctor_fix(d, source ? "set SSPAPI_TOPOLOGY to a file of lstopo --of xml"
					: "run lstopo; check the HWLOC_* variables");
		return;
	}
	sp_doctor_report(d, SP_GOOD,
			 "hwloc sees: packages %u, NUMA nodes %u, cores %u, CPUs %u%s%s",
			 how_many(&t, "Package"), how_many(&t, "NUMANode"), how_many(&t, "Core"),
			 how_many(&t, "PU"), source ? " in " : "", source ? source : "");
}

void sp_doctor_sspapi(struct sp_doctor *d)
{
	const char *source = getenv("SSPAPI_TOPOLOGY");

	sp_doctor_head(d, "sspapi");
	library(d);
	sp_doctor_run_in_child(d, "hwloc", topology, source && *source ? (void *)source : NULL);
	sp_doctor_variables(d);
}
