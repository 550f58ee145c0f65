/* here.h: the bookings that change nothing but the state that holds: on the CPU of the reading before, where nothing is
 * left to settle.  Inline, without calls and with few jumps: after PAPI's system calls the processor remembers nothing
 * of us.  For all of them `in_flight` is set (ledger.h), and the caller knows that the CPU is the one before; false: the
 * ledger has to book.
 *
 * A state has a row for each thing that it keeps (enum sp_state_array), with a word for each event.  A row is gone
 * through two events at a time: these loops were a third of what a start or a stop takes.
 */
#ifndef SP_HERE_H
#define SP_HERE_H

#include <string.h>

#include "../sys.h"
#include "ledger.h"

/* A count of a row, or of the application's array; two neighbours, each of which is stored whole. */
typedef int64_t sp_one __attribute__((may_alias));
typedef int64_t sp_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* each(type, e): by pairs from the end, then the first of an odd number. */
#ifdef __SANITIZE_THREAD__		/* another thread may read the state that holds: atomic stores, which pairs have not */
#define SP_EACH(k, each) \
	for (size_t e = 0; e < (k); e++) \
		each(sp_one, e)
#define SP_STORE(type, p, v) sp_put((p), (v))
#else
#define SP_EACH(k, each) \
	if (SP_LIKELY((k) == 2)) {		/* most sets: no loop, and rows at fixed places */ \
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

/* Has a count gone back?  The signs of what is new say so. */
#define SP_BACK_sp_pair(d) (back |= (d))
#define SP_BACK_sp_one(d) (back |= (sp_pair){ (d), 0 })
static inline bool sp_gone_back(sp_pair back)
{
#ifdef __SSE2__
	typedef double doubles __attribute__((vector_size(16)));

	return __builtin_ia32_movmskpd((doubles)back);
#else
	return (back[0] | back[1]) < 0;
#endif
}

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

/* Neither `slow` nor `own` says anything. */
static inline bool sp_is_plain(const struct sp_writer *w)
{
#ifdef __SANITIZE_THREAD__
	return !sp_ledger_slow(w);
#else
	typedef uint64_t both __attribute__((may_alias));

	_Static_assert(offsetof(struct sp_writer, slow_owner) == offsetof(struct sp_writer, slow) + 4, "one word");
	return !*(const both *)&w->slow;
#endif
}

/* A reading is booked in s. */
SP_HOT_INLINE void sp_reading_ends(struct sp_writer *w, struct sp_state *s, sp_pair back)
{
	if (SP_UNLIKELY(sp_gone_back(back)))
		sp_ledger_backwards(w);
	sp_bump(&s->readings);
	sp_ledger_end(w);
}

/* READ.  Handlers may have booked until PAPI returned: the state is looked at only now. */
SP_HOT_INLINE bool sp_read_here(struct sp_writer *w, const long long *x, bool proven, uint32_t site)
{
	sp_pair back = { 0, 0 };
	const size_t k = w->k;
	struct sp_state *s;

	if (SP_UNLIKELY(!sp_is_plain(w)))
		return false;
	if (SP_UNLIKELY(site != SP_SITE_STEADY))
		sp_interval_step(w, site);
	s = sp_own(&w->state);
	if (SP_UNLIKELY(!proven))
		for (size_t e = 0; e < k; e++)	/* before `last`: exact is never too much */
			s->at[SP_XOFF * k + e] -= (int64_t)x[e] - s->at[e];
#define EACH(type, e) do { \
		type is = SP_AT(type, &x[e]); \
		SP_BACK_##type(is - SP_AT(type, &s->at[e])); \
		SP_STORE(type, &s->at[e], is); \
	} while (0)
	SP_EACH(k, EACH);
#undef EACH
	sp_reading_ends(w, s, back);
	return true;
}

/* RESET of a set that is just zeroed. */
SP_HOT_INLINE bool sp_reset_here(struct sp_writer *w, uint32_t site)
{
	if (SP_UNLIKELY(!sp_own(&w->zeroed) || (sp_ledger_slow(w) & ~(SP_SLOW_ZEROED | SP_SLOW_SIDE))))
		return false;
	w->track.from = site;
	sp_bump(&w->relation->resets);
	sp_ledger_end(w);
	return true;
}

/* ACCUM.  Of programs that call nothing else the set is always just zeroed: what PAPI added is then all there is to
 * add, each in one store. */
