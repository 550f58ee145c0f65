/* records.h: how calls of PAPI for a set are booked.
 *
 * A call that hands out, starts or zeroes counts becomes a record (layout.h) in memory of the
 * relation's; one that is like the call before (the same call site, the same CPU) is added to its
 * record.  When there are many the records are folded by the rules (rules.h), in drafts that hold
 * from one store on: whoever reads the store after any instruction finds every count once.
 *
 * Who may write: the thread that started the set, without a lock.  `in_flight` names the call that
 * it makes, with SP_IN_PAPI until PAPI returns.  A handler's call for the same set meanwhile is
 * nested: it writes nothing but SP_SLOW_MISSED.  A record SP_OP_MISSED then stands before the call
 * in flight and before the next one, and by their values the rules find out what became of the set;
 * the next one also asks PAPI whether it runs.  A handler that jumps out of a call leaves
 * `in_flight` set: the next call is not below that frame, or finds that the frame is gone (`back`).
 * A call that was jumped out of is missed as well.
 *
 * Other threads, once one has come (SP_SLOW_SHARED), take turns with that thread from before their
 * call of PAPI until it has its record.  Every wait is bounded: the other thread may be stopped, or
 * have jumped out of its call.  Then its call is overtaken: it is missed, and gets no record when
 * PAPI answers it after all.
 *
 * A writer is bound anew only by who has it to himself (sp_records_take): no call is in flight, and
 * whoever comes meanwhile is refused, and its counts are dropped.
 */
#ifndef SP_RECORDS_H
#define SP_RECORDS_H

#include "writer.h"
#include "../base/sys.h"

/* Binds w to the relation at off, as it stands: of k events, of these kinds ([k] enum sp_values;
 * NULL: all are counts; they stay the caller's and where they are), and that many cells. */
void sp_records_bind(struct sp_writer *w, const struct sp_store_reader *reader, sp_off off,
		     uint32_t k, uint32_t cells, const uint8_t *kinds);

/* PAPI_start or PAPI_reset do not zero the set's counts: SP_KEEPS_*. */
void sp_records_set_component(struct sp_writer *w, uint32_t component);

/* From now on all counts are those of this CPU (SP_NO_CPU: of no known one), and no reading proves
 * any.  After sp_records_bind.  False: no memory. */
bool sp_records_place(struct sp_writer *w, int cpu);

/* From now on permanent readings go to this log (or may, with `entries`). */
void sp_records_log(struct sp_writer *w, struct sp_log *log, enum sp_entries entries,
		    bool only_kept);

/* The cell of a CPU: its number where it is dense, one of the extra ones where
 * not, the last one for SP_NO_CPU or when those are taken. */
int sp_records_cell(struct sp_writer *w, int cpu);

/* Cell i, and *at: where it is in the store; NULL: nothing was booked near it yet. */
struct sp_cell *sp_records_cell_at(const struct sp_writer *w, int32_t i, sp_off *at);

/* The cell of a CPU has memory from now on, if there is some. */
void sp_records_set_cpu(struct sp_writer *w, int cpu);

/* Goes on with the intervals of its relation, all of them, in this memory (interval.h); between
 * runs, by who has the writer to himself. */
void sp_records_intervals(struct sp_writer *w, uint32_t *memory, uint32_t slots);

/* All is in the cells and intervals. By who may book now. */
void sp_records_fold(struct sp_writer *w);

/* The writer is the caller's alone until sp_records_give, which makes it a new owner's (0: it stays
 * as it was).  `who` and `frame` as below.  False: a call is in flight, or somebody else has it;
 * `waits`: for as long as a call would wait. */
bool sp_records_take(struct sp_writer *w, uintptr_t frame, uint32_t who, bool waits);
void sp_records_bind_taken(struct sp_writer *w, const struct sp_store_reader *reader, sp_off off,
			   uint32_t k, uint32_t cells, const uint8_t *kinds);
void sp_records_give(struct sp_writer *w, uint32_t who, uint32_t owner);

/* ---- around a call of PAPI ---------------------------------------------------
 *
 * sp_records_begin, or where that is false sp_records_enter; PAPI's function; sp_records_returned;
 * and one of the short ways below, or sp_records_finish, or where PAPI returned an error
 * sp_records_failed. */

/* In `in_flight`, beside the frame, which is aligned to 16 bytes: enum sp_op, and */
#define SP_IN_PAPI	((uintptr_t)8)		/* PAPI has not returned yet */
#define SP_FRAME	(~(uintptr_t)15)

static inline uintptr_t sp_records_mark(uintptr_t frame, enum sp_op op)
{
	return frame | op;
}

/* Above a frame stands where its function returns to. */
static inline uintptr_t sp_records_back(uintptr_t frame)
{
	return ((const uintptr_t *)frame)[1];
}

