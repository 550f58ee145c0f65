/* mlock-budget.h: limits the memory that sspapi's perf events lock.
 *
 * The limit is per user: pages that one process locks are missing for PAPI's own pages and sampling
 * buffers, for perf and for io_uring.
 */
#pragma once

#include <stdint.h>

/* The budget in pages: an eighth of the smaller of RLIMIT_MEMLOCK and perf_event_mlock_kb of all
 * CPUs, divided by the ranks of the node. 0: lock nothing. Reads /proc. */
uint32_t sp_mlock_budget_share(void);
