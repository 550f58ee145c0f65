/* live.h: the file that a store lives in while its process runs.
 *
 * By default in /dev/shm: on a disk every store into a page that write-back has
 * cleaned is a page fault, which PAPI would count.  Named by user, host, pid and
 * start time; 0600; never an existing one.  It goes when the dump is safe; if the
 * process is killed, `sspapi recover` makes the dump from it.
 */
#ifndef SP_LIVE_H
#define SP_LIVE_H

#include "layout.h"

/* Makes an empty file for this process: in folder, or in the standard place if
 * that is "1".  0 with its path, or -errno. */
int sp_live_make(char *path, size_t room, const char *dir, const char *host, int pid,
		 uint64_t start_ticks);

/* Is this the name of a live file? */
bool sp_is_live_file(const char *path);

/* The same, and made by this user, as the name says. */
bool sp_is_live_file_of(const char *path, unsigned uid);

/* Is the process that its name gives certainly gone?  For a file without a header. */
bool sp_live_name_is_dead(const char *path, const char *host);

#define SP_LIVE_DIR	"/dev/shm"

/* May the process that wrote this header still live?  On another host, or in another
 * PID namespace, that cannot be seen from here: yes. */
bool sp_live_may_run(const struct sp_header *h, bool this_host);

#endif
