/* hooks.h: what the wrappers tell, after PAPI has returned (before, where that is
 * needed).  One function a kind of call; papi.def says which call is which.
 *
 * Functions named sp_before/after_start/stop/read/accum/reset are on the path of a
 * reading: inline as far as the usual case goes, no system call, errno untouched.  All
 * others are called with errno saved by the wrapper.  `open` is sp_proof_now() from right
 * before the real call, `at` to where the call returns, `frame` the address of the wrapper's
 * frame.  `called` is the set whose ledger has the call in flight (sp_ledger_begin_call); NULL:
 * there is none.
 */
#ifndef SP_HOOKS_H
#define SP_HOOKS_H

#include <string.h>

#include "../../core/store/here.h"
#include "../split/proof.h"
#include "overflow.h"
#include "sets.h"
#include "sites.h"
#include "../split/where.h"
#include "../split/witness.h"

/* Whose libpapi is it?  Another plug-in may have brought one of its own. */
void sp_before_init(const struct sp_real **real, bool *tell, uintptr_t caller);
void sp_after_init(int rc);
void sp_after_unregister(int rc);
void sp_after_shutdown(void);

void sp_after_create(int rc, const int *id);
/* name NULL: by its code; else up to a NUL or length bytes. */
void sp_after_add(int rc, int id, int code, const char *name, size_t length);
void sp_after_add_events(int rc, int id, int number);
void sp_after_multiplex(int rc, int id);
void sp_after_overflow(int rc, int id, int threshold, int flags);
void sp_after_profil(int rc, int id, int threshold);
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
void sp_after_detach(int rc, int id);
void sp_after_domain(int rc, int id, int domain);
void sp_after_set_opt(int rc, int option, const PAPI_option_t *o);

/* PAPI may open or close counters of this set now (split/opened.h). */
void sp_opens(int id);
void sp_opens_by_option(int option, const PAPI_option_t *o);

/* The events of a set before some are removed. */
struct sp_listed {
	int n, code[SP_SPLIT_EVENTS];	/* n 0: none, or more */
};
void sp_before_remove(int id, struct sp_listed *had);
void sp_after_remove(int rc, int id, const struct sp_listed *had);

/* PAPI has opened the counters of the set again, or was expected to, by the start that it has answered. */
SP_COLD void sp_opened_again(struct sp_set *s);

/* PAPI has zeroed a set that is split, and was not ready for it. */
SP_COLD void sp_begin_slow(struct sp_set *s);

/* All is as it was at the start before, but the thread may have moved since. */
SP_COLD void sp_get_ready(struct sp_set *s, int id, uintptr_t at);

SP_COLD void sp_before_start_slow(int id, uintptr_t at);		/* errno is given back */
SP_COLD struct sp_set *sp_begin_call_slow(int id, enum sp_op op, uintptr_t frame);
SP_COLD void sp_after_start_slow(struct sp_set *called, int rc, int id, uint32_t open, uintptr_t at);
SP_COLD void sp_after_stop_slow(struct sp_set *called, int rc, int id, const long long *values, uint32_t open,
				uintptr_t at);
SP_COLD void sp_sites_after_stop(void);			/* errno is given back */
SP_COLD long long *sp_before_stop_slow(int id, long long *values);
void sp_before_write(int id);
void sp_after_write(int rc, int id, const long long *values, uintptr_t at);
void sp_after_failed(const char *function, int rc);	/* PAPI refused: said in the dump */
static inline void sp_tells(const char *function, int rc)
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
 * says.  The CPU.  With the relation's lock held (preload/api/api.h). */
int sp_book_entry(struct sp_set *s, enum sp_op op, const long long *values, uint32_t open, uintptr_t at,
		  enum sp_entries (*choose)(int cpu, void *arg), void *arg);

/* The slow path: another thread, another target; errno kept. */
SP_COLD void sp_book_slow(struct sp_set *called, int id, enum sp_op op, const long long *values, uint32_t open,
			  uintptr_t at);

/* Around a call of PAPI for a running set that another thread has started: that thread does not call PAPI for the set
 * meanwhile (ledger.h).  (A handler on top of such a call does not wait.)  The counters of another thread are read first
 * (sp_split_ask).  A call that a handler makes on top of another one for the same set ends here, too: from
 * sp_begin_call_slow to then no second handler comes, so that both are booked in PAPI's order. */
