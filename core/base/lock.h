/* lock.h: the one lock, for what is done seldom (an event set is made, a store
 * grows, a thread appears).  Never on the path of a reading.
 *
 * It is taken with every signal blocked, so that a handler never meets a lock
 * that its own thread holds; what is done under it is short and calls nothing
 * that may wait.  A child of fork starts with fresh locks.
 */
#pragma once

#include "base.h"

struct sp_lock {
	uint32_t taken;
};

struct sp_lock_state {			/* what sp_lock_give needs */
	uint64_t signals;
};

void sp_lock_take(struct sp_lock *l, struct sp_lock_state *h);
void sp_lock_give(struct sp_lock *l, const struct sp_lock_state *h);

/* For the door at the end: gives up after about `ms`, since whoever holds the
 * lock may have been stopped for good.  False: not taken. */
bool sp_lock_try(struct sp_lock *l, struct sp_lock_state *h, unsigned ms);

/* Only the signals, for a thread that must not be interrupted for a while. */
void sp_signals_block(struct sp_lock_state *h);
void sp_signals_restore(const struct sp_lock_state *h);

/* Is what ran in the frame `below` still under way, below `frame` on this thread's stack?
 * Not if a handler jumped out of it: then we now run at or above it.  On another stack the
 * question cannot be answered: yes.  The kernel says that we are on the alternate one,
 * unless that disarms itself (SS_AUTODISARM); but the thread's own ends below its thread
 * pointer, save the main thread's.  One system call. */
bool sp_interrupted(uintptr_t below, uintptr_t frame);

/* Around our own writes: SIGPIPE and SIGXFSZ end a process that has not asked for
 * them, SIGTTOU stops it.  They are blocked, and one that our write made is taken back. */
struct sp_quiet {
	uint64_t signals, pending;
};

void sp_quiet_begin(struct sp_quiet *q);
void sp_quiet_end(const struct sp_quiet *q);
