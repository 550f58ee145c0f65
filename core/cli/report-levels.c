/* report-levels.c: a model's levels as text, CSV and JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../view/core-kinds.h"
#include "../view/view-json.h"
#include "../view/view-metrics.h"
#include "../view/view-text.h"
#include "cmd.h"
#include "report.h"
#include "table.h"

bool sp_report_level(struct sp_report *r, const char *option)
{
	const struct sp_level *l = strncmp(option, "per-", 4) == 0 ? sp_level_by_name(option + 4) : NULL;

	for (unsigned i = 0; l && i < r->n_levels; i++)
		if (r->level[i] == l)
			return true;
	if (!l || r->n_levels == SP_REPORT_LEVELS)
		return false;
	r->level[r->n_levels++] = l;
	return true;
}

bool sp_report_shows(const struct sp_report *r, const struct sp_model *m, uint32_t event)
{
	char buf[32];
	const char *name;
	size_t n;

	if (!m->event_counted[event] || sp_event_is_gauge(m, event))
		return false;
	if (!r->events)
		return true;
	name = sp_event_name(m, event, buf);
	n = strlen(name);
	for (const char *p = r->events; *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == n && memcmp(p, name, n) == 0)
			return true;
	return false;
}

bool sp_report_has(const struct sp_model *m, const char *name, size_t n)
{
	char buf[32];

	for (uint32_t e = 0; e < m->n_events; e++) {
		const char *text = sp_event_name(m, e, buf);

		if (m->event_counted[e] && strlen(text) == n && memcmp(text, name, n) == 0)
			return true;
	}
	return false;
}

bool sp_report_lacks(const struct sp_report *r, const struct sp_model *m, const struct sp_model *other,
		     char name[SP_REPORT_NAME])
{
	for (const char *p = r->events ? r->events : ""; *p; p += strcspn(p, ","), p += *p == ',') {
		size_t n = strcspn(p, ",");

		if (sp_report_has(m, p, n) || (other && sp_report_has(other, p, n)))
			continue;
		snprintf(name, SP_REPORT_NAME, "%.*s", (int)n, p);
		return true;
	}
	return false;
}

/* What --sort says; an event that is not there sorts by place. */
static long sort_key(const struct sp_report *r, const struct sp_model *m)
{
	char buf[32];

	if (!r->sort || strcmp(r->sort, "place") == 0)
		return SP_SORT_PLACE;
	if (strcmp(r->sort, "readings") == 0)
		return SP_SORT_READINGS;
	for (uint32_t e = 0; e < m->n_events; e++)
		if (strcmp(sp_event_name(m, e, buf), r->sort) == 0)
			return e;
	return SP_SORT_PLACE;
}

static int open_levels(struct sp_levels *t, const struct sp_report *r, struct sp_model *m, unsigned i)
{
	int e = sp_levels_open(t, m, r->level[i]);

	if (e == 0)
		sp_levels_sort(t, sort_key(r, m));
	return e;
}

/* ---- text --------------------------------------------------------------- */

static void heading(struct sp_table *t, const struct sp_model *m, uint32_t event)
{
	const char *units = SP_EVENT_TEXT(m, event, units);
	char text[200], buf[32];
	struct sp_out o;

	sp_memory_init(&o, text, sizeof(text));
	sp_out_plain(&o, sp_event_name(m, event, buf));
	if (*units && strlen(units) < 16) {
		sp_out_text(&o, " [");
		sp_out_plain(&o, units);
		sp_out_char(&o, ']');
	}
	sp_table_column(t, sp_memory_text(&o), SP_TABLE_RIGHT);
}

static void count(struct sp_table *t, uint64_t n)
{
	char buf[32];

	sp_format_grouped(buf, (int64_t)sp_min(n, INT64_MAX));
	sp_table_cell(t, buf);
}

/* The shown metrics, computed from a row's sums. */
#define EACH_METRIC(i, t) (int32_t i = (t) ? sp_metrics_next(t, -1) : -1; i >= 0; i = sp_metrics_next(t, i))

static void compute(const struct sp_level_row *row)
{
	if (sp_view_metrics)
		sp_metrics_compute(sp_view_metrics, row->total, row->counted, row->machine);
}

