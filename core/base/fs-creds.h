/* fs-creds.h: files made with the rights of who started the process.
 *
 * A set-user-ID program, or one with capabilities, that is linked to us writes its dump where its
 * user started it: with its own rights that would be a file of root's, with the program's name in
 * it, in any folder; or the end of whatever a link there names.
 */
#pragma once

#include "lock.h"

struct sp_fs_creds {
	bool lowered;
	uint32_t capabilities[6];	/* effective, permitted, inheritable; twice */
	long user, group;		/* of files, before */
	struct sp_lock_state held;
};

/* Between the two the calling thread, and no other, makes and opens files as the real user; all its
 * signals are blocked, since a handler of the application's would be without rights.  Nothing is
 * done where the process has no rights of its own.  0, or -errno: nothing has changed. */
int sp_fs_creds_drop(struct sp_fs_creds *r);
void sp_fs_creds_restore(struct sp_fs_creds *r);
