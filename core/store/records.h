/* records.h: records the PAPI calls for an event set in the relation's memory.
 *
 * A call that returns, starts or zeroes counts becomes a record (layout.h). A call equal to the one
 * before (same call site, same CPU) is added to that call's record. Many records together are
 * folded by rules.h, through a redo log that becomes valid with one store. So a reader finds every
 * count once, whichever instruction was the writer's last.
 *
 * The thread that started the set writes without a lock. `in_flight` names its current call, with
 * SP_IN_PAPI until PAPI returns. If a signal handler calls PAPI for the same set meanwhile, that
 * nested call only sets SP_SLOW_MISSED. Then a record SP_OP_MISSED precedes both the call in flight
 * and the next one. From their values the rules infer the effect of the nested call, and the next
 * call also queries PAPI for the set's state. If a handler jumps out of a call, `in_flight` stays
 * set: the next call is not below that frame, or finds that the frame is gone (`back`). The
 * abandoned call then counts as missed.
 *
 * After another thread has called (SP_SLOW_SHARED), threads take turns, each from before its PAPI
 * call until its record is complete. All waits are limited, since the other thread may be stopped
 * or have jumped out of its call. After that its call is overtaken: it is missed, and gets no
 * record even if PAPI returns.
 *
 * A writer is bound to another relation only by a thread that has it alone (sp_records_take): no
 * call is in flight, and calls of other threads meanwhile are refused and their counts dropped.
 */
#ifndef SP_RECORDS_H
#define SP_RECORDS_H

#include "writer.h"
#include "../base/sys.h"

/* Binds w to the existing relation at off with k events and that many cells. kinds: [k] enum
 * sp_values, owned by the caller, which must not move them; NULL: all are counts. */
void sp_records_bind(struct sp_writer *w, const struct sp_store_reader *reader, sp_off off,
		     uint32_t k, uint32_t cells, const uint8_t *kinds);

/* SP_KEEPS_*: PAPI_start or PAPI_reset do not zero the set's counts. SP_REFRESHES. */
void sp_records_set_component(struct sp_writer *w, uint32_t component);

/* Measures run_ns: the set's counts are not a thread's. Call it after sp_records_bind. */
void sp_records_time_runs(struct sp_writer *w);

/* Attributes all further counts to this CPU (SP_NO_CPU: unknown), none of them proven. Call it
 * after sp_records_bind. False: no memory. */
bool sp_records_place(struct sp_writer *w, int cpu);

/* Writes permanent readings to this log from now on (`entries` permitting). */
void sp_records_log(struct sp_writer *w, struct sp_log *log, enum sp_entries entries,
		    bool only_kept);

/* Returns the number of a CPU's cell: a dense one, else one of the extra ones; the last one for
 * SP_NO_CPU or if these are used up. */
int sp_records_cell(struct sp_writer *w, int cpu);

/* Returns cell i, with its offset in *at; NULL: its block was not needed yet. */
struct sp_cell *sp_records_cell_at(const struct sp_writer *w, int32_t i, sp_off *at);

/* Makes memory for a CPU's cell, if possible. */
void sp_records_set_cpu(struct sp_writer *w, int cpu);

/* Continues with all intervals of the relation, in this memory (interval.h). Call it between
 * runs, with the writer alone. */
void sp_records_intervals(struct sp_writer *w, uint32_t *memory, uint32_t slots);

/* Adds all records to cells and intervals. The caller must be allowed to record. */
void sp_records_fold(struct sp_writer *w);

/* Takes the writer alone, until sp_records_give, which sets a new owner (0: keeps it). `who` and
 * `frame`: see below. False: a call is in flight, or another thread has the writer. `waits`:
 * wait as long as a call would. */
bool sp_records_take(struct sp_writer *w, uintptr_t frame, uint32_t who, bool waits);
void sp_records_bind_taken(struct sp_writer *w, const struct sp_store_reader *reader, sp_off off,
			   uint32_t k, uint32_t cells, const uint8_t *kinds);
void sp_records_give(struct sp_writer *w, uint32_t who, uint32_t owner);

/* ---- around a PAPI call -------------------------------------------------
 *
 * Sequence: sp_records_begin, or if that is false sp_records_enter; the PAPI function;
 * sp_records_returned; then a function of the fast path below, sp_records_finish, or after a
 * PAPI error sp_records_failed.
 */

/* `in_flight` is a frame address, a multiple of 16, plus an enum sp_op and: */
#define SP_IN_PAPI	((uintptr_t)8)		/* PAPI has not returned yet */
#define SP_FRAME	(~(uintptr_t)15)

static inline uintptr_t sp_records_mark(uintptr_t frame, enum sp_op op)
{
	return frame | op;
}

