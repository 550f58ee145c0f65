/* kinds.h: decides whether an event's value is a count, which adds up, or a gauge, which does not.
 *
 * PAPI's metadata rarely helps: no component sets value_type, and its 0, "running sum", means "not
 * set". So units, names and formulas decide.
 */
#ifndef SP_KINDS_H
#define SP_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "components.h"

/* PAPI's data on an event. */
struct sp_event_traits {
	const char *units, *derived, *postfix, *description;
	const char *native;		/* names of a preset's natives, one every `stride` bytes */
	size_t stride;
	unsigned natives;
	bool grows;			/* a number that is zero at the start */
};

/* Make the traits of a PAPI_event_info_t; for files that include papi.h. */
#define SP_EVENT_TRAITS(info) \
	(&(const struct sp_event_traits){ \
		.units = (info)->units, \
		.derived = (info)->derived, \
		.postfix = (info)->postfix, \
		.description = (info)->long_descr, \
		.native = (info)->name[0], \
		.stride = sizeof((info)->name[0]), \
		.natives = \
			(info)->count < PAPI_MAX_INFO_TERMS ? (info)->count : PAPI_MAX_INFO_TERMS, \
		.grows = (info)->data_type != PAPI_DATATYPE_BIT64 && \
			 (info)->value_type != PAPI_VALUETYPE_ABSOLUTE && \
			 (info)->timescope == PAPI_TIMESCOPE_SINCE_START })

/* fact may be NULL. name is PAPI's, with the component. */
enum sp_kind sp_event_kind(const struct sp_component_fact *fact, const char *name,
			   const struct sp_event_traits *traits);

#endif
