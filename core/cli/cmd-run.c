/* cmd-run.c: sets the environment and becomes the program; no process in between. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

/* libsspapi.so as it lies beside us in a build, or as installed. */
static const char *library(void)
{
	static char path[PATH_MAX];
	char own[PATH_MAX], *folder;
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n > 0 ? n : 0] = 0;
	folder = strrchr(own, '/') ? own : strcpy(own, "./");
	*strrchr(folder, '/') = 0;
	snprintf(path, sizeof(path), "%s/libsspapi.so", folder);
	if (access(path, R_OK) == 0)
		return path;
	snprintf(path, sizeof(path), "%s/../lib/libsspapi.so", folder);
	if (access(path, R_OK) == 0)
		return path;
	return SP_LIBDIR "/libsspapi.so";
}

/* Ours first; what is preloaded already stays behind it. */
static void preload(const char *path)
{
	const char *old = getenv("LD_PRELOAD");
	char *both;

	if (old && *old && asprintf(&both, "%s:%s", path, old) > 0)
		setenv("LD_PRELOAD", both, 1);
	else
		setenv("LD_PRELOAD", path, 1);
}

int sp_cmd_run(int argc, char **argv)
{
	const char *lib = library();
	int c;

	setenv("SSPAPI_FORMAT", "store", 0);
	while ((c = getopt(argc, argv, "+o:f:e:")) != -1) {
		if (c == 'o') {
			setenv("SSPAPI_OUTPUT", optarg, 1);
			if (sp_view_by_extension(optarg))
				unsetenv("SSPAPI_FORMAT");	/* -o x.json means JSON */
		} else if (c == 'f') {
			setenv("SSPAPI_FORMAT", optarg, 1);
		} else if (c == 'e' && strchr(optarg, '=')) {
			putenv(optarg);
		} else {
			return sp_complain(2, argv[0], "options are -o FILE, -f FORMATS, -e NAME=VALUE", NULL);
		}
	}
	if (optind >= argc)
		return sp_complain(2, argv[0], "name the program to run", NULL);
	if (access(lib, R_OK) != 0)
		return sp_complain(1, argv[0], "libsspapi.so is not beside this command nor installed", lib);
	if (strpbrk(lib, " :"))
		return sp_complain(1, argv[0], "the loader cannot preload from a path with a space or colon", lib);
	preload(lib);
	execvp(argv[optind], argv + optind);
	c = errno;
	return sp_complain(c == ENOENT ? 127 : 126, argv[0], strerror(c), argv[optind]);
}
