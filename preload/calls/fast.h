/* fast.h: the fast path, for a call from a place that was met before.
 *
 * Most of what a wrapper finds out before PAPI is called is the same each time: which libpapi, that
 * the call is not libpapi's own, which record the set's number is, which call site the return
 * address.  A thread remembers the set of its last call, and a set the site that each kind of call
 * came from twice in turn (`known`, sets.h). Other sites are found by their steps (stack-hash.h).
 * `fast_thread` says which thread may; what else may change meanwhile, the records and the proof
 * check.  A reading from the site of the two before (`steady`, writer.h) changes nothing but the
 * counts.
 */
#ifndef SP_FAST_H
#define SP_FAST_H

#include "../walker/rule.h"
#include "hooks.h"

/* Values in place of a site. SP_SITE_STEADY: the reading is the `steady` one. Above SP_SITE_NEW:
 * its callers were compared as well, and the value is the inverted site. `steady` is that value
 * then, not an address, since a handler may read steadily through the same helper function for
 * other callers. */
#define SP_SITE_STEADY	UINT32_MAX
#define SP_SITE_NEW	(1u << 31)
#define SP_STEADY_BELOW(inverted) ((uint64_t)(int64_t)(int32_t)(inverted))

_Static_assert(offsetof(struct sp_set, number) + 4 <= sizeof(sp_no_set) &&
		       offsetof(struct sp_set, fast_thread) + 4 <= sizeof(sp_no_set),
	       "what a call looks at first");

/* Was the call made from the site, by its callers, of which there are some?  sp: the stack pointer
 * after the call; frame: the wrapper's, where the caller's frame pointer stands. */
__attribute__((no_sanitize_address)) SP_HOT_INLINE bool sp_has_words(const struct sp_known *known,
								     uintptr_t sp, uintptr_t frame)
{
	const struct sp_word *w = known->word;
#define IS(w) \
	(sp_unsigned_address(*(const uintptr_t *)(sp + (uintptr_t)(intptr_t)(w).at)) == (w).to)
	const uintptr_t room = known->limit - sp;	/* of all words, as the last of them is to
							 * be in front of the stack's end */
	uintptr_t base = sp;

	if (SP_UNLIKELY(room > known->span))
		return false;
	_Static_assert(SP_WORDS == 3, "the words below");
	if (SP_LIKELY(!known->by_fp))
		return SP_LIKELY(IS(w[0])) && SP_LIKELY(IS(w[1])) && SP_LIKELY(IS(w[2]));
#undef IS
	do {
		if (w->base != SP_SAME_BASE) {
			base = *(const uintptr_t *)(w->base == SP_FIRST_FP
							    ? frame
							    : base + (uintptr_t)(intptr_t)w->base);
			if (base - sp > room)	/* as code that breaks its own rules would have
						 * it */
				return false;
		}
		if (SP_UNLIKELY(sp_unsigned_address(
					*(const uintptr_t *)(base + (uintptr_t)(intptr_t)w->at)) !=
				w->to))
			return false;
	} while ((++w)->to);
	return true;
}

/* Another set than the last one, if its calls took the fast path before; else NULL. */
struct sp_set *sp_fast_other(int id);

/* Another site than the known one, which it may become; SP_SITE_NEW: it was not met before. */
uint32_t sp_fast_find(struct sp_known *known, const struct sp_stack *at);

/* (Of the function that this stands in without variables, for which gcc would keep registers.) */
#define SP_HAS_WORDS(known, at, frame) \
	((at) ? sp_has_words(known, (at)->sp, frame) \
	      : sp_has_words(known, (uintptr_t)__builtin_dwarf_cfa(), \
			     (uintptr_t)__builtin_frame_address(0)))

/* The set, if this call may take the fast path, and the call's site.  Else NULL.  at: where it was
 * called from, frame: its wrapper's; at NULL: of the wrapper in which this stands. */
