/* behind.h: a function in front of the next one of its name, with something to do before that is called and after. */
#ifndef BEHIND_H
#define BEHIND_H

#include <dlfcn.h>

#define BEHIND(name, params, args, before, after) \
	int name params; \
	int name params \
	{ \
		static int (*real) params; \
		int rc; \
		if (!real) \
			real = (int (*) params)dlsym(RTLD_NEXT, #name); \
		before; \
		rc = real args; \
		after; \
		return rc; \
	}

#endif
