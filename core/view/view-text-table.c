/* view-text-table.c: see view-text-table.h: headings, widths, cells. */
#include "view-text-table.h"

#define NAME_LINES	8u	/* of an event's name above its column */

/* Its name as a heading, with its unit: ASCII, so that columns are bytes. */
static const char *heading(const struct sp_model *m, uint32_t id, char text[256])
{
	const struct sp_metric *metric = sp_text_metric(m, id);
	struct sp_out o;

	if (metric) {
		sp_memory_init(&o, text, 200);
		sp_out_plain(&o, metric->name);
		sp_memory_text(&o);
	} else {
		sp_text_event(m, id, text);
	}
	if (sp_event_is_gauge(m, id))
		strcat(text, sp_event_type(m, id) == SP_BIT64 ? " (last)" : " (mean)");
	for (char *p = text; *p; p++) {
		if (*p & 0x80)
			*p = '?';
	}
	return text;
}

/* Line number `line` of a heading that is broken to this width; false: it has fewer. */
static bool heading_line(const char *text, unsigned width, unsigned line, const char **at, unsigned *n)
{
	for (;; line--) {
		size_t bytes = strlen(text), cut = bytes;

		if (!bytes)
			return false;
		if (bytes > width) {
			cut = width;
			while (cut > width / 2 && !strchr(":_.-= ", text[cut - 1]))
				cut--;
			if (cut <= width / 2)
				cut = width;
		}
		if (!line) {
			*at = text;
			*n = (unsigned)cut;
			return true;
		}
		text += cut;
		while (*text == ' ')
			text++;
	}
}

static unsigned heading_lines(const char *text, unsigned width)
{
	const char *at;
	unsigned n, lines = 0;

	while (lines < NAME_LINES && heading_line(text, width, lines, &at, &n))
		lines++;
	return lines;
}

/* How wide a name may make its column when `events` are still to be shown. */
static unsigned name_width(unsigned events)
{
	return events >= 6 ? 16 : events == 5 ? 20 : events == 4 ? 24 : events == 3 ? 28 : 40;
}

bool sp_text_table_add(struct sp_text_table *t, uint32_t id, uint32_t index, unsigned values, unsigned events)
{
	unsigned used = t->label + (t->readings ? t->readings + 2 : 0) + (t->proven ? SP_TEXT_PROVEN : 0);
	char text[256];
	unsigned width = (unsigned)sp_min(strlen(heading(t->m, id, text)), name_width(events));

	width = (unsigned)sp_max(sp_max(width, values), 6);
	for (unsigned i = 0; i < t->n; i++)
		used += t->col[i].width + 2;
	if (t->n == SP_TEXT_EVENTS || (t->n && used + width + 2 > SP_WIDTH))
		return false;
	t->col[t->n++] = (struct sp_text_column){ .id = id, .index = index, .width = width };
	return true;
}

void sp_text_table_head(struct sp_out *o, const struct sp_text_table *t, const char *label)
{
	unsigned lines = 1;
	char text[256];

	for (unsigned i = 0; i < t->n; i++) {
		heading(t->m, t->col[i].id, text);
		lines = (unsigned)sp_max(lines, heading_lines(text, t->col[i].width));
	}
	for (unsigned line = 0; line < lines; line++) {
		bool last = line + 1 == lines;
		size_t gap = t->label + (t->readings ? t->readings + 2 : 0);

		sp_heading_begin(o);
		if (last) {
			sp_left(o, label, t->label);
			gap = 0;
		}
		if (last && t->readings) {
			sp_out_text(o, "  ");
			sp_right(o, "readings", t->readings);
		}
		for (unsigned i = 0; i < t->n; i++) {
			unsigned width = t->col[i].width, n = 0, own;
			const char *at = "";

			own = heading_lines(heading(t->m, t->col[i].id, text), width);
			if (line + own >= lines)
				heading_line(text, width, line + own - lines, &at, &n);
			while (n && at[n - 1] == ' ')
				n--;
			gap += 2 + width - n;
			if (!n)
				continue;
			sp_out_repeat(o, ' ', gap);
			sp_out_bytes(o, at, n);
			gap = 0;
		}
		sp_out_text(o, t->proven && last ? "  proven" : "");
		sp_heading_end(o);
	}
}

void sp_text_row_begin(struct sp_out *o, struct sp_text_table *t, const char *label, uint64_t readings)
{
	char buf[32];

	sp_left(o, label, t->label);
	if (t->readings) {
		sp_format_grouped(buf, (int64_t)sp_min(readings, INT64_MAX));
		sp_out_text(o, "  ");
		sp_right(o, buf, t->readings);
	}
	t->part = t->whole = 0.0;
}

void sp_text_row_sum(struct sp_out *o, struct sp_text_table *t, unsigned i, int64_t total, int64_t exact)
{
	enum sp_data_type type = sp_event_type(t->m, t->col[i].id);
	double share;
	char buf[48];

	sp_value_text(buf, type, total);
	sp_out_text(o, "  ");
	sp_right(o, buf, t->col[i].width);
	share = sp_event_is_placed(t->m, t->col[i].id) ? -1.0 : sp_proven_share(type, total, exact);
	if (share >= 0.0) {
		t->part += share;
		t->whole += 1.0;
	}
}

void sp_text_row_metric(struct sp_out *o, const struct sp_text_table *t, unsigned i, bool mixed)
{
	const struct sp_metric *metric = sp_text_metric(t->m, t->col[i].id);
	char buf[49];

	sp_metric_text(buf, metric);
	if (mixed && metric->has_value)
		strcat(buf, "*");
	sp_out_text(o, "  ");
	sp_right(o, buf, t->col[i].width);
}

void sp_text_row_text(struct sp_out *o, const struct sp_text_table *t, unsigned i, const char *text)
{
	sp_out_text(o, "  ");
	sp_right(o, text, t->col[i].width);
}

void sp_text_row_end(struct sp_out *o, struct sp_text_table *t)
{
	char buf[48];

	if (t->proven)
		sp_right(o, sp_percent(buf, t->part, t->whole), SP_TEXT_PROVEN);
	sp_out_char(o, '\n');
}
