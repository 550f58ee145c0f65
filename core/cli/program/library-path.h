/* library-path.h: where the loader looks for a library. */
#ifndef SP_LIBRARY_PATH_H
#define SP_LIBRARY_PATH_H

#include <limits.h>

#include "../../base/elf-file.h"

struct sp_search {
	const char *rpath, *runpath;	/* of the object that asks, with $ORIGIN as it is; or NULL */
	const char *origin;		/* the folder of that object; NULL: unknown */
};

/* The path of a library of our own machine with this name; false:
 * nowhere.  A name with a slash is a path. */
bool sp_library_find(const char *soname, const struct sp_search *by, char path[PATH_MAX]);

#endif
