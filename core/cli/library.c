/* library.c: where what was built with this command lies. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

/* Beside the command in a build, else as installed: seen from the command, else where it was to be. */
static const char *find(char path[PATH_MAX + 64], const char *name, const char *beside, const char *installed)
{
	char own[PATH_MAX], *folder;
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n > 0 ? n : 0] = 0;
	folder = strrchr(own, '/') ? own : strcpy(own, "./");
	*strrchr(folder, '/') = 0;
	snprintf(path, PATH_MAX + 64, "%s/%s", folder, name);
	if (access(path, R_OK) == 0)
		return path;
	snprintf(path, PATH_MAX + 64, "%s/%s/%s", folder, beside, name);
	if (access(path, R_OK) == 0)
		return path;
	snprintf(path, PATH_MAX + 64, "%s/%s", installed, name);
	return path;
}

const char *sp_cli_library(const char *name)
{
	static char path[PATH_MAX + 64];

	return find(path, name, "../lib", SP_LIBDIR);
}

const char *sp_cli_data(const char *name)
{
	static char path[PATH_MAX + 64];

	return find(path, name, "../share/sspapi", SP_DATADIR);
}
