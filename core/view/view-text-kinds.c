/* view-text-kinds.c: of the text view, what it says of P and E cores.
 *
 * Kinds are few and events may be many: so events are lines here and kinds columns, which
 * also puts each event's share beside its count.
 */
#include "core-kinds.h"
#include "view-metrics.h"
#include "view-text.h"

#define NAMES_MOST	40u	/* columns of the names of events */
#define SHARE		8u	/* columns of "  90.5 %" */
#define SHOWN_MOST	4u	/* kinds beside each other */
#define EVENTS_NAMED	6u	/* in a sentence */
#define NO_KIND		SP_KINDS_MOST

void sp_text_kinds(struct sp_out *o, const struct sp_model *m, uint32_t kinds)
{
	bool more = false;

	for (uint32_t k = 0; k < m->n_kinds; k++) {
		if (!(kinds >> k & 1))
			continue;
		kinds &= ~(1u << k);
		sp_out_text(o, !more ? "" : kinds & ((1u << m->n_kinds) - 1) ? ", " : " and ");
		sp_out_plain(o, m->kind[k].name);
		more = true;
	}
	sp_out_text(o, " cores");
}

/* ---- the table by kind --------------------------------------------------- */

struct kinds_table {
	const struct sp_model *m;
	uint32_t kind[SHOWN_MOST];	/* NO_KIND: all else */
	unsigned n, label, width[SHOWN_MOST];
};

static bool is_by_cpu(const struct sp_model *m, uint32_t e)
{
	return sp_event_is_summed(m, e) && !sp_event_is_placed(m, e);
}

static int64_t sum_of(const struct sp_model *m, uint32_t kind, uint32_t e)
{
	return kind == NO_KIND ? sp_kinds_rest(m, e) : m->kind[kind].sum[e];
}

static bool has_rest(const struct sp_model *m)
{
	for (uint32_t e = 0; e < m->n_events; e++)
		if (is_by_cpu(m, e) && sp_kinds_rest(m, e))
			return true;
	return false;
}

static const char *heading(const struct sp_model *m, uint32_t kind, char text[48])
{
	struct sp_out o;

	sp_memory_init(&o, text, 48);
	if (kind == NO_KIND)
		sp_out_text(&o, "elsewhere");
	else
		sp_text_kinds(&o, m, 1u << kind);
	return sp_memory_text(&o);
}

static unsigned widest(const struct sp_model *m, uint32_t kind)
{
	char buf[48];
	unsigned width = (unsigned)sp_max(sp_columns(heading(m, kind, buf)), 9);

	for (uint32_t e = 0; e < m->n_events; e++)
		if (is_by_cpu(m, e))
			width = (unsigned)sp_max(width, sp_value_text(buf, sp_event_type(m, e), sum_of(m, kind, e)));
	return width;
}

static void name_cell(struct sp_out *o, const struct kinds_table *t, const char *name)
{
	char text[256];
	struct sp_out memory;

	sp_memory_init(&memory, text, sizeof(text));
	sp_out_plain(&memory, name);
	sp_left(o, sp_memory_text(&memory), t->label);
}

static void event_line(struct sp_out *o, const struct kinds_table *t, uint32_t e)
{
	enum sp_data_type type = sp_event_type(t->m, e);
	double whole = sp_number(type, t->m->total[e]);
	char buf[48];

	name_cell(o, t, sp_event_name(t->m, e, buf));
	for (unsigned i = 0; i < t->n; i++) {
		int64_t sum = sum_of(t->m, t->kind[i], e);

		sp_value_text(buf, type, sum);
		sp_out_text(o, "  ");
		sp_right(o, buf, t->width[i]);
		sp_right(o, sp_percent(buf, sp_number(type, sum), whole), SHARE);
	}
	sp_out_char(o, '\n');
}

