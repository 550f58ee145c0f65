/* watched.h: who event sets were attached to. */
#ifndef SP_WATCHED_H
#define SP_WATCHED_H

/* It has just been attached to: its name and command line are kept.  Two or three files of /proc are read. */
void sp_watch(int tid);

/* Before a dump: which of them have ended?  Async-signal-safe. */
void sp_watched_look(void);

#endif