SP_HOT_INLINE bool sp_accum_here(struct sp_writer *w, const long long *x, bool proven, uint32_t site)
{
	sp_pair back = { 0, 0 };
	const size_t k = w->k;
	struct sp_state *s;

	if (SP_UNLIKELY(!sp_own(&w->zeroed) || (sp_ledger_slow(w) & ~(SP_SLOW_ZEROED | SP_SLOW_SIDE))))
		return false;
	sp_interval_step(w, site);
	s = sp_own(&w->state);
#define MORE(type, row, e) SP_STORE(type, &s->at[(row) * k + (e)], SP_AT(type, &s->at[(row) * k + (e)]) + more)
#define EACH(type, e) do { \
		type more = SP_AT(type, &x[e]); \
		SP_BACK_##type(more); \
		MORE(type, SP_OFF, e); \
		MORE(type, SP_EOFF, e); \
		if (proven) \
			MORE(type, SP_XOFF, e); \
	} while (0)
	SP_EACH(k, EACH);
#undef EACH
#undef MORE
	sp_reading_ends(w, s, back);
	return true;
}

/* ---- START, and a READ or STOP after it: another state holds from then on -------------------- */

/* What ledger.c's apply() does where neither the cell changes nor anything is left to settle: n is a copy of s but for
 * what each operation changes. */
static inline bool sp_is_simple(const struct sp_writer *w, const struct sp_state *s)
{
	return !(w->component | w->precise) && s->jcell < 0 && !(s->flags & SP_STATE_BASELINE);
}

/* n holds from here on. */
static inline void sp_turn_to(struct sp_writer *w, struct sp_state *n, uint32_t own)
{
	sp_order();
	sp_publish(&w->relation->turn, w->relation->turn + 1);
	sp_order();
	sp_publish(&w->state, n);
	sp_put(&w->zeroed, false);
	sp_put(&w->slow_owner, own);
	sp_order();
	sp_ledger_end(w);
}

#define SP_FROM(type, row, e) SP_AT(type, &s->at[(row) * k + (e)])
#define SP_TO(type, row, e, v) (*(type *)&n->at[(row) * k + (e)] = (v))

/* On any CPU. */
SP_HOT_INLINE bool sp_start_here(struct sp_writer *w, uint32_t site)
{
	const struct sp_state *s = sp_own(&w->state);
	struct sp_state *n = w->states[s == w->states[0]];
	const size_t k = w->k;

	if (SP_UNLIKELY((sp_ledger_slow(w) & ~SP_SLOW_SIDE) != SP_SLOW_STOPPED || !sp_is_simple(w, s) || sp_own(&w->cpu) < 0))
		return false;
	w->track.from = site;
#define EACH(type, e) do { \
		type last = SP_FROM(type, SP_LAST, e); \
		SP_TO(type, SP_LAST, e, last - last); \
		SP_TO(type, SP_OFF, e, SP_FROM(type, SP_OFF, e) + last); \
		SP_TO(type, SP_XOFF, e, SP_FROM(type, SP_XOFF, e) + last); \
		SP_TO(type, SP_EOFF, e, SP_FROM(type, SP_EOFF, e) + last); \
		SP_TO(type, SP_EOTHERS, e, SP_FROM(type, SP_EOTHERS, e)); \
	} while (0)
	SP_EACH(k, EACH);
#undef EACH
	memcpy(n, s, offsetof(struct sp_state, jreadings));
	n->flags |= SP_STATE_RUNNING | SP_STATE_DELETE;
	sp_bump(&w->relation->starts);
	sp_turn_to(w, n, SP_SLOW_ZEROED);
	return true;
}

/* The coarse time, if it may have changed: the clock's ways through libc and the vDSO take 27 ns
 * after PAPI's system calls, the counter 6.  A million ticks are less than a millisecond, or
 * not much more. */
static inline uint64_t sp_time_here(struct sp_writer *w)
{
#if defined(__x86_64__)
	uint64_t ticks = __builtin_ia32_rdtsc();

	if (SP_LIKELY(ticks - w->stop_ticks < 1u << 20))
		return 0;
	w->stop_ticks = ticks;
#else
	(void)w;
#endif
	return sp_coarse_ns();
}

