/*
 * other: somebody else's preload, before or behind ours: it stands in front
 * of PAPI_start, PAPI_read and PAPI_stop and tells at exit how often each was
 * called by the program (the calls that libpapi makes to itself not).  And of
 * execv, when it is called.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int PAPI_start(int set);
int PAPI_read(int set, long long *values);
int PAPI_stop(int set, long long *values);

static int calls[3];

static void *next(const char *name)
{
	void *address = dlsym(RTLD_NEXT, name);

	if (!address)
		fprintf(stderr, "other: no %s behind me\n", name);
	return address;
}

static int of_libpapi(void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && strstr(info.dli_fname, "libpapi");
}

#define COUNT(i) (calls[i] += !of_libpapi(__builtin_return_address(0)))

int PAPI_start(int set)
{
	COUNT(0);
	return ((int (*)(int))next("PAPI_start"))(set);
}

int PAPI_read(int set, long long *values)
{
	COUNT(1);
	return ((int (*)(int, long long *))next("PAPI_read"))(set, values);
}

int PAPI_stop(int set, long long *values)
{
	COUNT(2);
	return ((int (*)(int, long long *))next("PAPI_stop"))(set, values);
}

int execv(const char *path, char *const argv[])
{
	if (write(2, "other: execv\n", 13) != 13)
		return -1;
	return ((int (*)(const char *, char *const *))next("execv"))(path, argv);
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "other: start %d read %d stop %d\n", calls[0], calls[1], calls[2]);
}
