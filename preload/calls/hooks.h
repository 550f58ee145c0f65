/* hooks.h: what the wrappers tell, after PAPI has returned (before, where that is
 * needed).  One function a kind of call; papi.def says which call is which.
 *
 * All are called with errno saved by the wrapper, but for those that say that they give errno back.
 * Calls that the fast path records (fast.h) use only the inline tests below. `open` is
 * sp_proof_now() from right before the real call, `at` to where the call returns, `frame` the
 * address of the wrapper's frame.  `called` is the set whose writer has the call in flight
 * (sp_records_begin, or _enter); NULL: there is none.
 */
#ifndef SP_HOOKS_H
#define SP_HOOKS_H

#include <string.h>

#include "../sets/counted-time.h"
#include "../sets/sets.h"
#include "../percpu/rseq-proof.h"
#include "../percpu/page-proof.h"
#include "../walker/rule.h"
#include "overflow.h"

/* Whose libpapi is it?  Another plug-in may have brought one of its own. */
void sp_before_init(const struct sp_real **real, bool *is_program_call, uintptr_t caller);
void sp_after_init(int rc);
void sp_after_unregister(int rc);
void sp_after_shutdown(void);

void sp_after_create(int rc, const int *id);
/* name NULL: by its code; else up to a NUL or length bytes. */
void sp_after_add(int rc, int id, int code, const char *name, size_t length);
void sp_after_add_events(int rc, int id, int number);
void sp_after_multiplex(int rc, int id);
void sp_after_overflow(int rc, int id);
void sp_after_profil(int rc, int id, int code, int threshold, const PAPI_sprofil_t *prof, int n,
		     int flags);
void sp_after_change(const char *what, int rc, int id);
void sp_after_cleanup(int rc, int id);
/* By the time that PAPI returns the id may be another thread's set, which must not find
 * the work on this one unfinished. */
static inline uint32_t sp_before_destroy(int id)
{
	struct sp_set *s = sp_set_of(id);

	return s ? __atomic_fetch_add(&s->alive, 0, __ATOMIC_ACQ_REL) : 0;
}
void sp_after_destroy(int rc, int id, uint32_t alive);
void sp_after_attach(int rc, int id, unsigned long tid);
void sp_after_set_opt(int rc, int option, const PAPI_option_t *o);

/* PAPI may open or close counters of this set now (percpu/perf-fds.h). */
void sp_opens(int id);
void sp_opens_by_option(int option, const PAPI_option_t *o);

/* The events of a set before some are removed. */
struct sp_listed {
	int n, code[SP_PERCPU_EVENTS];	/* n 0: none, or more */
};
void sp_before_remove(int id, struct sp_listed *had);
void sp_after_remove(int rc, int id, const struct sp_listed *had);

/* ---- start, stop, read, accum, reset ---------------------------------------- */

/* Whether a call needs the slow path is asked here, by the fast path and by the slow one. */

/* The calling thread started the set, and it is the one counted, or the set is placed
 * (writer.h). */
SP_HOT_INLINE bool sp_is_fast(const struct sp_set *s)
{
	return SP_LIKELY(load_relaxed(&s->fast_thread) == sp_thread_state.id);
}

/* Unchanged since the start before: a start has nothing to prepare. */
SP_HOT_INLINE bool sp_is_prepared(const struct sp_set *s)
{
	return SP_LIKELY(!load_relaxed(&s->changed)) &&
	       SP_LIKELY(load_relaxed(&s->bound_changes) == load_relaxed(&s->perf_fds.changes)) &&
	       SP_LIKELY(!load_relaxed(&sp_process.sites_due)) &&
	       SP_LIKELY(!load_relaxed(&s->writer.track.low));
}

/* Its split, if it has one, is ready for a window to begin or to end.  proof: sp_proof_now(). */
SP_HOT_INLINE bool sp_is_ready(const struct sp_set *s, uint32_t proof)
{
	/* once: a handler may drop it at any time */
	const struct sp_percpu *p = load_relaxed(&s->percpu);

	return !p || SP_LIKELY(sp_percpu_is_ready(p, proof));
}

/* The CPU whose counts the set holds now; SP_NO_CPU. */
int sp_where(struct sp_set *s);

/* Was the set's thread, which has no mark (rseq-proof.h), on the CPU of the reading before since
 * then?  errno is given back. */
SP_COLD bool sp_stays_by_clock(const struct sp_set *s);

/* Books what gauges showed, beside a record that is not written by a short way (records.h), which
 * books them, too. */
void sp_book_gauges(struct sp_set *s, enum sp_op op, int cpu, const long long *values);

/* PAPI is about to be called for this set: `called`.  By another thread than the set's own only in
 * turn (records.h); the counters of another thread are read first (sp_percpu_read_before). */
struct sp_set *sp_begin_call(int id, enum sp_op op, uintptr_t frame);
/* The same before what ends a window, and PAPI's counters with it; the thread may have moved in
 * it. */
