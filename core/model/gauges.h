/* gauges.h: gauges, and counts that belong to components as a whole (packages, devices).
 *
 * Part of the model; its rules are in model.h.
 */
#ifndef SP_GAUGES_H
#define SP_GAUGES_H

#include "model.h"

/* A gauge's readings in one place. */
struct sp_gauge_value {
	uint32_t event;
	int32_t cpu;			/* of the readings; SP_NO_CPU: unknown, or not of one CPU */
	int32_t component;		/* to which it belongs; -1: unknown */
	uint64_t readings, ns;		/* ns: time of the last one */
	int64_t last, min, max;		/* in the event's type */
	double sum;			/* as stored, to write another store */
	double mean;			/* between min and max */
};

/* The component on which event e of the row is counted, if not on the CPUs of its readings; else
 * -1. For model-rows.c; formats use sp_row_place. */
int32_t sp_find_place(const struct sp_model *m, const struct sp_row *row, uint32_t e);

static inline int32_t sp_row_place(const struct sp_row *row, uint32_t e)
{
	return row->place ? row->place[e] : -1;
}

/* Read the next gauge of the row; *at is 0 before the first call. */
bool sp_row_gauge(const struct sp_model *m, const struct sp_row *row, uint64_t *at,
		  struct sp_gauge_value *out);

/* Add the row's gauges to the model's. For model-open.c. */
void sp_add_gauges(struct sp_model *m, const struct sp_row *row);

/* Sum up the gauge's readings at the component (-1: without one), over all relations; false without
 * readings. */
bool sp_gauge_at(const struct sp_model *m, int32_t component, uint32_t event,
		 struct sp_gauge_value *out);

/* Returns whether the event is counted on components as a whole, never on one of their CPUs. */
static inline bool sp_event_is_placed(const struct sp_model *m, uint32_t event)
{
	return m->event_placed && m->event_placed[event];
}

#endif