static void metric_headings(struct sp_table *t)
{
	for EACH_METRIC (i, sp_view_metrics) {
		char text[200];
		struct sp_out o;

		sp_memory_init(&o, text, sizeof(text));
		sp_out_plain(&o, sp_view_metrics->at[i].name);
		sp_table_column(t, sp_memory_text(&o), SP_TABLE_RIGHT);
	}
}

/* Its counts are of P and E cores: a metric of them is neither's. */
static bool is_mixed(const struct sp_level_row *row)
{
	return sp_view_metrics && sp_kinds_several(row->kinds);
}

static void metric_cells(struct sp_table *t, const struct sp_level_row *row)
{
	char buf[49];

	compute(row);
	for EACH_METRIC (i, sp_view_metrics) {
		sp_metric_text(buf, &sp_view_metrics->at[i]);
		if (is_mixed(row) && sp_view_metrics->at[i].has_value)
			strcat(buf, "*");
		sp_table_cell(t, buf);
	}
}

/* Of several machines which one; of several processes whose thread. */
static unsigned whose_columns(struct sp_table *t, const struct sp_model *m, const struct sp_level *level)
{
	bool threads = sp_is_job(m) && level->what == SP_LEVEL_THREAD;

	if (m->n_machines > 1)
		sp_table_column(t, "host", SP_TABLE_LEFT);
	if (threads) {
		sp_table_column(t, "rank", SP_TABLE_RIGHT);
		sp_table_column(t, "pid", SP_TABLE_RIGHT);
	}
	return (m->n_machines > 1) + 2 * threads;
}

static void number(struct sp_table *t, int64_t n)
{
	char buf[32] = "-";

	if (n >= 0)
		sp_format_u64(buf, (uint64_t)n);
	sp_table_cell(t, buf);
}

static void whose_cells(struct sp_table *t, const struct sp_model *m, const struct sp_level_row *row)
{
	char host[200];
	struct sp_out o;

	sp_memory_init(&o, host, sizeof(host));
	sp_out_plain(&o, row->machine >= 0 ? m->machine[row->machine].host : "");
	if (m->n_machines > 1)
		sp_table_cell(t, sp_memory_text(&o));
	if (sp_is_job(m) && row->process >= 0) {
		number(t, m->process[row->process].h->rank);
		number(t, m->process[row->process].h->pid);
	}
}

/* On how many CPUs it was counted; not known between two calls. */
static bool has_cpus(const struct sp_level *level)
{
	return level->what != SP_LEVEL_CALLSITE;
}

static void text_row(const struct sp_report *r, struct sp_table *t, const struct sp_model *m,
		     const struct sp_level *level, const struct sp_level_row *row)
{
	double part = 0.0, whole = 0.0;
	char buf[48];

	whose_cells(t, m, row);
	sp_table_cell(t, row->label);
	if (has_cpus(level))
		number(t, row->cpus ? (int64_t)row->cpus : -1);
	count(t, row->readings);
	for (uint32_t e = 0; e < m->n_events; e++) {
		enum sp_data_type type = sp_event_type(m, e);
		double share;

		if (!sp_report_shows(r, m, e))
			continue;
		if (row->counted[e])
			sp_value_text(buf, type, row->total[e]);
		else
			strcpy(buf, "-");
		sp_table_cell(t, buf);
		share = sp_proven_share(type, row->total[e], row->exact[e]);
		if (share >= 0.0) {
			part += share;
			whole += 1.0;
		}
	}
	sp_table_cell(t, sp_percent(buf, part, whole));
	metric_cells(t, row);
}

int sp_report_text(const struct sp_report *r, struct sp_out *o, struct sp_model *m)
{
	for (unsigned i = 0; i < r->n_levels; i++) {
		struct sp_table t = { 0 };
		struct sp_levels levels;
		bool mixed = false;

		if (open_levels(&levels, r, m, i) < 0)
			return -ENOMEM;
		t.keys = whose_columns(&t, m, levels.level) + 1;
		sp_table_column(&t, levels.level->heading, SP_TABLE_LEFT);
		if (has_cpus(levels.level))
			sp_table_column(&t, "CPUs", SP_TABLE_RIGHT);
		sp_table_column(&t, "readings", SP_TABLE_RIGHT);
		for (uint32_t e = 0; e < m->n_events; e++)
			if (sp_report_shows(r, m, e))
				heading(&t, m, e);
		sp_table_column(&t, "proven", SP_TABLE_RIGHT);
		metric_headings(&t);
		for (uint32_t n = 0; n < levels.n; n++) {
			text_row(r, &t, m, levels.level, sp_levels_row(&levels, n));
			mixed = mixed || is_mixed(sp_levels_row(&levels, n));
		}
		sp_out_text(o, i ? "\n" : "");
		sp_table_print(&t, o, r->colour);
		sp_out_text(o, mixed ? "(* of cores of several kinds together; --per-kind tells them apart)\n" : "");
		sp_levels_close(&levels);
		sp_table_free(&t);
		if (t.failed)
			return -ENOMEM;
	}
	return 0;
}

