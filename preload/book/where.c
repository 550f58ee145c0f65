/* where.c: see where.h. */
#include "../../core/store/format.h"
#include "../../core/lineage.h"
#include "where.h"

int sp_cpu_of(int pid, int tid)
{
	struct sp_process_stat s;

	return sp_process_stat(pid, tid, &s) ? s.processor : SP_NO_CPU;
}
