/* wrap.c: papi.def and fortran.def, expanded: the functions that applications call.
 *
 * Every wrapper does the same: find the real function, forward exactly, then tell
 * hooks.h, unless libpapi is calling itself.  No policy here.
 *
 * Where the real libpapi lacks the function (a weak reference that is not NULL
 * because of us), int functions return PAPI_ENOSUPP, others nothing.
 */
#include <errno.h>
#include <time.h>

#include "../../core/lock.h"
#include "../../core/sys.h"
#include "../book/fast.h"
#include "real.h"

/* ---- the types are PAPI's --------------------------------------------- */

#define SAME(name, type, params) \
	type name params; \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&name), type (*) params), #name " differs from papi.h");
#define ROW(type, name, params, args, before, after) SAME(name, type, params)
#define HOT ROW
#define VOID(name, params, args, before, after) SAME(name, void, params)
#define NESTS(type, name, params, args, ...) SAME(name, type, params)
#define OLD(type, name, params, args)
#include "papi.def"
#undef ROW
#undef HOT
#undef VOID
#undef NESTS
#undef OLD

/* ---- the wrappers ----------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))
#define FRAME ((uintptr_t)__builtin_frame_address(0))
#define NONE (void)0

/* Declares `real`, the functions to forward to, and `tell`, whether to say so. */
#define ENTER(caller) \
	struct sp_papi *const sp_papi = sp_get(&sp_process.papi); \
	const struct sp_real *real; \
	bool tell; \
	if (SP_LIKELY(sp_papi != NULL)) { \
		real = &sp_papi->real; \
		tell = SP_LIKELY(!sp_internal(sp_papi, caller)) || sp_self.nests; \
	} else { \
		bool observed = false;	/* not `tell` itself, which would be kept in memory for it */ \
		real = sp_enter(caller, &observed); \
		tell = observed; \
	}

/* Around a real call, where each call asks anew: what is called on top of it may be libpapi's own
 * (sp_papi_front).  1: there was none around it. */
#define OVER \
	uintptr_t sp_over = 0; \
	if (SP_UNLIKELY(!sp_papi)) { \
		sp_over = sp_self.inside | 1; \
		sp_self.inside = (uintptr_t)__builtin_frame_address(0); \
	}
#define UP \
	if (SP_UNLIKELY(sp_over != 0)) \
		sp_self.inside = sp_over & ~(uintptr_t)1;

/* A handler that jumps out of a NESTS row leaves it behind: the program then calls from a frame that is not below it. (Where
 * somebody stands in front of us, libpapi's own calls look like the program's.) */
static SP_COLD uintptr_t nests_still(uintptr_t caller, uintptr_t frame)
{
	if (!sp_papi_front && !sp_internal(sp_papi_used, caller) && !sp_interrupted(sp_self.nests, frame))
		sp_self.nests = 0;
	return sp_self.nests;
}

SP_HOT_INLINE uintptr_t nests_now(uintptr_t caller, uintptr_t frame)
{
	return SP_LIKELY(!sp_self.nests) ? 0 : nests_still(caller, frame);
}

/* The first of a thread that has no set of its own: one that watches another's. */
static SP_COLD void count_first(enum sp_call call)
{
	int saved = errno;

	if (sp_self_ready())
		sp_put(&sp_self.calls[call], sp_self.calls[call] + 1);
	errno = saved;
}

SP_HOT_INLINE void count(enum sp_call call)
{
	if (SP_LIKELY(sp_self.calls != NULL && sp_self.generation == sp_process.generation))
		sp_bump(&sp_self.calls[call]);
	else
		count_first(call);
}

/* One call in 1024 is timed, for the dump's `self`: our part of it, so once from
 * the real function's return to ours, plus what stands before it. */
SP_HOT_INLINE bool timed(void)
{
	if (SP_LIKELY(sp_self.ticks != 0))
		return false;
	sp_self.ticks = 1024;
	return true;
}