SP_HOT_INLINE struct sp_set *sp_fast_set(const struct sp_papi *papi, int id, enum sp_op op,
					 const struct sp_stack *at, uintptr_t frame, uint32_t *site)
{
	struct sp_set *s = sp_thread_state.set;
	struct sp_known *known;
	uintptr_t to;
	uint32_t found;

	/* One word, whose record knows its number: a handler that calls PAPI for another set
	 * changes both or neither. */
	if (SP_UNLIKELY(load_plain(&s->number) != id) || SP_UNLIKELY(!sp_is_fast(s)))
		s = sp_fast_other(id);
	if (SP_UNLIKELY(!s))
		return NULL;
	known = &s->known[sp_seen_by(op)];
	to = at ? at->to : (uintptr_t)__builtin_return_address(0);
	/* (By a pointer the same place may call PAPI_accum.) */
	if (op == SP_OP_READ && SP_LIKELY(load_plain(&s->writer.steady) == to)) {
		*site = SP_SITE_STEADY;
		return s;
	}
	if (SP_LIKELY(load_plain(&known->to) == to)) {
		found = load_plain(&known->site);
		if (op == SP_OP_READ &&
		    SP_LIKELY(load_relaxed(&s->writer.steady) == SP_STEADY_BELOW(~found)) &&
		    SP_LIKELY(SP_HAS_WORDS(known, at, frame))) {
			*site = ~found;
			return s;
		}
		/* (A handler may make it another one meanwhile.) */
		if (SP_LIKELY(!known->word[0].to || SP_HAS_WORDS(known, at, frame)) &&
		    SP_LIKELY(load_relaxed(&known->site) == found)) {
			if (op == SP_OP_START)
				store_relaxed(&s->start_site, found);	/* (it may be booked on the
									 * slow path all the
									 * same) */
			*site = found;
			return s;
		}
	}
	if (SP_UNLIKELY(to - papi->low < papi->own))		/* PAPI_accum's own PAPI_reset */
		return NULL;
	*site = sp_fast_find(known, at ? at : &SP_CALLED_FROM);
	if (op == SP_OP_START)
		store_relaxed(&s->start_site, *site);
	return SP_LIKELY(*site != SP_SITE_NEW) ? s : NULL;
}

/* This thread's calls for the set may take the fast path from now on. */
SP_COLD void sp_fast_open(struct sp_set *s, int id);
SP_HOT_INLINE void sp_fast_learn(struct sp_set *s, int id)
{
	if (s && SP_UNLIKELY(load_relaxed(&sp_thread_state.set) != s))
		sp_fast_open(s, id);
}

/* Still this thread's, which stayed where the reading before was, if that matters; and no handler
 * came, which could have changed the set's events: a signal clears rseq's proof, and what the
 * handler calls a page's. */
SP_HOT_INLINE bool sp_fast_stayed(const struct sp_set *s, uint32_t open)
{
	return sp_is_fast(s) &&
	       (SP_LIKELY(SP_LIKELY(s->writer.window_open == open) &&
			  sp_proof_stayed(open, s->writer.cpu)) ||
		(sp_proof_alone(open) && (s->writer.placed || SP_UNLIKELY(sp_stays_by_clock(s)))));
}

/* ---- one of each kind, when PAPI has returned; false: the slow path has to book -------- */

/* Where the short ways cannot book. */
SP_COLD void sp_fast_finish(struct sp_set *s, enum sp_op op, const long long *values,
			    uint32_t site);

/* From another site than the two before; the next may be steady. */
bool sp_fast_read_from(struct sp_set *s, const long long *values, uint32_t open, uint32_t site,
		       uintptr_t to);

SP_HOT_INLINE bool sp_fast_read(struct sp_set *s, const long long *values, uint32_t open,
				uint32_t site, uintptr_t to)
{
	if (SP_LIKELY(site == SP_SITE_STEADY))
		return sp_fast_stayed(s, open) && sp_records_again(&s->writer, values, to);
	if (site > SP_SITE_NEW)
		return sp_fast_stayed(s, open) &&
		       sp_records_again(&s->writer, values, SP_STEADY_BELOW(site));
	return sp_fast_read_from(s, values, open, site, to);
}

