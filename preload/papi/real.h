/* real.h: finds the libpapi that the application uses, and its functions.
 *
 * dlsym(RTLD_NEXT) finds the functions; if libpapi is loaded with RTLD_LOCAL, a handle of the
 * caller's object or of libpapi does. The loader is queried once per libpapi and calling object,
 * and the application's pending dlerror() is preserved. One libpapi is observed. Calls for a second
 * one (two plug-ins with one each) are forwarded according to the calling object, and noted.
 *
 * Each symbol is resolved separately: a function that the real library lacks is NULL.
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
/* in the spelling that libpapi exports */
#define FROW(name, NAME, params, args, before, after) void (*name) params;
#include "fortran.def"
	/* Functions that sspapi calls itself and does not wrap; they have no effect that the
	 * application could see. Others do: a reading may raise SIGFPE (rates at 0 cycles), and
	 * PAPI_event_name_to_code changes the code that the application gets next. */
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

/* Numbers of the functions in the dump's `calls`: C, then Fortran. */
enum sp_call {
#define ROW(type, name, params, args, before, after) SP_CALL_##name,
#include "papi.def"
#define FROW(name, NAME, params, args, before, after) SP_CALL_##name,
#include "fortran.def"
	SP_CALLS
};

extern const char *const sp_call_names[SP_CALLS];

/* Returns whether the address is in libsspapi's code. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static inline bool sp_is_own_code(uintptr_t code)
{
	return code - (uintptr_t)__ehdr_start < (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

/* A loaded object that defines PAPI_library_init. */
struct sp_papi {
	struct sp_real real;
	uintptr_t base, low, span;	/* of its mapping */
	/* span in which a return address marks a call of libpapi's own. 0: the object also contains
	 * the application's calls (libpapi.a in python-papi's wheel); then nested calls are
	 * libpapi's */
	uintptr_t own;
	bool global;			/* loaded at the start: all calls are for it */
	char path[512];
};

/* The observed libpapi; NULL before the first call and after it was unloaded. */
extern struct sp_papi *sp_papi_used;

/* The functions for a call from `caller`; finds libpapi if necessary. Needed if sp_papi_used alone
 * does not determine them. Never NULL, but its pointers may be. *observed: it is the observed
 * libpapi. */
const struct sp_real *sp_real_for(uintptr_t caller, bool *observed);

/* The same after a new search, since objects may have been loaded. */
const struct sp_real *sp_real_search(uintptr_t caller, bool *observed);

/* Returns whether the address is a function of the observed libpapi, or of one that becomes it
 * now. */
bool sp_real_is_observed(uintptr_t address);

/* Returns whether the object of this code wraps PAPI between sspapi and the observed libpapi. */
bool sp_real_calls(uintptr_t code);

/* Returns whether the caller's object, opened with RTLD_LOCAL, has in its scope a function of this
 * name other than sspapi's. */
bool sp_real_in_scope(uintptr_t caller, const char *name);

/* Handle an unloaded object; true if it was the observed libpapi, which is then forgotten. */
bool sp_real_unloaded(void);

/* Reset the locks in a child of fork, since other threads may have had them. */
void sp_real_child(void);

/* There are several libpapis: call sp_real_for for every call. */
extern bool sp_papi_several;

/* The path of an object to which also libpapi's own calls return (sp_real_in_front), so that only
 * nesting identifies them. It is a library before sspapi that wraps PAPI functions, the
 * application's object if it contains libpapi.a, or with LD_AUDIT the auditors. NULL: no such
 * object. */
extern const char *sp_papi_front;
bool sp_real_in_front(uintptr_t caller);

#endif
