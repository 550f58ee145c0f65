/* snapshot.h: the signal that makes a dump now, if the user asked for one. */
#ifndef SP_SNAPSHOT_H
#define SP_SNAPSHOT_H

void sp_snapshot_set_up(void);		/* once in a process, at its first PAPI call */

#endif
