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
 * Who may write: the thread that started the set, without a lock.  A signal
 * handler on top of a booking of its own thread, and any other thread, write to
 * the side ledger instead, under the writer's lock, and the owner adds that in
 * when it comes by.  `busy` says so from PAPI's answer on; while PAPI is asked it has
 * SP_CALLING in it, and a handler books at once, but leaves word (overtake.h).  Another thread
 * that comes is a visitor: it asks PAPI and books while the owner does neither.  A handler that
 * jumps out of a call or a booking leaves `busy` set; the next call from a frame that is not
 * below the abandoned one sees that.
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

/* Around a call of PAPI by the owner: asks (and asks_slow, where that says no), then answers and a
 * booking that is `begun`, or refuses.  A handler on top of a call asks in vain, and books by
 * sp_ledger_book_at. */
#define SP_CALLING ((uintptr_t)8)	/* in `busy`: PAPI has not answered yet */
bool sp_ledger_asks_slow(struct sp_writer *w, enum sp_op op, uintptr_t frame);
void sp_ledger_refuses(struct sp_writer *w);

/* The set runs, by a PAPI_start that is not booked yet: now it is.  on_top: the caller is a
 * handler on top of that call; else it asks, after one has jumped out of it. */
void sp_ledger_starts_already(struct sp_writer *w, bool on_top);

/* Books by the owner, whose frame it is; x has k values (READ, STOP, ACCUM: for ACCUM what was
 * added), else NULL.  `cpu` as the system numbers it.  proven: the counts since the
 * reading before are known to be that CPU's.  site: of the call (interval.h).
 * begun: `busy` says so already (asks, answers; or sp_ledger_begin): what a handler puts aside from
 * then on comes after.  Short where it can be: by here.h. */
void sp_ledger_book_long(struct sp_writer *w, uintptr_t frame, enum sp_op op, int cpu, const long long *x, bool proven,
			 uint32_t site);
void sp_ledger_book_begun(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, bool proven, uint32_t site);

/* The same for a window that was spent on several CPUs: `op` itself is booked on `cpu`.  In between, each
 * other CPU's part is a booking of its own (kill-safe as any); no other comes between them.  Where it
 * cannot be split (a booking on top of another, a set that does not run) all goes to `cpu`, not
 * proven. */
void sp_ledger_book_parts(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, const struct sp_parts *parts,
			  uint32_t site, bool begun);

/* Puts all counts into the cells, where they can be read without the state; for a
 * relation that nobody writes any more. */
void sp_ledger_leave(struct sp_writer *w);

/* Adds in what a handler or another thread left in the side ledger meanwhile. */
void sp_ledger_settle(struct sp_writer *w);

/* Another thread is about to ask PAPI: from now on the writer is SP_SLOW_SHARED, and until
 * sp_ledger_visited neither its owner nor another visitor asks PAPI, so that what zeroes is booked in
 * PAPI's order.  Whoever waits does not do so for ever (the other may be stopped, or have jumped out of
 * its call): then the relation is SP_RELATION_UNSURE.  False: it is not a visitor. */
bool sp_ledger_visits(struct sp_writer *w);
void sp_ledger_visited(struct sp_writer *w);

/* The same by any other thread than the one that started the set; parts NULL: all on `cpu`, not proven. */
void sp_ledger_book_foreign(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, const struct sp_parts *parts,
			    uint32_t site);

/* `busy` names the operation, too: a handler on top of it must know what it does. */
static inline uintptr_t sp_ledger_mark(enum sp_op op)
{
	return ((uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15) | op;
}

/* mark: the wrapper's frame (as any, aligned to 16), and the op.
 * `busy` first, then the look at `slow`: who sets SP_SLOW_SHARED does it the other way round. */
SP_HOT_INLINE bool sp_ledger_asks_at(struct sp_writer *w, uintptr_t mark)
{
	if (SP_UNLIKELY(sp_own(&w->busy)))
		return false;
	sp_put(&w->busy, mark | SP_CALLING);
	sp_order();
	if (SP_UNLIKELY(sp_get(&w->slow) & (SP_SLOW_SIDE | SP_SLOW_SHARED))) {
		sp_put(&w->busy, 0);
		return false;
	}
	return true;
}

SP_HOT_INLINE bool sp_ledger_asks(struct sp_writer *w, enum sp_op op)
{
	return sp_ledger_asks_at(w, sp_ledger_mark(op));
}

/* As soon as PAPI has. */
SP_HOT_INLINE void sp_ledger_answers(struct sp_writer *w)
{
	sp_order();
	sp_clear(&w->busy, SP_CALLING);
	sp_order();
}

/* A booking of which no PAPI was asked; false: there is one under way. */
SP_HOT_INLINE bool sp_ledger_begin(struct sp_writer *w, enum sp_op op)
{
	if (SP_UNLIKELY(!w->relation || (sp_get(&w->busy) | (sp_get(&w->slow) & SP_SLOW_SIDE))))
		return false;
	sp_put(&w->busy, sp_ledger_mark(op));
	sp_order();
	return true;
}

/* The booking has ended. */
SP_HOT_INLINE void sp_ledger_ends(struct sp_writer *w)
{
	sp_publish(&w->busy, 0);	/* for a thread that comes to share */
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
	return sp_get(&w->slow) | sp_get(&w->own);
}

#endif
