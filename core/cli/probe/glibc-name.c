/* glibc-name.c: a name for LD_PRELOAD that only glibc's loader finds.
 *
 * The loader of another C library (musl) ends a program whose preloaded library it cannot load, but
 * leaves out one that it does not find; and what a shell, a launcher or posix_spawn starts nobody
 * has looked at before.  $LIB is a word of glibc's loader alone: by way of the folder /usr/$LIB,
 * and up from there to the root, no other finds the file.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe.h"

/* above the root is the root */
#define ROOT_PATH	"/usr/$LIB/../../../../../../../../../../../.."

/* Has this system that folder?  (NixOS has none.)  Then libc, which is loaded, is found by that
 * way, too. */
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
