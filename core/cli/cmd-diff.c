/* cmd-diff.c: what two runs counted differently, at any level.
 *
 * Rows are matched by logical position (the fourth core of the second machine, the
 * first thread of rank 3 named "worker"): the machines may be others, and so may be
 * their system's numbers.  Events are matched by name.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../view/repeats.h"
#include "../view/view-csv.h"
#include "../view/view-text-table.h"
#include "cmd.h"
#include "names.h"
#include "report.h"
#include "symbols.h"
#include "terminal.h"

#define PLACE 72u			/* columns of two call sites */

struct side {
	struct sp_file file;
	struct sp_show show;
	uint32_t n;			/* runs that the file has (stat -r), each for itself */
	struct run {
		struct sp_levels levels;
		uint32_t *row;		/* [position]: row number + 1; 0: nothing there */
		int32_t first;		/* the number of its first process */
	} *run;
	uint32_t *event;		/* [event of both]: id + 1; 0: it has none */
};

struct comparison {
	struct sp_report report;
	struct side side[2];
	struct sp_names positions, events;
	bool csv, differs;
};

static int error(const struct comparison *d, const char *text, const char *which)
{
	return sp_complain(2, d->report.verb, text, which);
}

/* ---- positions ------------------------------------------------------------ */

/* Threads have no place but their process (the rank of a job's), name and order. */
static void thread_position(struct sp_out *o, const struct run *s, const struct sp_level_row *row, uint32_t i)
{
	const struct sp_model *m = s->levels.m;
	const struct sp_header *h = sp_process_header(m, (uint32_t)row->process);
	uint32_t nth = 0;

	for (uint32_t before = i; before-- > 0 && s->levels.row[before].process == row->process;) {
		const struct sp_level_row *other = &s->levels.row[before];

		nth += strcmp(row->thread, other->thread) == 0 && (other->tid == 0) == (row->tid == 0);
	}
	if (sp_is_job(m) && h->rank >= 0)
		sp_out_f(o, "rank %ld ", h->rank);
	else if (sp_is_job(m))
		sp_out_f(o, "process %d ", row->process - s->first);
	if (s->levels.level->what == SP_LEVEL_PROCESS)
		return;
	sp_out_text(o, row->tid == 0 ? "threads that have ended " : "thread ");
	if (*row->thread)
		sp_out_f(o, "\"%s\" ", row->thread);
	sp_out_f(o, "#%u", nth);
}

static void position(struct sp_out *o, const struct run *s, const struct sp_level_row *row, uint32_t i)
{
	const struct sp_model *m = s->levels.m;
	const struct sp_component *c = row->component >= 0 ? &m->component[row->component] : NULL;

	if (row->process >= 0) {
		thread_position(o, s, row, i);
		return;
	}
	if (m->n_machines > 1 && !(c && sp_component_is(c, "Machine")))
		sp_out_f(o, "Machine L#%d ", row->machine);
	if (c)
		sp_out_f(o, "%s L#%d", c->type, c->logical_index);
	else
		sp_level_label(o, &s->levels, row, 0);
}

/* The same calls of the same code; labels are cut, and say as much as their own table needs. */
static void pair_position(struct sp_out *o, const struct run *s, const struct sp_level_row *row)
{
	sp_csv_path(o, s->levels.m, row->from);
	sp_out_text(o, " -> ");
	sp_csv_path(o, s->levels.m, row->to);
}

/* The number of the position that a row of this run has. */
static uint32_t place_of(struct comparison *d, const struct run *s, const struct sp_level_row *row)
{
	static char text[1u << 17];	/* two paths of 64 frames */
	struct sp_out o;

	sp_memory_init(&o, text, sizeof(text));
	if (row->to)
		pair_position(&o, s, row);
	else
		position(&o, s, row, (uint32_t)(row - s->levels.row));
	return sp_names_number(&d->positions, text, o.used);
}

