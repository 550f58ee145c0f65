/* output-file.h: -o FILE of a verb that prints: what goes to standard output goes into the file
 * instead. */
#pragma once

#include <stdbool.h>

/* Does path name one of these files? */
bool sp_is_one_of(const char *path, char *const *file, unsigned n);

/* From here on standard output is the file that path will name, once it is whole; or what stands
 * there and is no regular file (/dev/null, a FIFO).  file[0 .. n - 1], which are read, are never
 * replaced. path NULL: nothing is done.  0, or a message is out and the exit status. */
int sp_into_begin(const char *verb, const char *path, char *const *file, unsigned n);

/* Gives the file its name, if all went well (e is 0).  0 or -errno. */
int sp_into_end(const char *path, int e);
