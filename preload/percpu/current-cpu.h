/* current-cpu.h: finds the CPU of a reading: the one on which the target runs or last ran. */
#ifndef SP_CURRENT_CPU_H
#define SP_CURRENT_CPU_H

#include <sched.h>
#include <stdint.h>

#include "../../core/base/rseq.h"
#include "../process/process.h"

/* Queries the CPU by a system call or the vDSO. Needed without rseq, and for guests, whose rseq
 * area is another thread's. Counts a loss, so that earlier reads prove nothing (rseq-proof.h),
 * except by a page on that CPU. */
int sp_cpu_query(void);

/* The calling thread's CPU. The kernel keeps it in the thread's rseq area, which glibc 2.35 and
 * later registers: one load. */
static inline int sp_cpu_here(void)
{
#ifdef SP_HAVE_RSEQ
	int cpu = (int)load_relaxed(&sp_rseq_area()->cpu_id);

	if (SP_LIKELY(load_relaxed(&sp_process.proof_works) && cpu >= 0 &&
		      !sp_thread_state.shares_tls))
		return cpu;
#endif
	return sp_cpu_query();
}

/* The CPU on which another thread last ran, of this process (pid 0) or of another; SP_NO_CPU if it
 * has ended. Takes 10 us. */
int sp_cpu_of(int pid, int tid);

#endif