/* Numbers the positions of this side's rows, behind those that are there. */
static void place_rows(struct comparison *d, struct side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t r = 0; r < s->run[i].levels.n; r++)
			place_of(d, &s->run[i], sp_levels_row(&s->run[i].levels, r));
}

static void index_rows(struct comparison *d, struct side *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct run *of = &s->run[i];

		of->row = sp_need(calloc(d->positions.n + 1, sizeof(*of->row)));
		for (uint32_t r = 0; r < of->levels.n; r++) {
			const struct sp_level_row *row = sp_levels_row(&of->levels, r);

			of->row[place_of(d, of, row)] = (uint32_t)(row - of->levels.row) + 1;
		}
	}
}

/* The key of an event: its name, and which of that name it is. */
static uint32_t event_number(struct comparison *d, const struct side *s, uint32_t e)
{
	const struct sp_model *m = &s->file.model;
	char buf[32], key[600];
	const char *name = sp_event_name(m, e, buf);
	uint32_t nth = 0;

	for (uint32_t i = 0; i < e; i++) {
		char other[32];

		nth += sp_show_event(&s->show, i) && strcmp(sp_event_name(m, i, other), name) == 0;
	}
	sp_text_f(key, sizeof(key) - 16, "%s", name);
	if (nth)
		sp_text_f(key + strlen(key), 16, "#%u", nth);
	return sp_names_number(&d->events, key, strlen(key));
}

static void index_events(struct comparison *d)
{
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < 2; i++) {
			const struct sp_model *m = &d->side[i].file.model;

			if (pass)
				d->side[i].event = sp_need(calloc(d->events.n + 1, sizeof(uint32_t)));
			for (uint32_t e = 0; e < m->n_events; e++) {
				uint32_t n = sp_show_event(&d->side[i].show, e) ? event_number(d, &d->side[i], e) : UINT32_MAX;

				if (pass && n != UINT32_MAX)
					d->side[i].event[n] = e + 1;
			}
		}
}

/* ---- lines ------------------------------------------------------------------ */

struct value {
	bool there;
	enum sp_data_type type;
	int64_t v;			/* of several runs the mean, rounded */
	struct sp_spread spread;
};

static const struct sp_level_row *row_at(const struct side *s, uint32_t i, uint32_t position)
{
	return s->run[i].row[position] ? &s->run[i].levels.row[s->run[i].row[position] - 1] : NULL;
}

/* Nothing there in one run of several is 0 in that one. */
static struct value value_of(const struct side *s, uint32_t position, uint32_t event)
{
	uint32_t e = s->event[event];
	struct value v = { .type = e ? sp_event_type(&s->file.model, e - 1) : SP_INT64 };

	for (uint32_t i = 0; e && i < s->n; i++) {
		const struct sp_level_row *row = row_at(s, i, position);
		bool there = row && row->counted[e - 1];

		v.v = there ? row->total[e - 1] : 0;
		v.there = v.there || there;
		sp_spread_add(&v.spread, sp_number(v.type, v.v));
	}
	if (s->n > 1)
		v.v = sp_nearest(v.type, v.spread.mean);
	return v;
}

/* Student's t, 99 %, both sides: by degrees of freedom. */
static double t_of(double df)
{
	static const double t[] = { 63.7, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17, 3.11, 3.05, 3.01, 2.98, 2.95, 2.92, 2.90,
				    2.88, 2.86, 2.85 };

	return df < 1.0 ? t[0] : df < SP_COUNT(t) + 1.0 ? t[(unsigned)df - 1] : 2.58 + 5.0 / df;
}

/* Welch's test: are the means of repeats further apart than chance puts them in one of a hundred cases?  Of one run
 * the spread is taken to be that of the other side. */
