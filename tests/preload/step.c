/*
 * step: stands behind libsspapi, in front of libpapi, and sets the trap flag (SIGTRAP after each
 * instruction) when tests/scenes/races says so: before libpapi is called, or when it has answered.
 */
#include "behind.h"

#include <stdint.h>
#include <stdlib.h>

int step_when;			/* 1: before the call; 2: when it has answered; then 0 */
uintptr_t step_frame;		/* of who answers */

static void trap_from_here(int when)
{
	if (step_when != when)
		return;
	step_when = 0;
#if defined(__x86_64__)
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea "
			 "128(%%rsp), %%rsp" ::
				 : "cc", "memory");
#else
	exit(77);
#endif
}

static inline __attribute__((always_inline)) void before(void)
{
	if (step_when)
		step_frame = (uintptr_t)__builtin_frame_address(0);
	trap_from_here(1);
}

#define STEPPED(name, params, args) BEHIND(name, params, args, before(), trap_from_here(2))

STEPPED(PAPI_start, (int set), (set))
STEPPED(PAPI_stop, (int set, long long *values), (set, values))
STEPPED(PAPI_read, (int set, long long *values), (set, values))
STEPPED(PAPI_accum, (int set, long long *values), (set, values))
STEPPED(PAPI_reset, (int set), (set))