/* `in_flight` first, then the look at `slow`: who sets SP_SLOW_SHARED does it the other way
 * round. */
SP_HOT_INLINE bool sp_records_begin(struct sp_writer *w, uintptr_t frame, enum sp_op op)
{
	const uintptr_t mark = sp_records_mark(frame, op) | SP_IN_PAPI;

	if (SP_UNLIKELY(load_plain(&w->in_flight)))
		return false;
	store_relaxed(&w->back, sp_records_back(frame));
	store_relaxed(&w->in_flight, mark);
	sp_order();
	if (SP_UNLIKELY(load_relaxed(&w->slow) &
			(SP_SLOW_MISSED | SP_SLOW_AFTER | SP_SLOW_SHARED))) {
		uintptr_t is = mark;

		(void)sp_cas(&w->in_flight, &is, 0);	/* by now it may be another thread's */
		return false;
	}
	return true;
}

/* The same where calls were missed, while others share, after a jump; by whichever thread: `who` is
 * its number, never 0; owner: the thread that started the set.  False: nothing is to be booked: the
 * call is nested, or the writer is being bound. With SP_SLOW_AFTER sp_records_set_running comes next. */
bool sp_records_enter(struct sp_writer *w, enum sp_op op, uintptr_t frame, uint32_t who,
		      bool owner);

/* At once when PAPI has returned. */
SP_HOT_INLINE void sp_records_returned(struct sp_writer *w)
{
	sp_order();
	sp_clear(&w->in_flight, SP_IN_PAPI);
	sp_order();
}

void sp_records_failed(struct sp_writer *w, uint32_t who);

/* May the call that has returned add its record?  False: it was overtaken, or the writer is being
 * bound. */
bool sp_records_can_finish(struct sp_writer *w, uint32_t who);

/* Is a call of this thread's in flight?  Then one that could not enter is nested in it. */
bool sp_records_is_nested(const struct sp_writer *w, uint32_t who);

/* Was a call missed inside or before the one in flight?  Then nothing of its window is proven. */
static inline bool sp_records_has_missed(const struct sp_writer *w)
{
	return load_relaxed(&w->slow) & (SP_SLOW_MISSED | SP_SLOW_AFTER);
}

/* Notes a call that PAPI has answered and that gets no record. */
void sp_records_missed(struct sp_writer *w, enum sp_op op, uint32_t who);

/* Inside PAPI.  Until sp_records_resume() other threads wait for this call as long as for a record (2
 * s in place of 20 ms).  False: the call was overtaken, or another thread's call may be in
 * flight. */
bool sp_records_suspend(struct sp_writer *w, uint32_t who, uint32_t *was);
void sp_records_resume(struct sp_writer *w, uint32_t who, uint32_t was);

/* True: no other thread than this one, which starts the set, has called PAPI for it so far. */
static inline bool sp_records_is_alone(const struct sp_writer *w, uint32_t who)
{
	return load_relaxed(&w->owner) == who &&
	       !(load_acquire(&w->slow) & (SP_SLOW_SHARED | SP_SLOW_BINDING));
}

/* Between hold and let: adds a zeroing that is no call of the program's. */
void sp_records_zeroed(struct sp_writer *w, uint32_t who, uint32_t was);

/* The parts of a window that was spent on several CPUs: what is new of k events since the value
 * before, at[i][e] on cpu[i]; the CPU that the call is booked on gets the rest.  Whole numbers, so
 * that the sum is what was handed out. */
struct sp_parts {
	uint32_t n;
	const int32_t *cpu;		/* [n] */
	const int64_t *at;		/* [n][k] */
	const int64_t *proven;		/* [n + 1][k] newly known to have been counted there,
					 * perhaps of what was booked before; the last row is the
					 * CPU's that the call is booked on */
};

struct sp_papi_call {
	enum sp_op op;
	int cpu;			/* as the system numbers it; SP_NO_CPU */
	const long long *x;		/* [k] of READ, STOP, WRITE; of ACCUM what was added; else
					 * NULL */
	bool proven;			/* the counts since the reading before are that CPU's */
	uint32_t site;			/* of the call (interval.h) */
	uint32_t who;			/* as above */
	const struct sp_parts *parts;	/* NULL: all is the CPU's; not used where calls were
					 * missed */
};

/* Any of them.  False: nothing was booked (sp_records_can_finish). */
bool sp_records_finish(struct sp_writer *w, const struct sp_papi_call *b);

/* The same without a call of PAPI around it. */
void sp_records_add_call(struct sp_writer *w, const struct sp_papi_call *b);

/* After sp_records_enter, with SP_SLOW_AFTER: PAPI says that the set SP_OP_IS_RUNNING or SP_OP_IS_STOPPED, or
 * 0, neither. */
void sp_records_set_running(struct sp_writer *w, enum sp_op state, uint32_t who);

