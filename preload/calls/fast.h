/* fast.h: the fast path, for calls from a known call site by a thread that stayed on its CPU.
 *
 * Most lookups of a wrapper have the same result as at the call before: the libpapi, the set of the
 * id, the call site of the return address. A thread keeps the set of its last call. A set keeps,
 * for each kind of call, the last site that called twice in succession (`known`, sets.h). Other
 * sites are found in a hash (stack-hash.h). `fast_thread` names the thread that may take the fast
 * path; records and proof check everything else that may change meanwhile. A reading from the site
 * of the two readings before (`steady`, writer.h) changes only the counts.
 */
#ifndef SP_FAST_H
#define SP_FAST_H

#include "../walker/rule.h"
#include "hooks.h"

/* Values in place of a site. SP_SITE_STEADY: the call returns to `steady`. Above SP_SITE_NEW: the
 * callers were compared too, and the value is the inverted site. `steady` then also has that
 * value instead of an address, since a handler may read through the same helper function for
 * other callers. */
#define SP_SITE_STEADY	UINT32_MAX
#define SP_SITE_NEW	(1u << 31)
#define SP_STEADY_BELOW(inverted) ((uint64_t)(int64_t)(int32_t)(inverted))

_Static_assert(offsetof(struct sp_set, number) + 4 <= sizeof(sp_no_set) &&
		       offsetof(struct sp_set, fast_thread) + 4 <= sizeof(sp_no_set),
	       "sp_no_set has the fields that each call reads first");

/* Compares the callers of a call with those of the known site, of which there is at least one.
 * sp: the stack pointer after the call; frame: the wrapper's frame, where the caller's frame
 * pointer is. */
__attribute__((no_sanitize_address)) SP_HOT_INLINE bool sp_has_callers(
	const struct sp_known_site *known, uintptr_t sp, uintptr_t frame)
{
	const struct sp_stack_word *w = known->word;
#define HAS_WORD(w) \
	(sp_unsigned_address(*(const uintptr_t *)(sp + (uintptr_t)(intptr_t)(w).at)) == (w).to)
	/* all words are below it: the last one lies before the stack's end */
	const uintptr_t room = known->limit - sp;
	uintptr_t base = sp;

	if (SP_UNLIKELY(room > known->span))
		return false;
	_Static_assert(SP_STACK_WORDS == 3, "the words below");
	if (SP_LIKELY(!known->by_fp))
		return SP_LIKELY(HAS_WORD(w[0])) && SP_LIKELY(HAS_WORD(w[1])) &&
		       SP_LIKELY(HAS_WORD(w[2]));
#undef HAS_WORD
	do {
		if (w->base != SP_SAME_BASE) {
			base = *(const uintptr_t *)(w->base == SP_FIRST_FP
							    ? frame
							    : base + (uintptr_t)(intptr_t)w->base);
			if (base - sp > room)	/* not a frame pointer */
				return false;
		}
		if (SP_UNLIKELY(sp_unsigned_address(
					*(const uintptr_t *)(base + (uintptr_t)(intptr_t)w->at)) !=
				w->to))
			return false;
	} while ((++w)->to);
	return true;
}

/* Finds a set other than the last one, if its calls took the fast path before; else NULL. */
struct sp_set *sp_fast_find_set(int id);

/* Finds a site other than the known one, and may make it the known one. SP_SITE_NEW: the site is
 * new. */
uint32_t sp_fast_find_site(struct sp_known_site *known, enum sp_op op, const struct sp_stack *at);

/* Reads the frame of the function that uses the macro, without variables, for which gcc would
 * keep registers. */
#define SP_HAS_CALLERS(known, at, frame) \
	((at) ? sp_has_callers(known, (at)->sp, frame) \
	      : sp_has_callers(known, (uintptr_t)__builtin_dwarf_cfa(), \
			       (uintptr_t)__builtin_frame_address(0)))

/* Finds the set and the call site. NULL: the call cannot take the fast path. at, frame: the
 * call's stack and its wrapper's frame; at NULL: the function into which this is inlined is the
 * wrapper. */
