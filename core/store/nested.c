/* nested.c: see nested.h.
 *
 * Let `before` be what was handed out last, h what the handler did, x the answer to the call.
 * Booked as if the call had not been, h has brought its values less `before`, up to its first
 * zeroing; what it does later is the same in either order.  So the call, if it was first, adds
 *
 *	READ, STOP	x - before if h zeroed without a value of its own; else h's first
 *			value has x in it already
 *	ACCUM		the same, and `before`, which h's value then did not have in it; only
 *			the former if it zeroed after h
 *	RESET		`before`, if h has a value
 */
#include <string.h>

#include "nested.h"

static const int64_t *last_of(const struct sp_writer *w)
{
	return w->state->at;		/* SP_LAST is the first array */
}

/* In some event. */
static bool below(const struct sp_writer *w, const int64_t *a, const int64_t *b)
{
	for (uint32_t e = 0; e < w->k; e++)
		if (a[e] < b[e])
			return true;
	return false;
}

static bool any_above_zero(const struct sp_writer *w, const int64_t *a)
{
	for (uint32_t e = 0; e < w->k; e++)
		if (a[e] > 0)
			return true;
	return false;
}

/* How far in all events together. */
static uint64_t apart(const struct sp_writer *w, const int64_t *a, const int64_t *b)
{
	uint64_t sum = 0, d;

	for (uint32_t e = 0; e < w->k; e++) {
		d = !b ? (uint64_t)a[e] : a[e] < b[e] ? (uint64_t)b[e] - (uint64_t)a[e] : (uint64_t)a[e] - (uint64_t)b[e];
		sum = sum + d < sum ? UINT64_MAX : sum + d;
	}
	return sum;
}

static bool same(const struct sp_writer *w, const int64_t *a, const int64_t *b)
{
	return memcmp(a, b, w->k * sizeof(*a)) == 0;
}

void sp_nested_note(struct sp_writer *w, int op, const int64_t *x)
{
	struct sp_nested *o = &w->nested;
	bool running = w->state->flags & SP_STATE_RUNNING;

	__atomic_fetch_or(&w->slow, SP_SLOW_NESTED, __ATOMIC_RELAXED);
	/* Of values that may go down by themselves nothing is to be seen. */
	if (!o->before || w->component || w->kinds || (w->relation->flags & SP_RELATION_ESTIMATED))
		return;
	if (!(o->flags & SP_NESTED_ANY)) {
		memcpy(o->before, last_of(w), w->k * sizeof(*o->before));
		o->flags |= SP_NESTED_ANY | (running ? SP_NESTED_RAN : 0);
	}
	if (x && running && op != SP_OP_WRITE && !(o->flags & SP_NESTED_ZEROED)) {
		o->flags |= SP_NESTED_VALUED | (below(w, x, last_of(w)) ? SP_NESTED_BACK : 0);
		memcpy(o->value, x, w->k * sizeof(*o->value));
	}
	if (x && running && (op == SP_OP_ACCUM || op == SP_OP_STOP)) {
		memcpy(o->kept, x, w->k * sizeof(*o->kept));
		o->flags |= SP_NESTED_KEPT | (op == SP_OP_ACCUM ? SP_NESTED_ADDED : 0);
	}
	if (op == SP_OP_START || op == SP_OP_ACCUM || op == SP_OP_RESET)
		o->flags |= SP_NESTED_ZEROED;
	if ((op == SP_OP_START || op == SP_OP_STOP) && !(o->flags & (SP_NESTED_STARTED | SP_NESTED_STOPPED)))
		o->flags |= op == SP_OP_START ? SP_NESTED_STARTED : SP_NESTED_STOPPED;
}

/* What the handler's call left in the set, and counts that it has brought. */
static bool handlers_own(const struct sp_writer *w, const int64_t *x)
{
	uint32_t seen = SP_NESTED_ZEROED | SP_NESTED_RAN | SP_NESTED_KEPT;

	return (w->nested.flags & seen) == seen && same(w, x, w->nested.kept);
}

/* A set that does not run answers what it did when it was stopped. */
static enum sp_turn_of of_stopped(const struct sp_writer *w, const int64_t *x, bool *sure)
{
	*sure = !(w->nested.flags & SP_NESTED_STARTED);
	return same(w, x, w->nested.before) ? SP_CALL_FIRST : SP_CALL_LAST;
}

static enum sp_turn_of of_reading(const struct sp_writer *w, const int64_t *x, bool *sure)
{
	const struct sp_nested *o = &w->nested;
	bool running = w->state->flags & SP_STATE_RUNNING;

