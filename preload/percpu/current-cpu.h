/* current-cpu.h: the CPU that a reading belongs to: where the counted thread runs, or last ran. */
#ifndef SP_CURRENT_CPU_H
#define SP_CURRENT_CPU_H

#include <sched.h>
#include <stdint.h>

#include "../../core/base/rseq.h"
#include "../process/process.h"

/* Where rseq proves nothing, or the thread has no rseq area (of a guest it is another thread's):
 * one system call, or a call of the vDSO.  Nothing that was read before is proven (rseq-proof.h),
 * except by a page on that CPU. */
int sp_cpu_query(void);

/* The CPU that the calling thread runs on.  The kernel keeps it up to date in the
 * thread's rseq area, which glibc 2.35 and later registers: one load. */
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

/* The CPU on which another thread last ran, of this process (pid 0) or of
 * another; SP_NO_CPU if it has ended.  Reads /proc: about 10 us. */
int sp_cpu_of(int pid, int tid);

#endif