static bool is_beyond(const struct value *a, const struct value *b)
{
	const struct sp_spread *x = a->spread.n > 1 ? &a->spread : &b->spread, *y = b->spread.n > 1 ? &b->spread : &a->spread;
	double by = b->spread.mean - a->spread.mean, u, v, t;

	if (x->n < 2)
		return true;
	u = x->squares / (x->n - 1) / (double)sp_max(a->spread.n, 1);
	v = y->squares / (y->n - 1) / (double)sp_max(b->spread.n, 1);
	if (u + v == 0.0)
		return by != 0.0;
	t = t_of((u + v) * (u + v) / (u * u / (x->n - 1) + v * v / (y->n - 1)));
	return by * by > (u + v) * t * t;
}

static bool differ(const struct value *a, const struct value *b)
{
	if (a->there == b->there && (!a->there || (a->v == b->v && a->type == b->type)))
		return false;
	return is_beyond(a, b);
}

/* Missing is 0, as far as a count goes. */
static int64_t difference(const struct value *a, const struct value *b, enum sp_data_type type)
{
	double d;
	int64_t v;

	if (type != SP_FP64)
		return (int64_t)((uint64_t)b->v - (uint64_t)a->v);
	d = (b->there ? sp_as_double(b->v) : 0.0) - (a->there ? sp_as_double(a->v) : 0.0);
	memcpy(&v, &d, sizeof(v));
	return v;
}

/* Of nothing there is no share. */
static const char *percent(char text[48], const struct value *a, const struct value *b, double by)
{
	double base = a->there ? sp_number(a->type, a->v) : 0.0;

	if (base == 0.0)
		return b->there ? "new" : "gone";
	snprintf(text, 48, "%+.2f", by / base * 100.0);
	return text;
}

/* A place by its name on the side that has it; threads by their order, since no other run has their numbers. */
static void shown(struct sp_out *o, const struct comparison *d, uint32_t position)
{
	const struct run *r = NULL;
	const struct sp_level_row *row;

	for (uint32_t i = 0; i < 2 && !r; i++)
		for (uint32_t run = 0; run < d->side[i].n && !r; run++)
			r = d->side[i].run[run].row[position] ? &d->side[i].run[run] : NULL;
	row = &r->levels.row[r->row[position] - 1];
	if (row->process >= 0) {
		sp_out_text(o, (const char *)d->positions.name[position].key);
		return;
	}
	if (r->levels.m->n_machines > 1 && row->machine >= 0 && r->levels.level != sp_level_by_name("machine"))
		sp_out_f(o, "host %s: ", r->levels.m->machine[row->machine].host);
	sp_level_label(o, &r->levels, row, PLACE);
}

/* In percent of the mean. */
static const char *spread_text(char text[48], const struct value *v)
{
	double mean = v->spread.mean < 0 ? -v->spread.mean : v->spread.mean;

	if (!v->there || v->spread.n < 2 || mean == 0.0)
		return "-";
	return sp_text_f(text, 48, "%.2f", sp_deviation(&v->spread) / mean * 100.0);
}

static bool have_repeats(const struct comparison *d)
{
	return d->side[0].n > 1 || d->side[1].n > 1;
}

static void text_line(const struct comparison *d, struct sp_text_list *l, uint32_t position, uint32_t event,
		      const struct value *a, const struct value *b)
{
	enum sp_data_type type = a->there ? a->type : b->type;
	int64_t by = difference(a, b, type);
	double number = type == SP_FP64 ? sp_as_double(by) : (double)by;
	char place[1200], of_a[48] = "-", of_b[48] = "-", text[48], signed_by[52], share[48], spread[2][48];
	const char *cell[] = { place, (const char *)d->events.name[event].key, of_a, of_b, signed_by, percent(share, a, b, number),
			       spread_text(spread[0], a), spread_text(spread[1], b) };
	struct sp_out o;

	sp_memory_init(&o, place, sizeof(place));
	shown(&o, d, position);
	sp_memory_text(&o);
	if (a->there)
		sp_value_text(of_a, a->type, a->v);
	if (b->there)
		sp_value_text(of_b, b->type, b->v);
	sp_value_text(text, type == SP_FP64 ? SP_FP64 : SP_INT64, by);
	snprintf(signed_by, sizeof(signed_by), "%s%s", number > 0 ? "+" : "", text);
	sp_list_line(l, cell);
}

