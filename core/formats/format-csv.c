/* format-csv.c: writes a line per relation, CPU and event (RFC 4180, with \n as line end). */
#include "../model/model-blocks.h"
#include "format-csv.h"
#include "format-metrics.h"

#define NAME_BYTES 1100u		/* PAPI's maximum is 1024 */

static void logical(struct sp_out *o, const struct sp_model *m, int32_t component, const char *type)
{
	int32_t above = component >= 0 ? sp_model_above(m, component, type) : -1;

	sp_out_char(o, ',');
	if (above >= 0 && (uint32_t)above < m->n_components)
		sp_out_i64(o, m->component[above].logical_index);
}

/* Writes the file name of a module; its path may differ between hosts. Characters that need quotes
 * or separate frames do not occur in names of libraries. */
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
	struct sp_frame_info f;

	for (uint32_t i = 0; sp_model_frame(m, id, i, &f); i++) {
		sp_out_text(o, i ? ";" : "");
		file_name(o, f.module);
		sp_out_f(o, "+%#lx", f.offset);
	}
}

void sp_csv_begin(struct sp_out *o, const struct sp_model *m, const struct sp_csv_place *p,
		  const char *event, uint64_t readings)
{
	char name[2 * NAME_BYTES];

	sp_csv_f(o, "%s,% ld,% ld,% ld,%s,", p->host, p->rank, p->pid, p->tid, p->thread);
	if (p->relation >= 0)
		sp_csv_f(o, "%ld,%d,", p->relation, p->event_set);
	else
		sp_csv_f(o, p->of_set ? ",%d," : ",,", p->event_set);
	sp_csv_path(o, m, p->from);
	sp_out_char(o, ',');
	sp_csv_path(o, m, p->to);
	sp_csv_f(o, ",% d", p->cpu);
	logical(o, m, p->component, "Core");
	logical(o, m, p->component, "NUMANode");
	logical(o, m, p->component, "Package");
	sp_text_f(name, NAME_BYTES, "%s", event);
	sp_text_f(name + strlen(name), NAME_BYTES, "%s", p->what ? p->what : "");
	sp_csv_f(o, ",%s,%lu,", name, readings);
}

void sp_csv_counts(struct sp_out *o, enum sp_data_type type, int64_t total, int64_t exact)
{
	sp_out_value(o, type, total);
	sp_out_char(o, ',');
	sp_out_value(o, type, exact);
	sp_out_char(o, '\n');
}

void sp_csv_no_count(struct sp_out *o)
{
	sp_out_text(o, ",\n");
}

void sp_csv_metrics(struct sp_out *o, const struct sp_selection *s, const struct sp_csv_place *p,
		    uint64_t readings, const char *joined)
{
	for (int32_t i = s->metrics ? sp_metrics_next(s->metrics, -1) : -1; i >= 0;
	     i = sp_metrics_next(s->metrics, i)) {
		const struct sp_metric *d = &s->metrics->at[i];

		if (!d->has_value || (joined && d->joined != joined))
			continue;
		sp_csv_begin(o, s->m, p, d->name, readings);
		sp_metric_number(o, d);
		sp_out_text(o, ",\n");
	}
}

/* Returns the place of a CPU's counts, or of those of a whole component. */
static struct sp_csv_place place(const struct sp_model *m, const struct sp_row *row,
				 const struct sp_interval_counts *ends, int32_t cpu,
				 int32_t component)
{
	const struct sp_header *h = sp_process_header(m, row->process);

	return (struct sp_csv_place){ .host = sp_model_text(m, h->process.host),
				      .rank = h->process.rank,
				      .pid = h->process.pid,
				      .tid = row->tid,
				      .thread = row->thread,
				      .relation = row->id,
				      .event_set = row->event_set,
				      .from = ends->from,
				      .to = ends->to,
				      .cpu = cpu,
				      .component = component };
}

