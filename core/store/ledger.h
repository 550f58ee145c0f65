/* ledger.h: how counts are booked.
 *
 * The model.  An event set hands out running counts: x now, more later, zeroed
 * by START, RESET and ACCUM.  A reading of x on CPU c books x - last on c, where
 * last is what was handed out before it since the last zeroing (shared rule:
 * "total" of contract section 4).  Beside this ledger the relation keeps
 * sys-sage's temporary entries (rules 1 to 4, A1 to A6): a READ leaves on its
 * CPU what the other CPUs' entries do not explain, ACCUM adds to its CPU's
 * entry, and the first READ or STOP after a zeroing deletes all of them.
 *
 * Readings mostly come from the same CPU as the one before.  Such a reading only
 * stores the values (format.h, struct sp_state, says why that is enough); the
 * rest is done when the CPU changes, when something is zeroed, or by the reader.
 *
 * Who may write: the thread that started the set (the owner), without a lock.  `in_flight` names
 * the call that the owner makes.  Until PAPI returns `in_flight` has SP_IN_PAPI: a signal handler
 * that calls PAPI for the same set is booked at once, and noted (nested.h).  After that the owner
 * books: a handler on top of the booking writes to the side ledger, under the writer's lock, and
 * the owner adds the side ledger in afterwards.  Another thread is a visitor: it calls PAPI and
 * books while the owner does neither, or writes to the side ledger, too.  A handler that jumps out
 * of a call or a booking leaves `in_flight` set; the owner's next call comes from a frame that is
 * not below the abandoned one, and so finds that out.
 */
#ifndef SP_LEDGER_H
#define SP_LEDGER_H

#include "interval.h"
#include "parts.h"
#include "writer.h"

/* Binds w to a relation of k events and that many cells, as it stands. */
void sp_ledger_bind(struct sp_writer *w, struct sp_relation *r, uint32_t k, uint32_t cells);

/* From now on permanent readings go to this log (or may, with `entries`). */
void sp_ledger_log(struct sp_writer *w, struct sp_log *log, enum sp_entries entries);

/* The cell of a CPU: its number where it is dense, one of the extra ones where
 * not, the last one for SP_NO_CPU or when those are taken. */
int sp_ledger_cell(struct sp_writer *w, int cpu);

/* Goes on with the intervals of its relation, all of them, in this memory (interval.h);
 * between runs, by the owner.  False: another thread books here too, and may right now. */
bool sp_ledger_intervals(struct sp_writer *w, const struct sp_image *image, struct sp_interval_slot *memory,
			 uint32_t slots);

/* Around a call of PAPI by the owner: sp_ledger_begin_call (where that is false, _slow); PAPI's
 * function; then sp_ledger_call_returned and one of sp_ledger_finish_* (here.h), or, where PAPI
 * returned an error, sp_ledger_call_failed.  For a handler on top of a call begin_call is false:
 * the handler's own call is booked by sp_ledger_book_at. */
#define SP_IN_PAPI ((uintptr_t)8)	/* in `in_flight`: PAPI has not returned yet */
bool sp_ledger_begin_call_slow(struct sp_writer *w, enum sp_op op, uintptr_t frame);
void sp_ledger_call_failed(struct sp_writer *w);

/* The set runs, by a PAPI_start that is not booked yet: now it is.  on_top: the caller is a
 * handler on top of that call; else the owner begins a call, after a handler has jumped out of the start. */
void sp_ledger_starts_already(struct sp_writer *w, bool on_top);

/* Books by the owner, whose frame it is; x has k values (READ, STOP, ACCUM: for ACCUM what was
 * added), else NULL.  `cpu` as the system numbers it.  proven: the counts since the
 * reading before are known to be that CPU's.  site: of the call (interval.h).
 * _finish_: where `in_flight` is set already (sp_ledger_begin_call, or sp_ledger_begin); what a handler writes
 * to the side ledger from then on is added in afterwards.  On the fast path by here.h. */
void sp_ledger_book_slow(struct sp_writer *w, uintptr_t frame, enum sp_op op, int cpu, const long long *x, bool proven,
			 uint32_t site);
void sp_ledger_finish_slow(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, bool proven, uint32_t site);

