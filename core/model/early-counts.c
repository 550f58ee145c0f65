/* early-counts.c: writes the note on counts before a first reading; see model.h. */
#include "../events/components.h"
#include "../store/writer.h"
#include "model-blocks.h"
#include "format-common.h"

/* Returns whether PAPI_start does not zero the event. */
static bool has_beginning(const struct sp_model *m, uint32_t e)
{
	const struct sp_component_fact *fact;

	if (!m->event[e] || m->event[e]->kind != SP_COUNTER || m->event[e]->data_type == SP_FP64)
		return false;
	fact = sp_component_fact(SP_EVENT_TEXT(m, e, component));
	return fact && fact->keeps & SP_KEEPS_ON_START;
}

int64_t sp_row_early_count(struct sp_model *m, struct sp_row *row, uint32_t e)
{
	int64_t before = row->last && has_beginning(m, row->event[e]) ? row->last[e] : 0;
	struct sp_at_cpu at;

	for (uint32_t i = 0; before && sp_row_cell(m, row, i, &at); i++)
		before -= at.total[e];
	return before;
}

/* The maximum over all sets, since they read the same counter. */
static int64_t most_before(struct sp_model *m, uint32_t e)
{
	struct sp_row row = { .only_cells = true };
	int64_t most = 0;

	while (sp_model_next(m, &row))
		for (uint32_t i = 0; i < row.k; i++) {
			int64_t before = row.event[i] == e ? sp_row_early_count(m, &row, i) : 0;

			most = before > most ? before : most;
		}
	return most;
}

void sp_early_counts_find(struct sp_model *m)
{
	struct sp_out o;
	char name[32];

	sp_memory_init(&o, m->early_counts, sizeof(m->early_counts));
	for (uint32_t e = 0; e < m->n_events; e++) {
		int64_t before = has_beginning(m, e) ? most_before(m, e) : 0;

		if (before)
			sp_out_f(&o, "%s %ld of %s",
				 o.used ? ","
					: SP_NOTE_EARLY_COUNTS "Counts before the first reading "
							       "of a run are in no sum:",
				 before, sp_event_name(m, e, name));
	}
	if (o.used)
		sp_out_text(&o, SP_NOTE_BEGINNINGS_END);
	(void)sp_memory_text(&o);
}