static void metric_line(struct sp_out *o, const struct kinds_table *t, int32_t metric)
{
	char buf[48];

	name_cell(o, t, sp_view_metrics->at[metric].name);
	for (unsigned i = 0; i < t->n; i++) {
		strcpy(buf, "-");
		if (t->kind[i] != NO_KIND) {
			sp_metrics_compute(sp_view_metrics, t->m->kind[t->kind[i]].sum, NULL);
			sp_metric_text(buf, &sp_view_metrics->at[metric]);
		}
		sp_out_text(o, "  ");
		sp_right(o, buf, t->width[i]);
		if (i + 1 < t->n)
			sp_out_repeat(o, ' ', SHARE);
	}
	sp_out_char(o, '\n');
}

/* "6 of 8" */
static void cpus_line(struct sp_out *o, const struct kinds_table *t)
{
	sp_left(o, "CPUs that counted", t->label);
	for (unsigned i = 0; i < t->n && t->kind[i] != NO_KIND; i++) {
		const struct sp_model_kind *k = &t->m->kind[t->kind[i]];
		struct sp_out memory;
		char text[48];

		sp_memory_init(&memory, text, sizeof(text));
		sp_out_grouped(&memory, k->n_counted);
		sp_out_text(&memory, " of ");
		sp_out_grouped(&memory, k->n_cpus);
		sp_out_repeat(o, ' ', i ? SHARE + 2 : 2);
		sp_right(o, sp_memory_text(&memory), t->width[i]);
	}
	sp_out_char(o, '\n');
}

static void table(struct sp_out *o, struct kinds_table *t)
{
	char buf[48];

	for (unsigned i = 0; i < t->n; i++)
		t->width[i] = widest(t->m, t->kind[i]);
	t->label = 17;
	for (uint32_t e = 0; e < t->m->n_events; e++)
		if (is_by_cpu(t->m, e))
			t->label = (unsigned)sp_min(sp_max(t->label, sp_columns(sp_event_name(t->m, e, buf))), NAMES_MOST);
	sp_out_char(o, '\n');
	sp_heading_begin(o);
	sp_left(o, "by kind of core", t->label);
	for (unsigned i = 0; i < t->n; i++) {
		sp_out_text(o, "  ");
		sp_right(o, heading(t->m, t->kind[i], buf), t->width[i]);
		if (i + 1 < t->n)
			sp_out_repeat(o, ' ', SHARE);
	}
	sp_heading_end(o);
	for (uint32_t e = 0; e < t->m->n_events; e++)
		if (is_by_cpu(t->m, e))
			event_line(o, t, e);
	for (int32_t i = sp_view_metrics ? sp_metrics_next(sp_view_metrics, -1) : -1; i >= 0; i = sp_metrics_next(sp_view_metrics, i))
		metric_line(o, t, i);
	cpus_line(o, t);
}

void sp_text_by_kind(struct sp_out *o, const struct sp_model *m)
{
	struct kinds_table t = { .m = m };
	bool any = false;

	for (uint32_t e = 0; e < m->n_events; e++)
		any = any || is_by_cpu(m, e);
	if (m->n_kinds < 2 || !any)
		return;
	for (uint32_t k = 0; k < m->n_kinds; k++) {
		t.kind[t.n++] = k;
		if (t.n == SHOWN_MOST || k + 1 == m->n_kinds) {
			if (k + 1 == m->n_kinds && t.n < SHOWN_MOST && has_rest(m))
				t.kind[t.n++] = NO_KIND;
			table(o, &t);
			t.n = 0;
		}
	}
}

/* "P cores counted 90.0 % of PAPI_TOT_INS, E cores 10.0 %": of the first event. */
void sp_text_kinds_line(struct sp_out *o, const struct sp_model *m)
{
	uint32_t e = 0;
	char text[400], buf[48];
	struct sp_out line;
	bool more = false;

	while (e < m->n_events && !is_by_cpu(m, e))
		e++;
	if (m->n_kinds < 2 || e == m->n_events || !(sp_number(sp_event_type(m, e), m->total[e]) > 0.0))
		return;
	sp_memory_init(&line, text, sizeof(text));
	for (uint32_t k = 0; k < m->n_kinds; k++) {
		enum sp_data_type type = sp_event_type(m, e);

		if (!m->kind[k].n_counted)
			continue;
		sp_out_text(&line, more ? ", " : "");
		sp_text_kinds(&line, m, 1u << k);
		sp_out_text(&line, more ? " " : " counted ");
		sp_percent(buf, sp_number(type, m->kind[k].sum[e]), sp_number(type, m->total[e]));
		sp_out_text(&line, buf);
		if (!more) {
			sp_out_text(&line, " of ");
			sp_out_plain(&line, sp_event_name(m, e, buf));
		}
		more = true;
	}
	if (more)
		sp_paragraph(o, "", 0, sp_memory_text(&line));
}