void sp_visit(struct sp_set *s, enum sp_op op);
SP_COLD void sp_visited_slow(uintptr_t frame);
static inline void sp_visited(uintptr_t frame)
{
	if (SP_UNLIKELY(sp_self.visits != NULL) || SP_UNLIKELY(sp_self.alone))
		sp_visited_slow(frame);
}

/* Was the thread on this CPU all the time from the reading before until now?  A handler that booked here since `open`
 * has begun a window of its own, which proves nothing of values that PAPI returned before it. */
SP_HOT_INLINE bool sp_proves(const struct sp_set *s, uint32_t open)
{
	return SP_LIKELY(s->writer.opened == open) && SP_LIKELY(sp_proof_now() == open);
}

/* How many values the set has; 0: not known. */
static inline uint32_t sp_events_of(int id)
{
	struct sp_set *s = sp_set_of(id);

	return sp_booked(s) ? s->k : 0;
}

/* PAPI returned an error. */
SP_HOT_INLINE void sp_call_failed(struct sp_set *called)
{
	if (called)
		sp_ledger_call_failed(&called->writer);
}

/* PAPI is about to be called for this set: `called`. */
SP_HOT_INLINE struct sp_set *sp_begin_call_for(struct sp_set *s, int id, enum sp_op op, uintptr_t frame)
{
	if (SP_UNLIKELY(!s || sp_get(&s->fast_thread) != sp_self.id || !sp_ledger_begin_call(&s->writer, op)))
		return sp_begin_call_slow(id, op, frame);
	return s;
}

SP_HOT_INLINE struct sp_set *sp_begin_call(int id, enum sp_op op, uintptr_t frame)
{
	return sp_begin_call_for(sp_set_of(id), id, op, frame);
}

/* Is the set's split, if it has one, ready for a window to begin? */
SP_HOT_INLINE bool sp_is_ready(const struct sp_set *s)
{
	const struct sp_split *p = sp_get(&s->split);		/* once: a handler may drop it at any time */

	return SP_LIKELY(!p) || SP_LIKELY(sp_split_is_ready(p, sp_proof_now()));
}

/* Before what ends a window, and PAPI's counters with it; the thread may have moved in it. */
SP_COLD void sp_ask_ending(struct sp_set *s);
SP_HOT_INLINE struct sp_set *sp_begin_ending_call(struct sp_set *s, int id, enum sp_op op, uintptr_t frame)
{
	if (s && sp_get(&s->fast_thread) == sp_self.id && SP_UNLIKELY(!sp_is_ready(s)))
		sp_ask_ending(s);
	return sp_begin_call_for(s, id, op, frame);
}

/* PAPI has zeroed it. */
SP_HOT_INLINE void sp_begins_window(struct sp_set *s)
{
	struct sp_split *p = sp_get(&s->split);

	if (!p)
		return;
	if (SP_LIKELY(sp_split_is_ready(p, sp_proof_now())))
		sp_split_fresh(p);
	else
		sp_begin_slow(s);
}

/* PAPI has returned. */
SP_HOT_INLINE void sp_call_returned(struct sp_set *called)
{
	if (SP_LIKELY(called != NULL))
		sp_ledger_call_returned(&called->writer);
}

/* May what PAPI returned take the fast path? */
SP_HOT_INLINE bool sp_is_fast(const struct sp_set *called)
{
	/* (`in_flight` 0: a handler on top of the call has made another set of it.) */
	return SP_LIKELY(called != NULL) && SP_LIKELY(sp_get(&called->fast_thread) == sp_self.id) && SP_LIKELY(sp_get(&called->writer.in_flight) != 0);
}

