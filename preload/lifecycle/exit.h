/* exit.h: the dump, and the calls by which a process ends.
 *
 * The dump is written once, by the first thread that ends the process; later calls of PAPI
 * (from destructors that run after ours) write it again.  A process that never
 * made an event set writes nothing.
 */
#ifndef SP_EXIT_H
#define SP_EXIT_H

#include "../../core/store/layout.h"

void sp_end_expect_dump(void);		/* from now on there is something to show */

/* A dump of what there is now, to path in this form (NULL: as at the end).  0 or
 * -errno.  Async-signal-safe. */
struct sp_format_writer;
int sp_end_snapshot(const char *path, const struct sp_format_writer *view);

/* What a dump of now would have, to be asked and then closed; -errno: there is nothing.  Not from a
 * handler. */
struct sp_model;
int sp_end_open_model(struct sp_model *m);
void sp_end_close_model(struct sp_model *m);

void sp_end_again(void);		/* something was booked since the dump of the end was begun
					 * (sp_process.dumped) */
void sp_end_child(void);		/* a child of fork has written nothing yet */

#endif
