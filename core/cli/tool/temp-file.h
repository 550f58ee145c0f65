/* temp-file.h: writes a file completely as NAME.PID.part, then renames it.
 *
 * The part is removed at every end that a process can notice: sp_part_end, exit and signals. One
 * per process.
 */
#pragma once

#include <stdbool.h>

/* Returns a descriptor, or -errno. Makes missing folders; follows no other user's link
 * (core/base/safe-open.h). */
int sp_part_begin(const char *name);

/* Rename the complete part: to its name, replacing a file; or to an unused path in the same
 * folder. 0 or -errno. */
int sp_part_replace(void);
int sp_part_take(const char *path);

/* Closes the part and writes it to disk. Returns e, or if that is 0 the error. The part stays
 * registered until sp_part_end. */
int sp_part_finish(int fd, int e);
void sp_part_end(void);