struct sp_set *sp_begin_ending_call(int id, enum sp_op op, uintptr_t frame);
/* The same before a reset or an accumulation; at: where the program calls from. */
struct sp_set *sp_before_zero(int id, enum sp_op op, const struct sp_stack *at, uintptr_t frame);

/* What a start needs, before it. */
void sp_prepare_start(int id, const struct sp_stack *at);
/* The call itself: `started` changes before PAPI is called: a handler that stops the set then is
 * not forgotten. */
struct sp_set *sp_begin_start(int id, uintptr_t frame);
/* Both. */
struct sp_set *sp_before_start(int id, const struct sp_stack *at, uintptr_t frame);
/* An array of ours where the caller gave none. */
struct sp_set *sp_before_stop(int id, long long **values, uintptr_t frame);

void sp_after_start(struct sp_set *called, int rc, int id, uint32_t open,
		    const struct sp_stack *at);
void sp_after_stop(struct sp_set *called, int rc, int id, const long long *values, uint32_t open,
		   const struct sp_stack *at);
void sp_after_read(struct sp_set *called, int rc, int id, const long long *values, uint32_t open,
		   const struct sp_stack *at);
void sp_after_reset(struct sp_set *called, int rc, int id, uint32_t open,
		    const struct sp_stack *at);
void sp_after_accum(struct sp_set *called, int rc, int id, const long long *values,
		    long long *before, uint32_t open, const struct sp_stack *at);

/* What PAPI has handed out for the set, or that it was zeroed. */
void sp_book_call(struct sp_set *called, int id, enum sp_op op, const long long *values,
		  uint32_t open, const struct sp_stack *at);

/* PAPI has zeroed a set that is split, and was not ready for it; errno is given back. */
SP_COLD void sp_begin_slow(struct sp_set *s);
SP_COLD void sp_sites_after_stop(void);			/* errno is given back */

void sp_after_write(struct sp_set *called, int rc, int id, const long long *values,
		    const struct sp_stack *at);
/* PAPI refused the call; one that was to start or stop the set. */
void sp_call_failed(struct sp_set *called);
void sp_run_failed(struct sp_set *called);
void sp_after_failed(const char *function, int rc);	/* PAPI refused: said in the dump */
static inline void sp_report_error(const char *function, int rc)
{
	if (rc < 0)
		sp_after_failed(function, rc);
}

/* The same for PAPI_start, which programs try again and again: once for each error, since each time
 * would take 5 us. */
void sp_after_start_failed(int rc);

/* An event set is made, or one that we did not see is used: what the process needs first. */
void sp_first_set(void);

/* sspapi.h's reading of a set that is bound: booked, and entered as choose(cpu, arg)
 * says.  The CPU.  With the relation's lock held (preload/handles/relations.h). */
int sp_book_entry(struct sp_set *called, struct sp_set *s, enum sp_op op, const long long *values,
		  uint32_t open, const struct sp_stack *at,
		  enum sp_entries (*choose)(int cpu, void *arg), void *arg);

/* How many values the set has; 0: not known. */
static inline uint32_t sp_events_of(int id)
{
	struct sp_set *s = sp_set_of(id);

	return sp_booked(s) ? s->k : 0;
}

/* Its thread was on one CPU from the start to now, which is sp_ticks(). */
SP_HOT_INLINE void sp_ran(struct sp_set *s, uint64_t now)
{
	uint32_t cpu = (uint32_t)load_relaxed(&s->writer.cpu);
	struct sp_percpu *p = load_relaxed(&s->percpu);
	struct sp_times *t = load_relaxed(&s->times);

	if (p && SP_LIKELY(cpu < load_relaxed(&s->writer.cells)) && SP_LIKELY(t != NULL))
		sp_add(&t->at[cpu], sp_percpu_ran(p, now));
}

/* PAPI writes to its array when it has read the counters: a page that nobody has touched is a fault
 * in no count then. Ours, which looks at the array before, would be one. */
#define SP_ARRAY_GRAIN 4096u		/* the smallest page of Linux */
/* errno is given back */
SP_COLD void sp_prefault_array(struct sp_set *s, const long long *values);
SP_HOT_INLINE void sp_before_array(struct sp_set *s, const long long *values)
{
	uintptr_t page = (uintptr_t)values / SP_ARRAY_GRAIN;

	if (SP_UNLIKELY(s->arrays[page % SP_COUNT(s->arrays)] != page))
		sp_prefault_array(s, values);
}

/* PAPI_accum adds to the caller's array: what it added is after minus before. The word in front
 * says how many the set had. room: for k + 1. */
#define SP_ACCUM_ROOM(k) ((long long *)__builtin_alloca(((k) + 1) * sizeof(long long)))
#define SP_BEFORE_ACCUM(s, k, values, room) \
	sp_before = (room) + 1; \
	sp_before[-1] = (k); \
	if (values && (k)) { \
		sp_before_array(s, values); \
		sp_copy_counts(sp_before, values, (k)); \
	}

#endif
