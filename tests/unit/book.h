/* book.h: calls of PAPI, booked as the wrappers book them: by the short ways of store/records.h
 * where those can. */
#ifndef BOOK_H
#define BOOK_H

#include "../../core/store/records.h"

#define BOOK_FRAME ((uintptr_t)__builtin_frame_address(0))
#define BOOK_OWNER 1u			/* the thread that started the set; others have other
					 * numbers */

/* The caller is the owner, whose call PAPI has answered. */
static inline bool book_short(struct sp_writer *w, enum sp_op op, int cpu, const long long *x,
			      bool proven, uint32_t site)
{
	const struct sp_record *last;
	bool alike;

	if (op == SP_OP_START || op == SP_OP_RESET)
		return sp_records_zero(w, op, site);
	if (!proven || (!w->placed && (cpu < 0 || cpu != w->cpu)))
		return false;
	cpu = w->cpu;
	if (op == SP_OP_READ && w->steady == site + 1)
		return sp_records_repeat(w, x, site + 1);
	if (op == SP_OP_ACCUM)
		return sp_records_accum(w, cpu, x, site);
	if (op != SP_OP_READ && op != SP_OP_STOP)
		return false;
	alike = w->last && w->last->site == site && w->last->from == site;
	if (!sp_records_value(w, op, cpu, x, site, 0))
		return false;
	last = load_relaxed(&w->last);
	if (op == SP_OP_READ && alike && last &&
	    sp_records_is_alike(last,
				SP_OP_READ |
					(last->op_flags & (SP_RECORD_PROVEN | SP_RECORD_PERMANENT)),
				cpu, site)) {
		store_relaxed(&w->steady, site + 1);
		sp_order();
		if (load_relaxed(&w->last) != last)	/* a handler came (fast.c) */
			store_relaxed(&w->steady, 0);
	}
	return true;
}

/* Before PAPI is called; false: not to be booked so. */
static inline __attribute__((always_inline)) bool book_begin(struct sp_writer *w, enum sp_op op)
{
	bool fast = !(load_relaxed(&w->slow) & SP_SLOW_SHARED);	/* (hooks.c) */

	return w->relation && ((fast && sp_records_begin(w, BOOK_FRAME, op)) ||
			       sp_records_enter(w, op, BOOK_FRAME, BOOK_OWNER, true));
}

/* PAPI has answered. */
static inline __attribute__((always_inline)) void book_end(struct sp_writer *w, enum sp_op op,
							   int cpu, const long long *x, bool proven,
							   uint32_t site)
{
	sp_records_returned(w);
	if (!book_short(w, op, cpu, x, proven, site))
		sp_records_finish(w, &(struct sp_papi_call){ .op = op,
							   .cpu = cpu,
							   .x = x,
							   .proven = proven && !w->placed,
							   .site = site,
							   .who = BOOK_OWNER });
}

static inline __attribute__((always_inline)) void book_end_parts(struct sp_writer *w, enum sp_op op,
								 int cpu, const long long *x,
								 const struct sp_parts *parts,
								 uint32_t site)
{
	sp_records_returned(w);
	sp_records_finish(w, &(struct sp_papi_call){ .op = op,
						   .cpu = cpu,
						   .x = x,
						   .parts = parts,
						   .site = site,
						   .who = BOOK_OWNER });
}

static inline __attribute__((always_inline)) void book_call(struct sp_writer *w, enum sp_op op,
							    int cpu, const long long *x,
							    bool proven, uint32_t site)
{
	if (book_begin(w, op))
		book_end(w, op, cpu, x, proven, site);
}

static inline __attribute__((always_inline)) void book_parts(struct sp_writer *w, enum sp_op op,
							     int cpu, const long long *x,
							     const struct sp_parts *parts,
							     uint32_t site)
{
	if (book_begin(w, op))
		book_end_parts(w, op, cpu, x, parts, site);
}

/* By another thread. */
static inline __attribute__((always_inline)) void book_foreign(struct sp_writer *w, enum sp_op op,
							       int cpu, const long long *x,
							       const struct sp_parts *parts,
							       uint32_t site, uint32_t who)
{
	if (!sp_records_enter(w, op, BOOK_FRAME, who, false))
		return;
	sp_records_returned(w);
	sp_records_finish(
		w,
		&(struct sp_papi_call){
			.op = op, .cpu = cpu, .x = x, .parts = parts, .site = site, .who = who });
}

#endif
