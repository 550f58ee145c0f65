/* prefault.h: nothing of ours is touched for the first time while a set runs.
 *
 * A page of our code or data, or of libc's that we call, that is first touched between
 * a start and its stop is a page fault in the application's own count (seen: one in
 * four runs of a program that counts them).
 */
#ifndef SP_PREFAULT_H
#define SP_PREFAULT_H

void sp_prefault_process(void);			/* once in a process, before anything counts */

/* The calling thread's stack below here, before its set starts: our frames lie between the
 * application's and those of PAPI and of the loader, which binds a function at its first
 * call and needs kilobytes for it; without us these might not reach the next page.  (Seen:
 * one fault more in 20 of 585 threads, none of 351 with LD_BIND_NOW; where the fault was
 * says the loader's stores to the stack.) */
void sp_prefault_stack(void);

#endif
