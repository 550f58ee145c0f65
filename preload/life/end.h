/* end.h: the dump, and the doors by which a process ends.
 *
 * The dump is written once, by whoever comes to a door first; later calls of PAPI
 * (from destructors that run after ours) write it again.  A process that never
 * made an event set writes nothing.
 */
#ifndef SP_END_H
#define SP_END_H

#include "../../core/store/format.h"

void sp_end_expect_dump(void);		/* from now on there is something to show */

/* Writes what there is, under the output's name.  Async-signal-safe; several
 * threads may come: one writes, the others go on.  Saves errno. */
void sp_end_dump(enum sp_end how);

/* A dump of what there is now, to path in this form (NULL: as at the end).  0 or
 * -errno.  As safe as sp_end_dump. */
struct sp_view;
int sp_end_snapshot(const char *path, const struct sp_view *view);

/* What a dump of now would have, to be asked and then closed; -errno: there is nothing.  Not from a handler. */
struct sp_model;
int sp_end_look(struct sp_model *m);
void sp_end_looked(struct sp_model *m);

void sp_end_again(void);		/* after sp_end_dump(SP_END_EXIT): something was booked since */
void sp_end_child(void);		/* a child of fork has written nothing yet */

#endif
