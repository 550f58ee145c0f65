/* current-cpu.c: queries the kernel for a thread's CPU; see current-cpu.h. */
#include "../../core/base/run-root.h"
#include "../../core/base/sys.h"
#include "../../core/store/layout.h"
#include "../process/process.h"
#include "current-cpu.h"

__attribute__((cold, noinline)) int sp_cpu_query(void)
{
	unsigned kernel_cpu = 0;
	uint32_t losses;
	int cpu, prev;

	if (sp_thread_state.shares_tls)	/* libc would read the other thread's rseq area */
		return sp_sys(SYS_getcpu, &kernel_cpu, NULL, NULL) == 0 ? (int)kernel_cpu
									: SP_NO_CPU;
	if (!sp_thread_state.by_page) {
		sp_add(&sp_thread_state.losses, 1);
		return sched_getcpu();
	}
	/* Repeat if a nested call has counted a loss: the CPU may have changed since. */
	do {
		losses = load_relaxed(&sp_thread_state.losses);
		sp_order();
		cpu = sched_getcpu();
		prev = load_relaxed(&sp_thread_state.cpu);
		store_relaxed(&sp_thread_state.cpu, cpu);
		sp_order();
		if (prev >= 0 && prev != cpu)
			sp_add(&sp_thread_state.losses, 1);
	} while (load_relaxed(&sp_thread_state.losses) != losses);
	return cpu;
}

int sp_cpu_of(int pid, int tid)
{
	struct sp_process_stat s;

	return sp_process_stat(pid, tid, &s) ? s.processor : SP_NO_CPU;
}