	if (!(o->flags & SP_NESTED_ZEROED))
		return SP_CALL_LAST;
	if (!(o->flags & SP_NESTED_RAN))
		return of_stopped(w, x, sure);
	if (below(w, x, o->before) || ((o->flags & SP_NESTED_VALUED) && below(w, o->value, x)))
		return SP_CALL_LAST;
	*sure = running && below(w, x, last_of(w));
	if (*sure || !(o->flags & SP_NESTED_VALUED) || apart(w, x, o->value) <= apart(w, x, running ? last_of(w) : NULL))
		return SP_CALL_FIRST;
	return SP_CALL_LAST;
}

/* A start needs a set that was stopped.  PAPI_stop reads first, and says last that it has. */
static enum sp_turn_of of_stop(const struct sp_writer *w, const int64_t *x, bool *sure)
{
	if (w->nested.flags & SP_NESTED_STARTED)
		return SP_CALL_FIRST;
	if (handlers_own(w, x)) {
		*sure = false;
		return SP_CALL_SAME;
	}
	return of_reading(w, x, sure) == SP_CALL_LAST ? SP_CALL_LAST : SP_CALL_BETWEEN;
}

static enum sp_turn_of of_accum(const struct sp_writer *w, const int64_t *x, bool *sure)
{
	const struct sp_nested *o = &w->nested;
	bool zeroed = o->flags & SP_NESTED_ZEROED;
	uint64_t first, between;

	if (!(o->flags & SP_NESTED_RAN))
		return of_stopped(w, x, sure);
	if (handlers_own(w, x)) {
		*sure = false;
		return SP_CALL_SAME;
	}
	if (!(o->flags & SP_NESTED_VALUED)) {
		*sure = !zeroed || below(w, x, o->before);
		return *sure ? SP_CALL_LAST : SP_CALL_FIRST;
	}
	if (sp_nested_zeroed(w))
		return SP_CALL_FIRST;
	if (zeroed && below(w, x, o->before))
		return SP_CALL_LAST;
	/* The handler zeroed or stopped the set, and the call's value is higher than what the handler saw: the call did
	 * not read before the handler, whose value would be the higher one, and did not read a set that was stopped.
	 * Whether it came before or after the zeroing, the sum is the same. */
	if ((zeroed || (o->flags & SP_NESTED_STOPPED)) && below(w, o->value, x))
		return SP_CALL_FIRST;
	*sure = false;
	first = apart(w, o->value, NULL);
	between = apart(w, o->value, x);
	if (first < between && (!zeroed || first < apart(w, x, last_of(w))))
		return SP_CALL_FIRST;
	/* What did not zero in between is in the order of its values. */
	if (!zeroed || (apart(w, x, last_of(w)) < between && !below(w, x, last_of(w))))
		return SP_CALL_LAST;
	return SP_CALL_BETWEEN;
}

bool sp_nested_zeroed(const struct sp_writer *w)
{
	uint32_t seen = SP_NESTED_RAN | SP_NESTED_BACK;

	return (w->nested.flags & seen) == seen;
}

static enum sp_turn_of of_reset(const struct sp_writer *w, bool *sure)
{
	const struct sp_nested *o = &w->nested;

	if (!(o->flags & SP_NESTED_RAN)) {
		*sure = !(o->flags & SP_NESTED_STARTED);	/* the reset came before that start, or after it */
		return SP_CALL_LAST;
	}
	if (sp_nested_zeroed(w))
		return SP_CALL_FIRST;
	*sure = !any_above_zero(w, last_of(w));
	/* If it was last after all, the next value is lower than the handler's: ledger.c looks. */
	return *sure || (o->flags & SP_NESTED_VALUED) ? SP_CALL_LAST : SP_CALL_FIRST;
}

enum sp_turn_of sp_nested_order(const struct sp_writer *w, int op, const int64_t *x, bool *sure)
{
	enum sp_turn_of turn;

	*sure = op == SP_OP_START || (w->nested.flags & SP_NESTED_ANY);
	if (!*sure || op == SP_OP_START)
		return SP_CALL_LAST;
	if (op == SP_OP_READ)
		return of_reading(w, x, sure);
	if (op == SP_OP_STOP)
		return of_stop(w, x, sure);
	if (op == SP_OP_RESET)
		return of_reset(w, sure);
	turn = of_accum(w, x, sure);
	if (w->nested.flags & SP_NESTED_ADDED)
		*sure = false;		/* into one array: what the handler added is in x, too */
	return turn;
}

int64_t sp_nested_missing(const struct sp_writer *w, int op, enum sp_turn_of turn, const int64_t *x, uint32_t e)
{
	const struct sp_nested *o = &w->nested;

	if (!(o->flags & SP_NESTED_RAN) || turn == SP_CALL_SAME)
		return 0;
	if (op == SP_OP_RESET)
		return o->flags & SP_NESTED_VALUED ? o->before[e] : 0;
	if (!(o->flags & SP_NESTED_VALUED))
		return x[e] - o->before[e];
	return op == SP_OP_ACCUM && turn == SP_CALL_FIRST ? x[e] : 0;
}
