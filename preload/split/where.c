/* where.c: asks the kernel on which CPU this thread is, or another; see where.h. */
#include "../../core/base/lineage.h"
#include "../../core/base/sys.h"
#include "../../core/store/format.h"
#include "../process/process.h"
#include "where.h"
#include "witness.h"

__attribute__((cold, noinline)) int sp_cpu_asked(void)
{
	unsigned is = 0;
	int cpu;

	if (sp_self.is_guest)		/* (libc would look into the rseq area) */
		return sp_sys(SYS_getcpu, &is, NULL, NULL) == 0 ? (int)is : SP_NO_CPU;
	cpu = sched_getcpu();
	if (!sp_witness_is_on(cpu))
		sp_add(&sp_self.losses, 1);
	return cpu;
}

int sp_cpu_of(int pid, int tid)
{
	struct sp_process_stat s;

	return sp_process_stat(pid, tid, &s) ? s.processor : SP_NO_CPU;
}
