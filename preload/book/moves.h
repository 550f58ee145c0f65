/* moves.h: a signal whenever the thread has taken up another CPU.
 *
 * One event for each CPU (switches.h), of this thread on that CPU only, with a ring of one
 * page: each record sends the signal.  A trigger whose ring is full records nothing and
 * sends nothing, so arming is emptying the ring and disarming is filling it: a store
 * into the page that is shared with the kernel, no system call and no descriptor.  Only
 * the other CPUs' triggers are armed, and only while a set runs: a thread that sleeps
 * and stays gets no signal (one event that signals every switch would end each nanosleep
 * with EINTR).
 *
 * The signal is SIGSTKFLT: nothing sends it, and as it is not a real-time signal it cannot
 * be turned into SIGIO where the limit of pending signals is reached.  It is taken only where
 * its disposition is the default, and given back when the application wants it.
 */
#ifndef SP_MOVES_H
#define SP_MOVES_H

#include <signal.h>

#include "switches.h"

struct sp_moves {
	struct perf_event_mmap_page **trigger;	/* by CPU; NULL: none there */
	int n;				/* highest CPU, plus one */
	int room;			/* of trigger; stays when it is closed */
	int present;			/* whose trigger is not armed; -1: none is */
};

/* The signal, for the process and this thread; once more costs two system calls.  False:
 * it cannot be had.  Not in a handler. */
bool sp_moves_signal(void);

/* Triggers of the calling thread for all CPUs that are online.  0 or -errno. */
int sp_moves_open(struct sp_moves *m);
void sp_moves_close(struct sp_moves *m);

/* By the thread itself; no system call. */
void sp_moves_arm(struct sp_moves *m);
void sp_moves_follow(struct sp_moves *m);	/* armed, after one move: short on large machines */
void sp_moves_disarm(struct sp_moves *m);

/* May the application have run on since the signal was sent?  Yes if it had blocked it.
 * context: of the handler. */
bool sp_moves_was_blocked(const void *context);

/* Is this alternate signal stack (NULL: the thread's) too small for a handler of the application's and
 * ours on top of it?  The kernel then ends the process. */
bool sp_moves_stack_is_small(const stack_t *stack);

/* How far down from the interrupted stack pointer there is stack, where that is known. */
bool sp_moves_has_stack(const void *context, uintptr_t bytes);

/* Is the signal in the set? */
bool sp_moves_in(const sigset_t *set);

/* A call that waits, under way (waits.c); on the stack, above the call; sp_self.wait points to it.
 * When our signal has ended the call with EINTR, the handler returns with signals blocked, so
 * that none of the application's comes between the end of the call and the next one. */
struct sp_wait {
	const struct sp_wait *self;	/* NULL: it is over */
	size_t most;			/* a call that transfers so many bytes has ended with less of them, too */
	bool alone;			/* no other signal's handler came before ours */
	bool unsure;			/* it looks so; but one of the application's may have kept ours waiting */
	bool held;			/* all are blocked, but ours and libc's; until then this was the mask: */
	union {
		uint64_t bits;
		sigset_t set;
	} mask;
};

/* The mask for a call that sets one while it waits: ours is let in (while a handler of the
 * application's runs is too late to tell whose signal ended the call).  mask, or *copy. */
const sigset_t *sp_moves_let_in(const sigset_t *mask, sigset_t *copy);

/* Would one of these (by bits) end a call, once it is let in? */
bool sp_moves_ends(uint64_t pending);

/* sigaction(2) by the application, before it goes to the kernel; new NULL: it only asks.
 * True: the signal is, or was until now, ours, and the application is to find the default. */
bool sp_moves_asked(int number, const struct sigaction *new);

#endif
