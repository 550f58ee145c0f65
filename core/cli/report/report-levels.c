/* report-levels.c: writes a model's levels as text, CSV and JSON. */
#include <string.h>

#include "../../formats/format-csv.h"
#include "../../formats/format-json.h"
#include "../../formats/format-text-levels.h"
#include "../../model/core-kinds.h"
#include "../files/file.h"
#include "../tool/cmd.h"
#include "../tool/suggest.h"
#include "crossed.h"
#include "report.h"

#define PAIR_WIDTH 500u		/* columns of two call sites in JSON's labels */

bool sp_report_level(struct sp_report *r, const char *option)
{
	const struct sp_level *l =
		strncmp(option, "per-", 4) == 0 ? sp_level_by_name(option + 4) : NULL;

	for (unsigned i = 0; l && i < r->n_levels; i++)
		if (r->level[i] == l)
			return true;
	if (!l || r->n_levels == SP_REPORT_LEVELS)
		return false;
	r->level[r->n_levels++] = l;
	r->crossed = r->n_levels == 2;
	return true;
}

bool sp_report_has(const struct sp_model *m, const char *name, size_t n)
{
	char buf[32];

	for (uint32_t e = 0; e < m->n_events; e++) {
		if (m->event_counted[e] && sp_event_has_name(sp_event_name(m, e, buf), name, n))
			return true;
	}
	return false;
}

bool sp_report_lacks(const char *events, const struct sp_file *f, unsigned n,
		     char name[SP_REPORT_NAME])
{
	for (const char *p = events; p && *p; p += strcspn(p, ","), p += *p == ',') {
		unsigned i = 0;

		while (i < n && !sp_report_has(&f[i].model, p, strcspn(p, ",")))
			i++;
		snprintf(name, SP_REPORT_NAME, "%.*s", (int)strcspn(p, ","), p);
		if (i == n)
			return true;
	}
	*name = 0;
	return events && !events[strspn(events, ",")];
}

/* Finds the only event whose name, without modes, has this end; NULL: no event or several. */
static const char *by_ending(const char *wanted, const struct sp_file *f, unsigned n)
{
	static struct sp_suggestions similar;
	char buf[32];

	similar = (struct sp_suggestions){ 0 };
	for (unsigned i = 0; i < n; i++)
		for (uint32_t e = 0; e < f[i].model.n_events; e++) {
			char *name;

			if (!f[i].model.event_counted[e])
				continue;
			name = sp_check_alloc(strdup(sp_event_name(&f[i].model, e, buf)));
			name[sp_name_bytes(name)] = 0;
			sp_suggest_consider(&similar, wanted, name);
			free(name);
		}
	return sp_suggest_ending(&similar);
}

char *sp_report_whole(const char *events, const struct sp_file *f, unsigned n)
{
	char *all = sp_check_alloc(strdup("")), *longer;

	for (const char *p = events; *p; p += strcspn(p, ","), p += *p == ',') {
		char *name = sp_check_alloc(strndup(p, strcspn(p, ",")));
		bool there = false;

		for (unsigned i = 0; i < n && !there; i++)
			there = sp_report_has(&f[i].model, name, strlen(name));
		if (asprintf(&longer, "%s%s%s", all, *all ? "," : "",
			     (there ? NULL : by_ending(name, f, n)) ?: name) < 0)
			longer = sp_check_alloc(NULL);
		free(name);
		free(all);
		all = longer;
	}
	return all;
}

/* Adds the events of m that `but` lacks. */
static void add_names(struct sp_out *o, const struct sp_model *m, const struct sp_model *but,
		      unsigned *n)
{
	char buf[32];

	for (uint32_t e = 0; m && e < m->n_events; e++) {
		const char *name = sp_event_name(m, e, buf);

		if (!m->event_counted[e] || (but && sp_report_has(but, name, strlen(name))) ||
		    (*n)++ >= 20)
			continue;
		sp_out_text(o, *n > 1 ? ", " : "; there are ");
		sp_out_text(o, name);
	}
}

void sp_report_there_are(const char *what, const struct sp_model *m, const struct sp_model *other,
			 char *text, size_t room)
{
	unsigned n = 0;
	struct sp_out o;

	sp_memory_init(&o, text, room);
	sp_out_text(&o, what);
	add_names(&o, m, NULL, &n);
	add_names(&o, other, m, &n);
	if (n > 20)
		sp_out_text(&o, " \xe2\x80\xa6");
	sp_memory_text(&o);
}

/* Returns the sort key of --sort. An event that was not counted sorts by place. */
static long sort_key(const struct sp_report *r, const struct sp_model *m)
{
	const char *sort = r->show.sort;
	char buf[32];

	if (!sort || strcmp(sort, "place") == 0)
		return SP_SORT_PLACE;
	if (strcmp(sort, "readings") == 0)
		return SP_SORT_READINGS;
	for (uint32_t e = 0; e < m->n_events; e++)
		if (sp_event_has_name(sp_event_name(m, e, buf), sort, strlen(sort)))
			return e;
	return SP_SORT_PLACE;
}

