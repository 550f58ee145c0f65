/* shared-tls.h: children that run on another thread's TLS.
 *
 * A child of clone with CLONE_VM and without CLONE_SETTLS, or of vfork, has its parent's memory and
 * the very TLS of the thread that made it: sp_thread_state, and libc's rseq area, in which the
 * kernel writes for the parent alone.  Such a guest gets an sp_thread_state of its own, which takes
 * the place of its host's while it calls PAPI.
 *
 * A child of clone(3) is known from the start (preload/calls/clone.c).  One that nobody saw being
 * made is met where it makes a set, adds events or has a window scanned: calls that make system
 * calls anyway.  Until then it passes for its host.  A set that it starts without having opened its
 * counters counts the host, and rseq tells of the host; so that is what it is.
 *
 * Host and guest may run at once.  If both are in a call of PAPI then, a call of either may not be
 * booked, and counts as dropped.
 */
#ifndef SP_SHARED_TLS_H
#define SP_SHARED_TLS_H

#include "process.h"

/* From here on sp_thread_state is the calling task's.  Where sp_shared_tls_tid is 0, one system
 * call. */
SP_COLD void sp_find_caller(void);

/* Is it?  If not, the next call finds that out. */
SP_COLD bool sp_caller_is_this_thread(void);

/* A guest is about to be made by this thread; it was made, or was not (tid < 0), or is gone again
 * (0). was: for the second. */
int32_t sp_shared_tls_before_clone(void);
void sp_shared_tls_after_clone(int32_t was, int tid);

#endif