/* ---- CSV ---------------------------------------------------------------- */

static void logical(struct sp_out *o, const struct sp_model *m, int32_t component, const char *type)
{
	int32_t above = component >= 0 ? sp_model_above(m, component, type) : -1;

	sp_out_char(o, ',');
	if (above >= 0)
		sp_out_i64(o, m->component[above].logical_index);
}

/* The columns of the tidy dump up to `package`, empty where the level has no such thing. */
static void csv_place(struct sp_out *o, const struct sp_model *m, const struct sp_level_row *row)
{
	const struct sp_header *h = row->process >= 0 ? sp_process_header(m, (uint32_t)row->process) : &m->h;
	bool of_one = !sp_is_job(m) || row->process >= 0;

	sp_out_csv(o, row->machine >= 0 ? m->machine[row->machine].host : sp_model_text(m, m->h.host));
	sp_out_char(o, ',');
	if (of_one && h->rank >= 0)
		sp_out_i64(o, h->rank);
	sp_out_char(o, ',');
	if (of_one)
		sp_out_u64(o, h->pid);
	sp_out_char(o, ',');
	if (row->tid >= 0)
		sp_out_i64(o, row->tid);
	sp_out_char(o, ',');
	sp_out_csv(o, row->thread);
	sp_out_text(o, ",,,");
	sp_csv_path(o, m, row->from);
	sp_out_char(o, ',');
	sp_csv_path(o, m, row->to);
	sp_out_char(o, ',');
	if (row->cpu >= 0)
		sp_out_i64(o, row->cpu);
	logical(o, m, row->component, "Core");
	logical(o, m, row->component, "NUMANode");
	logical(o, m, row->component, "Package");
	sp_out_char(o, ',');
}

/* The tidy dump has no column for kinds of cores, nor for caches, of which a package may have
 * several: the name says it, as in hwloc's XML. */
static void csv_name(struct sp_out *o, const struct sp_model *m, const struct sp_level *level,
		     const struct sp_level_row *row, const char *name)
{
	bool cache = level->what == SP_LEVEL_CACHE;
	char text[1200];
	struct sp_out memory;

	sp_memory_init(&memory, text, sizeof(text) - 48);
	sp_out_text(&memory, name);
	if (cache || row->kind >= 0) {
		memory.error = 0;
		memory.size = sizeof(text) - 1;
		sp_out_text(&memory, cache && row->component < 0 && !row->cpus ? " " : " on ");	/* "not on a known CPU" */
	}
	if (cache)
		sp_out_text(&memory, row->label);
	else if (row->kind >= 0)
		sp_text_kinds(&memory, m, 1u << row->kind);
	sp_out_csv(o, sp_memory_text(&memory));
}

static void csv_metrics(struct sp_out *o, const struct sp_model *m, const struct sp_level *level,
			const struct sp_level_row *row)
{
	compute(row);
	for EACH_METRIC (i, sp_view_metrics) {
		const struct sp_metric *d = &sp_view_metrics->at[i];

		if (!d->has_value)
			continue;
		csv_place(o, m, row);
		csv_name(o, m, level, row, d->name);
		sp_out_char(o, ',');
		sp_out_u64(o, row->readings);
		sp_out_char(o, ',');
		sp_metric_number(o, d);
		sp_out_text(o, ",\n");
	}
}

static void csv_row(const struct sp_report *r, struct sp_out *o, const struct sp_model *m,
		    const struct sp_level *level, const struct sp_level_row *row)
{
	char buf[32];

	for (uint32_t e = 0; e < m->n_events; e++) {
		enum sp_data_type type = sp_event_type(m, e);

		if (!sp_report_shows(r, m, e) || !row->counted[e])
			continue;
		csv_place(o, m, row);
		csv_name(o, m, level, row, sp_event_name(m, e, buf));
		sp_out_char(o, ',');
		sp_out_u64(o, row->event_readings[e]);
		sp_out_char(o, ',');
		sp_out_value(o, type, row->total[e]);
		sp_out_char(o, ',');
		sp_out_value(o, type, row->exact[e]);
		sp_out_char(o, '\n');
	}
	csv_metrics(o, m, level, row);
}

