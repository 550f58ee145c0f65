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

#include "../../core/sys.h"
#include "../book/hooks.h"
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
#define NONE (void)0

/* Declares `real`, the functions to forward to, and `tell`, whether to say so. */
#define ENTER \
	struct sp_papi *const sp_papi = sp_get(&sp_process.papi); \
	const struct sp_real *real; \
	bool tell; \
	if (SP_LIKELY(sp_papi != NULL)) { \
		real = &sp_papi->real; \
		tell = SP_LIKELY(!sp_internal(sp_papi, CALLER)) || sp_self.nests; \
	} else { \
		bool observed = false;	/* not `tell` itself, which would be kept in memory for it */ \
		real = sp_enter(CALLER, &observed); \
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
		sp_put(&sp_self.calls[call], sp_self.calls[call] + 1);
	else
		count_first(call);
}

/* One call in 1024 is timed, for the dump's `self`: our part of it, so once from
 * the real function's return to ours, plus what stands before it. */
SP_HOT_INLINE bool timed(void)
{
	return SP_UNLIKELY((++sp_self.tick & 1023) == 0);
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

#define HOT(type, name, params, args, before, after) \
	EXPORT type name params \
	{ \
		ENTER \
		if (SP_UNLIKELY(!tell || !real->name)) \
			return real->name ? real->name args : PAPI_ENOSUPP; \
		struct sp_set *asks; \
		before; \
		const bool nests = sp_self.nests; \
		if (SP_UNLIKELY(nests)) \
			sp_self.nests = false; \
		OVER \
		const uint32_t open = sp_proof_look(); \
		type rc = real->name args; \
		sp_answers(asks); \
		UP \
		if (SP_UNLIKELY(nests)) \
			sp_self.nests = true; \
		if (timed()) { \
			uint64_t t = clock_now(); \
			count(SP_CALL_##name); \
			after; \
			add_time(t, clock_now()); \
		} else { \
			count(SP_CALL_##name); \
			after; \
		} \
		if (SP_UNLIKELY(!asks)) \
			sp_visited(); \
		return rc; \
	}

/* Wrappers of the rest: errno as PAPI (before: as the application) left it, the
 * calling thread known to the store. */
#define ROW(type, name, params, args, before, after) \
	EXPORT type name params \
	{ \
		ENTER \
		if (!tell || !real->name) \
			return real->name ? real->name args : PAPI_ENOSUPP; \
		const int errno_before = errno; \
		const bool nests = sp_self.nests; \
		struct sp_opened *const opening = sp_opening; \
		sp_self_ready(); \
		count(SP_CALL_##name); \
		before; \
		if (!tell || !real->name) \
			return real->name ? real->name args : PAPI_ENOSUPP; \
		sp_self.nests = false; \
		OVER \
		errno = errno_before; \
		__attribute__((unused)) const uint32_t open = sp_proof_look(); \
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
		ENTER \
		if (!real->name) \
			return; \
		const int errno_before = errno; \
		if (tell) { \
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
	bool nests;
	uintptr_t outer;
	const char *region;
};

static struct nest nest_in(bool nested, uintptr_t caller, const char *region)
{
	struct nest before = { sp_self.nests, sp_self.outer, sp_self.region };

	if (!sp_self.nests || !sp_internal(sp_papi_used, caller)) {
		sp_self.outer = caller;
		sp_self.region = NULL;
	}
	if (region)
		sp_self.region = region;
	sp_self.nests = nested;
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
		ENTER \
		if (!tell || !real->name) \
			return real->name ? real->name args : PAPI_ENOSUPP; \
		const int errno_before = errno; \
		sp_self_ready(); \
		count(SP_CALL_##name); \
		errno = errno_before; \
		const struct nest before = nest_in(true, CALLER, (const char *[1]){ __VA_ARGS__ }[0]); \
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
		ENTER \
		if (!tell || !real->symbol) { \
			if (real->symbol) \
				real->symbol args; \
			return; \
		} \
		const int errno_before = errno; \
		sp_self_ready(); \
		count(call); \
		__attribute__((unused)) struct sp_set *asks = NULL; \
		struct sp_opened *const opening = sp_opening; \
		before; \
		const struct nest nest = nest_in(nested, CALLER, NULL); \
		OVER \
		errno = errno_before; \
		__attribute__((unused)) const uint32_t open = sp_proof_look(); \
		real->symbol args; \
		sp_answers(asks); \
		const int errno_after = errno; \
		UP \
		sp_opening = opening; \
		nest_out(&nest); \
		after; \
		if (!asks) \
			sp_visited(); \
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
