/* perf.h: opens perf events. */
#pragma once

#include <linux/perf_event.h>

#include "sys.h"

/* An event that is off, of user mode only, as everybody may count it. */
static inline struct perf_event_attr sp_perf_event(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){ .type = type,
					 .size = sizeof(struct perf_event_attr),
					 .config = config,
					 .disabled = 1,
					 .exclude_kernel = 1,
					 .exclude_hv = 1 };
}

/* The descriptor, closed by exec; -errno. tid 0: the calling thread; flags: PERF_FLAG_PID_CGROUP
 * (tid is the group's descriptor), or 0. */
static inline int sp_perf_open(const struct perf_event_attr *attr, int tid, int cpu, int leader,
			       unsigned long flags)
{
	return (int)sp_sys(SYS_perf_event_open, attr, tid, cpu, leader,
			   flags | PERF_FLAG_FD_CLOEXEC);
}
