/* perf.h: opens perf events. */
#pragma once

#include <linux/perf_event.h>

#include "sys.h"

/* A disabled event that counts user mode only, which needs no privileges. */
static inline struct perf_event_attr sp_perf_event(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){ .type = type,
					 .size = sizeof(struct perf_event_attr),
					 .config = config,
					 .disabled = 1,
					 .exclude_kernel = 1,
					 .exclude_hv = 1 };
}

/* Returns a close-on-exec descriptor or -errno. tid 0 is the calling thread; flags is 0 or
 * PERF_FLAG_PID_CGROUP, for which tid is the cgroup's descriptor. */
static inline int sp_perf_open(const struct perf_event_attr *attr, int tid, int cpu, int leader,
			       unsigned long flags)
{
	return (int)sp_sys(SYS_perf_event_open, attr, tid, cpu, leader,
			   flags | PERF_FLAG_FD_CLOEXEC);
}
