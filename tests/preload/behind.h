/* behind.h: a function in front of the next one of its name, with something to do before that is
 * called and after. */
#ifndef BEHIND_H
#define BEHIND_H

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* The next one of this name; that of the libpapi that is loaded where only a plug-in has it
 * (RTLD_LOCAL). */
static void *next_of(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	for (const struct link_map *m = _r_debug.r_map; m && !next; m = m->l_next) {
		void *library = strstr(m->l_name, "libpapi.so")
					? dlopen(m->l_name, RTLD_LAZY | RTLD_NOLOAD)
					: NULL;

		if (library) {
			next = dlsym(library, name);
			dlclose(library);
		}
	}
	return next;
}

#define BEHIND(name, params, args, before, after) \
	int name params; \
	int name params \
	{ \
		static int (*real) params; \
		int rc; \
		if (!real) \
			real = (int (*) params)next_of(#name); \
		before; \
		rc = real args; \
		after; \
		return rc; \
	}

#endif
