/* shadow-fds.h: our descriptors of kernel counters, and what they may take of the process's.
 *
 * Descriptors are the application's: a budget says how many sspapi may hold (SSPAPI_DESCRIPTORS),
 * counted at each opening; their numbers are high, so that the application's own stay what they
 * would be; and since it may close all that it sees, or put something else in a number's place
 * (closefrom, dup2), each is asked whether it still is ours before it is read or closed.
 *
 * Any thread may call these; no lock; not from signal handlers.
 */
#ifndef SP_SHADOW_FDS_H
#define SP_SHADOW_FDS_H

#include <linux/perf_event.h>

#include "../../core/base/base.h"

/* Once in a process, before anything counts: how many there may be at most, and the kernel's table
 * of descriptors as large as that needs.  (Beside other threads each growth of the table waits some
 * ms for them, so that it grows once.)  most < 0: a quarter of the soft limit, 4096 at most. */
void sp_counters_begin(long most);

/* How many more there may be right now. */
uint32_t sp_counters_left(void);

/* In a child of fork: the parent's are closed. */
void sp_counters_child(void);

/* A counter of thread `tid` on `cpu` (-1: on all), in the group of the counter `leader` (-1: a
 * group of its own).  The descriptor; -EDQUOT: the budget is spent; -errno as perf_event_open. */
int sp_counter_open(const struct perf_event_attr *attr, int tid, int cpu, int leader);

/* Closes it if it is still ours; -1 is none. */
void sp_counter_close(int fd);

/* Reads `words` words (read(2) of a counter); false: it is not ours any more, or gave something
 * else. */
bool sp_counter_read(int fd, uint64_t *to, unsigned words);

/* Switches a counter; the others of its group count while their leader does.  False: as above. */
bool sp_counter_switch(int fd, bool on);

#endif
