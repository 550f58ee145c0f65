/* crossed-text.c: writes two levels as tables, one for each event and metric; see crossed.h. */
#include "../../base/sort.h"
#include "../../formats/format-metrics.h"
#include "../../formats/format-text-levels.h"
#include "../../formats/format-text-table.h"
#include "../../metric/relation.h"
#include "../../model/core-kinds.h"
#include "../tool/cmd.h"
#include "crossed.h"
#include "report.h"

#define COLUMNS		8u		/* the biggest; the others are added up */
#define LINE		132u		/* columns of a line, if the terminal is narrower */
#define LABEL_LEAST	22u
#define NUMBER_LEAST	7u
#define HEADING_MOST	16u

struct table {
	const struct sp_selection *s;
	struct sp_crossed *x;
	uint32_t id;			/* an event, or n_events and the number of a metric */
	bool *is_shown;			/* [columns] */
	uint32_t col[COLUMNS];		/* numbers of the shown columns */
	unsigned n;			/* of shown columns; column n has the rest */
	uint32_t left;			/* the number of columns in the rest */
	unsigned width[COLUMNS + 2], label_width;
	struct rest {
		bool counted;
		uint32_t kinds;
		int64_t total;
	} *rest;			/* [rows] sums of the cells that are not shown */
	struct sp_metric_sum *metric;	/* [rows][slots] the same for the metric */
};

static bool is_metric(const struct table *t)
{
	return t->id >= t->s->m->n_events;
}

/* ---- cells -------------------------------------------------------------------------- */

static uint64_t n_slots(const struct table *t)
{
	return t->s->metrics ? t->s->metrics->n_slots : 0;
}

static bool has_value(const struct table *t, const struct sp_level_row *row)
{
	if (!is_metric(t))
		return row->counted[t->id];
	sp_metrics_compute(t->s->metrics, row->metric);
	return t->s->metrics->at[t->id - t->s->m->n_events].has_value;
}

/* Writes the count of the event or the value of the metric ("-": nothing). Returns its columns. */
static unsigned value_text(char buf[49], const struct table *t, const struct sp_level_row *row)
{
	const struct sp_metric *d;

	strcpy(buf, "-");
	if (!row)
		return 1;
	if (!is_metric(t))
		return row->counted[t->id] ? sp_short_text(buf, t->s->m, t->id, row->total[t->id])
					   : 1;
	if (sp_kinds_several(row->kinds))
		return 1;
	d = &t->s->metrics->at[t->id - t->s->m->n_events];
	sp_metrics_compute(t->s->metrics, row->metric);
	return sp_metric_text(buf, d);
}

/* The same for the cells of row i that are not shown. */
static unsigned rest_text(char buf[49], const struct table *t, uint32_t i)
{
	const struct rest *of = &t->rest[i];

	if (is_metric(t))
		return value_text(buf, t,
				  &(struct sp_level_row){ .kinds = of->kinds,
							  .metric = t->metric + i * n_slots(t) });
	strcpy(buf, "-");
	return of->counted ? sp_short_text(buf, t->s->m, t->id, of->total) : 1;
}

static void add_up_rest(struct table *t)
{
	const struct sp_level_row *cell;
	uint32_t i, k;

	memset(t->rest, 0, t->x->rows.n * sizeof(*t->rest));
	memset(t->metric, 0, t->x->rows.n * n_slots(t) * sizeof(*t->metric));
	for (uint32_t n = 0; (cell = sp_crossed_next(t->x, n, &i, &k)) != NULL; n++) {
		if (t->is_shown[k])
			continue;
		t->rest[i].kinds |= cell->kinds;
		if (is_metric(t)) {
			sp_metrics_sum(t->s->metrics, t->metric + i * n_slots(t), cell->metric);
		} else if (cell->counted[t->id]) {
			t->rest[i].counted = true;
			t->rest[i].total = sp_plus(sp_event_type(t->s->m, t->id),
						   t->rest[i].total, cell->total[t->id]);
		}
	}
}

/* Number k of row i: 0 the whole row, then the shown columns, then the rest. */
static unsigned number(char buf[49], const struct table *t, uint32_t i, unsigned k)
{
	if (k == 0)
		return value_text(buf, t, sp_levels_row(&t->x->rows, i));
	if (k <= t->n)
		return value_text(buf, t, sp_crossed_cell(t->x, i, t->col[k - 1]));
	return rest_text(buf, t, i);
}