static void csv_line(struct comparison *d, struct sp_out *o, uint32_t position, uint32_t event,
		     const struct value *a, const struct value *b)
{
	enum sp_data_type type = a->there ? a->type : b->type;
	int64_t by = difference(a, b, type);
	char buf[48];
	const char *share = percent(buf, a, b, type == SP_FP64 ? sp_as_double(by) : (double)by);

	sp_out_csv(o, (const char *)d->positions.name[position].key);
	sp_out_char(o, ',');
	sp_out_csv(o, (const char *)d->events.name[event].key);
	sp_out_char(o, ',');
	if (a->there)
		sp_out_value(o, a->type, a->v);
	sp_out_char(o, ',');
	if (b->there)
		sp_out_value(o, b->type, b->v);
	sp_out_char(o, ',');
	sp_out_value(o, type == SP_FP64 ? SP_FP64 : SP_INT64, by);
	sp_out_char(o, ',');
	sp_out_text(o, *share == '+' || *share == '-' ? share : "");	/* new, gone: no number */
	for (unsigned i = 0; have_repeats(d) && i < 2; i++) {
		sp_out_char(o, ',');
		sp_out_double(o, sp_deviation(i ? &b->spread : &a->spread), -1);
	}
	sp_out_char(o, '\n');
}

/* Each difference: a line of CSV, or of the list. */
static void compare(struct comparison *d, struct sp_text_list *l, struct sp_out *o)
{
	for (uint32_t p = 0; p < d->positions.n; p++)
		for (uint32_t e = 0; e < d->events.n; e++) {
			struct value a = value_of(&d->side[0], p, e), b = value_of(&d->side[1], p, e);

			if (!differ(&a, &b))
				continue;
			d->differs = true;
			if (d->csv)
				csv_line(d, o, p, e, &a, &b);
			else
				text_line(d, l, p, e, &a, &b);
		}
}

static void tell(struct sp_text_list *l, void *comparison)
{
	struct comparison *d = comparison;
	const char *title[] = { d->report.level[0]->heading, "event", "A", "B", "B - A", "percent", "std dev A [%]", "B [%]" };

	sp_list_line(l, title);
	compare(d, l, NULL);
}

static int write_all(struct comparison *d)
{
	static char buffer[65536];
	struct sp_show how = { .all = true, .bold = sp_terminal_colour(STDOUT_FILENO) };
	struct sp_out o;
	int e;

	if (!d->csv)
		sp_pager_start();
	sp_out_init(&o, STDOUT_FILENO, buffer, sizeof(buffer));
	if (d->csv) {
		sp_out_f(&o, "place,event,a,b,difference,percent%s\n", have_repeats(d) ? ",a_stddev,b_stddev" : "");
		compare(d, NULL, &o);
	} else {
		sp_list_show(&o, &how, have_repeats(d) ? 8 : 6, false, "", tell, d);
	}
	e = sp_out_finish(&o);
	sp_pager_wait();
	return e == -EPIPE ? 0 : e;
}

/* ---- the command -------------------------------------------------------------- */

static void close_runs(struct side *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		sp_levels_close(&s->run[i].levels);
		free(s->run[i].row);
	}
	free(s->run);
}

/* Each run has levels of its own; 0 or -ENOMEM. */
static int open_runs(struct side *s, const struct sp_level *level)
{
	struct sp_model *m = &s->file.model;
	uint32_t n = (uint32_t)sp_max(sp_n_repeats(m), 1);
	int e = 0;

	s->run = sp_need(calloc(n, sizeof(*s->run)));
	for (s->n = 0; e == 0 && s->n < n; s->n += e == 0) {
		struct run *r = &s->run[s->n];

		m->only_run = n > 1 ? s->n + 1 : 0;
		e = sp_levels_open(&r->levels, m, level);
		while (m->only_run && (uint32_t)r->first < m->n_processes &&
		       sp_process_header(m, (uint32_t)r->first)->stat >> SP_STAT_RUN_SHIFT != m->only_run)
			r->first++;
	}
	m->only_run = 0;
	if (e)
		close_runs(s);
	return e;
}

