/* hooks.h: the functions that the wrappers call before and after PAPI, as papi.def lists them.
 *
 * The wrapper saves errno; functions that also run on the fast path keep errno themselves, as their
 * comments state. proof: sp_proof_now() right before the real call. at: where the call returns.
 * frame: the wrapper's frame address. called: the set whose writer has the call in flight
 * (sp_records_begin or _enter); NULL: none.
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

/* Finds the caller's libpapi: a plug-in may have loaded another one. */
void sp_before_init(const struct sp_real **real, bool *is_program_call, uintptr_t caller);
void sp_after_init(int rc);
void sp_after_unregister(int rc);
void sp_after_shutdown(void);

void sp_after_create(int rc, const int *id);
/* name: the event, up to a NUL or `length` bytes; NULL: use `code`. */
void sp_after_add(int rc, int id, int code, const char *name, size_t length);
void sp_after_add_events(int rc, int id, int number);
void sp_after_multiplex(int rc, int id);
void sp_after_overflow(int rc, int id);
void sp_after_profil(int rc, int id, int code, int threshold, const PAPI_sprofil_t *prof, int n,
		     int flags);
void sp_after_change(const char *what, int rc, int id);
void sp_after_cleanup(int rc, int id);
/* Orders PAPI's call after all earlier work on the set: when PAPI returns, another thread may
 * have a new set with this id. */
static inline uint32_t sp_before_destroy(int id)
{
	struct sp_set *s = sp_set_of(id);

	return s ? __atomic_fetch_add(&s->alive, 0, __ATOMIC_ACQ_REL) : 0;
}
void sp_after_destroy(int rc, int id, uint32_t alive);
void sp_after_attach(int rc, int id, unsigned long tid);
void sp_after_set_opt(int rc, int option, const PAPI_option_t *o);

/* Prepares for perf events of this set that PAPI may open or close in the call
 * (percpu/perf-fds.h). */
void sp_expect_open(int id);
void sp_expect_open_by_option(int option, const PAPI_option_t *o);

/* The events of a set before some are removed. */
struct sp_event_list {
	int n, code[SP_MAX_PERCPU_EVENTS];	/* n 0: no events, or too many */
};
void sp_before_remove(int id, struct sp_event_list *had);
void sp_after_remove(int rc, int id, const struct sp_event_list *had);

/* ---- start, stop, read, accum, reset --------------------------------------- */

/* The fast and the slow path both use these tests. */

/* The calling thread started the set, and the set counts this thread or is placed (writer.h). */
SP_HOT_INLINE bool sp_is_fast(const struct sp_set *s)
{
	return SP_LIKELY(load_relaxed(&s->fast_thread) == sp_thread_state.id);
}

/* No change since the last start: a start has nothing to prepare. */
SP_HOT_INLINE bool sp_is_prepared(const struct sp_set *s)
{
	return SP_LIKELY(!load_relaxed(&s->changed)) &&
	       SP_LIKELY(load_relaxed(&s->bound_changes) == load_relaxed(&s->perf_fds.changes)) &&
	       SP_LIKELY(!load_relaxed(&sp_process.sites_due)) &&
	       SP_LIKELY(!load_relaxed(&s->writer.intervals.low));
}

/* The set's shadow counters, if it has any, are ready for a window to begin or end. */
SP_HOT_INLINE bool sp_is_ready(const struct sp_set *s, uint32_t proof)
{
	/* load once: a handler may drop it at any time */
	const struct sp_percpu *p = load_relaxed(&s->percpu);

	return !p || SP_LIKELY(sp_percpu_is_ready(p, proof));
}

/* The CPU whose events the set counts now, or SP_NO_CPU. */
int sp_find_set_cpu(struct sp_set *s);

/* Proves by the clock that a thread without rseq mark (rseq-proof.h) was on the CPU of the last
 * reading since then. Keeps errno. */
SP_COLD bool sp_has_stayed_by_clock(const struct sp_set *s);

/* Records the values of gauges, if no short function of records.h records the call: those also
 * record gauges. */
void sp_record_gauges(struct sp_set *s, enum sp_op op, int cpu, const long long *values);

/* Marks the call as in flight before PAPI is called; returns `called`. Threads other than the
 * set's take turns (records.h). Reads the shadow counters of another thread first
 * (sp_percpu_read_before). */
struct sp_set *sp_begin_call(int id, enum sp_op op, uintptr_t frame);
/* Begins a call that ends a window and stops or zeroes PAPI's counters; the thread may have
 * moved since the window began. */
struct sp_set *sp_begin_ending_call(int id, enum sp_op op, uintptr_t frame);
/* Begins a reset or an accumulation. */
struct sp_set *sp_before_zero(int id, enum sp_op op, const struct sp_stack *at, uintptr_t frame);

