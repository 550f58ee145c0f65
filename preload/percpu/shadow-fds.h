/* shadow-fds.h: opens, reads and closes sspapi's own perf fds, within a budget.
 *
 * SSPAPI_DESCRIPTORS limits how many of the process's descriptors sspapi may use, checked at each
 * opening. Their numbers are high, so that the application's own do not change. The application may
 * close or replace any descriptor (closefrom, dup2), so each is checked before it is read or
 * closed.
 *
 * Any thread; no lock; not from signal handlers.
 */
#ifndef SP_SHADOW_FDS_H
#define SP_SHADOW_FDS_H

#include <linux/perf_event.h>

#include "../../core/base/base.h"

/* Sets the limit once per process, before anything counts, and enlarges the kernel's table of
 * descriptors for it. Each enlargement waits some ms for other threads, so it happens once. most <
 * 0: a quarter of the soft limit, at most 4096. */
void sp_counters_begin(long most);

/* How many more may be opened right now. */
uint32_t sp_counters_left(void);

/* In a child of fork: closes the parent's. */
void sp_counters_child(void);

/* Opens a counter of thread `tid` on `cpu` (-1: all), in the group of `leader` (-1: a new one).
 * Returns the descriptor; -EDQUOT: no budget; or perf_event_open's -errno. */
int sp_counter_open(const struct perf_event_attr *attr, int tid, int cpu, int leader);

/* Closes it unless the application has; -1 is ignored. */
void sp_counter_close(int fd);

/* Reads `words` words, as read(2) on a perf event. False: the application has closed it, or the
 * size differs. */
bool sp_counter_read(int fd, uint64_t *to, unsigned words);

/* Switches a counter, and with it the others of a group that it leads. False: as above. */
bool sp_counter_switch(int fd, bool on);

#endif
