/* machine.h: reads the machine's component tree into the store, once per process.
 *
 * libsspapi-topo.so, which uses hwloc, is loaded on the application's own thread when it makes its
 * first event set. Not at the exit, when a signal handler may have interrupted malloc, and never in
 * a process without PAPI.
 */
#ifndef SP_MACHINE_H
#define SP_MACHINE_H

void sp_machine_load(void);		/* the caller ensures that it runs once */

struct sp_topo;

/* Reads a machine's tree for sspapi_topology(); source as in sp_topo_load(). 0 or -errno. The
 * caller frees it by sp_topo_free(). */
int sp_machine_read(struct sp_topo *t, const char *source);

#endif