/* STOP, and READ after a zeroing; on the CPU of the reading before. */
SP_HOT_INLINE bool sp_ending_here(struct sp_writer *w, enum sp_op op, const long long *x, bool proven, uint32_t site)
{
	const struct sp_state *s = sp_own(&w->state);
	struct sp_state *n = w->states[s == w->states[0]];
	sp_pair back = { 0, 0 };
	const size_t k = w->k;
	int64_t keep;

	if (SP_UNLIKELY(sp_ledger_slow(w) & ~(SP_SLOW_SIDE | SP_SLOW_ZEROED)) || SP_UNLIKELY(!sp_is_simple(w, s)))
		return false;
	keep = s->flags & SP_STATE_DELETE ? 0 : -1;
	sp_interval_step(w, site);
#define EACH(type, e) do { \
		type is = SP_AT(type, &x[e]), more = is - SP_FROM(type, SP_LAST, e); \
		type others = SP_FROM(type, SP_EOTHERS, e) & keep, exact = SP_FROM(type, SP_XOFF, e); \
		SP_BACK_##type(more); \
		SP_TO(type, SP_LAST, e, is); \
		SP_TO(type, SP_OFF, e, SP_FROM(type, SP_OFF, e)); \
		if (!proven) \
			exact -= more; \
		SP_TO(type, SP_XOFF, e, exact); \
		SP_TO(type, SP_EOFF, e, -others); \
		SP_TO(type, SP_EOTHERS, e, others); \
	} while (0)
	SP_EACH(k, EACH);
#undef EACH
	if (SP_UNLIKELY(sp_gone_back(back)))
		sp_ledger_backwards(w);
	memcpy(n, s, offsetof(struct sp_state, jreadings));
	n->flags = (s->flags & ~(SP_STATE_DELETE | (op == SP_OP_STOP ? SP_STATE_RUNNING : 0))) | SP_STATE_ENTRY;
	n->readings++;
	n->epoch += !keep;
	n->ns = sp_max(sp_time_here(w), s->ns + 1);
	sp_put(&w->relation->last_ns, n->ns);
	sp_turn_to(w, n, op == SP_OP_STOP ? SP_SLOW_STOPPED : 0);
	return true;
}

#undef SP_FROM
#undef SP_TO

/* ---- any booking by the owner, on the fast path where it can be (sp_ledger_book_slow says what the words are) ---- */

void sp_ledger_book_at(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, bool proven, uint32_t site);
static inline void sp_ledger_book(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, bool proven)
{
	sp_ledger_book_at(w, op, cpu, x, proven, 0);
}

/* The same where `in_flight` is set. */
void sp_ledger_finish(struct sp_writer *w, enum sp_op op, int cpu, const long long *x, bool proven, uint32_t site);
void sp_ledger_finish_start(struct sp_writer *w, uint32_t site);
void sp_ledger_finish_stop(struct sp_writer *w, int cpu, const long long *x, bool proven, uint32_t site);
void sp_ledger_finish_read(struct sp_writer *w, int cpu, const long long *x, bool proven, uint32_t site);
void sp_ledger_finish_accum(struct sp_writer *w, int cpu, const long long *x, bool proven, uint32_t site);
void sp_ledger_finish_reset(struct sp_writer *w, uint32_t site);

/* Three for which `in_flight` is not set yet. */
static inline void sp_ledger_read(struct sp_writer *w, int cpu, const long long *x, bool proven, uint32_t site)
{
	if (sp_ledger_begin(w, SP_OP_READ))
		sp_ledger_finish_read(w, cpu, x, proven, site);
	else
		sp_ledger_book_at(w, SP_OP_READ, cpu, x, proven, site);
}

static inline void sp_ledger_reset(struct sp_writer *w, uint32_t site)
{
	if (sp_ledger_begin(w, SP_OP_RESET))
		sp_ledger_finish_reset(w, site);
	else
		sp_ledger_book_at(w, SP_OP_RESET, SP_NO_CPU, NULL, false, site);
}

static inline void sp_ledger_accum(struct sp_writer *w, int cpu, const long long *x, bool proven, uint32_t site)
{
	if (sp_ledger_begin(w, SP_OP_ACCUM))
		sp_ledger_finish_accum(w, cpu, x, proven, site);
	else
		sp_ledger_book_at(w, SP_OP_ACCUM, cpu, x, proven, site);
}

#endif
