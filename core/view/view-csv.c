/* view-csv.c: a line for each relation, CPU and event (RFC 4180, \n line ends). */
#include "view-metrics.h"

#define NAME_BYTES 1100u		/* PAPI's longest is 1024 */

static void logical(struct sp_out *o, const struct sp_model *m, int32_t component, const char *type)
{
	int32_t above = component >= 0 ? sp_model_above(m, component, type) : -1;

	sp_out_char(o, ',');
	if (above >= 0 && (uint32_t)above < m->n_components)
		sp_out_i64(o, m->component[above].logical_index);
}

/* The name of a module's file: its path may differ from host to host.  What would have to
 * be quoted, or taken for the next frame, is not in names of libraries. */
static void file_name(struct sp_out *o, const char *path)
{
	char name[256] = "";

	strncpy(name, sp_base_name(path), sizeof(name) - 1);
	for (char *p = name; *p; p++)
		if (strchr(",;\"", *p) || (p == name && sp_is_formula(*p)))
			*p = '_';
	sp_out_plain(o, name);
}

/* module+0xoffset;... */
void sp_csv_path(struct sp_out *o, const struct sp_model *m, uint32_t id)
{
	struct sp_frame_seen f;

	for (uint32_t i = 0; sp_model_frame(m, id, i, &f); i++) {
		sp_out_text(o, i ? ";" : "");
		file_name(o, f.module);
		sp_out_char(o, '+');
		sp_out_hex(o, f.offset);
	}
}

/* All fields up to `package`: of a CPU's counts, or of those of a component as a whole. */
static void place(struct sp_out *o, const struct sp_model *m, const struct sp_row *row, const struct sp_between *ends,
		  int32_t cpu, int32_t component)
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
	sp_out_char(o, ',');
	sp_csv_path(o, m, ends->from);
	sp_out_char(o, ',');
	sp_csv_path(o, m, ends->to);
	sp_out_char(o, ',');
	if (cpu >= 0)
		sp_out_i64(o, cpu);
	logical(o, m, component, "Core");
	logical(o, m, component, "NUMANode");
	logical(o, m, component, "Package");
}

/* What is counted on one CPU by name is that CPU's, wherever it was read. */
static void counts(struct sp_out *o, struct sp_model *m, struct sp_row *row, uint32_t e, const struct sp_between *at)
{
	enum sp_data_type type = sp_event_type(m, row->event[e]);
	int32_t component = sp_row_place(row, e), cpu = at->cpu;
	char buf[32];

	if (component >= 0)
		cpu = sp_component_is(&m->component[component], "PU") ? m->component[component].os_index : SP_NO_CPU;
	place(o, m, row, at, cpu, component >= 0 ? component : at->component);
	sp_out_char(o, ',');
	sp_out_csv(o, sp_event_name(m, row->event[e], buf));
	sp_out_char(o, ',');
	sp_out_u64(o, at->count);
	sp_out_char(o, ',');
	sp_out_value(o, type, at->total[e]);
	sp_out_char(o, ',');
	sp_out_value(o, type, at->exact[e]);
	sp_out_char(o, '\n');
}

static const struct sp_between nowhere;

/* A line for one number that a gauge has: "NAME (mean)".  Nothing in `exact`, as always
 * where the number is no sum of counts. */
static void gauge_line(struct sp_out *o, const struct sp_model *m, const struct sp_row *row, const struct sp_shown *g,
		       const char *what, enum sp_data_type type, int64_t value)
{
	char buf[32], name[NAME_BYTES + 16];
	struct sp_out memory;

	sp_out_init(&memory, -1, name, sizeof(name) - 16);
	sp_out_text(&memory, sp_event_name(m, g->event, buf));
	memory.size = sizeof(name) - 1;
	memory.error = 0;
	sp_out_text(&memory, what);
	name[memory.used] = 0;
	place(o, m, row, &nowhere, g->cpu, g->component);
	sp_out_char(o, ',');
	sp_out_csv(o, name);
	sp_out_char(o, ',');
	sp_out_u64(o, g->readings);
	sp_out_char(o, ',');
	sp_out_value(o, type, value);
	sp_out_text(o, ",\n");
}

static void gauges(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	struct sp_shown g;
	uint64_t at = 0;
	int64_t mean;

	while (sp_row_gauge(m, row, &at, &g)) {
		enum sp_data_type type = sp_event_type(m, g.event);

		gauge_line(o, m, row, &g, " (last)", type, g.last);
		if (type == SP_BIT64)	/* has no order */
			continue;
		memcpy(&mean, &g.mean, sizeof(mean));
		gauge_line(o, m, row, &g, " (min)", type, g.min);
		gauge_line(o, m, row, &g, " (max)", type, g.max);
		gauge_line(o, m, row, &g, " (mean)", SP_FP64, mean);
	}
}

/* From the sums of this line's CPU; what is proven of a quotient nobody can say. */
static void metrics(struct sp_out *o, const struct sp_model *m, const struct sp_row *row, const struct sp_between *at)
{
	struct sp_metrics *t = sp_view_metrics;

	if (!t)
		return;
	sp_metrics_compute_row(t, row, at->total);
	for (int32_t i = sp_metrics_next(t, -1); i >= 0; i = sp_metrics_next(t, i)) {
		if (!t->at[i].has_value)
			continue;
		place(o, m, row, at, at->cpu, at->component);
		sp_out_char(o, ',');
		sp_out_csv(o, t->at[i].name);
		sp_out_char(o, ',');
		sp_out_u64(o, at->count);
		sp_out_char(o, ',');
		sp_metric_number(o, &t->at[i]);
		sp_out_text(o, ",\n");
	}
}

static bool has_line(const struct sp_model *m, const struct sp_row *row, uint32_t e, const struct sp_between *at)
{
	if (sp_event_is_gauge(m, row->event[e]))
		return false;
	return !row->intervals || at->to || at->count || at->total[e] || at->exact[e];
}

static void lines(struct sp_out *o, struct sp_model *m, struct sp_row *row, const struct sp_between *at)
{
	for (uint32_t e = 0; e < row->k; e++)
		if (has_line(m, row, e, at))
			counts(o, m, row, e, at);
	metrics(o, m, row, at);
}

void sp_view_csv(struct sp_out *o, struct sp_model *m)
{
	struct sp_row row = { 0 };
	struct sp_between between;
	struct sp_at_cpu at;

	sp_out_text(o, SP_CSV_HEADER);
	while (sp_model_next(m, &row)) {
		for (uint32_t i = 0; sp_row_interval(m, &row, i, &between); i++)
			lines(o, m, &row, &between);
		for (uint32_t i = 0; !row.intervals && sp_row_cell(m, &row, i, &at); i++)
			lines(o, m, &row, &(struct sp_between){ 0, 0, at.cpu, at.component, at.readings, at.total, at.exact });
		gauges(o, m, &row);
	}
}
