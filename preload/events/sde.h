/* sde.h: finds the type of a software-defined event, and whether its value is a count, which PAPI's
 * component sde does not report.
 *
 * Reads libsde's own record. Wrapping papi_sde_register_counter would not work: programs that refer
 * to it weakly would find it without libsde, and libraries that use dlsym(3), as Python's do, would
 * not call it. No function of libsde is called, since a signal handler may have interrupted the
 * owner of its lock.
 */
#ifndef SP_SDE_H
#define SP_SDE_H

#include "../../core/store/layout.h"

enum sp_sde {
	SP_SDE_UNKNOWN,			/* no libsde, or an unknown version */
	SP_SDE_AWAITED,			/* the library has not registered it yet */
	SP_SDE_KNOWN
};

/* Query the event with PAPI's name ("sde:::LIB::EVENT"). Writes kind and type if known. May take
 * the loader's lock; called in one thread at a time, when an event is first seen, never while it
 * counts. */
enum sp_sde sp_sde_query(const char *name, enum sp_kind *kind, enum sp_data_type *type);

/* Call it at the first PAPI call of the process. */
void sp_sde_begin(void);

#endif
