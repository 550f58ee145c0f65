/* sde.h: what libsde knows of a software-defined event, and PAPI's component sde does not tell: its
 * type, and whether its value is a count.
 *
 * Libsde's own record is read, in place.  To wrap papi_sde_register_counter would not do: programs
 * that refer to it weakly would find it where there is no libsde, and libraries that are opened and
 * asked by dlsym(3), as from Python, would not call it.  No function of libsde is called: its lock
 * may be held by whom a handler interrupted.
 */
#ifndef SP_SDE_H
#define SP_SDE_H

#include "../../core/store/layout.h"

enum sp_sde {
	SP_SDE_UNKNOWN,			/* no libsde was found, or one of another make */
	SP_SDE_AWAITED,			/* the library has not registered it yet */
	SP_SDE_KNOWN
};

/* Of the event that PAPI calls so ("sde:::LIB::EVENT").  kind and type are written where it is
 * known.  May take the loader's lock; called by one thread at a time, when an event is first met,
 * never while anything counts. */
enum sp_sde sp_sde_query(const char *name, enum sp_kind *kind, enum sp_data_type *type);

/* PAPI is called for the first time in this process. */
void sp_sde_begin(void);

#endif
