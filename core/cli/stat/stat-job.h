/* stat-job.h: `mpirun sspapi stat` and `stat --job`: each rank writes a store, and rank 0 shows the
 * table of all ranks. */
#pragma once

#include "../report/report.h"

/* Returns whether this process is one of several ranks, by the launcher's variables. */
bool sp_stat_is_rank(void);

/* Call it after the store was written. Rank 0 waits some seconds for the other ranks' stores, newer
 * than start_ns, in the same folder. Then it shows the job's stores by the levels of r on standard
 * error. Other ranks do nothing. Returns 0, or after a message another number. */
int sp_stat_show_job(const struct sp_report *r, const char *store, uint64_t start_ns);
