/* shared-tls.h: gives children that run on another thread's TLS their own thread state.
 *
 * A child of clone with CLONE_VM and without CLONE_SETTLS, or of vfork, has the memory and the TLS
 * of the thread that made it. It shares sp_thread_state, and libc's rseq area, which the kernel
 * updates only for the parent. Such a guest gets its own sp_thread_state, which replaces its host's
 * during PAPI calls.
 *
 * A child of clone(3) is detected when it is made (preload/calls/clone.c). Others are detected when
 * they make a set, add events or cause a scan: calls that make system calls anyway. Until then they
 * count as the host. That is correct for a set that the guest starts without opening its counters:
 * it counts the host, and rseq is the host's.
 *
 * Host and guest may run at once. If both are inside PAPI, a call of either may be dropped, and is
 * counted as such.
 */
#ifndef SP_SHARED_TLS_H
#define SP_SHARED_TLS_H

#include "process.h"

/* Makes sp_thread_state that of the calling task. One system call if sp_shared_tls_tid is 0. */
SP_COLD void sp_find_caller(void);

/* Is it already? If not, the next call will find its caller. */
SP_COLD bool sp_caller_is_this_thread(void);

/* Before this thread makes a guest; after it was made (tid), was not (tid < 0), or has ended (0).
 * `prev` is the first one's result. */
int32_t sp_shared_tls_before_clone(void);
void sp_shared_tls_after_clone(int32_t prev, int tid);

#endif