/* Prepares the set for a start. */
void sp_prepare_start(int id, const struct sp_stack *at);
/* Begins a start and sets `started` before PAPI runs, so that a handler's stop meanwhile is
 * kept. */
struct sp_set *sp_begin_start(int id, uintptr_t frame);
/* Prepares and begins a start. */
struct sp_set *sp_before_start(int id, const struct sp_stack *at, uintptr_t frame);
/* Begins a stop; passes PAPI an array of the set if the program gave none. */
struct sp_set *sp_before_stop(int id, long long **values, uintptr_t frame);

void sp_after_start(struct sp_set *called, int rc, int id, uint32_t proof,
		    const struct sp_stack *at);
void sp_after_stop(struct sp_set *called, int rc, int id, const long long *values, uint32_t proof,
		   const struct sp_stack *at);
void sp_after_read(struct sp_set *called, int rc, int id, const long long *values, uint32_t proof,
		   const struct sp_stack *at);
void sp_after_reset(struct sp_set *called, int rc, int id, uint32_t proof,
		    const struct sp_stack *at);
void sp_after_accum(struct sp_set *called, int rc, int id, const long long *values,
		    long long *before, uint32_t proof, const struct sp_stack *at);

/* Records the values that PAPI returned, or that it zeroed the set. */
void sp_record_call(struct sp_set *called, int id, enum sp_op op, const long long *values,
		    uint32_t proof, const struct sp_stack *at);

/* Begins a window of a set whose shadow counters were not ready when PAPI zeroed it. Keeps
 * errno. */
SP_COLD void sp_begin_window_slow(struct sp_set *s);
SP_COLD void sp_sites_after_stop(void);			/* keeps errno */

void sp_after_write(struct sp_set *called, int rc, int id, const long long *values,
		    const struct sp_stack *at);
/* Drops the call that PAPI refused; sp_drop_run: one that was to start or stop the set. */
void sp_drop_call(struct sp_set *called);
void sp_drop_run(struct sp_set *called);
void sp_after_failed(const char *function, int rc);	/* adds a note to the dump */
static inline void sp_report_error(const char *function, int rc)
{
	if (rc < 0)
		sp_after_failed(function, rc);
}

/* Notes each error of PAPI_start only once: programs retry it, and a note takes 5 us. */
void sp_after_start_failed(int rc);

/* Prepares the process for its first event set, made here or before. */
void sp_prepare_first_set(void);

/* Records a reading by sspapi.h of a set with a relation, entered as choose(cpu, arg) decides.
 * Returns the CPU. The caller has locked the relation (preload/handles/relations.h). */
int sp_record_entry(struct sp_set *called, struct sp_set *s, enum sp_op op, const long long *values,
		    uint32_t proof, const struct sp_stack *at,
		    enum sp_entries (*choose)(int cpu, void *arg), void *arg);

/* The number of the set's values; 0: unknown. */
static inline uint32_t sp_events_of(int id)
{
	struct sp_set *s = sp_set_of(id);

	return sp_is_recorded(s) ? s->k : 0;
}

/* Adds the run time of a thread that was on one CPU from the start until now (sp_ticks()). */
SP_HOT_INLINE void sp_add_run_time(struct sp_set *s, uint64_t now)
{
	uint32_t cpu = (uint32_t)load_relaxed(&s->writer.cpu);
	struct sp_percpu *p = load_relaxed(&s->percpu);
	struct sp_times *t = load_relaxed(&s->times);

	if (p && SP_LIKELY(cpu < load_relaxed(&s->writer.cells)) && SP_LIKELY(t != NULL))
		sp_add(&t->at[cpu], sp_percpu_take_time(p, now));
}

/* Prefaults the array of PAPI_accum. PAPI writes to it after reading the counters, so that a
 * page fault there is not counted; sspapi reads the array before that. */
#define SP_ARRAY_GRAIN 4096u		/* the smallest page size of Linux */
/* Keeps errno. */
SP_COLD void sp_prefault_array(struct sp_set *s, const long long *values);
SP_HOT_INLINE void sp_before_array(struct sp_set *s, const long long *values)
{
	uintptr_t page = (uintptr_t)values / SP_ARRAY_GRAIN;

	if (SP_UNLIKELY(s->accum_pages[page % SP_COUNT(s->accum_pages)] != page))
		sp_prefault_array(s, values);
}

/* Saves the array before PAPI_accum adds to it: the added counts are after minus before. The
 * word in front is the number of events. room: for k + 1 values. */
#define SP_ACCUM_ROOM(k) ((long long *)__builtin_alloca(((k) + 1) * sizeof(long long)))
#define SP_BEFORE_ACCUM(s, k, values, room) \
	sp_before = (room) + 1; \
	sp_before[-1] = (k); \
	if (values && (k)) { \
		sp_before_array(s, values); \
		sp_copy_counts(sp_before, values, (k)); \
	}

#endif
