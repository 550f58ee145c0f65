/* safe-open.h: opens the folder of a file and returns the file's name in it.
 *
 * The path is resolved part by part. A symbolic link is followed only if its owner is the user or
 * root: another user's link could direct the write to a file of the user's in another folder. The
 * owners of the folders do not matter. The descriptor keeps referring to the same folder if
 * somebody exchanges it.
 *
 * Async-signal-safe, no malloc. Errors: -errno; also -ELOOP for another user's link.
 */
#pragma once

#include "sys.h"

struct sp_parent_dir {
	int fd;				/* opened with O_PATH; -1: closed */
	/* name is a link of /proc, which only the kernel can follow */
	bool follow;
	char name[256];
};

enum sp_parent_dir_mode {
	SP_PARENT_DIR_EXISTING,		/* all folders must exist */
	SP_PARENT_DIR_CREATE,			/* create missing folders */
	/* all folders must exist; if the file is a link, open the folder of its target */
	SP_PARENT_DIR_FOLLOW
};

/* The path is absolute or relative to the working directory. Close it only after success. */
int sp_parent_dir_open(struct sp_parent_dir *p, const char *path, enum sp_parent_dir_mode mode);
void sp_parent_dir_close(struct sp_parent_dir *p);

/* A message for an error that strerror(3) would describe misleadingly, or NULL. */
const char *sp_parent_dir_error(int error);

/* Open a FIFO or device, or a link to anything, to write into it; never replace it. Returns a
 * descriptor or -errno; -EPERM: a FIFO whose owner is neither the user, root nor the owner of its
 * folder. */
int sp_safe_open_special(const char *path, int flags);
