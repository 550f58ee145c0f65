/*
 * meet: stands behind libsspapi, in front of libpapi, and calls what tests/scenes/visits asks for
 * once: before libpapi is called, or when it has answered.
 */
#include "behind.h"

#include <stddef.h>

void (*meet_before)(void), (*meet_after)(void);

static void meet(void (**what)(void))
{
	void (*once)(void) = *what;

	*what = NULL;
	if (once)
		once();
}

#define MET(name, params, args) BEHIND(name, params, args, meet(&meet_before), meet(&meet_after))

MET(PAPI_stop, (int set, long long *values), (set, values))
MET(PAPI_accum, (int set, long long *values), (set, values))
MET(PAPI_reset, (int set), (set))
MET(PAPI_write, (int set, long long *values), (set, values))
MET(PAPI_read_ts, (int set, long long *values, long long *cycles), (set, values, cycles))