static SP_COLD uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What two looks at the clock take by themselves is not our cost: taken off, as
 * two more looks right now have it. */
static SP_COLD void add_time(uint64_t before, uint64_t after)
{
	uint64_t clock = clock_now(), took = after - before;

	clock = clock_now() - clock;
	if (sp_store.header) {
		sp_add(&sp_store.header->self_ns, took > clock ? took - clock : 0);
		sp_add(&sp_store.header->self_calls, 1);
	}
}

/* How a call came to the slow path. */
struct way {
	uintptr_t at, frame;		/* to where it returns; the wrapper's */
	const struct sp_real *real;
	const struct sp_papi *sp_papi;	/* NULL: each call asks which libpapi */
	struct sp_set *called;		/* the call began on the fast path, and PAPI has returned; else NULL */
	long long *had;			/* what PAPI_accum is to add to */
	int rc;
	uint32_t open;
};

/* A call that comes from where the one before came takes the fast path (fast.h). */
#define BARE(...) __VA_ARGS__
#define HOT(type, name, params, args, before, after) \
	static __attribute__((noinline)) type slow_##name(const struct way *way, BARE params) \
	{ \
		const uintptr_t at = way->at; \
		const uintptr_t frame = way->frame; \
		__attribute__((unused)) long long *sp_before = way->had; \
		struct sp_set *called = way->called; \
		uint32_t open = way->open; \
		type rc = way->rc; \
		if (!called) { \
			const struct sp_real *const real = way->real; \
			const struct sp_papi *const sp_papi = way->sp_papi; \
			struct sp_opened *const under = sp_opening; \
			before; \
			const uintptr_t nests = nests_now(at, frame); \
			if (SP_UNLIKELY(nests)) \
				sp_self.nests = 0; \
			OVER \
			open = sp_proof_now(); \
			rc = real->name args; \
			sp_call_returned(called); \
			UP \
			if (SP_UNLIKELY(nests)) \
				sp_self.nests = nests; \
			sp_opening = under; \
			--sp_self.ticks; \
		} \
		const bool is_timed = timed(); \
		const uint64_t since = SP_UNLIKELY(is_timed) ? clock_now() : 0; \
		count(SP_CALL_##name); \
		after; \
		sp_fast_learn(called, EventSet); \
		if (SP_UNLIKELY(is_timed)) \
			add_time(since, clock_now()); \
		if (SP_UNLIKELY(!called)) \
			sp_visited(frame); \
		return rc; \
	} \
	EXPORT type name params \
	{ \
		FAST_##name \
		ENTER(CALLER) \
		if (SP_UNLIKELY(!tell || !real->name)) \
			return real->name ? real->name args : PAPI_ENOSUPP; \
		return slow_##name(&(struct way){ .at = CALLER, .frame = FRAME, .real = real, .sp_papi = sp_papi }, BARE args); \
	}

/* again: the arguments, of which the first need not be kept.  may: may the set?  before: what comes right before PAPI is
 * called.  book: was it booked? */
#define FAST(name, args, again, op, may, before, book) \
	uint32_t site; \
	const struct sp_papi *const papi = sp_get(&sp_process.papi); \
	struct sp_set *const s = SP_LIKELY(papi != NULL) ? sp_fast_set(EventSet, op, CALLER, &site) : NULL; \
	if (SP_LIKELY(s != NULL)) { \
		const uint32_t open = sp_proof_at(sp_self.area); \
		if (SP_LIKELY(may) && SP_LIKELY(sp_ledger_begin_call_at(&s->writer, FRAME | op))) { \
			before; \
			const int rc = papi->real.name args; \
			UNDER_##name; \
			sp_ledger_call_returned(&s->writer); \
			if (SP_LIKELY(rc == PAPI_OK) && SP_LIKELY(--sp_self.ticks != 0) && SP_LIKELY(book)) { \
				int ok = PAPI_OK; \
				__asm__("" : "+r"(ok));		/* else gcc keeps rc for it, in a register to be saved */ \
				sp_bump(&sp_self.calls[SP_CALL_##name]); \
				return ok; \
			} \
			return slow_##name(&(struct way){ CALLER, FRAME, NULL, NULL, s, sp_before, rc, open }, BARE again); \
		} \
	}
#define UNDER_PAPI_read NONE
#define UNDER_PAPI_read_ts NONE
#define UNDER_PAPI_reset NONE
#define UNDER_PAPI_accum NONE
#define UNDER_PAPI_stop NONE
#define UNDER_PAPI_start sp_opening = under
#define FAST_PAPI_read \
	long long *const sp_before = NULL; \
	FAST(PAPI_read, (EventSet, values), (s->number, values), SP_OP_READ, true, NONE, sp_fast_read(s, values, open, site, CALLER))
#define FAST_PAPI_read_ts \
	long long *const sp_before = NULL; \
	FAST(PAPI_read_ts, (EventSet, values, cyc), (s->number, values, cyc), SP_OP_READ, true, NONE, sp_fast_read(s, values, open, site, CALLER))
#define FAST_PAPI_reset \
	long long *const sp_before = NULL; \
	FAST(PAPI_reset, (EventSet), (s->number), SP_OP_RESET, true, NONE, sp_fast_reset(s, open, site))
#define FAST_PAPI_accum \
	long long *sp_before = NULL, room[SP_FAST_ACCUM + 1]; \
	uint32_t k;		/* one look: a handler may give the set more events than there is room for */ \
	FAST(PAPI_accum, (EventSet, values), (s->number, values), SP_OP_ACCUM, \
	      (k = sp_get(&s->writer.k)) <= SP_FAST_ACCUM && sp_fast_is_ready(s, open), SP_BEFORE_ACCUM(s, k, values, room), \
	      sp_fast_accum(s, values, sp_before, open, site))
#define FAST_PAPI_start \
	long long *const sp_before = NULL; \
	FAST(PAPI_start, (EventSet), (s->number), SP_OP_START, sp_fast_may_start(s, open), struct sp_opened *const under = sp_opening; sp_fast_starts(s), \
	      sp_fast_start(s, open, site))
#define FAST_PAPI_stop \
	long long *const sp_before = NULL; \
	FAST(PAPI_stop, (EventSet, values), (s->number, values), SP_OP_STOP, values && sp_fast_is_ready(s, open), NONE, sp_fast_stop(s, values, open, site))

/* Wrappers of the rest: errno as PAPI (before: as the application) left it, the
 * calling thread known to the store. */
#define ROW(type, name, params, args, before, after) \
	EXPORT type name params \
	{ \
		ENTER(CALLER) \
		if (!tell || !real->name) \
			return real->name ? real->name args : PAPI_ENOSUPP; \
		const int errno_before = errno; \
		const uintptr_t nests = nests_now(CALLER, FRAME); \
		struct sp_opened *const opening = sp_opening; \
		sp_self_ready(); \
		count(SP_CALL_##name); \
		before; \
		if (!tell || !real->name) \
			return real->name ? real->name args : PAPI_ENOSUPP; \
		sp_self.nests = 0; \
		OVER \
		errno = errno_before; \
		__attribute__((unused)) const uint32_t open = sp_proof_now(); \
		type rc = real->name args; \
		const int errno_after = errno; \
		UP \
		sp_opening = opening; \
		sp_self.nests = nests; \
		after; \
		errno = errno_after; \
		return rc; \
	}

#define VOID(name, params, args, before, after) \
	EXPORT void name params \
	{ \
		ENTER(CALLER) \
		if (!real->name) \
			return; \
		const int errno_before = errno; \
		if (tell) { \
			(void)nests_now(CALLER, FRAME); \
			sp_self_ready(); \
			count(SP_CALL_##name); \
			before; \
		} \
		OVER \
		errno = errno_before; \
		real->name args; \
		const int errno_after = errno; \
		UP \
		if (tell) { \
			after; \
		} \
		errno = errno_after; \
	}

/* What the calls inside are called for: where the outermost was called, and the region
 * that it was given. */
struct nest {
	uintptr_t nests, outer;
	const char *region;
};

static struct nest nest_in(bool nested, uintptr_t caller, uintptr_t frame, const char *region)
{
	struct nest before = { nests_now(caller, frame), sp_self.outer, sp_self.region };

	if (!sp_self.nests || !sp_internal(sp_papi_used, caller)) {
		sp_self.outer = caller;
		sp_self.region = NULL;
	}
	if (region)
		sp_self.region = region;
	sp_self.nests = nested ? frame : 0;
	sp_put(&sp_self.set, NULL);
	return before;
}

static void nest_out(const struct nest *before)
{
	sp_self.nests = before->nests;
	sp_self.outer = before->outer;
	sp_self.region = before->region;
}

#define NESTS(type, name, params, args, ...) \
	EXPORT type name params \
	{ \
		ENTER(CALLER) \
		if (!tell || !real->name) \
			return real->name ? real->name args : PAPI_ENOSUPP; \
		const int errno_before = errno; \
		sp_self_ready(); \
		count(SP_CALL_##name); \
		errno = errno_before; \
		const struct nest before = nest_in(true, CALLER, FRAME, (const char *[1]){ __VA_ARGS__ }[0]); \
		type rc = real->name args; \
		nest_out(&before); \
		const int errno_after = errno; \
		sp_tells(#name, rc); \
		errno = errno_after; \
		return rc; \
	}

/* Not in this papi.h: declared here, so that they have a prototype. */
#define OLD(type, name, params, args) type name params; NESTS(type, name, params, args)

#include "papi.def"
#undef NESTS

/* ---- Fortran ---------------------------------------------------------- */

/* The nested C call, if there is one, comes from libpapi: ignored. */
#define FORTRAN(symbol, call, params, args, nested, before, after) \
	EXPORT void symbol params; \
	EXPORT void symbol params \
	{ \
		ENTER(CALLER) \
		if (!tell || !real->symbol) { \
			if (real->symbol) \
				real->symbol args; \
			return; \
		} \
		const int errno_before = errno; \
		sp_self_ready(); \
		count(call); \
		__attribute__((unused)) struct sp_set *called = NULL; \
		__attribute__((unused)) const uintptr_t at = CALLER, frame = (uintptr_t)__builtin_frame_address(0); \
		__attribute__((unused)) long long *sp_before = NULL; \
		struct sp_opened *const opening = sp_opening; \
		before; \
		const struct nest nest = nest_in(nested, CALLER, frame, NULL); \
		OVER \
		errno = errno_before; \
		__attribute__((unused)) const uint32_t open = sp_proof_now(); \
		real->symbol args; \
		sp_call_returned(called); \
		const int errno_after = errno; \
		UP \
		sp_opening = opening; \
		nest_out(&nest); \
		after; \
		if (!called) \
			sp_visited(frame); \
		errno = errno_after; \
	}

#define FROW(name, NAME, params, args, before, after) \
	FORTRAN(papif_##name, SP_CALL_papif_##name, params, args, false, before, after) \
	FORTRAN(papif_##name##_, SP_CALL_papif_##name, params, args, false, before, after) \
	FORTRAN(papif_##name##__, SP_CALL_papif_##name, params, args, false, before, after) \
	FORTRAN(PAPIF_##NAME, SP_CALL_papif_##name, params, args, false, before, after)
#define FNESTS(name, NAME, params, args) \
	FORTRAN(papif_##name, SP_CALL_papif_##name, params, args, true, NONE, NONE) \
	FORTRAN(papif_##name##_, SP_CALL_papif_##name, params, args, true, NONE, NONE) \
	FORTRAN(papif_##name##__, SP_CALL_papif_##name, params, args, true, NONE, NONE) \
	FORTRAN(PAPIF_##NAME, SP_CALL_papif_##name, params, args, true, NONE, NONE)
#include "fortran.def"
