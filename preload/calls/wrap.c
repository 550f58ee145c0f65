/* wrap.c: defines the PAPI functions that applications call, one for each row of papi.def and
 * fortran.def.
 *
 * Each wrapper runs the row's `before`, calls the real function with the same arguments, and runs
 * the row's `after` (hooks.h). Calls that libpapi makes itself are only forwarded. The six HOT
 * functions try the fast path first (fast.h).
 *
 * If the real libpapi lacks the function, int functions return PAPI_ENOSUPP and others do nothing.
 * A program's weak reference to it is not NULL then, because this library defines it.
 */
#include <errno.h>

#include "../../core/base/lock.h"
#include "../../core/base/sys.h"
#include "../papi/real.h"
#include "../process/shared-tls.h"
#include "fast.h"
#include "timing.h"

/* ---- types, checked against papi.h ------------------------------------- */

#define CHECK_TYPE(name, type, params) \
	type name params; \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), type(*) params), \
		       #name " differs from papi.h");
#define ROW(type, name, params, args, before, after) CHECK_TYPE(name, type, params)
#define OLD(type, name, params, args)
#include "../papi/papi.def"

/* ---- wrappers ---------------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))
#define FRAME ((uintptr_t)__builtin_frame_address(0))
#define NONE (void)0

/* The return address of a call and the frame of its wrapper. */
#define FROM .at = SP_CALLED_FROM, .frame = FRAME

/* Forwards a call that is not the program's, or one that libpapi may lack. */
#define FORWARD(name, args) (call_ctx.real->name ? call_ctx.real->name args : PAPI_ENOSUPP)

/* The state of one call, kept on the wrapper's stack. */
struct call_ctx {
	uintptr_t at, frame;
	const struct sp_real *real;
	bool is_program_call;			/* false: libpapi made it */
	bool per_call_lookup;			/* several libpapi are loaded (sp_enter) */
	int saved_errno;		/* the program's; after PAPI: PAPI's */
	uintptr_t nests, inside;	/* saved from sp_thread_state */
	uintptr_t opening;		/* saved sp_opening */
};

/* Clears `nests` if a handler jumped out of a NESTS row: the program then calls from a frame
 * that is not below that row's. Does nothing while another library wraps PAPI in front of this
 * one (sp_papi_front): libpapi's own calls then resemble the program's. */
static SP_COLD uintptr_t recheck_nests(uintptr_t caller, uintptr_t frame)
{
	if (!sp_papi_front && !sp_internal(sp_papi_used, caller) &&
	    !sp_interrupted(sp_thread_state.nests, frame))
		sp_thread_state.nests = 0;
	return sp_thread_state.nests;
}

static inline uintptr_t find_nests(uintptr_t caller, uintptr_t frame)
{
	return SP_LIKELY(!sp_thread_state.nests) ? 0 : recheck_nests(caller, frame);
}

/* Counts the first call of a thread that has made no set: it uses another thread's. */
static SP_COLD void count_first_call(enum sp_call call)
{
	int saved = errno;

	if (sp_thread_state_ready())
		store_relaxed(&sp_thread_state.calls[call], sp_thread_state.calls[call] + 1);
	errno = saved;
}

static inline void count_call(enum sp_call call)
{
	if (SP_LIKELY(sp_thread_state.calls != NULL &&
		      sp_thread_state.generation == sp_process.generation))
		increment_own(&sp_thread_state.calls[call]);
	else
		count_first_call(call);
}

/* Finds the libpapi to forward to and whether the program made the call. */
static __attribute__((noinline)) void identify_call(struct call_ctx *ctx)
{
	const struct sp_papi *papi = load_relaxed(&sp_process.papi);

	ctx->saved_errno = errno;
	if (SP_UNLIKELY(sp_shared_tls_tid))
		sp_find_caller();
	ctx->per_call_lookup = !papi;
	if (papi) {
		ctx->real = &papi->real;
		ctx->is_program_call = !sp_internal(papi, ctx->at) || sp_thread_state.nests;
	} else {
		ctx->real = sp_enter(ctx->at, &ctx->is_program_call);
	}
	ctx->nests = ctx->is_program_call ? find_nests(ctx->at, ctx->frame) : 0;
	ctx->opening = sp_opening_set;
}

/* Prepares the thread for the call of PAPI. With several libpapi, calls from below `inside` may
 * be libpapi's own (sp_papi_front). */
static __attribute__((noinline)) void before_papi(struct call_ctx *ctx, uint32_t *proof)
{
	sp_thread_state.nests = 0;
	if (ctx->per_call_lookup) {
		ctx->inside = sp_thread_state.inside;
		sp_thread_state.inside = ctx->frame;
	}
	errno = ctx->saved_errno;
	*proof = sp_proof_now();
}

