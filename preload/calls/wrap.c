/* wrap.c: papi.def and fortran.def, expanded: the functions that applications call.
 *
 * Every wrapper finds the real function, calls what its row has for before PAPI,
 * forwards exactly, and calls what the row has for after it (hooks.h), unless libpapi
 * is calling itself.  The six HOT ones try the fast path first (fast.h).  No policy here.
 *
 * Where the real libpapi lacks the function (a weak reference that is not NULL
 * because of us), int functions return PAPI_ENOSUPP, others nothing.
 */
#include <errno.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../papi/real.h"
#include "../process/shared-tls.h"
#include "fast.h"
#include "timing.h"

/* ---- the types are PAPI's --------------------------------------------- */

#define SAME(name, type, params) \
	type name params; \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), type(*) params), \
		       #name " differs from papi.h");
#define ROW(type, name, params, args, before, after) SAME(name, type, params)
#define OLD(type, name, params, args)
#include "../papi/papi.def"

/* ---- the wrappers ----------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))
#define FRAME ((uintptr_t)__builtin_frame_address(0))
#define NONE (void)0

/* Where a call was made from: to where it returns, and the wrapper's frame. */
#define FROM .at = SP_CALLED_FROM, .frame = FRAME

/* What calls that are not the program's get, and those that libpapi lacks. */
#define FORWARD(name, args) (call_ctx.real->name ? call_ctx.real->name args : PAPI_ENOSUPP)

/* A call on its way to PAPI and back. */
struct call_ctx {
	uintptr_t at, frame;
	const struct sp_real *real;	/* the functions to forward to */
	bool is_program_call;			/* it is the program's */
	bool per_call_lookup;			/* each call asks which libpapi it is for */
	int errno_is;			/* as the program left it; after PAPI: as PAPI did */
	uintptr_t nests, inside;	/* as they were (sp_thread_state) */
	uintptr_t opening;		/* as it was */
};

/* A handler that jumps out of a NESTS row leaves it behind: the program then calls from a frame
 * that is not below it. (Where somebody stands in front of us, libpapi's own calls look like the
 * program's.) */
static SP_COLD uintptr_t nests_still(uintptr_t caller, uintptr_t frame)
{
	if (!sp_papi_front && !sp_internal(sp_papi_used, caller) &&
	    !sp_interrupted(sp_thread_state.nests, frame))
		sp_thread_state.nests = 0;
	return sp_thread_state.nests;
}

static inline uintptr_t nests_now(uintptr_t caller, uintptr_t frame)
{
	return SP_LIKELY(!sp_thread_state.nests) ? 0 : nests_still(caller, frame);
}

/* The first of a thread that has no set of its own: one that watches another's. */
static SP_COLD void count_first(enum sp_call call)
{
	int saved = errno;

	if (sp_thread_state_ready())
		store_relaxed(&sp_thread_state.calls[call], sp_thread_state.calls[call] + 1);
	errno = saved;
}

static inline void count(enum sp_call call)
{
	if (SP_LIKELY(sp_thread_state.calls != NULL &&
		      sp_thread_state.generation == sp_process.generation))
		increment_own(&sp_thread_state.calls[call]);
	else
		count_first(call);
}

/* Which libpapi is the call for, and is it to be told? */
static __attribute__((noinline)) void begin_call(struct call_ctx *w)
{
	const struct sp_papi *papi = load_relaxed(&sp_process.papi);

	w->errno_is = errno;
	if (SP_UNLIKELY(sp_shared_tls_tid))
		sp_find_caller();
	w->per_call_lookup = !papi;
	if (papi) {
		w->real = &papi->real;
		w->is_program_call = !sp_internal(papi, w->at) || sp_thread_state.nests;
	} else {
		w->real = sp_enter(w->at, &w->is_program_call);
	}
	w->nests = w->is_program_call ? nests_now(w->at, w->frame) : 0;
	w->opening = sp_opening;
}

/* Right before PAPI is called.  Where each call asks, what is called on top of this one may be
 * libpapi's own (sp_papi_front). */
static __attribute__((noinline)) void before_papi(struct call_ctx *w, uint32_t *open)
{
	sp_thread_state.nests = 0;
	if (w->per_call_lookup) {
		w->inside = sp_thread_state.inside;
		sp_thread_state.inside = w->frame;
	}
	errno = w->errno_is;
	*open = sp_proof_now();
}

/* PAPI has returned. */
static __attribute__((noinline)) void after_papi(struct call_ctx *w, struct sp_set *called)
{
	if (called)
		sp_records_returned(&called->writer);
	w->errno_is = errno;
	if (w->per_call_lookup)
		sp_thread_state.inside = w->inside;
	sp_opening = w->opening;
	sp_thread_state.nests = w->nests;
}

