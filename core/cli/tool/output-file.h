/* output-file.h: -o FILE: redirects a verb's standard output to the file. */
#pragma once

#include <stdbool.h>

/* Does path name one of these files? */
bool sp_is_one_of(const char *path, char *const *file, unsigned n);

/* Checks that the extension of -o is not another format's than the only one of -f. Returns 0, or
 * `status` after a message. path or formats NULL: not given. */
int sp_check_output_format(const char *verb, int status, const char *path, const char *formats);

/* Redirects standard output to a file that gets its name when complete; or to path itself, if
 * that is not a regular file (/dev/null, a FIFO). Never replaces file[0 .. n - 1], the inputs.
 * path NULL: does nothing. 0, or after a message the exit status. */
int sp_redirect_begin(const char *verb, const char *path, char *const *file, unsigned n);

/* Renames the file to path if e is 0. 0 or -errno. */
int sp_redirect_end(const char *path, int e);