/* A set that this thread started before, unchanged, and touched last: nothing to prepare. */
SP_HOT_INLINE struct sp_set *sp_prepare_start(int id, uintptr_t at)
{
	struct sp_set *s = sp_set_of(id);

	if (SP_UNLIKELY(!sp_get(&sp_process.proof_works)))
		sp_witness_starts();
	/* More frames take longer: not while it counts.  (Else, and where there is no room for it yet, below.) */
	if (SP_UNLIKELY(sp_process.unwinds) && s && s->generation == sp_process.generation && sp_get(&s->fast_thread) == sp_self.id)
		s->start_site = sp_site_here(&s->seen[SP_SEEN_START], at);
	if (SP_UNLIKELY(!s || sp_get(&s->fast_thread) != sp_self.id || s->changed || !sp_is_touched(s) ||
			sp_get(&sp_process.sites_due) || s->writer.track.low)) {
		sp_before_start_slow(id, at);
		s = sp_set_of(id);
	} else if (SP_UNLIKELY(!sp_is_ready(s))) {
		sp_get_ready(s, id, at);
	}
	return s;
}

/* `started` changes before PAPI is called: a handler that stops the set then is not forgotten. */
SP_HOT_INLINE struct sp_set *sp_before_start(int id, uintptr_t at, uintptr_t frame)
{
	struct sp_set *s = sp_prepare_start(id, at), *called = sp_begin_call_for(s, id, SP_OP_START, frame);

	sp_opening = SP_LIKELY(s != NULL) ? &s->opened : NULL;
	if (SP_LIKELY(called != NULL))
		sp_put(&called->started, true);
	return called;
}

SP_HOT_INLINE void sp_after_start(struct sp_set *called, int rc, int id, uint32_t open, uintptr_t at)
{
	if (SP_UNLIKELY(!sp_get(&sp_process.proof_works)) && rc == PAPI_OK && called)
		sp_witness_started(&called->opened, sp_cpu_now());
	if (SP_UNLIKELY(rc != PAPI_OK || !sp_is_fast(called))) {
		sp_after_start_slow(called, rc, id, open, at);
		return;
	}
	if (called->split && SP_UNLIKELY(!sp_split_is_for(called->split, &called->opened)))
		sp_opened_again(called);
	sp_ledger_finish_start(&called->writer, SP_UNLIKELY(sp_process.unwinds) ? called->start_site :
									       sp_site_here(&called->seen[SP_SEEN_START], at));
	called->writer.opened = open;
	if (called->split) {
		sp_begins_window(called);
		sp_split_begun(called->split);
	}
}

/* An array of ours where the caller gave none. */
SP_HOT_INLINE struct sp_set *sp_before_stop(int id, long long **values, uintptr_t frame)
{
	struct sp_set *s = sp_set_of(id);

	if (SP_UNLIKELY(!*values || !s || sp_get(&s->fast_thread) != sp_self.id))
		*values = sp_before_stop_slow(id, *values);
	return sp_begin_ending_call(s, id, SP_OP_STOP, frame);
}

/* Its thread was on one CPU from the start to now. */
SP_HOT_INLINE void sp_ran(struct sp_set *s)
{
	uint32_t cpu = (uint32_t)sp_get(&s->writer.cpu);
	struct sp_split *p = sp_get(&s->split);

	if (SP_LIKELY(cpu < s->writer.cells) && SP_LIKELY(p != NULL))
		sp_add(&s->times->at[cpu], sp_split_ran(p));
}

SP_HOT_INLINE void sp_after_stop(struct sp_set *called, int rc, int id, const long long *values, uint32_t open,
				 uintptr_t at)
{
	bool proven;
	int cpu;

	if (SP_UNLIKELY(rc != PAPI_OK || !sp_is_fast(called) || !values)) {
		sp_after_stop_slow(called, rc, id, values, open, at);
		return;
	}
	cpu = sp_cpu_here();
	proven = sp_proves(called, open);
	if (called->split) {
		if (SP_UNLIKELY(!proven)) {
			sp_after_stop_slow(called, rc, id, values, open, at);
			return;
		}
		sp_ran(called);
	}
	sp_ledger_finish_stop(&called->writer, cpu, values, proven, sp_site_here(&called->seen[SP_SEEN_STOP], at));
	called->writer.opened = open;
	/* A handler on top of PAPI_stop may have started it again. */
	sp_put(&called->started, !(sp_get(&called->writer.slow_owner) & SP_SLOW_STOPPED));
	sp_touch(called);
	if (SP_UNLIKELY(sp_get(&sp_process.sites_due)))
		sp_sites_after_stop();
}

