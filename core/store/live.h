/* live.h: the live file, which backs a store while its process runs.
 *
 * Its default folder is /dev/shm: on a disk every store to a page after write-back is a page
 * fault, which PAPI would count. The file is new, has mode 0600, and is named by user, host, pid
 * and start time. It is removed when the dump is complete; after a kill `sspapi recover` makes
 * the dump.
 */
#ifndef SP_LIVE_H
#define SP_LIVE_H

#include "layout.h"

/* Makes an empty file for this process in dir, or in the default folder if dir is "1". 0 with
 * its path, or -errno. */
int sp_live_make(char *path, size_t room, const char *dir, const char *host, int pid,
		 uint64_t start_ticks);

/* Is this the name of a live file? */
bool sp_is_live_file(const char *path);

/* Is this the name of a live file of that user? */
bool sp_is_live_file_of(const char *path, unsigned uid);

/* Has the process in the file's name certainly ended? For files without a header. */
bool sp_live_name_is_dead(const char *path, const char *host);

#define SP_LIVE_DIR	"/dev/shm"

/* May the process that wrote this header still run? True if it cannot be seen from here (another
 * host or PID namespace). */
bool sp_live_may_run(const struct sp_header *h, bool this_host);

#endif
