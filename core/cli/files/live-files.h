/* live-files.h: finds the live files of this user's dead processes in the standard place. */
#pragma once

#include <dirent.h>

#include "../../store/live.h"
#include "file.h"

/* Call found(arg, path, f) for each live file whose process has ended; f is NULL if the file has
 * no readable store, which `error` explains (-errno). found must not keep f. */
typedef void (*sp_live_found)(void *arg, const char *path, struct sp_file *f, int error);
int sp_live_files(sp_live_found found, void *arg);	/* 0 or -errno of the folder */

/* Return whether the process of a live file would have written `path`, in one of its formats. */
bool sp_live_writes(const struct sp_model *m, const char *path);

/* Find the newest live file whose process would have written `path`; false: none. */
bool sp_live_find(const char *path, char live[PATH_MAX]);

/* Return whether path is in or below the current folder. Links in its folders are resolved. */
bool sp_is_below_here(const char *path);
