/* nested.h: a signal handler that calls PAPI for the set of the call that it interrupted.
 *
 * The handler's calls are booked at once, the interrupted call when PAPI returns from it.  PAPI may
 * have read, or zeroed, the counts for the interrupted call before the handler's calls or after
 * them, and does not say which.  What the handler did is kept here until PAPI returns: enough to
 * see from the values which was first, and to book the interrupted call as in its turn:
 *
 *	a value below what was handed out before	counts from a zeroing in between
 *	a reading above the handler's			came after the handler zeroed
 *	one that is the handler's last			is the same counts: PAPI_stop and PAPI_accum hand out
 *							what is in the set, which the handler's overwrote
 *	none of these					can be either order; the one is taken in which less was
 *							counted inside the call, and the relation says that it
 *							is not sure (SP_RELATION_UNSURE)
 *
 * A wrong guess is wrong by what was counted inside that one call.
 * A handler that comes after PAPI has returned (sp_ledger_call_returned) is certainly later: the side ledger keeps
 * what it does.
 */
#ifndef SP_NESTED_H
#define SP_NESTED_H

#include "writer.h"

enum sp_turn_of {
	SP_CALL_LAST,			/* after what the handler did */
	SP_CALL_FIRST,
	SP_CALL_BETWEEN,		/* PAPI_accum, PAPI_stop: read before, zeroed or stopped after it */
	SP_CALL_SAME			/* the same, and handed out the handler's value once more */
};

/* The handler's operation is booked next; x: its values, if it has any. */
void sp_nested_note(struct sp_writer *w, int op, const int64_t *x);

/* When was the call under way, which PAPI has returned by x?  *sure: the values leave no choice. */
enum sp_turn_of sp_nested_order(const struct sp_writer *w, int op, const int64_t *x, bool *sure);

/* Did the handler see that the call under way had zeroed? */
bool sp_nested_zeroed(const struct sp_writer *w);

/* The call, or its reading, was first: what it adds to the sum of what is booked. */
int64_t sp_nested_missing(const struct sp_writer *w, int op, enum sp_turn_of turn, const int64_t *x, uint32_t e);

#endif
