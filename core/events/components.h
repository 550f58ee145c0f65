/* components.h: what each PAPI component's counts are counts of.
 *
 * PAPI's own metadata rarely says: devices (nvml, cuda) and process-wide counters (io, sde) claim
 * thread granularity. So a table goes by the component's name.
 */
#ifndef SP_COMPONENTS_H
#define SP_COMPONENTS_H

#include "../store/layout.h"

struct sp_component_fact {
	const char *name;		/* PAPI's; a prefix where it ends with '*' */
	enum sp_scope scope;
	enum sp_kind kind;		/* of its events, unless units or a formula say otherwise */
	uint32_t keeps;			/* SP_KEEPS_*: what PAPI_start, PAPI_reset do not zero;
					 * SP_REFRESHES */
	const char *others;		/* events with one of these in the name are of the other
					 * kind; NULL: none */
};

/* NULL: not known. */
const struct sp_component_fact *sp_component_fact(const char *name);

#endif