SP_HOT_INLINE struct sp_set *sp_fast_lookup(const struct sp_papi *papi, int id, enum sp_op op,
					    const struct sp_stack *at, uintptr_t frame,
					    uint32_t *site)
{
	struct sp_set *s = sp_thread_state.set;
	struct sp_known_site *known;
	uintptr_t to;
	uint32_t found;

	/* Read one word, the set, and compare the number in it: a handler that calls PAPI for
	 * another set changes both or neither. */
	if (SP_UNLIKELY(load_plain(&s->number) != id) || SP_UNLIKELY(!sp_is_fast(s)))
		s = sp_fast_find_set(id);
	if (SP_UNLIKELY(!s))
		return NULL;
	known = &s->known[sp_call_kind_of(op)];
	to = at ? at->to : (uintptr_t)__builtin_return_address(0);
	/* Compare op as well: the same return address may call PAPI_accum by a pointer. */
	if (op == SP_OP_READ && SP_LIKELY(load_plain(&s->writer.steady) == to)) {
		*site = SP_SITE_STEADY;
		return s;
	}
	if (SP_LIKELY(load_plain(&known->to) == to) &&
	    (sp_call_kind_of(op) != SP_KIND_ZERO || SP_LIKELY(load_plain(&known->op) == op))) {
		found = load_plain(&known->site);
		if (op == SP_OP_READ &&
		    SP_LIKELY(load_relaxed(&s->writer.steady) == SP_STEADY_BELOW(~found)) &&
		    SP_LIKELY(SP_HAS_CALLERS(known, at, frame))) {
			*site = ~found;
			return s;
		}
		/* a handler may have replaced it */
		if (SP_LIKELY(!known->word[0].to || SP_HAS_CALLERS(known, at, frame)) &&
		    SP_LIKELY(load_relaxed(&known->site) == found)) {
			if (op == SP_OP_START)
				/* the slow path may need it */
				store_relaxed(&s->start_site, found);
			*site = found;
			return s;
		}
	}
	/* forward PAPI_accum's own PAPI_reset */
	if (SP_UNLIKELY(to - papi->low < papi->own))
		return NULL;
	*site = sp_fast_find_site(known, op, at ? at : &SP_CALLED_FROM);
	if (op == SP_OP_START)
		store_relaxed(&s->start_site, *site);
	return SP_LIKELY(*site != SP_SITE_NEW) ? s : NULL;
}

/* Lets this thread's calls for the set take the fast path from now on. */
SP_COLD void sp_fast_enable(struct sp_set *s, int id);
SP_HOT_INLINE void sp_fast_enable_if_new(struct sp_set *s, int id)
{
	if (s && SP_UNLIKELY(load_relaxed(&sp_thread_state.set) != s))
		sp_fast_enable(s, id);
}

/* Checks that the thread stayed where the last reading was, if that matters, and that no handler
 * can have changed the set's events. A signal clears the rseq mark; PAPI calls in a handler
 * change the mmap page's state. */
SP_HOT_INLINE bool sp_fast_has_stayed(const struct sp_set *s, uint32_t proof)
{
	return sp_is_fast(s) && (SP_LIKELY(SP_LIKELY(s->writer.window_proof == proof) &&
					   sp_proof_stayed(proof, s->writer.cpu)) ||
				 (sp_proof_is_not_nested(proof) &&
				  (s->writer.placed || SP_UNLIKELY(sp_has_stayed_by_clock(s)))));
}

/* ---- after PAPI, one function for each kind of call; false: take the slow path --------- */

/* Records a call that the short functions of records.h cannot record. */
SP_COLD void sp_fast_finish(struct sp_set *s, enum sp_op op, const long long *values,
			    uint32_t site);

/* Records a reading from another site than the last two; the next one may be steady. */
bool sp_fast_read_other_site(struct sp_set *s, const long long *values, uint32_t proof,
			     uint32_t site, uintptr_t to);

SP_HOT_INLINE bool sp_fast_read(struct sp_set *s, const long long *values, uint32_t proof,
				uint32_t site, uintptr_t to)
{
	if (SP_LIKELY(site == SP_SITE_STEADY))
		return sp_fast_has_stayed(s, proof) && sp_records_repeat(&s->writer, values, to);
	if (site > SP_SITE_NEW)
		return sp_fast_has_stayed(s, proof) &&
		       sp_records_repeat(&s->writer, values, SP_STEADY_BELOW(site));
	return sp_fast_read_other_site(s, values, proof, site, to);
}

/* Begins a window after PAPI has zeroed the set, and before the call's record is written: a
 * handler that reads the set right after the record must find the window begun. It begins on the
 * CPU of the last scan if the thread has stayed there; else it needs a scan now. */
