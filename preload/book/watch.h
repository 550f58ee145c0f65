/* watch.h: SSPAPI_ATTRIBUTION=residency and exact: which CPUs the counts of a window
 * came from.
 *
 * Each thread that counts its own work has a watch: the record of where it was
 * (switches.h) and, for exact, the signal that says that it has moved (moves.h), on
 * which the counts so far are read and booked on the CPU left behind.  A window is what lies
 * between two looks, one right before the real call that opens it, one right after the
 * one that closes it:
 *
 *	no move, no record lost		all on one CPU: proven
 *	exact, one move, read at once	all on the CPU left behind: proven
 *	moves				split by the time on each CPU: not proven
 *	records lost			all on the CPU of the reading: not proven
 *
 * Nothing here is done in the default mode but one test a call.
 */
#ifndef SP_WATCH_H
#define SP_WATCH_H

#include "sets.h"

extern uint32_t sp_watching;		/* enum sp_attribution, once sets are made */


enum {
	SP_TROUBLE_LOST = 1, SP_TROUBLE_TAKEN = 2, SP_TROUBLE_LATE = 4, SP_TROUBLE_MASKED = 8, SP_TROUBLE_STACK = 16,
	SP_TROUBLE_SMALL = 32, SP_TROUBLE_OFF = 64
};

/* Once in a process; and in a child of fork. */
void sp_watch_begin(void);
void sp_watch_forget(void);

/* The calling thread's, made if need be; before a set starts.  False: there is none. */
bool sp_watch_ready(void);

/* A look before a real call, and what it is known by later; 0: this thread has no watch. */
uint32_t sp_watch_look(void);

/* Books what the real call between that look and now brought, by the thread whose set it
 * is; values NULL: START, RESET. */
void sp_watch_book(struct sp_set *s, enum sp_op op, const long long *values, uint32_t open, uint32_t site, bool begun);

/* This thread is about to ask PAPI for a running set of another's, perhaps: which is not read by us
 * at the same time (PAPI has one buffer for a set), nor between what PAPI does now and its booking. */
void sp_watch_visits(struct sp_set *s);

/* Around the time that the set runs. */
void sp_watch_starts(struct sp_set *s, int id);
void sp_watch_stops(struct sp_set *s);

/* The application blocks the signal in this thread from now on; or no more. */
void sp_watch_blocked(bool blocked);

/* Its alternate signal stack is too small for the signal from now on; or no more. */
void sp_watch_small(bool small);

/* The application has turned this thread's perf events off, or on. */
void sp_watch_off(bool off);

/* May the signal come to this thread? */
bool sp_watch_armed(void);

/* Around exec, by the set that ran: the new program has no handler, and a signal that is on its way would
 * end it. */
struct sp_set *sp_watch_before_exec(void);
void sp_watch_after_exec(struct sp_set *s);

/* For moves.c: the thread has moved (in the handler); the signal is gone. */
void sp_watch_moved(const void *context);
void sp_watch_disarm_all(void);

/* Something is worse than asked for: said in the dump, later, where a lock may be taken. */
void sp_watch_trouble(uint32_t which);
void sp_watch_tell(void);

/* Around a real call: on top of it nothing is read.  A frame that a jump left behind is
 * seen by its place on the stack. */
static inline uintptr_t sp_watch_enter(void)
{
	uintptr_t before = 0;

	if (SP_UNLIKELY(sp_get(&sp_process.exact))) {
		before = sp_self.inside;
		sp_put(&sp_self.inside, (uintptr_t)__builtin_frame_address(0));
		sp_order();
	}
	return before;
}

static inline void sp_watch_leave(uintptr_t before)
{
	if (SP_UNLIKELY(sp_get(&sp_process.exact))) {
		sp_order();
		sp_put(&sp_self.inside, before > (uintptr_t)__builtin_frame_address(0) ? before : 0);
	}
}

#endif
