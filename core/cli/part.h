/* part.h: a file of the command's, written whole as NAME.PID.part before it takes its name.
 *
 * The part goes on every end that a process can see: sp_part_end, exit, and signals.
 * One a process at a time.
 */
#ifndef SP_PART_H
#define SP_PART_H

int sp_part_begin(const char *name);	/* a descriptor, or -errno */
const char *sp_part_name(void);		/* to be linked or renamed, once it is written */

/* 0, or -errno: closed and on its disk.  What stays of it is its name, until sp_part_end. */
int sp_part_finish(int fd);
void sp_part_end(void);

#endif