SP_HOT_INLINE void sp_after_read(struct sp_set *called, int rc, int id, const long long *values, uint32_t open,
				 uintptr_t at)
{
	bool proven;
	int cpu;

	if (SP_UNLIKELY(rc != PAPI_OK)) {
		sp_call_failed(called);
		return;
	}
	if (SP_UNLIKELY(!sp_is_fast(called))) {
		sp_book_slow(called, id, SP_OP_READ, values, open, at);
		return;
	}
	cpu = sp_cpu_here();
	proven = sp_proves(called, open);
	if (SP_UNLIKELY(!proven) && called->split) {
		sp_book_slow(called, id, SP_OP_READ, values, open, at);
		return;
	}
	called->writer.opened = open;
	sp_ledger_finish_read(&called->writer, cpu, values, proven, sp_site_here(&called->seen[SP_SEEN_READ], at));
}

SP_HOT_INLINE void sp_after_reset(struct sp_set *called, int rc, int id, uint32_t open, uintptr_t at)
{
	if (SP_UNLIKELY(rc != PAPI_OK)) {
		sp_call_failed(called);
		return;
	}
	if (SP_UNLIKELY(!sp_is_fast(called))) {
		sp_book_slow(called, id, SP_OP_RESET, NULL, open, at);
		return;
	}
	called->writer.opened = open;
	sp_ledger_finish_reset(&called->writer, sp_site_here(&called->seen[SP_SEEN_READ], at));
	sp_begins_window(called);
}

/* PAPI writes to its array when it has read the counters: a page that nobody has touched is a fault in no count then.
 * Ours, which looks at the array before, would be one. */
#define SP_ARRAY_GRAIN 4096u		/* the smallest page of Linux */
SP_COLD void sp_meet_array(struct sp_set *s, const long long *values);
SP_HOT_INLINE void sp_before_array(struct sp_set *s, const long long *values)
{
	uintptr_t page = (uintptr_t)values / SP_ARRAY_GRAIN;

	if (SP_UNLIKELY(s->arrays[page % SP_COUNT(s->arrays)] != page))
		sp_meet_array(s, values);
}

SP_COLD void sp_accum_lost(int id);	/* a handler changed how many events the set has: what was added cannot be told */

/* PAPI_accum adds to the caller's array: what it added is after minus before. The word in front says how many the set had.
 * room: for k + 1. */
#define SP_ACCUM_ROOM(k) ((long long *)__builtin_alloca(((k) + 1) * sizeof(long long)))
#define SP_BEFORE_ACCUM(s, k, values, room) \
	sp_before = (room) + 1; \
	sp_before[-1] = (k); \
	if (values && (k)) { \
		sp_before_array(s, values); \
		sp_copy_counts(sp_before, values, (k)); \
	}

SP_HOT_INLINE void sp_after_accum(struct sp_set *called, int rc, int id, const long long *values, long long *before,
				  uint32_t open, uintptr_t at)
{
	uint32_t k = rc == PAPI_OK ? sp_events_of(id) : 0;
	bool proven;
	int cpu;

	/* (Another number: a handler changed the set meanwhile.) */
	if (SP_UNLIKELY(!k || k != (uint64_t)before[-1])) {
		if (k)
			sp_accum_lost(id);
		sp_call_failed(called);
		return;
	}
	for (uint32_t e = 0; e < k; e++)
		before[e] = (long long)((unsigned long long)values[e] - (unsigned long long)before[e]);
	if (SP_UNLIKELY(!sp_is_fast(called))) {
		sp_book_slow(called, id, SP_OP_ACCUM, before, open, at);
		return;
	}
	cpu = sp_cpu_here();
	proven = sp_proves(called, open);
	if (SP_UNLIKELY(!proven) && called->split) {
		sp_book_slow(called, id, SP_OP_ACCUM, before, open, at);
		return;
	}
	called->writer.opened = open;
	sp_ledger_finish_accum(&called->writer, cpu, before, proven, sp_site_here(&called->seen[SP_SEEN_READ], at));
	sp_begins_window(called);
}

#endif