static unsigned numbers(const struct table *t)
{
	return 1 + t->n + (t->left > 0);
}

/* ---- columns ------------------------------------------------------------------------- */

struct by {
	const struct table *t;
	uint32_t event;
};

static double weight(const struct by *by, uint32_t k)
{
	return sp_value_double(sp_event_type(by->t->s->m, by->event),
			       sp_levels_row(&by->t->x->columns, k)->total[by->event]);
}

static bool is_bigger(const void *of, uint32_t a, uint32_t b)
{
	double x = weight(of, a), y = weight(of, b);

	return x > y || (!(x < y) && a < b);
}

static void heading(char text[256], const struct table *t, unsigned k, unsigned width)
{
	const struct sp_level_row *column =
		k > 0 && k <= t->n ? sp_levels_row(&t->x->columns, t->col[k - 1]) : NULL;
	struct sp_out o;

	sp_memory_init(&o, text, 256);
	if (k == 0)
		sp_out_text(&o, "total");
	else if (column && column->cpu >= 0 && t->s->m->n_machines < 2)
		sp_out_f(&o, "CPU %d", column->cpu);
	else if (column && column->cpu >= 0)
		sp_out_f(&o, "%s CPU %d", t->s->m->machine[column->machine].host, column->cpu);
	else if (column)
		sp_text_row_label(&o, &t->x->columns, column, width);
	else
		sp_out_f(&o, "%'u more", t->left);
	sp_memory_text(&o);
}

static void measure_column(struct table *t, unsigned k)
{
	char text[256];

	heading(text, t, k, HEADING_MOST);
	t->width[k] = (unsigned)sp_max(sp_min(sp_columns(text), HEADING_MOST), NUMBER_LEAST);
	for (uint32_t i = 0; i < t->x->rows.n; i++)
		t->width[k] = (unsigned)sp_max(t->width[k], number(text, t, i, k));
}

/* Shows the biggest columns by `event`, of those with a value, as many as fit, in the order of the
 * level. */
static void choose_columns(struct table *t, uint32_t event, uint32_t *order)
{
	const struct by by = { t, event };
	const struct sp_level_row *cell;
	uint32_t there = 0, n = t->x->columns.n, i, column;
	unsigned line = (unsigned)sp_max(LINE, t->s->columns), used;

	memset(t->is_shown, 0, n);
	for (uint32_t c = 0; (cell = sp_crossed_next(t->x, c, &i, &column)) != NULL; c++)
		t->is_shown[column] = t->is_shown[column] || has_value(t, cell);
	for (uint32_t k = 0; k < n; k++)
		if (t->is_shown[k])
			order[there++] = k;
	sp_sort(order, there, is_bigger, &by);
	t->n = (unsigned)sp_min(there, COLUMNS);
	do {
		memset(t->is_shown, 0, n);
		for (unsigned k = 0; k < t->n; k++)
			t->is_shown[order[k]] = true;
		for (uint32_t k = 0, shown = 0; k < n; k++)
			if (t->is_shown[k])
				t->col[shown++] = k;
		t->left = there - t->n;
		add_up_rest(t);
		used = LABEL_LEAST + 2;
		for (unsigned k = 0; k < numbers(t); k++) {
			measure_column(t, k);
			used += t->width[k] + 2;
		}
	} while (used > line && t->n-- > 1);
	t->label_width = line - (used - LABEL_LEAST);
}

/* ---- a table -------------------------------------------------------------------------- */

static bool is_unproven(const struct table *t, const struct sp_level_row *row)
{
	const struct sp_model *m = t->s->m;

	return !is_metric(t) && sp_event_has_column(m, t->id) &&
	       sp_is_unproven(sp_event_type(m, t->id), row->total[t->id], row->exact[t->id]);
}

static void row_label(char text[600], const struct table *t, uint32_t i, unsigned width)
{
	struct sp_out o;

	sp_memory_init(&o, text, 600);
	sp_text_row_label(&o, &t->x->rows, sp_levels_row(&t->x->rows, i), width);
	sp_memory_text(&o);
}

