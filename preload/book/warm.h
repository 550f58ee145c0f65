/* warm.h: nothing of ours is touched for the first time while a set runs.
 *
 * A page of our code or data, or of libc's that we call, that is first touched between
 * a start and its stop is a page fault in the application's own count (seen: one in
 * four runs of a program that counts them).
 */
#ifndef SP_WARM_H
#define SP_WARM_H

void sp_warm_up(void);			/* once in a process, before anything counts */

#endif
