/* prefault.h: avoids page faults of the library while a set runs.
 *
 * A page of the library, or of libc for it, that is first touched between a start and its stop adds
 * a fault to the application's own count. Seen in one of four runs of a program that counts them.
 */
#ifndef SP_PREFAULT_H
#define SP_PREFAULT_H

void sp_prefault_process(void);			/* once in a process, before anything counts */

/* Prefaults the calling thread's stack before its set starts. The wrappers' frames push those of
 * PAPI and of the loader further down. The loader needs kilobytes to bind a function at its
 * first call, and without the wrappers might not reach the next page. Seen: one fault more in 20
 * of 585 threads, in the loader's stores to the stack; none in 351 with LD_BIND_NOW. */
void sp_prefault_stack(void);

#endif
