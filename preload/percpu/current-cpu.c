/* current-cpu.c: asks the kernel on which CPU this thread is, or another; see current-cpu.h. */
#include "../../core/base/run-root.h"
#include "../../core/base/sys.h"
#include "../../core/store/layout.h"
#include "../process/process.h"
#include "current-cpu.h"

__attribute__((cold, noinline)) int sp_cpu_asked(void)
{
	unsigned is = 0;
	uint32_t losses;
	int cpu, was;

	if (sp_self.is_guest)		/* (libc would look into the rseq area) */
		return sp_sys(SYS_getcpu, &is, NULL, NULL) == 0 ? (int)is : SP_NO_CPU;
	if (!sp_self.by_page) {
		sp_add(&sp_self.losses, 1);
		return sched_getcpu();
	}
	/* Again where a handler on top has counted a loss: since then the CPU may be another. */
	do {
		losses = sp_get(&sp_self.losses);
		sp_order();
		cpu = sched_getcpu();
		was = sp_get(&sp_self.cpu);
		sp_put(&sp_self.cpu, cpu);
		sp_order();
		if (was >= 0 && was != cpu)
			sp_add(&sp_self.losses, 1);
	} while (sp_get(&sp_self.losses) != losses);
	return cpu;
}

int sp_cpu_of(int pid, int tid)
{
	struct sp_process_stat s;

	return sp_process_stat(pid, tid, &s) ? s.processor : SP_NO_CPU;
}
