/* library.c: where what was built with this command lies. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

const char *sp_cli_library(const char *name)
{
	static char path[PATH_MAX + 64];
	char own[PATH_MAX], *folder;
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n > 0 ? n : 0] = 0;
	folder = strrchr(own, '/') ? own : strcpy(own, "./");
	*strrchr(folder, '/') = 0;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (access(path, R_OK) == 0)
		return path;
	snprintf(path, sizeof(path), "%s/../lib/%s", folder, name);
	if (access(path, R_OK) == 0)
		return path;
	snprintf(path, sizeof(path), SP_LIBDIR "/%s", name);
	return path;
}
