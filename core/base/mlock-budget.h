/* mlock-budget.h: what this process may lock in memory by events of the kernel's.
 *
 * Locked pages are the user's: what one process takes, the next one lacks, be it for PAPI's own
 * pages and sampling buffers, for perf's or for io_uring's.
 */
#pragma once

#include <stdint.h>

/* Pages: an eighth of what all processes of a user may have by perf_event_mlock_kb on this machine,
 * and of RLIMIT_MEMLOCK, the rank's part of it on its node.  0: none.  Reads /proc and /sys. */
uint32_t sp_mlock_budget_share(void);
