/* machine.h: the component tree, into the store, once in a process.
 *
 * hwloc lives in libsspapi-topo.so beside us, loaded here on the application's
 * own thread when it makes its first event set: never at the end, where a signal
 * handler may have interrupted malloc, and never in a process without PAPI.
 */
#ifndef SP_MACHINE_H
#define SP_MACHINE_H

void sp_machine_load(void);		/* the caller sees to it that it is once */

struct sp_topo;

/* A machine's tree for sspapi_topology; source as sp_topo_load's.  0 or -errno; the
 * caller's until sp_topo_free. */
int sp_machine_read(struct sp_topo *t, const char *source);

#endif
