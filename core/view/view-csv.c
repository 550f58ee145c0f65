/* view-csv.c: a line for each relation, CPU and event (RFC 4180, \n line ends). */
#include "view-metrics.h"

static void logical(struct sp_out *o, const struct sp_model *m, int32_t component, const char *type)
{
	int32_t above = component >= 0 ? sp_model_above(m, component, type) : -1;

	sp_out_char(o, ',');
	if (above >= 0 && (uint32_t)above < m->n_components)
		sp_out_i64(o, m->component[above].logical_index);
}

/* All fields up to `package`: the same for each event. */
static void place(struct sp_out *o, const struct sp_model *m, const struct sp_row *row,
		  const struct sp_at_cpu *at)
{
	const struct sp_header *h = sp_process_header(m, row->process);

	sp_out_csv(o, sp_model_text(m, h->host));
	sp_out_char(o, ',');
	if (h->rank >= 0)
		sp_out_i64(o, h->rank);
	sp_out_char(o, ',');
	sp_out_u64(o, h->pid);
	sp_out_char(o, ',');
	sp_out_i64(o, row->tid);
	sp_out_char(o, ',');
	sp_out_csv(o, row->thread);
	sp_out_char(o, ',');
	sp_out_u64(o, row->id);
	sp_out_char(o, ',');
	sp_out_i64(o, row->event_set);
	sp_out_text(o, ",,,");
	if (at->cpu >= 0)
		sp_out_i64(o, at->cpu);
	logical(o, m, at->component, "Core");
	logical(o, m, at->component, "NUMANode");
	logical(o, m, at->component, "Package");
}

/* From the sums of this line's CPU; what is proven of a quotient nobody can say. */
static void metrics(struct sp_out *o, const struct sp_model *m, const struct sp_row *row, const struct sp_at_cpu *at)
{
	struct sp_metrics *t = sp_view_metrics;

	if (!t)
		return;
	sp_metrics_compute_row(t, row, at->total);
	for (int32_t i = sp_metrics_next(t, -1); i >= 0; i = sp_metrics_next(t, i)) {
		if (!t->at[i].has_value)
			continue;
		place(o, m, row, at);
		sp_out_char(o, ',');
		sp_out_csv(o, t->at[i].name);
		sp_out_char(o, ',');
		sp_out_u64(o, at->readings);
		sp_out_char(o, ',');
		sp_metric_number(o, &t->at[i]);
		sp_out_text(o, ",\n");
	}
}

void sp_view_csv(struct sp_out *o, struct sp_model *m)
{
	struct sp_row row = { 0 };
	struct sp_at_cpu at;
	char buf[32];

	sp_out_text(o, SP_CSV_HEADER);
	while (sp_model_next(m, &row)) {
		for (uint32_t i = 0; i < row.cells; i++) {
			if (!sp_row_cell(m, &row, i, &at))
				continue;
			for (uint32_t e = 0; e < row.k; e++) {
				enum sp_data_type type = sp_event_type(m, row.event[e]);

				place(o, m, &row, &at);
				sp_out_char(o, ',');
				sp_out_csv(o, sp_event_name(m, row.event[e], buf));
				sp_out_char(o, ',');
				sp_out_u64(o, at.readings);
				sp_out_char(o, ',');
				sp_out_value(o, type, at.total[e]);
				sp_out_char(o, ',');
				sp_out_value(o, type, at.exact[e]);
				sp_out_char(o, '\n');
			}
			metrics(o, m, &row, &at);
		}
	}
}
