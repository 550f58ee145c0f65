/*
 * regions.h: helpers for programs that cases compile: touch pages, and make calls that are neither
 * tail calls nor inlined.
 */
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#define HERE __attribute__((noinline))
#define END(r) __asm__ volatile("" : "+r"(r))
static volatile char arena[4096 * 20000];
static int at = 2;
static inline void touch(int pages)
{
	while (pages-- > 0)
		arena[++at * 4096] = 1;
}
static inline int up(int *set)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);	/* otherwise one fault may be of 512 pages */
	PAPI_library_init(PAPI_VER_CURRENT);
	*set = PAPI_NULL;
	PAPI_create_eventset(set);
	return PAPI_add_named_event(*set, "perf::PAGE-FAULTS") != PAPI_OK;
}
