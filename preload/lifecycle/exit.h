/* exit.h: writes the dump, and wraps the calls by which a process ends.
 *
 * The first thread that ends the process writes the dump. Later PAPI calls, from destructors that
 * run after sspapi's, write it again. A process without event sets writes nothing.
 */
#ifndef SP_EXIT_H
#define SP_EXIT_H

#include "../../core/store/layout.h"

void sp_end_expect_dump(void);		/* an event set exists: write a dump at the end */

/* Write a dump of the present counts to path in this format (NULL: as at the end). 0 or -errno.
 * Async-signal-safe. */
struct sp_format_writer;
int sp_end_snapshot(const char *path, const struct sp_format_writer *writer);

/* Open a model of the present counts, for queries; close it afterwards. Returns -errno if nothing
 * was counted. Not async-signal-safe. */
struct sp_model;
int sp_end_open_model(struct sp_model *m);
void sp_end_close_model(struct sp_model *m);

/* a reading was recorded after the dump of the end began (sp_process.dumped) */
void sp_end_dump_again(void);
void sp_end_child(void);		/* reset in a child of fork */

#endif