/* The same for a window that was spent on several CPUs: `op` itself is booked on `cpu`.  In between, each
 * other CPU's part is a booking of its own (kill-safe as any); no other comes between them.  Where it
 * cannot be split (a booking on top of another, a set that does not run) all goes to `cpu`, not
 * proven. */
void sp_ledger_book_parts(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, const struct sp_parts *parts,
			  uint32_t site, bool in_flight);

/* Puts all counts into the cells, where they can be read without the state; for a
 * relation that nobody writes any more. */
void sp_ledger_leave(struct sp_writer *w);

/* Adds in what a handler or another thread left in the side ledger meanwhile. */
void sp_ledger_settle(struct sp_writer *w);

/* Another thread is about to call PAPI: from now on the writer is SP_SLOW_SHARED, and until
 * sp_ledger_visited neither its owner nor another visitor calls PAPI, so that what zeroes is booked in
 * PAPI's order.  Whoever waits does not do so for ever (the other may be stopped, or have jumped out of
 * its call): then the relation is SP_RELATION_UNSURE.  False: it is not a visitor. */
bool sp_ledger_visits(struct sp_writer *w);
void sp_ledger_visited(struct sp_writer *w);

/* The same by any other thread than the one that started the set; parts NULL: all on `cpu`, not proven. */
void sp_ledger_book_foreign(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, const struct sp_parts *parts,
			    uint32_t site);

/* `in_flight` names the operation, too: a handler on top of it must know what it does. */
static inline uintptr_t sp_ledger_mark(enum sp_op op)
{
	return ((uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15) | op;
}

/* mark: the wrapper's frame (as any, aligned to 16), and the op.
 * `in_flight` first, then the look at `slow`: who sets SP_SLOW_SHARED does it the other way round. */
SP_HOT_INLINE bool sp_ledger_begin_call_at(struct sp_writer *w, uintptr_t mark)
{
	if (SP_UNLIKELY(sp_own(&w->in_flight)))
		return false;
	sp_put(&w->in_flight, mark | SP_IN_PAPI);
	sp_order();
	if (SP_UNLIKELY(sp_get(&w->slow) & (SP_SLOW_SIDE | SP_SLOW_SHARED))) {
		sp_put(&w->in_flight, 0);
		return false;
	}
	return true;
}

SP_HOT_INLINE bool sp_ledger_begin_call(struct sp_writer *w, enum sp_op op)
{
	return sp_ledger_begin_call_at(w, sp_ledger_mark(op));
}

/* At once when PAPI has returned. */
SP_HOT_INLINE void sp_ledger_call_returned(struct sp_writer *w)
{
	sp_order();
	sp_clear(&w->in_flight, SP_IN_PAPI);
	sp_order();
}

/* A booking without a call of PAPI; false: one is in flight. */
SP_HOT_INLINE bool sp_ledger_begin(struct sp_writer *w, enum sp_op op)
{
	if (SP_UNLIKELY(!w->relation || (sp_get(&w->in_flight) | (sp_get(&w->slow) & SP_SLOW_SIDE))))
		return false;
	sp_put(&w->in_flight, sp_ledger_mark(op));
	sp_order();
	return true;
}

/* The booking has ended. */
SP_HOT_INLINE void sp_ledger_end(struct sp_writer *w)
{
	sp_publish(&w->in_flight, 0);	/* for a thread that comes to share */
	sp_order();
	if (SP_UNLIKELY(sp_get(&w->slow) & SP_SLOW_SIDE))
		sp_ledger_settle(w);
}

/* The interval that a reading in the current cell ends is the current one from here on. */
static inline void sp_interval_step(struct sp_writer *w, uint32_t site)
{
	struct sp_track *t = &w->track;

	if (SP_UNLIKELY(t->from != t->cur_from || site != t->cur_to))
		sp_interval_move(w, site);
	t->from = site;
}

/* A count has gone back: the relation says so. */
SP_COLD void sp_ledger_backwards(struct sp_writer *w);

static inline uint32_t sp_ledger_slow(const struct sp_writer *w)
{
	return sp_get(&w->slow) | sp_get(&w->slow_owner);
}

#endif
