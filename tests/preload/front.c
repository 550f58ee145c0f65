/*
 * front: somebody else's preload, before ours, that stands in front of what PAPI calls for itself
 * and does not ask who calls. As a profiler's wrapper.
 */
#include "behind.h"

/* Not a jump: that would return to who called us. */
#ifdef __clang__
#define CALLS __attribute__((disable_tail_calls))
#else
#define CALLS __attribute__((optimize("no-optimize-sibling-calls")))
#endif

#define CALL(name, params, args) CALLS BEHIND(name, params, args, (void)0, __asm__ volatile(""))

CALL(PAPI_start, (int set), (set))
CALL(PAPI_stop, (int set, long long *values), (set, values))
CALL(PAPI_read, (int set, long long *values), (set, values))
CALL(PAPI_accum, (int set, long long *values), (set, values))
CALL(PAPI_reset, (int set), (set))
CALL(PAPI_create_eventset, (int *set), (set))
CALL(PAPI_add_event, (int set, int code), (set, code))
CALL(PAPI_add_named_event, (int set, const char *name), (set, name))
CALL(PAPI_cleanup_eventset, (int set), (set))
CALL(PAPI_destroy_eventset, (int *set), (set))