int sp_report_csv(const struct sp_report *r, struct sp_out *o, struct sp_model *m)
{
	struct sp_levels levels;
	bool mixed = false;

	if (open_levels(&levels, r, m, 0) < 0)
		return -ENOMEM;
	sp_out_text(o, SP_CSV_HEADER);
	for (uint32_t n = 0; n < levels.n; n++) {
		csv_row(r, o, m, levels.level, sp_levels_row(&levels, n));
		mixed = mixed || is_mixed(sp_levels_row(&levels, n));
	}
	sp_levels_close(&levels);
	if (mixed)
		sp_complain(0, r->verb, "metrics of rows with cores of several kinds are of all of them together; "
			    "--per-kind tells them apart", "-m");
	return 0;
}

/* ---- JSON --------------------------------------------------------------- */

static void json_values(const struct sp_report *r, struct sp_out *o, const struct sp_model *m,
			const struct sp_level_row *row, const char *key, const int64_t *v)
{
	bool more = false;

	sp_out_text(o, key);
	for (uint32_t e = 0; e < m->n_events; e++) {
		if (!sp_report_shows(r, m, e) || !row->counted[e])
			continue;
		sp_out_text(o, more ? ", " : "");
		sp_json_event_key(o, m, e);
		sp_out_text(o, ": ");
		sp_json_value(o, sp_event_type(m, e), v[e]);
		more = true;
	}
	sp_out_char(o, '}');
}

static void json_row(const struct sp_report *r, struct sp_out *o, const struct sp_model *m,
		     const struct sp_level_row *row)
{
	sp_out_text(o, "{\"label\": ");
	sp_out_json(o, row->label);
	sp_out_text(o, ", \"component\": ");
	if (row->component >= 0)
		sp_out_i64(o, row->component);
	else
		sp_out_text(o, "null");
	if (sp_is_job(m) && row->process >= 0) {
		sp_out_text(o, ", \"process\": ");
		sp_out_i64(o, row->process);
	}
	if (row->to) {
		sp_out_text(o, ", \"from\": ");
		if (row->from)
			sp_out_u64(o, row->from);
		else
			sp_out_text(o, "null");
		sp_out_text(o, ", \"to\": ");
		sp_out_u64(o, row->to);
	}
	if (m->n_machines > 1 && row->machine >= 0) {
		sp_out_text(o, ", \"host\": ");
		sp_out_json(o, m->machine[row->machine].host);
	}
	if (row->cpu >= 0) {
		sp_out_text(o, ", \"cpu\": ");
		sp_out_i64(o, row->cpu);
	}
	if (row->tid >= 0) {
		sp_out_text(o, ", \"tid\": ");
		sp_out_i64(o, row->tid);
	}
	sp_out_text(o, ", \"cpus\": ");
	sp_out_u64(o, row->cpus);
	sp_out_text(o, ", \"readings\": ");
	sp_out_u64(o, row->readings);
	json_values(r, o, m, row, ",\n    \"total\": {", row->total);
	json_values(r, o, m, row, ",\n    \"exact\": {", row->exact);
	compute(row);
	sp_metrics_json(o);
	sp_out_text(o, is_mixed(row) ? ", \"mixed_cpu_kinds\": true}" : "}");
}

int sp_report_json(const struct sp_report *r, struct sp_out *o, struct sp_model *m)
{
	sp_out_text(o, ",\n \"levels\": [");
	for (unsigned i = 0; i < r->n_levels; i++) {
		struct sp_levels levels;

		if (open_levels(&levels, r, m, i) < 0)
			return -ENOMEM;
		sp_out_text(o, i ? ",\n  {\"level\": " : "\n  {\"level\": ");
		sp_out_json(o, levels.level->name);
		sp_out_text(o, ", \"rows\": [");
		for (uint32_t n = 0; n < levels.n; n++) {
			sp_out_text(o, n ? ",\n   " : "\n   ");
			json_row(r, o, m, sp_levels_row(&levels, n));
		}
		sp_out_text(o, "]}");
		sp_levels_close(&levels);
	}
	sp_out_char(o, ']');
	return 0;
}