/* Events that name a CPU are that CPU's, even if read on another. */
static void counts(struct sp_out *o, struct sp_model *m, struct sp_row *row, uint32_t e,
		   const struct sp_interval_counts *at, bool unsupported)
{
	int32_t component = sp_row_place(row, e), cpu = at->cpu;
	struct sp_csv_place p;
	char buf[32];

	if (component >= 0)
		cpu = sp_is_pu(m, component) ? m->component[component].os_index : SP_NO_CPU;
	p = place(m, row, at, cpu, component >= 0 ? component : at->component);
	sp_csv_begin(o, m, &p, sp_event_name(m, row->event[e], buf), at->count);
	if (unsupported)
		sp_csv_no_count(o);
	else
		sp_csv_counts(o, sp_event_type(m, row->event[e]), at->total[e], at->exact[e]);
}

/* Writes a line for one number of a gauge: "NAME (mean)". `exact` is empty, as for all numbers that
 * are not sums of counts. */
static void gauge_line(struct sp_out *o, const struct sp_model *m, struct sp_csv_place *p,
		       const struct sp_gauge_value *g, const char *what, enum sp_data_type type,
		       int64_t value)
{
	char buf[32];

	p->what = what;
	sp_csv_begin(o, m, p, sp_event_name(m, g->event, buf), g->readings);
	sp_out_value(o, type, value);
	sp_out_text(o, ",\n");
}

static void gauges(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	static const struct sp_interval_counts no_place;
	struct sp_gauge_value g;
	uint64_t at = 0;

	while (sp_row_gauge(m, row, &at, &g)) {
		enum sp_data_type type = sp_event_type(m, g.event);
		struct sp_csv_place p = place(m, row, &no_place, g.cpu, g.component);

		gauge_line(o, m, &p, &g, " (last)", type, g.last);
		if (type == SP_BIT64)	/* bits have no order */
			continue;
		gauge_line(o, m, &p, &g, " (min)", type, g.min);
		gauge_line(o, m, &p, &g, " (max)", type, g.max);
		gauge_line(o, m, &p, &g, " (mean)", SP_FP64, sp_float_bits(g.mean));
	}
}

#define BEFORE " (before the first reading)"

/* Writes lines of the counts before a first reading. No sum contains them. */
static void early_counts(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	static const struct sp_interval_counts no_place;
	struct sp_csv_place p = place(m, row, &no_place, SP_NO_CPU, -1);
	char buf[32];

	p.what = BEFORE;
	for (uint32_t e = 0; e < row->k; e++) {
		int64_t before = sp_row_early_count(m, row, e);

		if (!before)
			continue;
		sp_csv_begin(o, m, &p, sp_event_name(m, row->event[e], buf), 0);
		sp_out_value(o, sp_event_type(m, row->event[e]), before);
		sp_out_text(o, ",\n");
	}
}

static bool is_number(const char *s)
{
	return *s >= '0' && *s <= '9';
}

void sp_csv_beginnings(struct sp_out *o, const struct sp_selection *s, uint32_t process)
{
	const struct sp_model *m = s->m;
	const struct sp_header *h = sp_process_header(m, process);
	struct sp_csv_place p = { .host = sp_model_text(m, h->process.host),
				  .thread = "",
				  .what = BEFORE,
				  .rank = h->process.rank,
				  .pid = h->process.pid,
				  .tid = -1,
				  .relation = -1,
				  .cpu = SP_NO_CPU,
				  .component = -1 };
	const char *note, *number, *name, *end, *all;
	char event[sizeof(m->early_counts)];	/* no note is longer */

	for (uint32_t i = 0; (note = sp_model_note_of(m, process, i)) != NULL; i++) {
		if (strncmp(note, SP_NOTE_EARLY_COUNTS, strlen(SP_NOTE_EARLY_COUNTS)) != 0 ||
		    strlen(note) >= sizeof(event) || !(all = strstr(note, SP_NOTE_BEGINNINGS_END)))
			continue;
		/* In a hostile store's note these parts may be outside of it. */
		for (number = strchr(note, ':'); number && number < all && is_number(number + 2) &&
		     (name = strstr(number, " of ")) != NULL && name < all; number = end) {
			for (end = name += 4;
			     end < all && !(end[0] == ',' && end[1] == ' ' && is_number(end + 2));
			     end++)
				;
			memcpy(event, name, (size_t)(end - name));
			event[end - name] = 0;
			if (s->events && !sp_in_list(s->events, event))
				continue;
			sp_csv_begin(o, m, &p, event, 0);
			for (number += 2; is_number(number); number++)
				sp_out_char(o, *number);
			sp_out_text(o, ",\n");
		}
	}
}