SP_HOT_INLINE void sp_fast_begin_window(struct sp_set *s, uint32_t proof)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);

	if (!p)
		return;
	if (SP_UNLIKELY(!sp_percpu_is_ready(p, proof) || !sp_proof_is_valid(proof)))
		sp_begin_window_slow(s);
	else
		sp_percpu_note_reset(p);
}

SP_HOT_INLINE bool sp_fast_reset(struct sp_set *s, uint32_t proof, uint32_t site)
{
	if (SP_UNLIKELY(!sp_is_fast(s)))
		return false;
	sp_page_proof_begin_window();
	store_relaxed(&s->writer.window_proof, proof);
	sp_fast_begin_window(s, proof);
	if (!sp_records_zero(&s->writer, SP_OP_RESET, site))
		sp_fast_finish(s, SP_OP_RESET, NULL, site);
	return true;
}

#define SP_FAST_ACCUM	12u		/* events; with more the slow path saves the old values */
SP_HOT_INLINE bool sp_fast_accum(struct sp_set *s, const long long *values, long long *before,
				 uint32_t proof, uint32_t site)
{
	const size_t k = s->writer.k;
	const int64_t *last = s->writer.values;
	struct sp_percpu *p;

	if (!sp_fast_has_stayed(s, proof))
		return false;
	if (!s->writer.kinds && (SP_UNLIKELY(values[0] - before[0] < last[0]) ||
				 SP_UNLIKELY(values[k - 1] - before[k - 1] < last[k - 1])))
		return false;		/* sp_records_fell */
#define EACH(type, e) (*(type *)&before[e] = SP_AT(type, &values[e]) - SP_AT(type, &before[e]))
	SP_EACH(k, EACH);
#undef EACH
	p = load_relaxed(&s->percpu);
	if (p)				/* checked before PAPI */
		sp_percpu_note_reset(p);
	if (!sp_records_accum(&s->writer, s->writer.cpu, before, site))
		sp_fast_finish(s, SP_OP_ACCUM, before, site);
	return true;
}

SP_HOT_INLINE void sp_fast_before_start(struct sp_set *s)
{
	sp_opening_set = (uintptr_t)&s->perf_fds | SP_IS_REOPENING;
	store_relaxed(&s->started, true);
	sp_page_proof_begin_window();
}

SP_HOT_INLINE bool sp_fast_start(struct sp_set *s, uint32_t proof, uint32_t site)
{
	struct sp_percpu *p = load_relaxed(&s->percpu);
	uint64_t now;

	if (SP_UNLIKELY(!sp_is_fast(s)) ||
	    SP_UNLIKELY(load_relaxed(&s->bound_changes) != load_relaxed(&s->perf_fds.changes)))
		return false;
	store_relaxed(&s->writer.window_proof, proof);
	if (SP_UNLIKELY(!sp_proof_is_valid(proof)) &&
	    !sp_page_proof_after_start(&s->perf_fds, proof))
		sp_begin_window_slow(s);
	else if (p)			/* checked before PAPI */
		sp_percpu_note_reset(p);
	now = sp_ticks();
	if (p)
		sp_percpu_set_time_from(p, now);
	if (!sp_records_zero(&s->writer, SP_OP_START, site))
		return false;
	if (SP_LIKELY(!load_relaxed(&s->writer.placed)))
		sp_counting_start_fast(s, proof, now);
	return true;
}

SP_HOT_INLINE bool sp_fast_stop(struct sp_set *s, const long long *values, uint32_t proof,
				uint32_t site)
{
	const uint64_t now = sp_ticks();

	if (!sp_fast_has_stayed(s, proof) || sp_records_fell(&s->writer, values))
		return false;
	if (!sp_records_value(&s->writer, SP_OP_STOP, s->writer.cpu, values, site, now))
		return false;
	sp_add_run_time(s, now);
	if (SP_LIKELY(!load_relaxed(&s->writer.placed)))
		sp_counting_stop_fast(s, now);
	/* Copy `runs`: a handler may have started the set again since. */
	store_relaxed(&s->started, load_relaxed(&s->writer.runs));
	if (SP_UNLIKELY(load_relaxed(&sp_process.sites_due)))
		sp_sites_after_stop();
	return true;
}

#endif