static int open_level(struct sp_levels *t, const struct sp_report *r, unsigned i, bool grouped)
{
	int e = sp_levels_open(t, r->show.m, r->level[i], r->show.metrics);

	if (e == 0 && grouped)
		sp_levels_group(t, NULL);
	if (e == 0)
		sp_levels_sort(t, sort_key(r, r->show.m));
	return e;
}

static int open_crossed(struct sp_crossed *x, const struct sp_report *r, bool grouped)
{
	int e = sp_crossed_open(x, r->show.m, &r->level[r->n_levels - 2], r->show.metrics, grouped);

	if (e == 0)
		sp_crossed_sort(x, sort_key(r, r->show.m), SP_SORT_PLACE);
	return e;
}

int sp_report_text(const struct sp_report *r, struct sp_out *o)
{
	struct sp_crossed x;
	int crossed = r->crossed ? open_crossed(&x, r, !r->show.all) : 0;

	if (crossed < 0)
		return crossed;
	if (r->framed)
		sp_text_begin(o, &r->show);
	if (r->crossed) {
		sp_crossed_text(o, &r->show, &x, r->framed);
		sp_crossed_close(&x);
	}
	for (unsigned i = 0; !r->crossed && i < r->n_levels; i++) {
		struct sp_levels levels;
		int e = open_level(&levels, r, i, !r->show.all);

		if (e == 0) {
			e = sp_text_level(o, &r->show, &levels, i > 0 || r->framed);
			sp_levels_close(&levels);
		}
		if (e < 0)
			return e;
	}
	if (r->framed)
		sp_text_end(o, &r->show);
	return 0;
}

/* Computes the metrics of this row. Rows with counts of P and E cores have none. */
static bool compute(const struct sp_report *r, const struct sp_level_row *row)
{
	if (r->show.metrics)
		sp_metrics_compute(r->show.metrics, row->metric);
	return r->show.metrics && sp_kinds_several(row->kinds);
}

/* ---- CSV ---------------------------------------------------------------- */

/* Returns the suffix of the event's name that identifies a cache: the tidy CSV has no column for
 * caches, and a package may have several. */
static void behind_name(struct sp_out *o, const struct sp_levels *levels,
			const struct sp_level_row *row)
{
	if (levels->level->what != SP_LEVEL_CACHE)
		return;
	/* "not on a known CPU" */
	sp_out_text(o, row->component < 0 && !row->cpus ? " " : " on ");
	sp_level_label(o, levels, row, PAIR_WIDTH);
}

static bool csv_row(const struct sp_report *r, struct sp_out *o, const struct sp_levels *levels,
		    const struct sp_level_row *row, const char *behind)
{
	const struct sp_model *m = levels->m;
	struct sp_csv_place p = sp_csv_place_of(levels, row);
	char buf[32];
	bool mixed;

	p.what = behind;
	for (uint32_t e = 0; e < m->n_events; e++) {
		if (!sp_selection_event(&r->show, e) || !(row->counted[e] || row->unsupported[e]))
			continue;
		sp_csv_begin(o, m, &p, sp_event_name(m, e, buf), row->event_readings[e]);
		if (!row->counted[e])
			sp_csv_no_count(o);
		else
			sp_csv_counts(o, sp_event_type(m, e), row->total[e], row->exact[e]);
	}
	mixed = compute(r, row);
	sp_csv_metrics(o, &r->show, &p, row->readings, NULL);
	return mixed;
}

static int csv_level(const struct sp_report *r, struct sp_out *o, bool *mixed)
{
	struct sp_levels levels;
	struct sp_out behind;
	char text[200];

	if (open_level(&levels, r, 0, false) < 0)
		return -ENOMEM;
	for (uint32_t n = 0; n < levels.n; n++) {
		const struct sp_level_row *row = sp_levels_row(&levels, n);

		sp_memory_init(&behind, text, sizeof(text));
		behind_name(&behind, &levels, row);
		*mixed |= csv_row(r, o, &levels, row, sp_memory_text(&behind));
	}
	sp_levels_close(&levels);
	return 0;
}

/* Lines with the keys of both levels. */
static int csv_crossed(const struct sp_report *r, struct sp_out *o, bool *mixed)
{
	const struct sp_level_row *cell;
	struct sp_crossed x;
	struct sp_out behind;
	uint32_t i, k;
	char text[200];

	if (open_crossed(&x, r, false) < 0)
		return -ENOMEM;
	for (uint32_t n = 0; (cell = sp_crossed_next(&x, n, &i, &k)) != NULL; n++) {
		struct sp_level_row whole = sp_crossed_whole(&x, cell);

		sp_memory_init(&behind, text, sizeof(text));
		behind_name(&behind, &x.rows, sp_levels_row(&x.rows, i));
		behind_name(&behind, &x.columns, sp_levels_row(&x.columns, k));
		*mixed |= csv_row(r, o, &x.rows, &whole, sp_memory_text(&behind));
	}
	sp_crossed_close(&x);
	return 0;
}