/* ---- a relation ------------------------------------------------------------- */

/* Was anything of event number e of the row booked on other kinds than these? */
static bool booked_off(struct sp_model *m, struct sp_row *row, uint32_t e, uint32_t kinds)
{
	struct sp_at_cpu at;

	for (uint32_t i = 0; i < row->cells; i++) {
		int32_t kind = sp_row_cell(m, row, i, &at) ? sp_kind_of(m, at.component) : -1;

		if (kind >= 0 && !(kinds >> kind & 1) && at.total[e])
			return true;
	}
	return false;
}

/* The row's events that only the kinds `tied` count, by name; how many.  *off: some of their
 * counts are booked elsewhere. */
static uint32_t tied_events(struct sp_out *o, struct sp_model *m, struct sp_row *row, uint32_t tied, bool *off)
{
	uint32_t n = 0;
	char buf[32];

	for (uint32_t e = 0; e < row->k; e++) {
		if (sp_kinds_of_event(m, row->event[e]) != tied)
			continue;
		*off = *off || booked_off(m, row, e, tied);
		if (n++ >= EVENTS_NAMED)
			continue;
		sp_out_text(o, n > 1 ? ", " : "");
		sp_out_plain(o, sp_event_name(m, row->event[e], buf));
	}
	if (n <= EVENTS_NAMED)
		return n;
	sp_out_text(o, " and ");
	sp_out_u64(o, n - EVENTS_NAMED);
	sp_out_text(o, " more");
	return n;
}

/* A PMU is one kind's: its events stand still while the thread is on another. */
static void tied(struct sp_out *o, struct sp_model *m, struct sp_row *row, uint32_t kinds, uint32_t others)
{
	bool off = false;
	struct sp_out line;
	char text[1500];
	uint32_t n;

	sp_memory_init(&line, text, sizeof(text));
	n = tied_events(&line, m, row, kinds, &off);
	if (!n)
		return;
	sp_out_text(&line, n == 1 ? " counts on " : " count on ");
	sp_text_kinds(&line, m, kinds);
	sp_out_text(&line, " only, by their own PMU: what ran on ");
	sp_text_kinds(&line, m, others);
	sp_out_text(&line, n == 1 ? " is not in it" : " is not in them");
	if (off) {
		sp_out_text(&line, ", and what is booked there was counted on ");
		sp_text_kinds(&line, m, kinds);
		sp_out_text(&line, " before the thread moved");
	}
	sp_out_char(&line, '.');
	sp_paragraph(o, "  ", 2, sp_memory_text(&line));
}

void sp_text_row_kinds(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	uint32_t on = sp_kinds_of_row(m, row), all = (1u << m->n_kinds) - 1;
	struct sp_out line;
	char text[300];

	if (m->n_kinds < 2 || row->place)
		return;
	for (uint32_t kinds = 1; kinds < all; kinds++)
		tied(o, m, row, kinds, all & ~kinds);
	if (!on || sp_kinds_several(on) || !(on & all))
		return;
	sp_memory_init(&line, text, sizeof(text));
	sp_out_text(&line, "Counted on ");
	sp_text_kinds(&line, m, on);
	sp_out_text(&line, " only: nothing was read on ");
	sp_text_kinds(&line, m, all & ~on);
	sp_out_char(&line, '.');
	sp_paragraph(o, "  ", 2, sp_memory_text(&line));
}
