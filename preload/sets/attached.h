/* attached.h: the processes and threads that event sets were attached to. */
#ifndef SP_ATTACHED_H
#define SP_ATTACHED_H

/* A set has just been attached to this thread: its name and command line are kept.  Reads two or
 * three files of /proc. */
void sp_attached_add(int tid);

/* Before a dump: finds out which of the threads have ended.  Async-signal-safe. */
void sp_attached_scan(void);

#endif
