/* temp-file.h: a file of the command's, written whole as NAME.PID.part before it takes its name.
 *
 * The part goes on every end that a process can see: sp_part_end, exit, and signals.
 * One a process at a time.
 */
#pragma once

#include <stdbool.h>

/* A descriptor, or -errno.  Missing folders are made; no other user's link is followed
 * (core/base/safe-open.h). */
int sp_part_begin(const char *name);

/* Once it is written it takes its name, whatever has that; or one in the same folder that nothing
 * has: 0, or -errno. */
int sp_part_replace(void);
int sp_part_take(const char *path);

/* Closes the part and writes it to disk. Returns e, or if that is 0 the error.  Its name stays
 * registered until sp_part_end. */
int sp_part_finish(int fd, int e);
void sp_part_end(void);
