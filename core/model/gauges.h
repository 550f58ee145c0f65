/* gauges.h: what the model has beside sums over CPUs: gauges, and components (packages,
 * devices) that counts belong to as a whole.
 *
 * Part of the model (model.h has the rules: it trusts nothing, one thread, memory of
 * the model's).
 */
#ifndef SP_GAUGES_H
#define SP_GAUGES_H

#include "model.h"

/* What a gauge showed in one place. */
struct sp_shown {
	uint32_t event;
	int32_t cpu;			/* of the readings; SP_NO_CPU: not known, or not a CPU's */
	int32_t component;		/* that it belongs to; -1: none that is known */
	uint64_t readings, ns;		/* ns: of the last one */
	int64_t last, min, max;		/* in the event's type */
	double sum;			/* as it is in the store, for who writes another */
	double mean;			/* of those readings; within min and max */
};

/* Where event e of the row is counted, if not on the CPUs of its readings: a component; -1.
 * For model-rows.c; views ask sp_row_place. */
int32_t sp_find_place(const struct sp_model *m, const struct sp_row *row, uint32_t e);

static inline int32_t sp_row_place(const struct sp_row *row, uint32_t e)
{
	return row->place ? row->place[e] : -1;
}

/* The next gauge of the row; *at is 0 before the first. */
bool sp_row_gauge(const struct sp_model *m, const struct sp_row *row, uint64_t *at,
		  struct sp_shown *out);

/* For model-open.c: adds up what sp_row_gauge gives. */
void sp_add_gauges(struct sp_model *m, const struct sp_row *row);

/* All of the gauge's readings at the component (-1: on none), over all relations; false: none. */
bool sp_gauge_at(const struct sp_model *m, int32_t component, uint32_t event, struct sp_shown *out);

/* Is the event counted on components as a whole, never on one CPU of them? */
static inline bool sp_event_is_placed(const struct sp_model *m, uint32_t event)
{
	return m->event_placed && m->event_placed[event];
}

#endif