int sp_report_csv(const struct sp_report *r, struct sp_out *o)
{
	bool mixed = false;
	int e;

	sp_out_text(o, SP_CSV_HEADER);
	e = r->crossed ? csv_crossed(r, o, &mixed) : csv_level(r, o, &mixed);
	if (e < 0)
		return e;
	for (uint32_t i = 0; i < r->show.m->n_processes; i++)
		sp_csv_beginnings(o, &r->show, i);
	if (mixed)
		sp_complain(
			0, r->verb,
			"metrics of rows with cores of several kinds are of all of them together",
			"-m");
	return 0;
}

/* ---- JSON --------------------------------------------------------------- */

static void json_values(const struct sp_report *r, struct sp_out *o, const struct sp_level_row *row,
			const char *key, const int64_t *v)
{
	sp_out_text(o, key);
	for (uint32_t e = 0; e < r->show.m->n_events; e++) {
		if (!sp_selection_event(&r->show, e) || !(row->counted[e] || row->unsupported[e]))
			continue;
		sp_json_comma(o);
		sp_json_event_key(o, r->show.m, e);
		sp_out_text(o, ": ");
		if (row->counted[e])
			sp_json_value(o, sp_event_type(r->show.m, e), v[e]);
		else
			sp_out_text(o, "null");
	}
	sp_out_char(o, '}');
}

static void json_counts(const struct sp_report *r, struct sp_out *o, const struct sp_level_row *row)
{
	bool mixed;

	json_values(r, o, row, ",\n    \"total\": {", row->total);
	json_values(r, o, row, ",\n    \"exact\": {", row->exact);
	mixed = compute(r, row);
	sp_metrics_json(o, r->show.metrics);
	sp_out_text(o, mixed ? ", \"mixed_cpu_kinds\": true}" : "}");
}

static void json_row(const struct sp_report *r, struct sp_out *o, const struct sp_levels *levels,
		     const struct sp_level_row *row)
{
	const struct sp_model *m = levels->m;
	char label[600];
	struct sp_out words;

	sp_memory_init(&words, label, sizeof(label));
	sp_level_label(&words, levels, row, PAIR_WIDTH);
	sp_json_f(o, "{\"label\": %s, \"component\": % d", sp_memory_text(&words), row->component);
	if (row->of_set)
		sp_json_f(o, ", \"event_set\": %d", row->event_set);
	if (sp_is_job(m) && row->process >= 0)
		sp_json_f(o, ", \"process\": %d", row->process);
	if (row->to)
		sp_json_f(o, ", \"from\": % ld, \"to\": %u", row->from ? (int64_t)row->from : -1,
			  row->to);
	if (m->n_machines > 1 && row->machine >= 0)
		sp_json_f(o, ", \"host\": %s", m->machine[row->machine].host);
	if (row->cpu >= 0)
		sp_json_f(o, ", \"cpu\": %d", row->cpu);
	if (row->tid >= 0)
		sp_json_f(o, ", \"tid\": %d", row->tid);
	sp_json_f(o, ", \"cpus\": %u, \"readings\": %lu", row->cpus, row->readings);
	json_counts(r, o, row);
}

/* The counts of two levels together, by the numbers of their rows in "levels". */
static int json_crossed(const struct sp_report *r, struct sp_out *o)
{
	const struct sp_level_row *cell;
	struct sp_crossed x;
	int e = open_crossed(&x, r, r->show.brief);
	uint32_t i, k;

	if (e < 0)
		return e;
	sp_crossed_sort(&x, sort_key(r, r->show.m), sort_key(r, r->show.m));
	sp_json_f(o, ",\n \"crossed\": {\"rows\": %s, \"columns\": %s, \"cells\": [",
		  x.rows.level->name, x.columns.level->name);
	for (uint32_t n = 0; !o->error && (cell = sp_crossed_next(&x, n, &i, &k)) != NULL; n++) {
		sp_json_line(o, "  ");
		sp_json_f(o, "{\"row\": %u, \"column\": %u, \"readings\": %lu", i, k,
			  cell->readings);
		json_counts(r, o, cell);
	}
	sp_out_text(o, "]}");
	sp_crossed_close(&x);
	return 0;
}

int sp_report_json(const struct sp_report *r, struct sp_out *o)
{
	sp_out_text(o, ",\n \"levels\": [");
	for (unsigned i = 0; i < r->n_levels && !o->error; i++) {
		struct sp_levels levels;

		if (open_level(&levels, r, i, r->show.brief) < 0)
			return -ENOMEM;
		sp_json_line(o, "  ");
		sp_json_f(o, "{\"level\": %s, \"rows\": [", levels.level->name);
		for (uint32_t n = 0; n < levels.n && !o->error; n++) {
			if (r->has_row && !r->has_row(r->of, i, levels.order[n]))
				continue;
			sp_json_line(o, "   ");
			json_row(r, o, &levels, sp_levels_row(&levels, n));
		}
		sp_out_text(o, "]}");
		sp_levels_close(&levels);
	}
	sp_out_char(o, ']');
	return r->crossed && !o->error ? json_crossed(r, o) : 0;
}
