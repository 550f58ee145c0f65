/* timing.h: what a call costs, for the dump's `own_pid`: our part of it, before PAPI is called and
 * after it. */
#ifndef SP_TIMING_H
#define SP_TIMING_H

#include "../../core/base/base.h"

struct sp_timing {
	bool is_timed, was_preempted;	/* the call is timed; the thread was preempted: other
					 * threads' time is not our cost */
	uint32_t proof;
	uint64_t since, took, prepared;
};

SP_COLD void sp_timing_begin(struct sp_timing *t);
SP_COLD void sp_timing_end(struct sp_timing *t);
SP_COLD void sp_timing_store(const struct sp_timing *t);

#endif
