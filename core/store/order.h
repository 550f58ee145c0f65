/* order.h: in which order PAPI did what handlers and the calls that they came on top of asked for.
 *
 * A handler's calls of PAPI for a set, on top of another call for the set, stand in its records between that call's
 * BEGIN and the call itself (SP_RECORD_ENDS).  PAPI may have read, zeroed, started or stopped the counters for that call
 * before each of the handler's calls or after it, and does not say which.  What was handed out says: a value below the
 * one before it has a zeroing in between, a set that stands hands out what it handed out.  So each order that the calls
 * allow is gone through, those in which a value would contradict the others are left out, and of the rest the one is
 * taken in which most was done before a handler's first call or after its last one, and least was counted; where another
 * one counts otherwise, here or behind, the relation says that it is not sure.  (So it does where the calls are too many to
 * be gone through: more than 6, or 4000 orders; then each is taken to have been done when it ended.  The first 8 events tell.)
 *
 * Pure, as the rules are.
 */
#ifndef SP_ORDER_H
#define SP_ORDER_H

#include "rules.h"

/* No handler's call was on top of it: it is what it says. */
static inline bool sp_order_is_alone(const struct sp_record *r)
{
	return sp_record_op(r) != SP_OP_BEGIN && !(r->what & SP_RECORD_ENDS);
}

/* How many of record[0..n) are to be folded together: from the BEGIN of a call to its end; `open`: or where it has none (yet),
 * to the end of the list; else one by one. */
uint32_t sp_order_together(const struct sp_record *const *record, uint32_t n, bool open);

/* Folds record[0..n), which sp_order_together has told; what comes behind, up to record[all), may tell which order it was.
 * tells: values that go down say so (not of PAPI's estimates). */
void sp_order_fold(struct sp_fold *f, const struct sp_record *const *record, uint32_t n, uint32_t all, bool tells);

#endif
