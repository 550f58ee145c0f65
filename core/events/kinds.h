/* kinds.h: is an event's value a count, which adds up, or a gauge, which does not?
 *
 * PAPI's metadata says so for few events (papi-facts section 6.1: 0 is the default
 * and means "not set"), so that units, names and formulas decide, too.
 */
#ifndef SP_KINDS_H
#define SP_KINDS_H

#include <papi.h>

#include "components.h"

/* fact may be NULL.  name: PAPI's, with the component. */
enum sp_kind sp_kind_of(const struct sp_component_fact *fact, const char *name, const PAPI_event_info_t *info);

#endif
