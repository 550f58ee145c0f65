/* places.h: finds where in the machine an event is counted, from its name.
 *
 * Counts of a package, a memory controller, a device or the host are attributed to that component
 * of the tree, never to one CPU. Reads small files below /sys. Called once for each event, before
 * it counts.
 */
#ifndef SP_PLACES_H
#define SP_PLACES_H

#include "../store/layout.h"

struct sp_event_place {
	enum sp_place_kind place;
	int id;				/* the system's number; SP_NO_CPU: unknown */
};

/* component and name are PAPI's. */
struct sp_event_place sp_event_place_find(enum sp_scope scope, const char *component,
					  const char *name);

#endif