/* Restores the thread's state after PAPI has returned. */
static __attribute__((noinline)) void after_papi(struct call_ctx *ctx, struct sp_set *called)
{
	if (called)
		sp_records_returned(&called->writer);
	ctx->saved_errno = errno;
	if (ctx->per_call_lookup)
		sp_thread_state.inside = ctx->inside;
	sp_opening_set = ctx->opening;
	sp_thread_state.nests = ctx->nests;
}

/* Selects one call in 1024 to measure sspapi's own time before and after PAPI (`own_pid` in the
 * dump). */
static inline bool is_timing_due(void)
{
	if (SP_LIKELY(sp_thread_state.ticks != 0))
		return false;
	sp_thread_state.ticks = 1024;
	return true;
}

/* The state of a call that the fast path leaves to the slow path. */
struct fast_miss {
	struct sp_stack at;
	uintptr_t frame;
	struct sp_set *called;		/* NULL: PAPI must still be called */
	long long *before_accum;			/* the values that PAPI_accum adds to */
	int rc;
	uint32_t proof;
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
					     .saved_errno = errno }; \
		const struct sp_stack *const at = &fast_miss->at; \
		const uintptr_t frame = call_ctx.frame; \
		__attribute__((unused)) long long *sp_before = fast_miss->before_accum; \
		struct sp_set *called = fast_miss->called; \
		uint32_t proof = fast_miss->proof; \
		type rc = fast_miss->rc; \
		struct sp_timing t = { .is_timed = called && is_timing_due() }; \
		if (!called) { \
			identify_call(&call_ctx); \
			if (!call_ctx.is_program_call || !call_ctx.real->name) \
				return FORWARD(name, args); \
			--sp_thread_state.ticks; \
			t.is_timed = is_timing_due(); \
			if (SP_UNLIKELY(t.is_timed)) \
				sp_timing_begin(&t); \
			before; \
			if (SP_UNLIKELY(t.is_timed)) \
				sp_timing_end(&t); \
			before_papi(&call_ctx, &proof); \
			rc = call_ctx.real->name args; \
			after_papi(&call_ctx, called); \
		} \
		if (SP_UNLIKELY(t.is_timed)) \
			sp_timing_begin(&t); \
		count_call(SP_CALL_##name); \
		/* a call that is here only to be timed is recorded as on the fast path */ \
		if (!(fast_miss->called && t.is_timed && rc == PAPI_OK && ({ \
			      uint32_t site; \
			      struct sp_set *s = sp_fast_lookup(sp_papi_used, called->number, \
							     OP_##name, at, frame, &site); \
			      s == called &&RECORD_##name(at->to); \
		      }))) { \
			after; \
		} \
		sp_fast_enable_if_new(called, EventSet); \
		if (SP_UNLIKELY(t.is_timed)) { \
			sp_timing_end(&t); \
			sp_timing_store(&t); \
		} \
		errno = call_ctx.saved_errno; \
		return rc; \
	}

/* How the fast path records a call that returns to `to`. */
#define OP_PAPI_read SP_OP_READ
#define OP_PAPI_read_ts SP_OP_READ
#define OP_PAPI_reset SP_OP_RESET
#define OP_PAPI_accum SP_OP_ACCUM
#define OP_PAPI_start SP_OP_START
#define OP_PAPI_stop SP_OP_STOP
#define RECORD_PAPI_read(to) sp_fast_read(s, values, proof, site, to)
#define RECORD_PAPI_read_ts(to) sp_fast_read(s, values, proof, site, to)
#define RECORD_PAPI_reset(to) sp_fast_reset(s, proof, site)
#define RECORD_PAPI_accum(to) sp_fast_accum(s, values, sp_before, proof, site)
#define RECORD_PAPI_start(to) sp_fast_start(s, proof, site)
#define RECORD_PAPI_stop(to) sp_fast_stop(s, values, proof, site)

/* The body of a function below: the fast path (fast.h), else slow_##name. If the set or the call
 * site is new, slow_##name makes the whole call (`called` is NULL). If PAPI has returned and the
 * thread may have moved, it only records the call (`called` is the set). again: the arguments
 * for that, with s->number, so that no register keeps the first one. may: whether the set may
 * take the fast path. before, after: statements right before and after PAPI's function.
 * before_accum: the values that PAPI_accum adds to. */
#define FAST(name, args, again, may, before, after, before_accum) \
	uint32_t site; \
	struct sp_set *s = SP_LIKELY(papi != NULL) \
				   ? sp_fast_lookup(papi, EventSet, OP_##name, NULL, 0, &site) \
				   : NULL; \
	if (SP_LIKELY(s != NULL)) { \
		const uint32_t proof = sp_proof_count_losses(); \
		if (SP_LIKELY(may) && SP_LIKELY(sp_records_begin(&s->writer, FRAME, OP_##name))) { \
			before; \
			const int rc = papi->real.name args; \
			/* stop gcc from keeping addresses within *s in memory */ \
			__asm__("" : "+r"(s)); \
			after; \
			sp_records_returned(&s->writer); \
			if (SP_LIKELY(rc == PAPI_OK) && SP_LIKELY(--sp_thread_state.ticks != 0) && \
			    SP_LIKELY(RECORD_##name(CALLER))) { \
				int ok = PAPI_OK; \
				/* stop gcc from keeping rc in a saved register */ \
				__asm__("" : "+r"(ok)); \
				increment_own(&sp_thread_state.calls[SP_CALL_##name]); \
				return ok; \
			} \
			return slow_##name( \
				&(struct fast_miss){ FROM, s, before_accum, rc, proof }, \
				BARE again); \
		} \
	} \
	/* forward the reset that PAPI_accum makes */ \
	if (papi && sp_internal(papi, CALLER) && !sp_thread_state.nests) \
		return papi->real.name args; \
	return slow_##name(&(struct fast_miss){ FROM }, BARE args);

/* Begins a call of any other wrapper and adds the thread to the store. False: only forward the
 * call. */
static SP_COLD bool begin_rare_call(struct call_ctx *ctx, uintptr_t at, uintptr_t frame,
				enum sp_call call, size_t function)
{
	*ctx = (struct call_ctx){ .at = at, .frame = frame };
	identify_call(ctx);
	if (!ctx->is_program_call || !*(void *const *)((const char *)ctx->real + function))
		return false;
	count_call(call);
	return true;
}
#define BEGIN_RARE_CALL(name) \
	begin_rare_call(&call_ctx, CALLER, FRAME, SP_CALL_##name, offsetof(struct sp_real, name))

#define ROW(type, name, params, args, before, after) \
	EXPORT __attribute__((cold)) type name params \
	{ \
		struct call_ctx call_ctx; \
		uint32_t proof; \
		if (!BEGIN_RARE_CALL(name)) \
			return FORWARD(name, args); \
		before; \
		if (!call_ctx.is_program_call)		/* PAPI_library_init checks again */ \
			return FORWARD(name, args); \
		before_papi(&call_ctx, &proof); \
		type rc = call_ctx.real->name args; \
		after_papi(&call_ctx, NULL); \
		after; \
		errno = call_ctx.saved_errno; \
		return rc; \
	}

#define VOID(name, params, args, before, after) \
	EXPORT __attribute__((cold)) void name params \
	{ \
		struct call_ctx call_ctx; \
		uint32_t proof; \
		if (!BEGIN_RARE_CALL(name)) { \
			if (call_ctx.real->name) \
				call_ctx.real->name args; \
			return; \
		} \
		before; \
		before_papi(&call_ctx, &proof); \
		call_ctx.real->name args; \
		after_papi(&call_ctx, NULL); \
		after; \
		errno = call_ctx.saved_errno; \
	}

/* The call site and region of the outermost NESTS row, to which the calls inside belong. */
struct nest {
	uintptr_t nests, outer;
	const char *region;
	uint32_t region_call;
};

static enum sp_site_call region_call(enum sp_call call)
{
	switch (call) {
	case SP_CALL_PAPI_hl_region_begin: return SP_REGION_BEGINS;
	case SP_CALL_PAPI_hl_read: return SP_REGION_READ;
	default: return SP_REGION_ENDS;
	}
}

static SP_COLD struct nest enter_nest(const struct call_ctx *ctx, const char *region,
					enum sp_call call)
{
	struct nest before = { ctx->nests, sp_thread_state.outer, sp_thread_state.region,
			       sp_thread_state.region_call };

	if (!sp_thread_state.nests || !sp_internal(sp_papi_used, ctx->at)) {
		sp_thread_state.outer = ctx->at;
		sp_thread_state.region = NULL;
	}
	if (region) {
		sp_thread_state.region = region;
		sp_thread_state.region_call = region_call(call);
	}
	sp_thread_state.nests = ctx->frame;
	store_relaxed(&sp_thread_state.set, SP_NO_SET);
	errno = ctx->saved_errno;
	return before;
}

static SP_COLD void leave_nest(struct call_ctx *ctx, const struct nest *before)
{
	ctx->saved_errno = errno;
	sp_thread_state.nests = before->nests;
	sp_thread_state.outer = before->outer;
	sp_thread_state.region = before->region;
	sp_thread_state.region_call = before->region_call;
}

#define NESTS(type, name, params, args, ...) \
	EXPORT __attribute__((cold)) type name params \
	{ \
		struct call_ctx call_ctx; \
		if (!BEGIN_RARE_CALL(name)) \
			return FORWARD(name, args); \
		const struct nest before = \
			enter_nest(&call_ctx, (const char *[1]){ __VA_ARGS__ }[0], \
				   SP_CALL_##name); \
		type rc = call_ctx.real->name args; \
		leave_nest(&call_ctx, &before); \
		sp_report_error(#name, rc); \
		errno = call_ctx.saved_errno; \
		return rc; \
	}

/* Declares functions that this papi.h lacks, so that they have a prototype. */
#define OLD(type, name, params, args) type name params; NESTS(type, name, params, args)

#include "../papi/papi.def"

/* ---- HOT functions ---------------------------------------------------- */

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

	/* Forward the reset that each PAPI_accum makes before anything else. */
	if (SP_LIKELY(papi != NULL) && SP_UNLIKELY(CALLER - papi->low < papi->own) &&
	    !sp_thread_state.nests)
		return papi->real.PAPI_reset(EventSet);
	FAST(PAPI_reset, (EventSet), (s->number), true, NONE, NONE, NULL)
}

EXPORT int PAPI_accum(int EventSet, long long *values)
{
	const struct sp_papi *const papi = load_relaxed(&sp_process.papi);
	long long *sp_before = NULL, room[SP_FAST_ACCUM + 1];
	uint32_t k;		/* read once: a handler may add events */

	FAST(PAPI_accum, (EventSet, values), (s->number, values),
	     (k = load_relaxed(&s->writer.k)) <= SP_FAST_ACCUM && sp_is_ready(s, proof),
	     SP_BEFORE_ACCUM(s, k, values, room), NONE, sp_before)
}

EXPORT int PAPI_start(int EventSet)
{
	const struct sp_papi *const papi = load_relaxed(&sp_process.papi);

	FAST(PAPI_start, (EventSet), (s->number),
	     sp_is_prepared(s) && sp_is_ready(s, proof) &&
		     (sp_counting_is_ready(proof) || load_relaxed(&s->writer.placed)),
	     const uintptr_t under = sp_opening_set;
	     sp_fast_before_start(s), sp_opening_set = under, NULL)
}

EXPORT int PAPI_stop(int EventSet, long long *values)
{
	const struct sp_papi *const papi = load_relaxed(&sp_process.papi);

	FAST(PAPI_stop, (EventSet, values), (s->number, values), sp_is_ready(s, proof),
	     values = values ? values : s->room.values, NONE, NULL)
}

/* ---- Fortran ---------------------------------------------------------- */

/* Defines one function and its four spellings for each row of fortran.def: papif_read_,
 * papif_read, papif_read__ and PAPIF_READ. */
#define SPELLING(symbol, name, params) \
	EXPORT __attribute__((cold, alias(#name "_"))) void symbol params;
#define FORTRAN(name, NAME, params, args, ...) \
	EXPORT __attribute__((cold)) void name##_ params; \
	SPELLING(name, name, params) \
	SPELLING(name##__, name, params) \
	SPELLING(NAME, name, params) \
	void name##_ params \
	{ \
		struct call_ctx call_ctx; \
		if (BEGIN_RARE_CALL(name)) { \
			__VA_ARGS__ \
		} else if (call_ctx.real->name) { \
			call_ctx.real->name args; \
		} \
	}

/* libpapi's Fortran function may call the C function; that call is only forwarded. */
#define FROW(name, NAME, params, args, before, after) FORTRAN(name, NAME, params, args, \
		__attribute__((unused)) const struct sp_stack *const at = &SP_CALLED_FROM; \
		__attribute__((unused)) const uintptr_t frame = call_ctx.frame; \
		__attribute__((unused)) long long *sp_before = NULL; \
		struct sp_set *called = NULL; \
		uint32_t proof; \
		before; \
		before_papi(&call_ctx, &proof); \
		call_ctx.real->name args; \
		after_papi(&call_ctx, called); \
		after; \
		errno = call_ctx.saved_errno;)
#define FNESTS(name, NAME, params, args) FORTRAN(name, NAME, params, args, \
		const struct nest before = enter_nest(&call_ctx, NULL, SP_CALLS); \
		call_ctx.real->name args; \
		leave_nest(&call_ctx, &before); \
		errno = call_ctx.saved_errno;)
#include "../papi/fortran.def"
