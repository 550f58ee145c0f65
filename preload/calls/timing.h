/* timing.h: measures sspapi's own time before and after PAPI in a call (`own_pid` in the dump). */
#ifndef SP_TIMING_H
#define SP_TIMING_H

#include "../../core/base/base.h"

struct sp_timing {
	bool is_timed, was_preempted;	/* preempted: includes other threads' time */
	uint32_t proof;
	uint64_t since, took, prepared;
};

SP_COLD void sp_timing_begin(struct sp_timing *t);
SP_COLD void sp_timing_end(struct sp_timing *t);
SP_COLD void sp_timing_store(const struct sp_timing *t);

#endif
