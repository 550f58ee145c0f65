/*
 * calls.h: plain PAPI calls that also enter what they returned (handed.h); inlined, so that each
 * call site is the caller's.
 */
#ifndef CALLS_H
#define CALLS_H

#include "handed.h"

#define IN_CALLER static inline __attribute__((always_inline)) void

IN_CALLER begin(struct counted *c)
{
	must("PAPI_start", PAPI_start(c->id));
	zeroed(c);
}

IN_CALLER look(struct counted *c)
{
	long long values[EVENTS];

	must("PAPI_read", PAPI_read(c->id, values));
	handed(c, "PAPI_read", values);
}

IN_CALLER end(struct counted *c)
{
	long long values[EVENTS];

	must("PAPI_stop", PAPI_stop(c->id, values));
	handed(c, "PAPI_stop", values);
}

#endif
