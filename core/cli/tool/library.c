/* library.c: finds the libraries and files built with this command. */
#include "cmd.h"

/* Searches relative to the command: beside it in a build, else as installed; if not found, the
 * installed path. */
static bool find(char path[PATH_MAX + 64], const char *name, const char *const places[], unsigned n)
{
	char own[PATH_MAX], *dir;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[length > 0 ? length : 0] = 0;
	dir = strrchr(own, '/') ? own : strcpy(own, "./");
	*strrchr(dir, '/') = 0;
	for (unsigned i = 0; i < n; i++) {
		bool absolute = *places[i] == '/';

		snprintf(path, PATH_MAX + 64, "%s%s%s/%s", absolute ? "" : dir,
			 absolute || !*places[i] ? "" : "/", places[i], name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* Distributions give the link with the plain name to developers only: use the versioned one. */
const char *sp_cli_library(const char *name)
{
	static const char *const places[] = { "", "../lib/sspapi", SP_LIBDIR "/sspapi", "../lib",
					      SP_LIBDIR };
	static char path[PATH_MAX + 64];
	char versioned[64];

	snprintf(versioned, sizeof(versioned), "%s.0", name);
	if (!find(path, name, places, SP_COUNT(places)) &&
	    !find(path, versioned, places, SP_COUNT(places)))
		snprintf(path, sizeof(path), SP_LIBDIR "/%s", name);
	return path;
}

const char *sp_cli_data(const char *name)
{
	static const char *const places[] = { "", "../share/sspapi", SP_DATADIR };
	static char path[PATH_MAX + 64];

	find(path, name, places, SP_COUNT(places));
	return path;
}
