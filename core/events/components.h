/* components.h: facts about the counts of each PAPI component.
 *
 * PAPI's own metadata is rarely right: devices (nvml, cuda) and process-wide counters (io, sde)
 * report thread granularity. So a table lists the components by name.
 */
#ifndef SP_COMPONENTS_H
#define SP_COMPONENTS_H

#include "../store/layout.h"

struct sp_component_fact {
	const char *name;		/* PAPI's name; a prefix if it ends with '*' */
	enum sp_scope scope;
	enum sp_kind kind;		/* of its events, unless units or a formula contradict */
	/* SP_KEEPS_*: PAPI_start or PAPI_reset do not zero the counts; SP_REFRESHES */
	uint32_t keeps;
	/* events with one of these in the name have the other kind */
	const char *others;
};

/* NULL if the component is unknown. */
const struct sp_component_fact *sp_component_fact(const char *name);

#endif
