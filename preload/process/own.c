/* own.c: opens libraries of ours; see own.h. */
#include <dlfcn.h>
#include <string.h>

#include "../papi/elf.h"
#include "../papi/dlerror.h"
#include "own.h"

typedef void *(*open_fn)(const char *, int);

/* libc's own dlopen: that of a sanitizer, which stands before it, ends the program at the sight of RTLD_DEEPBIND. */
static open_fn find_dlopen(void)
{
	static const char *const homes[] = { "libc.so.6", "libdl.so.2" };	/* glibc before 2.34: the second */
	void *libc, *found = NULL;

	for (size_t i = 0; i < SP_COUNT(homes) && !found; i++) {
		libc = dlopen(homes[i], RTLD_LAZY | RTLD_NOLOAD);
		found = libc ? sp_real_dlsym(libc, "dlopen") : NULL;
	}
	return (open_fn)found;
}

void *sp_own_open(const char *name)
{
	struct sp_object own;
	char path[512] = "", *slash;
	void *library;
	open_fn open = find_dlopen();

	sp_elf_find(&own, (uintptr_t)&sp_own_open);
	strncpy(path, own.path, sizeof(path) - 1);
	slash = strrchr(path, '/');
	if (!open || !slash || (size_t)(slash - path) + strlen(name) + 9 > sizeof(path))
		return NULL;
	/* As installed; in a build sspapi is the command.  Not looked for by access(2), which a sandbox may not know. */
	strcat(strcpy(slash + 1, "sspapi/"), name);
	library = open(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (library)
		return library;
	strcpy(slash + 1, name);
	return open(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
}
