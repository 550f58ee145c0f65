/* real.h: the libpapi that the application uses, and its functions.
 *
 * dlsym(RTLD_NEXT) finds them; in a scope of their own (RTLD_LOCAL) a handle of the caller's object
 * does, or one of libpapi.  The loader is asked once for each libpapi and each object that calls
 * it, and the application's pending dlerror() is kept.  One libpapi is observed.  A second one (two
 * plug-ins with one each) is forwarded to, its own callers told by their object, and noted.
 *
 * Every symbol is looked up by itself: what the real library lacks is NULL here
 * and stays missing.
 */
#ifndef SP_REAL_H
#define SP_REAL_H

#include <papi.h>

#include "../../core/base/base.h"

#ifndef PAPI_VERSION
#error "papi.h without PAPI_VERSION: install libpapi-dev (scripts/deps)"
#endif
#if PAPI_VERSION_MAJOR(PAPI_VERSION) < 7
typedef caddr_t vptr_t;
#endif

struct sp_real {
#define ROW(type, name, params, args, before, after) type (*name) params;
#include "papi.def"
/* in whichever spelling there is */
#define FROW(name, NAME, params, args, before, after) void (*name) params;
#include "fortran.def"
	/* Asked by sspapi itself, never wrapped: functions that change nothing the application
	 * could see.  A reading may raise SIGFPE (rates at 0 cycles), and PAPI_event_name_to_code
	 * shifts the code that the application gets next. */
	int (*PAPI_is_initialized)(void);
	int (*PAPI_num_events)(int);
	int (*PAPI_list_events)(int, int *, int *);
	int (*PAPI_state)(int, int *);
	int (*PAPI_get_overflow_event_index)(int, long long, int *, int *);
	int (*PAPI_event_code_to_name)(int, char *);
	int (*PAPI_get_event_info)(int, PAPI_event_info_t *);
	int (*PAPI_get_event_component)(int);
	int (*PAPI_get_eventset_component)(int);
	const PAPI_component_info_t *(*PAPI_get_component_info)(int);
	int (*PAPI_get_opt)(int, PAPI_option_t *);
};

/* The functions by number, for the dump's `calls`: C, then Fortran. */
enum sp_call {
#define ROW(type, name, params, args, before, after) SP_CALL_##name,
#include "papi.def"
#define FROW(name, NAME, params, args, before, after) SP_CALL_##name,
#include "fortran.def"
	SP_CALLS
};

extern const char *const sp_call_names[SP_CALLS];

/* Is it an address of our own code? */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static inline bool sp_is_ours(uintptr_t code)
{
	return code - (uintptr_t)__ehdr_start < (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

/* A loaded object that defines PAPI_library_init. */
struct sp_papi {
	struct sp_real real;
	uintptr_t base, low, span;	/* of its mapping */
	uintptr_t own;			/* span: a return address inside is libpapi's own call; 0:
					 * the application's, too, whose object has libpapi.a in it
					 * (python-papi's wheel).  Nesting tells them then */
	bool global;			/* there from the start: all calls that come to us are for
					 * it */
	char path[512];
};

/* The one that is observed; NULL before the first call and after it was unloaded. */
extern struct sp_papi *sp_papi_used;

/* The functions for a call that comes from `caller`, when sp_papi_used does not
 * settle it; finds libpapi if need be.  Never NULL; all pointers in it may be.
 * *observed: it is the one whose calls are booked. */
const struct sp_real *sp_real_for(uintptr_t caller, bool *observed);

/* The same, looking anew: something may have been loaded since. */
const struct sp_real *sp_real_search(uintptr_t caller, bool *observed);

/* Is what dlsym found of the libpapi that is observed (or that becomes it now)? */
bool sp_real_is(uintptr_t address);

/* Does this code's object stand between us and the libpapi that is observed, so that we call it?
 * It wraps PAPI. */
bool sp_real_calls(uintptr_t code);

/* Does the scope of the caller's own object, opened with RTLD_LOCAL, have a function of this name,
 * not ours? */
bool sp_real_in_scope(uintptr_t caller, const char *name);

/* Something was unloaded.  True if that was the libpapi observed: it is forgotten. */
bool sp_real_unloaded(void);

/* In a child of fork: locks that other threads may have held are free. */
void sp_real_child(void);

/* More than one libpapi: sp_real_for must be asked at every call. */
extern bool sp_papi_several;

/* Somebody stands in front of us: another library that wraps functions of PAPI, whose path this is,
 * or an auditor that sees calls return (LD_AUDIT).  Then libpapi's calls to itself return there,
 * too, as the application's do (sp_real_in_front), and are told by being made inside another one.
 * So they are where the application's object has libpapi.a in it, whose path this is then.  NULL:
 * nobody. */
extern const char *sp_papi_front;
bool sp_real_in_front(uintptr_t caller);

#endif
