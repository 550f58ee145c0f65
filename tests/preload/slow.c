/*
 * slow: stands behind libsspapi and keeps it waiting after PAPI gave a set's
 * id back: another thread can have that id by then.
 */
#include <dlfcn.h>
#include <unistd.h>

int PAPI_destroy_eventset(int *set);

int PAPI_destroy_eventset(int *set)
{
	int (*real)(int *) = (int (*)(int *))dlsym(RTLD_NEXT, "PAPI_destroy_eventset");
	int ret = real(set);

	usleep(50);
	return ret;
}
