/*
 * nolib: a program that checks for PAPI at run time, by dlsym and by weak references, and finds
 * none.
 * usage: nolib [call]	call: calls the weak references if they exist
 */
#include "touch.h"

extern int PAPI_library_init(int) __attribute__((weak));
extern int PAPI_create_eventset(int *) __attribute__((weak));
extern int PAPI_read(int, long long *) __attribute__((weak));
extern int PAPI_stop(int, long long *) __attribute__((weak));

static void ask(void *handle, const char *as, const char *name)
{
	void *found = dlsym(handle, name);
	const char *text = dlerror();

	printf("dlsym(%s, %s): %s\n", as, name, found ? "found" : text ? text : "NULL");
}

int main(int argc, char **argv)
{
	void *self = dlopen(NULL, RTLD_NOW);
	long long values[8];
	int set = -1;

	(void)argv;
	ask(RTLD_DEFAULT, "RTLD_DEFAULT", "PAPI_library_init");
	ask(RTLD_DEFAULT, "RTLD_DEFAULT", "papif_start_");
	ask(RTLD_NEXT, "RTLD_NEXT", "PAPI_start");
	ask(self, "the program", "PAPI_read");
	printf("dlopen: %s\n",
	       dlopen("libpapi.so.7.0", RTLD_NOLOAD | RTLD_NOW) ? "there" : "not there");
	if (argc > 1 && PAPI_library_init)
		printf("called: %d %d %d %d\n", PAPI_library_init(0x07000000),
		       PAPI_create_eventset(&set), PAPI_read(0, values), PAPI_stop(0, NULL));
	return 0;
}
