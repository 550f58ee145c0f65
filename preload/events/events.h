/* events.h: PAPI's event codes, and their events in the store.
 *
 * PAPI is queried once per code, when a set first has it, since names of native events are gone
 * after PAPI_shutdown. Only functions without an effect that the application could see are called:
 * not PAPI_event_name_to_code, which assigns codes in the order of its calls.
 */
#ifndef SP_EVENTS_H
#define SP_EVENTS_H

#include "../../core/events/places.h"
#include "../../core/store/domain.h"
#include "../process/process.h"
#include "../percpu/percpu-fast.h"

struct sp_event_info {
	uint32_t code, id;		/* id: in the store */
	/* record of the same event under the code that was seen first; NULL: this one */
	struct sp_event_info *same;
	struct sp_event_info *older;	/* previous record */
	/* hash of the name; 0: the name does not identify the event */
	uint64_t name;
	int component;			/* PAPI's index */
	bool has_pmu;			/* the store has its PMU */
	bool is_unregistered;			/* sde: its library has not registered it yet */
	bool is_clock;			/* a kernel clock, which ignores domains */
	bool is_on_device, is_on_several; /* a preset, counted on a device; on several devices */
	uint32_t domain;		/* the first domain in which it was counted; 0: none yet */
	/* its id in the store for each domain, + 1; 0: not counted there yet */
	uint32_t in_domain[1u << SP_DOMAINS];
	struct sp_event_place place;
	enum sp_kind kind;
	enum sp_data_type data_type;
	struct sp_terms terms;		/* the natives of which it is a sum */
};

/* Find or make the record of a code, one for all codes of a name; NULL if out of memory. Call it
 * without locks. A code that becomes another event gets a new record: a record's kind, type and
 * place never change. */
struct sp_event_info *sp_event_find(const struct sp_real *papi, int code);

/* The event's id in the store when counted in this domain (PAPI_DOM_*; 0: unknown). User and kernel
 * counts are two events; their names contain the domain if both exist. */
uint32_t sp_event_in(struct sp_event_info *e, uint32_t domain);

/* Store the PMU of an opened event, that of one kind of cores. */
void sp_event_set_pmu(struct sp_event_info *e, const char *pmu);

/* The component's name, or "" if PAPI does not report it. */
const char *sp_component_name(const struct sp_real *papi, int component);

/* The scope that the component reports, for those that components.h lacks. */
enum sp_scope sp_component_claims(const struct sp_real *papi, int component);

void sp_events_forget(void);		/* reset in a new process */

#endif
