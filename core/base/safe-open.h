/* safe-open.h: the folder that a file is to be in, held open, and the file's name there.
 *
 * A path is gone through part by part.  A symbolic link on the way is followed only if it is the
 * user's own or root's: with anybody else's a file of the user's in another folder could be
 * replaced, by the name that the user gave to one in this.  Whose folders they are does not matter:
 * what is made there is as its owner wills.  By the descriptor the folder stays the same one,
 * whoever exchanges it meanwhile.
 *
 * Async-signal-safe, no malloc.  Errors: -errno; -ELOOP is another user's link, too.
 */
#pragma once

#include "sys.h"

struct sp_parent_dir {
	int fd;				/* O_PATH; -1: none */
	bool follow;			/* name is a link of /proc's, which only the kernel can
					 * follow */
	char name[256];
};

enum sp_parent_dir_mode {
	SP_PARENT_DIR_EXISTING,		/* all folders are there */
	SP_PARENT_DIR_CREATE,			/* those that are missing are made */
	SP_PARENT_DIR_FOLLOW			/* as there; where the file is a link, the place of
						 * what that leads to */
};

/* path is absolute, or from the working directory.  To be closed unless it failed. */
int sp_parent_dir_open(struct sp_parent_dir *p, const char *path, enum sp_parent_dir_mode how);
void sp_parent_dir_close(struct sp_parent_dir *p);

/* Words for an error that the system has other words for; NULL: it has the right ones. */
const char *sp_parent_dir_error(int error);

/* What is no regular file (a FIFO, a device), or a link to any: to write into, never to replace.  A
 * descriptor, or -errno; -EPERM: a FIFO of somebody who is neither the user nor root nor the owner
 * of its folder. */
int sp_safe_open_special(const char *path, int flags);
