/* snapshot.h: installs the signal handler that writes a dump, if SSPAPI_SIGNAL is set. */
#ifndef SP_SNAPSHOT_H
#define SP_SNAPSHOT_H

void sp_snapshot_set_up(void);		/* call it once per process, at its first PAPI call */

#endif
