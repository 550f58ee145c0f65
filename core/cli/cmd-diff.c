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
	struct sp_levels levels;
	uint32_t *row;			/* [position]: row number + 1; 0: nothing there */
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
static void thread_position(struct sp_out *o, struct side *s, const struct sp_level_row *row, uint32_t i)
{
	const struct sp_model *m = &s->file.model;
	const struct sp_header *h = sp_process_header(m, (uint32_t)row->process);
	uint32_t nth = 0;

	for (uint32_t before = i; before-- > 0 && s->levels.row[before].process == row->process;) {
		const struct sp_level_row *other = &s->levels.row[before];

		nth += strcmp(row->thread, other->thread) == 0 && (other->tid == 0) == (row->tid == 0);
	}
	if (sp_is_job(m) && h->rank >= 0)
		sp_out_f(o, "rank %ld ", h->rank);
	else if (sp_is_job(m))
		sp_out_f(o, "process %d ", row->process);
	if (s->levels.level->what == SP_LEVEL_PROCESS)
		return;
	sp_out_text(o, row->tid == 0 ? "threads that have ended " : "thread ");
	if (*row->thread)
		sp_out_f(o, "\"%s\" ", row->thread);
	sp_out_f(o, "#%u", nth);
}

static void position(struct sp_out *o, struct side *s, const struct sp_level_row *row, uint32_t i)
{
	const struct sp_model *m = &s->file.model;
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
static void pair_position(struct sp_out *o, const struct side *s, const struct sp_level_row *row)
{
	sp_csv_path(o, &s->file.model, row->from);
	sp_out_text(o, " -> ");
	sp_csv_path(o, &s->file.model, row->to);
}

/* The number of the position that a row of this side has. */
static uint32_t place_of(struct comparison *d, struct side *s, const struct sp_level_row *row)
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
	for (uint32_t i = 0; i < s->levels.n; i++)
		place_of(d, s, sp_levels_row(&s->levels, i));
}

static void index_rows(struct comparison *d, struct side *s)
{
	s->row = sp_need(calloc(d->positions.n + 1, sizeof(*s->row)));
	for (uint32_t i = 0; i < s->levels.n; i++) {
		const struct sp_level_row *row = sp_levels_row(&s->levels, i);

		s->row[place_of(d, s, row)] = (uint32_t)(row - s->levels.row) + 1;
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
	int64_t v;
};

static struct value value_of(const struct side *s, uint32_t position, uint32_t event)
{
	uint32_t row = s->row[position], e = s->event[event];
	struct value v = { .type = SP_INT64 };

	if (e)
		v.type = sp_event_type(&s->file.model, e - 1);
	if (row && e && s->levels.row[row - 1].counted[e - 1]) {
		v.there = true;
		v.v = s->levels.row[row - 1].total[e - 1];
	}
	return v;
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
	const struct side *s = &d->side[!d->side[0].row[position]];
	const struct sp_level_row *row = &s->levels.row[s->row[position] - 1];

	if (row->process >= 0) {
		sp_out_text(o, (const char *)d->positions.name[position].key);
		return;
	}
	if (s->file.model.n_machines > 1 && row->machine >= 0 && s->levels.level != sp_level_by_name("machine"))
		sp_out_f(o, "host %s: ", s->file.model.machine[row->machine].host);
	sp_level_label(o, &s->levels, row, PLACE);
}

static void text_line(const struct comparison *d, struct sp_text_list *l, uint32_t position, uint32_t event,
		      const struct value *a, const struct value *b)
{
	enum sp_data_type type = a->there ? a->type : b->type;
	int64_t by = difference(a, b, type);
	double number = type == SP_FP64 ? sp_as_double(by) : (double)by;
	char place[1200], of_a[48] = "-", of_b[48] = "-", text[48], signed_by[52], share[48];
	const char *cell[] = { place, (const char *)d->events.name[event].key, of_a, of_b, signed_by, percent(share, a, b, number) };
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
	sp_out_char(o, '\n');
}

/* Each difference: a line of CSV, or of the list. */
static void compare(struct comparison *d, struct sp_text_list *l, struct sp_out *o)
{
	for (uint32_t p = 0; p < d->positions.n; p++)
		for (uint32_t e = 0; e < d->events.n; e++) {
			struct value a = value_of(&d->side[0], p, e), b = value_of(&d->side[1], p, e);

			if (a.there == b.there && (!a.there || (a.v == b.v && a.type == b.type)))
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
	const char *title[] = { d->side[0].levels.level->heading, "event", "A", "B", "B - A", "percent" };

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
		sp_out_text(&o, "place,event,a,b,difference,percent\n");
		compare(d, NULL, &o);
	} else {
		sp_list_show(&o, &how, 6, false, "", tell, d);
	}
	e = sp_out_finish(&o);
	sp_pager_wait();
	return e == -EPIPE ? 0 : e;
}

/* ---- the command -------------------------------------------------------------- */

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
	if (sp_levels_open(&s->levels, &s->file.model, d->report.level[0]) == 0)
		return 0;
	sp_symbols_forget(&s->file.model);
	sp_file_close(&s->file);
	return error(d, strerror(ENOMEM), NULL);
}

static void close_side(struct side *s)
{
	sp_levels_close(&s->levels);
	sp_symbols_forget(&s->file.model);
	sp_file_close(&s->file);
	free(s->row);
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
