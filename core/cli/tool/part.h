/* part.h: a file of the command's, written whole as NAME.PID.part before it takes its name.
 *
 * The part goes on every end that a process can see: sp_part_end, exit, and signals.
 * One a process at a time.
 */
#pragma once

#include <stdbool.h>

/* A descriptor, or -errno.  Missing folders are made; no other user's link is followed (core/base/folder.h). */
int sp_part_begin(const char *name);

/* Once it is written it takes its name, whatever has that; or one in the same folder that nothing has: 0, or -errno. */
int sp_part_replace(void);
int sp_part_take(const char *path);

/* Closed and on its disk: e, or if that is 0 what went wrong.  What stays of it is its name, until sp_part_end. */
int sp_part_finish(int fd, int e);
void sp_part_end(void);