/* ---- the short ways ------------------------------------------------------------
 *
 * Inline, without calls and with few jumps: after PAPI's system calls the processor remembers
 * nothing of us.  The caller knows that the CPU is that of the reading before, or that the set is
 * placed; `cell` is the writer's `cpu`.  False: sp_records_finish has to book. */

/* A count of the record, or of the application's array; two neighbours, each of which is stored
 * whole. */
typedef int64_t sp_one __attribute__((may_alias));
typedef int64_t sp_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* each(type, e): by pairs from the end, then the first of an odd number. */
#ifdef __SANITIZE_THREAD__		/* another thread may read the record: atomic stores, which
					 * pairs have not */
#define SP_EACH(k, each) \
	for (size_t e = 0; e < (k); e++) \
		each(sp_one, e)
#define SP_STORE(type, p, v) store_relaxed((p), (v))
#else
#define SP_EACH(k, each) \
	/* most sets: no loop, and values at fixed places */ \
	if (SP_LIKELY((k) == 2)) { \
		each(sp_pair, 0); \
	} else { \
		size_t left = (k); \
		while (left > 1) { \
			left -= 2; \
			each(sp_pair, left); \
		} \
		if (left) \
			each(sp_one, 0); \
	}
#define SP_STORE(type, p, v) (*(type *)(p) = (v))
#endif
#define SP_AT(type, p) (*(const type *)(p))

/* (memcpy() takes more for so few, and gcc would call it.) */
SP_HOT_INLINE void sp_copy_counts(long long *to, const long long *from, size_t k)
{
#define EACH(type, e) do { \
		*(type *)&to[e] = SP_AT(type, &from[e]); \
		__asm__ volatile(""); \
	} while (0)
	SP_EACH(k, EACH);
#undef EACH
}

/* The booking has ended. */
SP_HOT_INLINE void sp_records_end(struct sp_writer *w)
{
	store_release(&w->in_flight, 0);	/* for a thread that comes to share */
	sp_order();
}

/* The short ways of a set with SP_SLOW_MORE; false for any other that is slow. */
bool sp_records_repeat_more(struct sp_writer *w, const long long *x, uint64_t steady);
bool sp_records_value_more(struct sp_writer *w, enum sp_op op, int32_t cell, const long long *x,
			   uint32_t site, uint64_t ticks);
bool sp_records_accum_more(struct sp_writer *w, int32_t cell, const long long *x, uint32_t site);
bool sp_records_zero_more(struct sp_writer *w, enum sp_op op, uint32_t site);

/* Is a count below the one before, though no call has zeroed it?  Somebody else has, as a child of
 * fork that has the descriptors, and all of them, so two are compared.  The slow path is
 * for that: here the counts from before would be lost. */
SP_HOT_INLINE bool sp_counts_fell(const int64_t *before, const long long *x, size_t k)
{
	return SP_UNLIKELY(x[0] < before[0]) || SP_UNLIKELY(x[k - 1] < before[k - 1]);
}

/* x: of READ and STOP. */
SP_HOT_INLINE bool sp_records_fell(const struct sp_writer *w, const long long *x)
{
	return !w->kinds && sp_counts_fell(w->values, x, w->k);
}

/* READ, alike the one before, which the caller knows as `steady`.  Handlers may have booked until
 * PAPI returned: whether it still is, and `last`, are looked at only now. */
SP_HOT_INLINE bool sp_records_repeat(struct sp_writer *w, const long long *x, uint64_t steady)
{
	struct sp_record *r;
	const size_t k = w->k;

	if (SP_UNLIKELY(load_relaxed(&w->slow)))
		return sp_records_repeat_more(w, x, steady);
	if (SP_UNLIKELY(load_plain(&w->steady) != steady))
		return false;
	r = load_plain(&w->last);
	if (sp_counts_fell(r->value, x, k))
		return false;
#define EACH(type, e) SP_STORE(type, &r->value[e], SP_AT(type, &x[e]))
	SP_EACH(k, EACH);
#undef EACH
	increment_own(&r->count);
	sp_records_end(w);
	return true;
}

/* What stands in a record where nobody has zeroed: nothing. */
extern int64_t sp_records_zeros[SP_EVENTS_MAX];

static inline bool sp_records_is_alike(const struct sp_record *r, uint32_t op_flags, int32_t cell,
				    uint32_t site)
{
	return r && r->op_flags == op_flags && r->cell == cell && r->from == site && r->site == site;
}

/* A new record, filled in but for its values. */
SP_HOT_INLINE struct sp_record *sp_records_new(struct sp_writer *w, uint32_t op_flags, int32_t cell,
					       uint32_t site)
{
	struct sp_record *r = (struct sp_record *)load_plain(&w->to);

	store_relaxed(&w->steady, 0);
	store_relaxed(&r->op_flags, op_flags);
	store_relaxed(&r->cell, cell);
	store_relaxed(&r->from, w->from);
	store_relaxed(&r->site, site);
	store_relaxed(&r->count, 1);
	return r;
}

