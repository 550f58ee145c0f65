/* machine.h: the component tree, into the store, once in a process.
 *
 * hwloc lives in libsspapi-topo.so beside us, loaded here on the application's
 * own thread when it makes its first event set: never at the end, where a signal
 * handler may have interrupted malloc, and never in a process without PAPI.
 */
#ifndef SP_MACHINE_H
#define SP_MACHINE_H

void sp_machine_load(void);		/* the caller sees to it that it is once */

#endif
