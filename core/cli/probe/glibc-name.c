/* glibc-name.c: a library name for LD_PRELOAD that only glibc's loader resolves.
 *
 * The loader of another C library (musl) ends a program if it cannot load a preloaded library,
 * but ignores one that it does not find. sspapi cannot inspect programs started by shells,
 * launchers or posix_spawn. Only glibc's loader expands $LIB. A path through /usr/$LIB, and up
 * from there to the root, is therefore found by no other loader.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe.h"

/* the parent of the root is the root */
#define ROOT_PATH	"/usr/$LIB/../../../../../../../../../../../.."

/* Does this system have that folder (NixOS does not)? Then this path leads to libc, which is
 * loaded. */
static bool is_there(void)
{
	char name[PATH_MAX + sizeof(ROOT_PATH)];
	void *libc = NULL;
	Dl_info at;

	if (dladdr((void *)(size_t)&strtol, &at) && at.dli_fname && *at.dli_fname == '/') {
		snprintf(name, sizeof(name), ROOT_PATH "%s", at.dli_fname);
		libc = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	}
	if (libc)
		dlclose(libc);
	return libc;
}

const char *sp_glibc_name(const char *path)
{
	static char name[PATH_MAX + 64 + sizeof(ROOT_PATH)];

	if (!path || *path != '/' || !is_there())
		return path;
	snprintf(name, sizeof(name), ROOT_PATH "%s", path);
	return name;
}
