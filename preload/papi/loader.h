/* loader.h: what sspapi stands in front of in the dynamic loader.
 *
 * dlsym: a program that gets its PAPI functions from there (ctypes, JNI,
 * plug-ins) gets our wrapper for a function of the libpapi that is observed, and
 * NULL for one that libpapi lacks although we define a wrapper.  Every other call
 * goes on with the caller's own return address, since RTLD_NEXT depends on it.
 * dlclose: the real functions' addresses die with libpapi.
 * dlerror: what the application had pending when we used the loader ourselves.
 */
#ifndef SP_LOADER_H
#define SP_LOADER_H

#include <stdbool.h>

void *sp_real_dlsym(void *handle, const char *name);

struct sp_pending_error {
	bool is;
	char text[512];
};

/* Around our own use of the loader. */
void sp_dlerror_keep(struct sp_pending_error *p);
void sp_dlerror_back(const struct sp_pending_error *p);

#endif
