/* places.h: where in the machine an event is counted, as far as its name tells.
 *
 * Counts of a package, a memory controller, a device or the whole host are booked on
 * that component of the tree and never on a CPU.  Reads small files below /sys;
 * called when an event is first met, never while anything counts.
 */
#ifndef SP_PLACES_H
#define SP_PLACES_H

#include "../store/layout.h"

struct sp_where {
	enum sp_place_kind place;
	int id;				/* as the system numbers it; SP_NO_CPU: not known */
};

/* component, name: PAPI's. */
struct sp_where sp_place_of(enum sp_scope scope, const char *component, const char *name);

#endif