static bool has_line(const struct sp_model *m, const struct sp_row *row, uint32_t e,
		     const struct sp_interval_counts *at)
{
	if (sp_event_is_gauge(m, row->event[e]))
		return false;
	return !row->intervals || at->to || at->count || at->total[e] || at->exact[e];
}

/* Writes the lines of a CPU. Metrics use the sums of its line; their `exact` is empty. */
static void lines(struct sp_out *o, const struct sp_selection *s, struct sp_row *row,
		  const struct sp_interval_counts *at, const int64_t *unsupported)
{
	struct sp_csv_place p = place(s->m, row, at, at->cpu, at->component);

	for (uint32_t e = 0; e < row->k; e++)
		if (has_line(s->m, row, e, at))
			counts(o, s->m, row, e, at, unsupported && unsupported[e]);
	if (s->metrics)
		sp_metrics_compute_row(s->metrics, row, at->total, unsupported);
	sp_csv_metrics(o, s, &p, at->count, NULL);
}

struct sp_csv_place sp_csv_place_of(const struct sp_levels *levels, const struct sp_level_row *row)
{
	const struct sp_model *m = levels->m;
	const struct sp_header *h =
		row->process >= 0 ? sp_process_header(m, (uint32_t)row->process) : &m->h;
	bool of_one = !sp_is_job(m) || row->process >= 0;

	return (struct sp_csv_place){ .host = row->machine >= 0
						      ? m->machine[row->machine].host
						      : sp_model_text(m, m->h.process.host),
				      .rank = of_one ? h->process.rank : -1,
				      .pid = of_one ? (int64_t)h->process.pid : -1,
				      .tid = row->tid,
				      .thread = row->thread,
				      .relation = -1,
				      .from = row->from,
				      .to = row->to,
				      .cpu = row->cpu,
				      .event_set = row->event_set,
				      .of_set = row->of_set,
				      .component = row->component };
}

/* Writes metrics that combine several relations: a line per thread, process or machine that has the
 * sets. */
static void joined_metrics(struct sp_out *o, const struct sp_selection *s, const char *level)
{
	struct sp_levels levels;
	bool any = false;

	for (int32_t i = sp_metrics_next(s->metrics, -1); i >= 0;
	     i = sp_metrics_next(s->metrics, i))
		any = any || s->metrics->at[i].joined == level;
	if (!any)
		return;
	o->error = o->error ?: sp_levels_open(&levels, s->m, sp_level_by_name(level), s->metrics);
	if (o->error)
		return;
	for (uint32_t n = 0; n < levels.n; n++) {
		const struct sp_level_row *row = sp_levels_row(&levels, n);
		struct sp_csv_place p = sp_csv_place_of(&levels, row);

		sp_metrics_compute(s->metrics, row->metric);
		sp_csv_metrics(o, s, &p, row->readings, level);
	}
	sp_levels_close(&levels);
}

void sp_format_csv(struct sp_out *o, const struct sp_selection *s)
{
	struct sp_row row = { 0 };
	struct sp_interval_counts between;
	struct sp_at_cpu at;

	sp_out_text(o, SP_CSV_HEADER);
	while (sp_model_next(s->m, &row)) {
		for (uint32_t i = 0; sp_row_interval(s->m, &row, i, &between); i++)
			lines(o, s, &row, &between, NULL);
		for (uint32_t i = 0; !row.intervals && sp_row_cell(s->m, &row, i, &at); i++)
			lines(o, s, &row,
			      &(struct sp_interval_counts){ 0, 0, at.cpu, at.component, at.readings,
						    at.total, at.exact },
			      at.unsupported);
		gauges(o, s->m, &row);
		early_counts(o, s->m, &row);
	}
	for (uint32_t i = 0; sp_is_merged(s->m) && i < s->m->n_processes; i++)
		sp_csv_beginnings(o, s, i);
	if (s->metrics && !o->error)
		o->error = sp_metrics_join(s->metrics);
	for (unsigned i = 0; s->metrics && i < SP_COUNT(sp_metric_levels); i++)
		joined_metrics(o, s, sp_metric_levels[i]);
}
