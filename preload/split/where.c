/* where.c: see where.h. */
#include "../../core/store/format.h"
#include "../../core/lineage.h"
#include "../life/process.h"
#include "where.h"

__attribute__((cold, noinline)) int sp_cpu_asked(void)
{
	sp_self.losses++;
	return sched_getcpu();
}

int sp_cpu_of(int pid, int tid)
{
	struct sp_process_stat s;

	return sp_process_stat(pid, tid, &s) ? s.processor : SP_NO_CPU;
}
