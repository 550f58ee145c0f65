/*
 * opens: somebody else's wrapper of PAPI, which finds the real functions in libpapi as it opens it:
 * by OPENS_NOLOAD as it is loaded already. It counts its calls, and says at the end how many there
 * were.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned calls;

static void *real(const char *name)
{
	void *papi =
		dlopen("libpapi.so.7.0", RTLD_LAZY | (getenv("OPENS_NOLOAD") ? RTLD_NOLOAD : 0));

	calls++;
	return papi ? dlsym(papi, name) : NULL;
}

#define CALL(name, params, args) \
	int name params; \
	int name params \
	{ \
		return ((int (*) params)real(#name)) args; \
	}

CALL(PAPI_library_init, (int version), (version))
CALL(PAPI_create_eventset, (int *set), (set))
CALL(PAPI_start, (int set), (set))
CALL(PAPI_read, (int set, long long *values), (set, values))
CALL(PAPI_stop, (int set, long long *values), (set, values))

__attribute__((destructor)) static void say(void)
{
	if (calls)
		printf("%u calls by way of opens\n", calls);
}