static void head(struct sp_out *o, const struct table *t, bool marks)
{
	char text[256];

	sp_heading_begin(o, t->s->bold);
	if (is_metric(t))
		sp_out_text(o, t->s->metrics->at[t->id - t->s->m->n_events].name);
	else
		sp_out_text(o, sp_text_event(t->s->m, t->id, text));
	sp_heading_end(o, t->s->bold);
	sp_heading_begin(o, t->s->bold);
	sp_left(o, sp_text_level_heading(&t->x->rows), t->label_width + 2 * marks);
	for (unsigned k = 0; k < numbers(t); k++) {
		unsigned columns;

		heading(text, t, k, t->width[k]);
		columns = (unsigned)sp_min(sp_columns(text), t->width[k]);
		sp_out_repeat(o, ' ', 2 + t->width[k] - columns);
		sp_left(o, text, columns);
	}
	sp_heading_end(o, t->s->bold);
}

static void table(struct sp_out *o, struct table *t, bool below)
{
	unsigned longest = (unsigned)sp_columns(sp_text_level_heading(&t->x->rows));
	bool marks = false;
	char text[600];

	for (uint32_t i = 0; i < t->x->rows.n; i++) {
		if (!has_value(t, sp_levels_row(&t->x->rows, i)))
			continue;
		marks = marks || is_unproven(t, sp_levels_row(&t->x->rows, i));
		row_label(text, t, i, t->label_width);
		longest = (unsigned)sp_max(longest, sp_columns(text));
	}
	t->label_width = (unsigned)sp_min(longest, t->label_width);
	sp_out_text(o, below ? "\n" : "");
	head(o, t, marks);
	for (uint32_t i = 0; i < t->x->rows.n; i++) {
		const struct sp_level_row *row = sp_levels_row(&t->x->rows, i);

		if (!has_value(t, row))
			continue;
		if (marks)
			sp_out_text(o, is_unproven(t, row) ? "~ " : "  ");
		row_label(text, t, i, t->label_width);
		sp_left(o, text, t->label_width);
		for (unsigned k = 0; k < numbers(t); k++) {
			number(text, t, i, k);
			sp_right(o, text, 2 + t->width[k]);
		}
		sp_out_char(o, '\n');
	}
}

/* Returns whether any row has a value in this table. */
static bool is_needed(const struct table *t)
{
	for (uint32_t i = 0; i < t->x->rows.n; i++)
		if (has_value(t, sp_levels_row(&t->x->rows, i)))
			return true;
	return false;
}

void sp_crossed_text(struct sp_out *o, const struct sp_selection *s, struct sp_crossed *x,
		    bool below)
{
	const struct sp_model *m = s->m;
	bool any = false;
	uint32_t *order = sp_check_alloc(malloc((x->columns.n + 1ull) * sizeof(*order)));
	bool *columns = sp_check_alloc(calloc(m->n_events + 1ull, sizeof(*columns)));
	struct table t = { .s = s, .x = x };
	uint32_t lead;

	t.is_shown = sp_check_alloc(calloc(x->columns.n + 1ull, sizeof(*t.is_shown)));
	t.rest = sp_check_alloc(calloc(x->rows.n + 1ull, sizeof(*t.rest)));
	t.metric = sp_check_alloc(calloc(x->rows.n * n_slots(&t) + 1, sizeof(*t.metric)));
	for (uint32_t e = 0; e < m->n_events; e++)
		columns[e] = sp_event_is_summed(m, e) && sp_selection_event(s, e);
	lead = sp_leading_event(s, columns);
	if (!s->sort && !sp_level_is_place(x->rows.level) && lead < m->n_events)
		sp_crossed_sort(x, lead, SP_SORT_PLACE);
	for (uint32_t n = 0; lead < m->n_events && n <= m->n_events; n++) {
		t.id = n == 0 ? lead : n - 1;
		if (!columns[t.id] || (n > 0 && t.id == lead) || !is_needed(&t))
			continue;
		choose_columns(&t, t.id, order);
		table(o, &t, below || any);
		any = true;
	}
	for (int32_t i = s->metrics && lead < m->n_events ? sp_metrics_next(s->metrics, -1) : -1;
	     i >= 0; i = sp_metrics_next(s->metrics, i)) {
		t.id = m->n_events + (uint32_t)i;
		if (!s->metrics->at[i].shown || !is_needed(&t))
			continue;
		choose_columns(&t, lead, order);
		table(o, &t, below || any);
		any = true;
	}
	if (!any)
		sp_out_f(o, "%snothing to show per %s and %s\n", below ? "\n" : "",
			 x->rows.level->name, x->columns.level->name);
	free(t.metric);
	free(t.rest);
	free(t.is_shown);
	free(columns);
	free(order);
}
