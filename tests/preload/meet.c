/*
 * meet: stands behind libsspapi, in front of libpapi, and calls what tests/scenes/visits asks for
 * once: before libpapi is called, or when it has answered.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void (*meet_before)(void), (*meet_after)(void);

static void meet(void (**what)(void))
{
	void (*once)(void) = *what;

	*what = NULL;
	if (once)
		once();
}

#define BEHIND(name, params, args) \
	int name params; \
	int name params \
	{ \
		static int (*real) params; \
		int rc; \
		if (!real) \
			real = (int (*) params)dlsym(RTLD_NEXT, #name); \
		meet(&meet_before); \
		rc = real args; \
		meet(&meet_after); \
		return rc; \
	}

BEHIND(PAPI_stop, (int set, long long *values), (set, values))
BEHIND(PAPI_accum, (int set, long long *values), (set, values))
BEHIND(PAPI_reset, (int set), (set))
BEHIND(PAPI_write, (int set, long long *values), (set, values))
BEHIND(PAPI_read_ts, (int set, long long *values, long long *cycles), (set, values, cycles))