/* Begins a window after PAPI has zeroed the set, and before the call's record is written: a handler
 * that reads the set right after the record must find the window begun. It begins on the CPU of the
 * last scan if the thread has stayed there; else it needs a scan now. */
SP_HOT_INLINE void sp_fast_begins(struct sp_set *s, uint32_t open)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (!p)
		return;
	if (SP_UNLIKELY(!sp_percpu_is_ready(p, open) || !sp_proof_is_valid(open)))
		sp_begin_slow(s);
	else
		sp_percpu_fresh(p);
}

SP_HOT_INLINE bool sp_fast_reset(struct sp_set *s, uint32_t open, uint32_t site)
{
	if (SP_UNLIKELY(!sp_is_fast(s)))
		return false;
	sp_page_proof_begins();
	store_relaxed(&s->writer.window_open, open);
	sp_fast_begins(s, open);
	if (!sp_records_zero(&s->writer, SP_OP_RESET, site))
		sp_fast_finish(s, SP_OP_RESET, NULL, site);
	return true;
}

#define SP_FAST_ACCUM	12u		/* events; of more the slow path keeps what was there
					 * before */
SP_HOT_INLINE bool sp_fast_accum(struct sp_set *s, const long long *values, long long *before,
				 uint32_t open, uint32_t site)
{
	const size_t k = s->writer.k;
	const int64_t *last = s->writer.values;
	struct sp_percpu *p;

	if (!sp_fast_stayed(s, open))
		return false;
	if (!s->writer.kinds && (SP_UNLIKELY(values[0] - before[0] < last[0]) ||
				 SP_UNLIKELY(values[k - 1] - before[k - 1] < last[k - 1])))
		return false;		/* (sp_records_fall) */
#define EACH(type, e) (*(type *)&before[e] = SP_AT(type, &values[e]) - SP_AT(type, &before[e]))
	SP_EACH(k, EACH);
#undef EACH
	p = load_relaxed(&s->percpu);
	if (p)				/* (it was ready before) */
		sp_percpu_fresh(p);
	if (!sp_records_accum(&s->writer, s->writer.cpu, before, site))
		sp_fast_finish(s, SP_OP_ACCUM, before, site);
	return true;
}

SP_HOT_INLINE void sp_fast_starts(struct sp_set *s)
{
	sp_opening = (uintptr_t)&s->perf_fds | SP_OPENS_AGAIN;
	store_relaxed(&s->started, true);
	sp_page_proof_begins();
}

SP_HOT_INLINE bool sp_fast_start(struct sp_set *s, uint32_t open, uint32_t site)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);
	uint64_t now;

	if (SP_UNLIKELY(!sp_is_fast(s)) ||
	    SP_UNLIKELY(load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes)))
		return false;
	store_relaxed(&s->writer.window_open, open);
	if (SP_UNLIKELY(!sp_proof_is_valid(open)) && !sp_page_proof_started(&s->perf_fds, open))
		sp_begin_slow(s);
	else if (p)			/* (it was ready before) */
		sp_percpu_fresh(p);
	now = sp_ticks();
	if (p)
		sp_percpu_begun(p, now);
	if (!sp_records_zero(&s->writer, SP_OP_START, site))
		return false;
	if (SP_LIKELY(!s->writer.placed))
		sp_counting_starts(s, open, now);
	return true;
}

SP_HOT_INLINE bool sp_fast_stop(struct sp_set *s, const long long *values, uint32_t open,
				uint32_t site)
{
	const uint64_t now = sp_ticks();

	if (!sp_fast_stayed(s, open) || sp_records_fell(&s->writer, values))
		return false;
	if (!sp_records_value(&s->writer, SP_OP_STOP, s->writer.cpu, values, site, now))
		return false;
	sp_ran(s, now);
	if (SP_LIKELY(!s->writer.placed))
		sp_counting_stops(s, now);
	/* A handler may have started it again since. */
	store_relaxed(&s->started, load_relaxed(&s->writer.runs));
	if (SP_UNLIKELY(load_relaxed(&sp_process.sites_due)))
		sp_sites_after_stop();
	return true;
}

#endif
