/* recorder.h: what the recording libpapi saw of its last call. */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdint.h>

struct recorded {
	const char *name;
	unsigned n, calls;
	uintptr_t arg[12];
	unsigned size[12];		/* of the argument's type: 4 or 8 */
	int errno_seen;			/* as the wrapper handed it on */
	int give_rc, give_errno;	/* what to return */
};

extern struct recorded recorded;

#endif