/* One call in 1024 is timed, for the dump's `own_pid`: our part of it, before PAPI is called and
 * after it. */
static inline bool timed(void)
{
	if (SP_LIKELY(sp_thread_state.ticks != 0))
		return false;
	sp_thread_state.ticks = 1024;
	return true;
}

/* What the fast path knows of a call that it leaves to the slow one. */
struct fast_miss {
	struct sp_stack at;
	uintptr_t frame;
	struct sp_set *called;		/* PAPI has returned; NULL: nothing was done yet */
	long long *had;			/* what PAPI_accum is to add to */
	int rc;
	uint32_t open;
};

/* The slow path of the HOT rows of papi.def: slow_PAPI_start, slow_PAPI_stop, slow_PAPI_read,
 * slow_PAPI_read_ts, slow_PAPI_accum and slow_PAPI_reset. */
#define BARE(...) __VA_ARGS__
#define HOT(type, name, params, args, before, after) \
	static __attribute__((noinline)) \
	type slow_##name(const struct fast_miss *fast_miss, BARE params) \
	{ \
		struct call_ctx call_ctx = { .at = fast_miss->at.to, \
					     .frame = fast_miss->frame, \
					     .errno_is = errno }; \
		const struct sp_stack *const at = &fast_miss->at; \
		const uintptr_t frame = call_ctx.frame; \
		__attribute__((unused)) long long *sp_before = fast_miss->had; \
		struct sp_set *called = fast_miss->called; \
		uint32_t open = fast_miss->open; \
		type rc = fast_miss->rc; \
		struct sp_timing t = { .is = called && timed() }; \
		if (!called) { \
			begin_call(&call_ctx); \
			if (!call_ctx.is_program_call || !call_ctx.real->name) \
				return FORWARD(name, args); \
			--sp_thread_state.ticks; \
			t.is = timed(); \
			if (SP_UNLIKELY(t.is)) \
				sp_time_from(&t); \
			before; \
			if (SP_UNLIKELY(t.is)) \
				sp_time_to(&t); \
			before_papi(&call_ctx, &open); \
			rc = call_ctx.real->name args; \
			after_papi(&call_ctx, called); \
		} \
		if (SP_UNLIKELY(t.is)) \
			sp_time_from(&t); \
		count(SP_CALL_##name); \
		/* what the fast path would have done */ \
		if (!(fast_miss->called && t.is && rc == PAPI_OK && ({ \
			      uint32_t site; \
			      struct sp_set *s = sp_fast_set(sp_papi_used, called->number, \
							     OP_##name, at, frame, &site); \
			      s == called &&BOOK_##name(at->to); \
		      }))) { \
			after; \
		} \
		sp_fast_learn(called, EventSet); \
		if (SP_UNLIKELY(t.is)) { \
			sp_time_to(&t); \
			sp_time_add(&t); \
		} \
		errno = call_ctx.errno_is; \
		return rc; \
	}

/* How the fast path books a call that returned to `to`. */
#define OP_PAPI_read SP_OP_READ
#define OP_PAPI_read_ts SP_OP_READ
#define OP_PAPI_reset SP_OP_RESET
#define OP_PAPI_accum SP_OP_ACCUM
#define OP_PAPI_start SP_OP_START
#define OP_PAPI_stop SP_OP_STOP
#define BOOK_PAPI_read(to) sp_fast_read(s, values, open, site, to)
#define BOOK_PAPI_read_ts(to) sp_fast_read(s, values, open, site, to)
#define BOOK_PAPI_reset(to) sp_fast_reset(s, open, site)
#define BOOK_PAPI_accum(to) sp_fast_accum(s, values, sp_before, open, site)
#define BOOK_PAPI_start(to) sp_fast_start(s, open, site)
#define BOOK_PAPI_stop(to) sp_fast_stop(s, values, open, site)

/* The body of a function below: the fast path (fast.h), else slow_##name. If the set or the call
 * site is new, that makes the whole call (`called` is NULL). If PAPI has returned and the thread
 * may have moved, it only records the call (`called` is the set). again: the arguments for the
 * latter, with s->number, so that no register keeps the first one. may: the set may take the fast
 * path. before, behind: statements right before and after PAPI's function. had: the values that
 * PAPI_accum adds to. */
#define FAST(name, args, again, may, before, behind, had) \
	uint32_t site; \
	struct sp_set *s = SP_LIKELY(papi != NULL) \
				   ? sp_fast_set(papi, EventSet, OP_##name, NULL, 0, &site) \
				   : NULL; \
	if (SP_LIKELY(s != NULL)) { \
		const uint32_t open = sp_proof_at(); \
		if (SP_LIKELY(may) && SP_LIKELY(sp_records_begin(&s->writer, FRAME, OP_##name))) { \
			before; \
			const int rc = papi->real.name args; \
			/* else gcc keeps the addresses of its words, in memory */ \
			__asm__("" : "+r"(s)); \
			behind; \
			sp_records_returned(&s->writer); \
			if (SP_LIKELY(rc == PAPI_OK) && SP_LIKELY(--sp_thread_state.ticks != 0) && \
			    SP_LIKELY(BOOK_##name(CALLER))) { \
				int ok = PAPI_OK; \
				/* else gcc keeps rc for it, in a register to be saved */ \
				__asm__("" : "+r"(ok)); \
				increment_own(&sp_thread_state.calls[SP_CALL_##name]); \
				return ok; \
			} \
			return slow_##name(&(struct fast_miss){ FROM, s, had, rc, open }, \
					   BARE again); \
		} \
	} \
	/* PAPI_accum's own PAPI_reset */ \
	if (papi && sp_internal(papi, CALLER) && !sp_thread_state.nests) \
		return papi->real.name args; \
	return slow_##name(&(struct fast_miss){ FROM }, BARE args);

/* Wrappers of the rest.  False: to be forwarded only; else the calling thread is known to the
 * store. */
static SP_COLD bool is_reported(struct call_ctx *w, uintptr_t at, uintptr_t frame,
				enum sp_call call, size_t function)
{
	*w = (struct call_ctx){ .at = at, .frame = frame };
	begin_call(w);
	if (!w->is_program_call || !*(void *const *)((const char *)w->real + function))
		return false;
	count(call);
	return true;
}
#define IS_REPORTED(name) \
	is_reported(&call_ctx, CALLER, FRAME, SP_CALL_##name, offsetof(struct sp_real, name))

#define ROW(type, name, params, args, before, after) \
	EXPORT __attribute__((cold)) type name params \
	{ \
		struct call_ctx call_ctx; \
		uint32_t open; \
		if (!IS_REPORTED(name)) \
			return FORWARD(name, args); \
		before; \
		if (!call_ctx.is_program_call)		/* PAPI_library_init looks anew */ \
			return FORWARD(name, args); \
		before_papi(&call_ctx, &open); \
		type rc = call_ctx.real->name args; \
		after_papi(&call_ctx, NULL); \
		after; \
		errno = call_ctx.errno_is; \
		return rc; \
	}

#define VOID(name, params, args, before, after) \
	EXPORT __attribute__((cold)) void name params \
	{ \
		struct call_ctx call_ctx; \
		uint32_t open; \
		if (!IS_REPORTED(name)) { \
			if (call_ctx.real->name) \
				call_ctx.real->name args; \
			return; \
		} \
		before; \
		before_papi(&call_ctx, &open); \
		call_ctx.real->name args; \
		after_papi(&call_ctx, NULL); \
		after; \
		errno = call_ctx.errno_is; \
	}

/* What the calls inside are called for: where the outermost was called, and the region
 * that it was given. */
struct nest {
	uintptr_t nests, outer;
	const char *region;
	uint32_t region_call;
};

static enum sp_region_call region_call(enum sp_call call)
{
	switch (call) {
	case SP_CALL_PAPI_hl_region_begin: return SP_REGION_BEGINS;
	case SP_CALL_PAPI_hl_read: return SP_REGION_READ;
	default: return SP_REGION_ENDS;
	}
}

static SP_COLD struct nest nest_in(const struct call_ctx *w, const char *region, enum sp_call call)
{
	struct nest before = { w->nests, sp_thread_state.outer, sp_thread_state.region,
			       sp_thread_state.region_call };

	if (!sp_thread_state.nests || !sp_internal(sp_papi_used, w->at)) {
		sp_thread_state.outer = w->at;
		sp_thread_state.region = NULL;
	}
	if (region) {
		sp_thread_state.region = region;
		sp_thread_state.region_call = region_call(call);
	}
	sp_thread_state.nests = w->frame;
	store_relaxed(&sp_thread_state.set, SP_NO_SET);
	errno = w->errno_is;
	return before;
}

static SP_COLD void nest_out(struct call_ctx *w, const struct nest *before)
{
	w->errno_is = errno;
	sp_thread_state.nests = before->nests;
	sp_thread_state.outer = before->outer;
	sp_thread_state.region = before->region;
	sp_thread_state.region_call = before->region_call;
}

#define NESTS(type, name, params, args, ...) \
	EXPORT __attribute__((cold)) type name params \
	{ \
		struct call_ctx call_ctx; \
		if (!IS_REPORTED(name)) \
			return FORWARD(name, args); \
		const struct nest before = \
			nest_in(&call_ctx, (const char *[1]){ __VA_ARGS__ }[0], SP_CALL_##name); \
		type rc = call_ctx.real->name args; \
		nest_out(&call_ctx, &before); \
		sp_report_error(#name, rc); \
		errno = call_ctx.errno_is; \
		return rc; \
	}

/* Not in this papi.h: declared here, so that they have a prototype. */
#define OLD(type, name, params, args) type name params; NESTS(type, name, params, args)

#include "../papi/papi.def"

/* ---- frequent calls ------------------------------------------------- */

EXPORT int PAPI_read(int EventSet, long long *values)
{
	const struct sp_papi *const papi = load_relaxed(&sp_process.papi);

	FAST(PAPI_read, (EventSet, values), (s->number, values), true, NONE, NONE, NULL)
}

EXPORT int PAPI_read_ts(int EventSet, long long *values, long long *cyc)
{
	const struct sp_papi *const papi = load_relaxed(&sp_process.papi);

	FAST(PAPI_read_ts, (EventSet, values, cyc), (s->number, values, cyc), true, NONE, NONE,
	     NULL)
}

EXPORT int PAPI_reset(int EventSet)
{
	const struct sp_papi *const papi = load_relaxed(&sp_process.papi);

	/* PAPI_accum's own comes first: each accumulation makes one. */
	if (SP_LIKELY(papi != NULL) && SP_UNLIKELY(CALLER - papi->low < papi->own) &&
	    !sp_thread_state.nests)
		return papi->real.PAPI_reset(EventSet);
	FAST(PAPI_reset, (EventSet), (s->number), true, NONE, NONE, NULL)
}

EXPORT int PAPI_accum(int EventSet, long long *values)
{
	const struct sp_papi *const papi = load_relaxed(&sp_process.papi);
	long long *sp_before = NULL, room[SP_FAST_ACCUM + 1];
	uint32_t k;		/* one look: a handler may give the set more events than there is
				 * room for */

	FAST(PAPI_accum, (EventSet, values), (s->number, values),
	     (k = load_relaxed(&s->writer.k)) <= SP_FAST_ACCUM && sp_is_ready(s, open),
	     SP_BEFORE_ACCUM(s, k, values, room), NONE, sp_before)
}

EXPORT int PAPI_start(int EventSet)
{
	const struct sp_papi *const papi = load_relaxed(&sp_process.papi);

	FAST(PAPI_start, (EventSet), (s->number),
	     sp_is_prepared(s) && sp_is_ready(s, open) &&
		     (sp_counting_is_ready(open) || s->writer.placed),
	     const uintptr_t under = sp_opening;
	     sp_fast_starts(s), sp_opening = under, NULL)
}

EXPORT int PAPI_stop(int EventSet, long long *values)
{
	const struct sp_papi *const papi = load_relaxed(&sp_process.papi);

	FAST(PAPI_stop, (EventSet, values), (s->number, values), sp_is_ready(s, open),
	     values = values ? values : s->room.values, NONE, NULL)
}

/* ---- Fortran ---------------------------------------------------------- */

/* One function for the four spellings, by the rows of fortran.def: papif_read_, papif_read,
 * papif_read__ and PAPIF_READ. */
#define SPELLED(symbol, name, params) \
	EXPORT __attribute__((cold, alias(#name "_"))) void symbol params;
#define FORTRAN(name, NAME, params, args, ...) \
	EXPORT __attribute__((cold)) void name##_ params; \
	SPELLED(name, name, params) \
	SPELLED(name##__, name, params) \
	SPELLED(NAME, name, params) \
	void name##_ params \
	{ \
		struct call_ctx call_ctx; \
		if (IS_REPORTED(name)) { \
			__VA_ARGS__ \
		} else if (call_ctx.real->name) { \
			call_ctx.real->name args; \
		} \
	}

/* The nested C call, if there is one, comes from libpapi: ignored. */
#define FROW(name, NAME, params, args, before, after) FORTRAN(name, NAME, params, args, \
		__attribute__((unused)) const struct sp_stack *const at = &SP_CALLED_FROM; \
		__attribute__((unused)) const uintptr_t frame = call_ctx.frame; \
		__attribute__((unused)) long long *sp_before = NULL; \
		struct sp_set *called = NULL; \
		uint32_t open; \
		before; \
		before_papi(&call_ctx, &open); \
		call_ctx.real->name args; \
		after_papi(&call_ctx, called); \
		after; \
		errno = call_ctx.errno_is;)
#define FNESTS(name, NAME, params, args) FORTRAN(name, NAME, params, args, \
		const struct nest before = nest_in(&call_ctx, NULL, SP_CALLS); \
		call_ctx.real->name args; \
		nest_out(&call_ctx, &before); \
		errno = call_ctx.errno_is;)
#include "../papi/fortran.def"