static int open_side(struct comparison *d, unsigned i, char *path)
{
	struct side *s = &d->side[i];

	if (sp_file_open(&s->file, d->report.verb, path))
		return 2;
	if (s->file.model.damaged) {
		sp_file_close(&s->file);
		return error(d, "damaged: what is missing would look like a difference", path);
	}
	if (sp_level_is_code(d->report.level[0]) && !d->csv)
		sp_symbols_add(&s->file.model, d->report.verb, false);
	s->show = (struct sp_show){ .m = &s->file.model, .events = d->report.show.events };
	if (open_runs(s, d->report.level[0]) == 0)
		return 0;
	sp_symbols_forget(&s->file.model);
	sp_file_close(&s->file);
	return error(d, strerror(ENOMEM), NULL);
}

static void close_side(struct side *s)
{
	close_runs(s);
	sp_symbols_forget(&s->file.model);
	sp_file_close(&s->file);
	free(s->event);
}

static int options(struct comparison *d, int argc, char **argv)
{
	struct option longs[SP_LEVEL_OPTIONS + 2];
	unsigned n = sp_level_options(longs);
	int c, at = 0;
	bool level = false;

	longs[n++] = (struct option){ "events", required_argument, NULL, 'E' };
	longs[n] = (struct option){ NULL, 0, NULL, 0 };
	d->report.level[0] = sp_level_by_name("cpu");
	while ((c = sp_option(argc, argv, "f:", longs, &at, "options are --per-LEVEL, --events E,E, -f text or csv")) != -1) {
		const struct sp_level *l = c == 'L' ? sp_level_by_name(longs[at].name + strlen("per-")) : NULL;

		if (c == '?')
			return 2;
		if (c == 'f' && strcmp(optarg, "csv") != 0 && strcmp(optarg, "text") != 0)
			return error(d, "-f takes text or csv", optarg);
		if (l && level && l != d->report.level[0])
			return error(d, "takes one level only", longs[at].name);
		level = level || l;
		if (l)
			d->report.level[0] = l;
		else if (c == 'E')
			d->report.show.events = optarg;
		else
			d->csv = *optarg == 'c';
	}
	return argc - optind == 2 ? 0 : error(d, "name two files", NULL);
}

/* A name that is wrong would make any two the same. */
static int check_events(const struct comparison *d)
{
	char name[SP_REPORT_NAME], text[1500];

	sp_report_there_are("neither has such an event", &d->side[0].file.model, &d->side[1].file.model, text, sizeof(text));
	if (sp_report_lacks(&d->report, &d->side[0].file.model, &d->side[1].file.model, name))
		return error(d, text, name);
	if (d->report.show.events && !d->events.n)
		return error(d, "--events: gauges have no sums to compare", d->report.show.events);
	return 0;
}

static int compare_sides(struct comparison *d)
{
	int e;

	for (unsigned i = 0; i < 2; i++)
		place_rows(d, &d->side[i]);
	for (unsigned i = 0; i < 2; i++)
		index_rows(d, &d->side[i]);
	index_events(d);
	e = check_events(d);
	if (e)
		return e;
	e = write_all(d);
	return e < 0 ? error(d, strerror(-e), "standard output") : d->differs;
}

int sp_cmd_diff(int argc, char **argv)
{
	struct comparison d = { .report = { .verb = argv[0] } };
	int e = options(&d, argc, argv);

	if (e == 0)
		e = open_side(&d, 0, argv[optind]);
	if (e)
		return e;
	e = open_side(&d, 1, argv[optind + 1]);
	if (e == 0) {
		e = compare_sides(&d);
		close_side(&d.side[1]);
	}
	close_side(&d.side[0]);
	sp_names_free(&d.positions);
	sp_names_free(&d.events);
	return e;
}
