/* fs-creds.h: creates files with the credentials of the user who started the process.
 *
 * A set-user-ID program, or one with file capabilities, may be linked to libsspapi. A dump that it
 * wrote with its own credentials could be root's file in any folder, or overwrite the target of a
 * link.
 */
#pragma once

#include "lock.h"

struct sp_fs_creds {
	bool lowered;
	uint32_t capabilities[6];	/* effective, permitted, inheritable; two words each */
	long user, group;		/* the file IDs before */
	struct sp_lock_state signals;
};

/* Between drop and restore the calling thread, and no other, opens files as the real user. All its
 * signals are blocked, since a handler of the application would run without its credentials. Does
 * nothing in an unprivileged process. Returns 0, or -errno with nothing changed. */
int sp_fs_creds_drop(struct sp_fs_creds *r);
void sp_fs_creds_restore(struct sp_fs_creds *r);
