/* attached.h: keeps names of the processes and threads that event sets were attached to. */
#ifndef SP_ATTACHED_H
#define SP_ATTACHED_H

/* Stores name and command line of a thread to which a set has just been attached. Reads two or
 * three files of /proc. */
void sp_attached_add(int tid);

/* Finds out before a dump which of the threads have ended. Async-signal-safe. */
void sp_attached_scan(void);

#endif
