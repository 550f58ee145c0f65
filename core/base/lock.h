/* lock.h: a lock for rare work, such as a new event set, a growing store or a new thread. It is
 * never on the path of a reading.
 *
 * The lock is taken with all signals blocked, so that a signal handler never waits for its own
 * thread. Code under the lock is short and never waits. A child of fork starts with fresh locks.
 */
#pragma once

#include "base.h"

struct sp_lock {
	uint32_t taken;
};

struct sp_lock_state {			/* for sp_lock_give */
	uint64_t signals;
};

void sp_lock_take(struct sp_lock *l, struct sp_lock_state *h);
void sp_lock_give(struct sp_lock *l, const struct sp_lock_state *h);

/* Give up after about ms milliseconds and return false: at the exit the owner of the lock may have
 * been stopped for ever. */
bool sp_lock_try(struct sp_lock *l, struct sp_lock_state *h, unsigned ms);

/* Block all signals of this thread without taking a lock. */
void sp_signals_block(struct sp_lock_state *h);
void sp_signals_restore(const struct sp_lock_state *h);

/* Returns whether the frame `below` is still active, below `frame` on this thread's stack. It is
 * not if a handler jumped out of it: this thread then runs at or above it. On the alternate signal
 * stack the result is always true. The kernel reports that stack unless it disarms itself
 * (SS_AUTODISARM). A frame above the thread pointer is then on it, except in the main thread, whose
 * stack is there. One system call. */
bool sp_interrupted(uintptr_t below, uintptr_t frame);

/* Write without signals: SIGPIPE and SIGXFSZ kill a process by default, and SIGTTOU stops it. Begin
 * blocks them; end discards those that the write caused. */
struct sp_quiet {
	uint64_t signals, pending;
};

void sp_quiet_begin(struct sp_quiet *q);
void sp_quiet_end(const struct sp_quiet *q);