/* The return address is above the frame. */
static inline uintptr_t sp_records_back(uintptr_t frame)
{
	return ((const uintptr_t *)frame)[1];
}

/* Stores `in_flight`, then reads `slow`; a thread that sets SP_SLOW_SHARED uses the opposite
 * order. */
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

		(void)sp_cas(&w->in_flight, &is, 0);	/* it may be another thread's by now */
		return false;
	}
	return true;
}

/* Begins a call in all other cases: after missed calls or a jump, or with several threads.
 * `who`: the caller's number, never 0; owner: it started the set. False: do not record, since
 * the call is nested or the writer is being bound. With SP_SLOW_AFTER, call
 * sp_records_set_running next. */
bool sp_records_enter(struct sp_writer *w, enum sp_op op, uintptr_t frame, uint32_t who,
		      bool owner);

/* Call this as soon as PAPI has returned. */
SP_HOT_INLINE void sp_records_returned(struct sp_writer *w)
{
	sp_order();
	sp_clear(&w->in_flight, SP_IN_PAPI);
	sp_order();
}

void sp_records_failed(struct sp_writer *w, uint32_t who);

/* May the returned call add its record? False: it was overtaken, or the writer is being bound. */
bool sp_records_can_finish(struct sp_writer *w, uint32_t who);

/* Is a call of this thread in flight? If sp_records_enter failed, the current call is nested in
 * it. */
bool sp_records_is_nested(const struct sp_writer *w, uint32_t who);

/* Was a call missed during or before the one in flight? Then nothing in its window is proven. */
static inline bool sp_records_has_missed(const struct sp_writer *w)
{
	return load_relaxed(&w->slow) & (SP_SLOW_MISSED | SP_SLOW_AFTER);
}

/* Notes a call that PAPI executed and that gets no record. */
void sp_records_missed(struct sp_writer *w, enum sp_op op, uint32_t who);

/* For use inside PAPI: until sp_records_resume() other threads wait up to 2 s for this call, not
 * 20 ms. False: the call was overtaken, or another thread's call may be in flight. */
bool sp_records_suspend(struct sp_writer *w, uint32_t who, uint32_t *was);
void sp_records_resume(struct sp_writer *w, uint32_t who, uint32_t was);

/* True: only this thread, which starts the set, has called PAPI for it so far. */
static inline bool sp_records_is_alone(const struct sp_writer *w, uint32_t who)
{
	return load_relaxed(&w->owner) == who &&
	       !(load_acquire(&w->slow) & (SP_SLOW_SHARED | SP_SLOW_BINDING));
}

/* Records a zeroing that the program did not call for. Call it between suspend and resume. */
void sp_records_zeroed(struct sp_writer *w, uint32_t who, uint32_t was);

/* Parts of a window on several CPUs: at[i][e] of the new counts of event e are cpu[i]'s; the
 * call's own CPU has the rest. Integers, so that the sum equals PAPI's count. */
struct sp_parts {
	uint32_t n;
	const int32_t *cpu;		/* [n] */
	const int64_t *at;		/* [n][k] */
	const int64_t *proven;		/* [n + 1][k] newly proven counts of each CPU, perhaps
					 * counted in earlier windows; last row: the call's CPU */
};

struct sp_papi_call {
	enum sp_op op;
	int cpu;			/* OS number, or SP_NO_CPU */
	const long long *x;		/* [k] values of READ, STOP, WRITE; for ACCUM the counts
					 * added; else NULL */
	bool proven;			/* this CPU counted everything since the last reading */
	uint32_t site;			/* call site (interval.h) */
	uint32_t who;			/* caller's thread number */
	const struct sp_parts *parts;	/* NULL: all counts are the CPU's; ignored after missed
					 * calls */
};

/* Records any call. False: nothing was recorded (sp_records_can_finish). */
bool sp_records_finish(struct sp_writer *w, const struct sp_papi_call *b);

/* Records without a PAPI call. */
void sp_records_add_call(struct sp_writer *w, const struct sp_papi_call *b);

/* Records PAPI's state of the set, after sp_records_enter with SP_SLOW_AFTER. state:
 * SP_OP_IS_RUNNING or SP_OP_IS_STOPPED; 0: neither. */
void sp_records_set_running(struct sp_writer *w, enum sp_op state, uint32_t who);

/* ---- fast path ----------------------------------------------------------
 *
 * Inline functions, without calls and with few branches, since PAPI's system calls leave the
 * branch predictors and caches cold. The CPU must be that of the last reading, or the set
 * placed; `cell` is the writer's `cpu`. False: use sp_records_finish.
 */

