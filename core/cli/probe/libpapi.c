/* libpapi.c: loads and starts libpapi for the command, and finds its relocations; see libpapi.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../base/elf-slots.h"
#include "libpapi.h"

const char *sp_probe_load(struct sp_probe_papi *p, const char *path)
{
	p->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!p->library)
		return dlerror();
#define X(name) p->name = (__typeof__(p->name))dlsym(p->library, #name);
	SP_PROBE_CALLS(X)
#undef X
#define X(name) && p->name
	return true SP_PROBE_CALLS(X) ? NULL : "it lacks the functions of a libpapi";
#undef X
}

/* Returns the version before PAPI is initialised: PAPI_get_opt gives it since 7.0; older ones
 * have it in the file's name, libpapi.so.6.0.0.1. */
static int version_of(const struct sp_probe_papi *p, const char *path)
{
	int version = p->PAPI_get_opt(PAPI_LIB_VERSION, NULL);
	char real[PATH_MAX];
	unsigned major = 0, minor = 0;
	const char *tail = realpath(path, real) ? strstr(real, ".so.") : NULL;

	if (version > 0)
		return version;
	if (!tail || sscanf(tail, ".so.%u.%u", &major, &minor) < 1)
		return 0;
	if (major == 5 && !minor)
		minor = 7;		/* the last version */
	return (int)(major << 24 | minor << 16);
}

int sp_probe_init(struct sp_probe_papi *p, const char *path)
{
	int r;

	p->version = version_of(p, path);
	r = p->version ? p->PAPI_library_init(p->version & (int)0xffff0000) : 0;
	p->version = r > p->version ? r : p->version;
	return r;
}

/* Offsets in PAPI_component_info_t, whose size changed in 7.0 (1,048 to 2,272 bytes) and in 7.2
 * (to 3,296). */
static const struct layout {
	int below;			/* for versions below this one */
	unsigned disabled, counters;	/* presets are 8 bytes after counters, natives 12 */
} layouts[] = {
	{ 0x07000000, 640, 648 }, { 0x07020000, 1536, 1548 }, { 0x7fffffff, 1536, 2576 },
};

#define REASON 512u			/* the same in all versions */
#define DELAYED -26			/* PAPI_EDELAY_INIT, since 7.0 */

static int number(const char *info, unsigned at)
{
	int n;

	memcpy(&n, info + at, sizeof(n));
	return n;
}

bool sp_probe_component(const struct sp_probe_papi *p, int i, struct sp_probe_component *c)
{
	const char *info = (const char *)p->PAPI_get_component_info(i);
	const struct layout *l = layouts;
	int off;

	if (!info)
		return false;
	while (p->version >= l->below)
		l++;
	off = number(info, l->disabled);
	*c = (struct sp_probe_component){ .name = info,
					  .waits = off == DELAYED,
					  .counters = number(info, l->counters),
					  .presets = number(info, l->counters + 8),
					  .natives = number(info, l->counters + 12) };
	if (off && !c->waits)
		c->off = *(info + REASON) ? info + REASON : "no reason reported";
	return true;
}

bool sp_probe_each(const struct sp_probe_papi *p,
		   bool (*fn)(uintptr_t at, const char *name, bool in_plt, void *arg))
{
	struct link_map *map = NULL;

	return dlinfo(p->library, RTLD_DI_LINKMAP, &map) < 0 ||
	       sp_elf_slots(map->l_addr, map->l_ld, fn, NULL);
}
