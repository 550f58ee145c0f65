/* view-text-gauges.c: the text view's lists: a line for each gauge, and for each event that
 * is counted on a component as a whole, with the place.
 */
#include "view-text.h"

#define NUMBERS 4u			/* columns of a list */

struct list {
	const struct sp_model *m;
	const char *const *title;	/* [NUMBERS]; NULL: no more */
	unsigned name, where, readings, number[NUMBERS];
	bool measure;			/* nothing is written yet: columns are being measured */
};

struct line {
	uint32_t event;
	int32_t cpu, component;
	uint64_t readings;
	char number[NUMBERS][48];
};

/* "CPU 3", "Package L#0", "Machine" */
static const char *where(const struct sp_model *m, int32_t cpu, int32_t component, char text[64])
{
	const struct sp_component *c = component >= 0 ? &m->component[component] : NULL;
	char type[sizeof(c->type) + 1];
	struct sp_out o;

	sp_memory_init(&o, text, 64);
	if (c && !sp_component_is(c, "PU")) {
		sp_out_plain(&o, sp_fixed_text(type, c->type, sizeof(c->type)));
		if (!sp_component_is(c, "Machine")) {
			sp_out_text(&o, " L#");
			sp_out_i64(&o, c->logical_index);
		}
	} else if (c || cpu >= 0) {
		sp_out_text(&o, "CPU ");
		sp_out_i64(&o, c ? c->os_index : cpu);
	} else {
		sp_out_text(&o, "not on a known CPU");
	}
	return sp_memory_text(&o);
}

static void wider(unsigned *width, const char *text)
{
	*width = (unsigned)sp_max(*width, sp_columns(text));
}

static void put(struct sp_out *o, struct list *l, const struct line *line)
{
	char text[256], place[64], readings[32];

	sp_text_event(l->m, line->event, text);
	where(l->m, line->cpu, line->component, place);
	sp_format_grouped(readings, (int64_t)sp_min(line->readings, INT64_MAX));
	if (l->measure) {
		wider(&l->name, text);
		wider(&l->where, place);
		wider(&l->readings, readings);
		for (unsigned i = 0; i < NUMBERS && l->title[i]; i++)
			wider(&l->number[i], line->number[i]);
		return;
	}
	sp_out_text(o, "  ");
	sp_left(o, text, l->name);
	sp_out_text(o, "  ");
	sp_left(o, place, l->where);
	sp_out_text(o, "  ");
	sp_right(o, readings, l->readings);
	for (unsigned i = 0; i < NUMBERS && l->title[i]; i++) {
		sp_out_text(o, "  ");
		sp_right(o, line->number[i], l->number[i]);
	}
	sp_out_char(o, '\n');
}

static void begin(struct sp_out *o, struct list *l, const char *what)
{
	unsigned rest = 2 + 2 + l->where + 2 + l->readings;

	for (unsigned i = 0; i < NUMBERS && l->title[i]; i++)
		rest += 2 + l->number[i];
	l->name = (unsigned)sp_min(l->name, rest + 20 < SP_WIDTH ? SP_WIDTH - rest : 20);
	l->measure = false;
	sp_heading_begin(o);
	sp_out_text(o, "  ");
	sp_left(o, what, l->name);
	sp_out_text(o, "  ");
	sp_left(o, "where", l->where);
	sp_out_text(o, "  ");
	sp_right(o, "readings", l->readings);
	for (unsigned i = 0; i < NUMBERS && l->title[i]; i++) {
		sp_out_text(o, "  ");
		sp_right(o, l->title[i], l->number[i]);
	}
	sp_heading_end(o);
}

static void start(struct list *l, const struct sp_model *m, const char *const *title)
{
	*l = (struct list){ .m = m, .title = title, .name = 5, .where = 5, .readings = 8, .measure = true };
	for (unsigned i = 0; i < NUMBERS && title[i]; i++)
		l->number[i] = (unsigned)strlen(title[i]);
}

static unsigned gauge_lines(struct sp_out *o, struct list *l, const struct sp_row *row)
{
	struct sp_shown g;
	uint64_t at = 0;
	unsigned n = 0;

	while (sp_row_gauge(l->m, row, &at, &g)) {
		enum sp_data_type type = sp_event_type(l->m, g.event);
		struct line line = { .event = g.event, .cpu = g.cpu, .component = g.component, .readings = g.readings,
				     .number = { "", "-", "-", "-" } };
		int64_t mean;

		sp_value_text(line.number[0], type, g.last);
		if (type != SP_BIT64) {		/* bits have neither order nor mean */
			memcpy(&mean, &g.mean, sizeof(mean));
			sp_value_text(line.number[1], type, g.min);
			sp_value_text(line.number[2], type, g.max);
			sp_value_text(line.number[3], SP_FP64, mean);
		}
		put(o, l, &line);
		n++;
	}
	return n;
}

void sp_text_gauges(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	static const char *const title[NUMBERS] = { "last", "min", "max", "mean" };
	struct list l;

	start(&l, m, title);
	if (!gauge_lines(o, &l, row))
		return;
	begin(o, &l, "gauge");
	gauge_lines(o, &l, row);
}

static void placed_lines(struct sp_out *o, struct list *l, struct sp_model *m, struct sp_row *row)
{
	struct sp_at_cpu at;

	for (uint32_t e = 0; e < row->k; e++) {
		for (uint32_t i = 0; i < row->cells && !sp_event_is_gauge(m, row->event[e]); i++) {
			struct line line = { .event = row->event[e], .component = sp_row_place(row, e) };

			if (!sp_row_cell(m, row, i, &at))
				continue;
			line.cpu = at.cpu;
			line.readings = at.readings;
			sp_value_text(line.number[0], sp_event_type(m, line.event), at.total[e]);
			put(o, l, &line);
		}
	}
}

void sp_text_placed(struct sp_out *o, struct sp_model *m, struct sp_row *row)
{
	static const char *const title[NUMBERS] = { "total" };
	struct list l;
	bool any = false;

	for (uint32_t e = 0; e < row->k; e++)
		any = any || !sp_event_is_gauge(m, row->event[e]);
	if (!any)
		return;
	start(&l, m, title);
	placed_lines(o, &l, m, row);
	begin(o, &l, "event");
	placed_lines(o, &l, m, row);
}