/* It is there from now on.  Room for the next one is made behind it. */
SP_HOT_INLINE void sp_records_add(struct sp_writer *w, struct sp_record *r)
{
	uint64_t number = w->number + 1;

	store_release(&r->number, number);
	sp_order();
	w->number = number;
	store_relaxed(&w->to, (unsigned char *)r + w->layout.record_bytes);
	store_relaxed(&w->last, r);
	w->from = r->site;
	if (SP_UNLIKELY(load_plain(&w->to) >= w->end))
		sp_records_fold(w);
}

/* The time of a STOP, or of a first START. */
SP_COLD void sp_records_tick(struct sp_writer *w, bool reading);

/* START, RESET. */
SP_HOT_INLINE bool sp_records_zero(struct sp_writer *w, enum sp_op op, uint32_t site)
{
	struct sp_record *r = load_plain(&w->last);

	if (SP_UNLIKELY(load_relaxed(&w->slow)))
		return sp_records_zero_more(w, op, site);
	if (op != SP_OP_RESET || !sp_records_is_alike(r, SP_OP_RESET, 0, site)) {
		w->values = sp_records_zeros;
		if (op == SP_OP_START)
			store_relaxed(&w->runs, true);
		if (op == SP_OP_START && SP_UNLIKELY(!load_relaxed(&w->relation->first_ns)))
			sp_records_tick(w, false);
		sp_records_add(w, sp_records_new(w, op, 0, site));
	}
	increment_own(op == SP_OP_START ? &w->relation->starts : &w->relation->resets);
	sp_records_end(w);
	return true;
}

/* The time of a STOP, if it may have changed: the clock's ways through libc and the vDSO take 27 ns
 * after PAPI's system calls.  A million ticks of x86 are less than a millisecond, or not much
 * more. */
static inline void sp_records_stopped(struct sp_writer *w, uint64_t ticks)
{
	store_relaxed(&w->runs, false);
#if defined(__x86_64__)
	if (SP_LIKELY(ticks - w->stop_ticks < 1u << 20))
		return;
	w->stop_ticks = ticks;
#else
	(void)ticks;
#endif
	sp_records_tick(w, true);
}

/* READ from another site than the one before, or after a zeroing; STOP; proven. ticks: the
 * processor's, of a STOP. */
SP_HOT_INLINE bool sp_records_value(struct sp_writer *w, enum sp_op op, int32_t cell,
				    const long long *x, uint32_t site, uint64_t ticks)
{
	const uint32_t op_flags = op | SP_RECORD_PROVEN;
	struct sp_record *r = load_plain(&w->last);
	const size_t k = w->k;
	bool alike = op == SP_OP_READ && sp_records_is_alike(r, op_flags, cell, site);

	if (SP_UNLIKELY(load_relaxed(&w->slow)))
		return sp_records_value_more(w, op, cell, x, site, ticks);
	if (!alike) {
		r = sp_records_new(w, op_flags, cell, site);
	}
#define EACH(type, e) SP_STORE(type, &r->value[e], SP_AT(type, &x[e]))
	SP_EACH(k, EACH);
#undef EACH
	if (alike) {
		increment_own(&r->count);
	} else {
		w->values = r->value;
		if (op == SP_OP_STOP)
			sp_records_stopped(w, ticks);
		sp_records_add(w, r);
	}
	sp_records_end(w);
	return true;
}

/* ACCUM, proven: what PAPI added is added to what it added before. */
SP_HOT_INLINE bool sp_records_accum(struct sp_writer *w, int32_t cell, const long long *x,
				    uint32_t site)
{
	const uint32_t op_flags = SP_OP_ACCUM | SP_RECORD_PROVEN;
	struct sp_record *r = load_plain(&w->last);
	const size_t k = w->k;

	if (SP_UNLIKELY(load_relaxed(&w->slow)))
		return sp_records_accum_more(w, cell, x, site);
	if (SP_LIKELY(sp_records_is_alike(r, op_flags, cell, site))) {
#define EACH(type, e) SP_STORE(type, &r->value[e], SP_AT(type, &r->value[e]) + SP_AT(type, &x[e]))
		SP_EACH(k, EACH);
#undef EACH
		increment_own(&r->count);
	} else {
		r = sp_records_new(w, op_flags, cell, site);
#define EACH(type, e) SP_STORE(type, &r->value[e], SP_AT(type, &x[e]))
		SP_EACH(k, EACH);
#undef EACH
		w->values = sp_records_zeros;
		sp_records_add(w, r);
	}
	sp_records_end(w);
	return true;
}

#endif
