/* events.h: PAPI's event codes, and what the store says of them.
 *
 * A code is asked for once, when it is first met in a set (names of native events are gone after
 * PAPI_shutdown), with calls that change nothing the application could see:
 * PAPI_event_name_to_code, which hands out codes in the order of look-ups, is not among them.
 */
#ifndef SP_EVENTS_H
#define SP_EVENTS_H

#include "../../core/events/places.h"
#include "../../core/store/domain.h"
#include "../process/process.h"
#include "../percpu/percpu-fast.h"

struct sp_event_seen {
	uint32_t code, id;		/* id: in the store */
	struct sp_event_seen *same;	/* the record of this event, if another code was seen first;
					 * NULL: this one */
	struct sp_event_seen *older;	/* the record made before it */
	uint64_t name;			/* a digest; 0: the name does not identify the event */
	int component;			/* PAPI's index */
	bool has_pmu;			/* the store says whose it is */
	bool awaited;			/* sde: its library has not registered it yet */
	bool is_clock;			/* the kernel's: it has no modes */
	bool on_device, wandered;	/* a preset, counted on a device; on several */
	uint32_t domain;		/* that it was counted in first; 0: in none yet */
	uint32_t in_domain[1u << SP_DOMAINS];	/* its id in the store there, + 1; 0: not counted
						 * there yet */
	struct sp_where where;
	enum sp_kind kind;
	enum sp_data_type data_type;
	struct sp_terms terms;		/* the natives that it is a sum of */
};

/* Caller holds no lock.  NULL: no memory.  One record for all codes of one name.  Another record
 * than before where the code has become another event: what a record says of kind, type and place
 * does not change. */
struct sp_event_seen *sp_event_seen(const struct sp_real *papi, int code);

/* Its id in the store, counted in this domain (PAPI_DOM_*; 0: not known): user's and kernel's
 * counts are two events, named so once there are both. */
uint32_t sp_event_in(struct sp_event_seen *e, uint32_t domain);

/* The event was opened: it is of this PMU of one kind of cores. */
void sp_event_is_of(struct sp_event_seen *e, const char *pmu);

/* The component's name, by index; "" if PAPI does not say. */
const char *sp_component_name(const struct sp_real *papi, int component);

/* Of what it says that it counts; for one that components.h does not know. */
enum sp_scope sp_component_claims(const struct sp_real *papi, int component);

void sp_events_forget(void);		/* a new process */

#endif