/* One count of the record or of the application's array; and two adjacent counts, each of which
 * is stored whole. */
typedef int64_t sp_one __attribute__((may_alias));
typedef int64_t sp_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* Calls each(type, e) for pairs from the end, then for the first count if k is odd. */
#ifdef __SANITIZE_THREAD__		/* another thread may read the record: atomic stores,
					 * which pairs lack */
#define SP_EACH(k, each) \
	for (size_t e = 0; e < (k); e++) \
		each(sp_one, e)
#define SP_STORE(type, p, v) store_relaxed((p), (v))
#else
#define SP_EACH(k, each) \
	/* most sets: no loop, fixed offsets */ \
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

/* memcpy() is slower for so few words, and gcc would call it. */
SP_HOT_INLINE void sp_copy_counts(long long *to, const long long *from, size_t k)
{
#define EACH(type, e) do { \
		*(type *)&to[e] = SP_AT(type, &from[e]); \
		__asm__ volatile(""); \
	} while (0)
	SP_EACH(k, EACH);
#undef EACH
}

/* Ends the call in flight. */
SP_HOT_INLINE void sp_records_end(struct sp_writer *w)
{
	store_release(&w->in_flight, 0);	/* release: for a thread that begins to share */
	sp_order();
}

/* Fast path of sets with SP_SLOW_MORE; false with any other SP_SLOW_*. */
bool sp_records_repeat_more(struct sp_writer *w, const long long *x, uint64_t steady);
bool sp_records_value_more(struct sp_writer *w, enum sp_op op, int32_t cell, const long long *x,
			   uint32_t site, uint64_t ticks);
bool sp_records_accum_more(struct sp_writer *w, int32_t cell, const long long *x, uint32_t site);
bool sp_records_zero_more(struct sp_writer *w, enum sp_op op, uint32_t site);

/* Is a count below the last one, though no call has zeroed it? Then something else did, such as
 * a forked child that inherited the descriptors. It zeroes all counts, so comparing two is
 * enough. The slow path handles that; here the earlier counts would be lost. */
SP_HOT_INLINE bool sp_counts_fell(const int64_t *before, const long long *x, size_t k)
{
	return SP_UNLIKELY(x[0] < before[0]) || SP_UNLIKELY(x[k - 1] < before[k - 1]);
}

/* x: values of READ or STOP. */
SP_HOT_INLINE bool sp_records_fell(const struct sp_writer *w, const long long *x)
{
	return !w->kinds && sp_counts_fell(w->values, x, w->k);
}

/* READ equal to the one before, whose key is `steady`. A handler may have recorded calls before
 * PAPI returned, so `steady` and `last` are read only now. */
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

/* Values after a zeroing. */
extern int64_t sp_records_zeros[SP_EVENTS_MAX];

static inline bool sp_records_is_alike(const struct sp_record *r, uint32_t op_flags, int32_t cell,
				    uint32_t site)
{
	return r && r->op_flags == op_flags && r->cell == cell && r->from == site &&
	       r->site == site;
}

/* Fills in all of the next record but its values. */
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

/* Makes the record valid, and room for the next one. */
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

/* Sets the time of a STOP, or of a first START. */
SP_COLD void sp_records_tick(struct sp_writer *w, bool reading);

/* START or RESET. */
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

/* Sets the time of a STOP if it may have changed: reading the clock takes 27 ns after PAPI's
 * system calls. A million TSC ticks are about a millisecond. */
static inline void sp_records_stopped(struct sp_writer *w, uint64_t ticks)
{
	store_relaxed(&w->runs, false);
#if defined(__x86_64__)
	if (SP_LIKELY(ticks - w->time.stop_ticks < 1u << 20))
		return;
	w->time.stop_ticks = ticks;
#else
	(void)ticks;
#endif
	sp_records_tick(w, true);
}

/* Proven STOP, or READ from another site than the call before or after a zeroing. ticks: time
 * stamp counter, for STOP. */
SP_HOT_INLINE bool sp_records_value(struct sp_writer *w, enum sp_op op, int32_t cell,
				    const long long *x, uint32_t site, uint64_t ticks)
{
	const uint32_t op_flags = op | SP_RECORD_PROVEN;
	struct sp_record *r = load_plain(&w->last);
	const size_t k = w->k;
	bool alike = op == SP_OP_READ && sp_records_is_alike(r, op_flags, cell, site);

	if (SP_UNLIKELY(load_relaxed(&w->slow)))
		return sp_records_value_more(w, op, cell, x, site, ticks);
	if (!alike)
		r = sp_records_new(w, op_flags, cell, site);
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

/* Proven ACCUM: adds PAPI's counts to those added before. */
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
