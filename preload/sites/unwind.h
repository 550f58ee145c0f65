/* unwind.h: call paths of more than one frame, by libunwind's unw_backtrace; on aarch64 by
 * frame records, without libunwind.
 *
 * libunwind is no library of ours: it is loaded, private, when SSPAPI_CALLSITES asks for
 * more than one frame.  unw_backtrace keeps what it learned of each return address, so
 * that a path met before costs no look into unwind tables.
 */
#ifndef SP_UNWIND_H
#define SP_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* Loads it, once; before counting.  False: there is none. */
bool sp_unwind_load(void);

/* Before a start, by each thread: what unw_backtrace makes at its first call in a thread
 * (memory, a thread's key) is made; unwind tables are in memory.  False: it is stuck, as the parent of this
 * process was unwinding when it forked. */
bool sp_unwind_warm(void);

/* In a child of fork. */
void sp_unwind_child(void);

/* The path to a call that returns to `caller`: up to `most` return addresses, innermost
 * first, without ours and libpapi's.  Just the caller where it cannot be had: in a thread that
 * has not been warmed, on top of another of these, where it is stuck.  errno kept. */
uint32_t sp_unwind(uintptr_t *frame, uint32_t most, uintptr_t caller);

/* Something was unloaded. */
void sp_unwind_forget(void);

#endif
