/* table.c: texts in columns. */
#include <stdlib.h>
#include <string.h>

#include "../view/view-text.h"
#include "table.h"

#define GAP		2u
#define HEADING		16u	/* a heading that is longer than this and than its cells is broken */

void sp_table_column(struct sp_table *t, const char *heading, enum sp_table_align align)
{
	void *more = reallocarray(t->column, t->columns + 1, sizeof(*t->column));
	char *copy = strdup(heading);

	if (more)
		t->column = more;
	if (!more || !copy) {
		free(copy);
		t->failed = true;
		return;
	}
	t->column[t->columns++] = (struct sp_table_column){ copy, align, 0 };
}

void sp_table_cell(struct sp_table *t, const char *text)
{
	if (t->cells == t->room) {
		uint64_t room = t->room ? 2 * t->room : 256;
		void *more = reallocarray(t->cell, room, sizeof(*t->cell));

		if (!more) {
			t->failed = true;
			return;
		}
		t->cell = more;
		t->room = room;
	}
	t->cell[t->cells] = strdup(text);
	if (t->cell[t->cells])
		t->cells++;
	else
		t->failed = true;
}

/* How many bytes of the heading go on one line of this width. */
static size_t heading_cut(const char *text, unsigned width)
{
	size_t n = strlen(text), cut = width;

	if (n <= width)
		return n;
	while (cut > width / 2 && !strchr(":_.-= ", text[cut - 1]))
		cut--;
	cut = cut > width / 2 ? cut : width;
	while (cut < n && (text[cut] & 0xc0) == 0x80)
		cut++;
	return cut;
}

static unsigned heading_lines(const struct sp_table_column *c)
{
	unsigned lines = 0;

	for (const char *p = c->heading; *p; p += heading_cut(p, c->width))
		lines++;
	return lines;
}

static void measure(struct sp_table *t)
{
	for (unsigned i = 0; i < t->columns; i++) {
		struct sp_table_column *c = &t->column[i];

		c->width = (unsigned)sp_min(strlen(c->heading), HEADING);
		for (uint64_t at = i; at < t->cells; at += t->columns)
			c->width = (unsigned)sp_max(c->width, sp_columns(t->cell[at]));
		c->width = (unsigned)sp_min(c->width, SP_WIDTH);
	}
}

/* Spaces are owed until something stands behind them: no line ends in them. */
static void put(struct sp_out *o, const struct sp_table_column *c, const char *text, unsigned *owed)
{
	unsigned n = (unsigned)sp_min(sp_columns(text), c->width);
	unsigned before = c->align == SP_TABLE_RIGHT ? c->width - n : 0;

	if (*text) {
		sp_out_repeat(o, ' ', *owed + before);
		sp_clip(o, text, c->width);
		*owed = GAP + c->width - n - before;
	} else {
		*owed += GAP + c->width;
	}
}

static bool shown(const struct sp_table *t, unsigned i, unsigned from, unsigned to)
{
	return i < t->keys || (i >= from && i < to);
}

/* Of a heading of several lines the last one stands lowest. */
static void print_headings(const struct sp_table *t, struct sp_out *o, unsigned from, unsigned to, bool bold)
{
	unsigned lines = 1;

	for (unsigned i = 0; i < to; i++)
		if (shown(t, i, from, to))
			lines = (unsigned)sp_max(lines, heading_lines(&t->column[i]));
	sp_out_text(o, bold ? "\033[1m" : "");
	for (unsigned line = 0; line < lines; line++) {
		unsigned owed = 0;

		for (unsigned i = 0; i < to; i++) {
			const struct sp_table_column *c = &t->column[i];
			unsigned own = heading_lines(c);
			const char *p = c->heading;
			char text[SP_WIDTH * 4 + 1] = "";

			if (!shown(t, i, from, to))
				continue;
			for (unsigned skip = line + own > lines ? line + own - lines : 0; skip; skip--)
				p += heading_cut(p, c->width);
			if (line + own >= lines)
				memcpy(text, p, sp_min(heading_cut(p, c->width), sizeof(text) - 1));
			put(o, c, text, &owed);
		}
		sp_out_char(o, '\n');
	}
	sp_out_text(o, bold ? "\033[0m" : "");
}

/* The columns [from, result) fit behind the keys; at least one. */
static unsigned part(const struct sp_table *t, unsigned from)
{
	unsigned used = 0, to = from;

	for (unsigned i = 0; i < t->keys; i++)
		used += t->column[i].width + GAP;
	do
		used += t->column[to++].width + GAP;
	while (to < t->columns && used + t->column[to].width <= SP_WIDTH);
	return to;
}

void sp_table_print(struct sp_table *t, struct sp_out *o, bool bold)
{
	unsigned to;

	measure(t);
	for (unsigned from = (unsigned)sp_min(t->keys, t->columns); from < t->columns; from = to) {
		to = part(t, from);
		if (from > t->keys)
			sp_out_char(o, '\n');
		print_headings(t, o, from, to, bold);
		for (uint64_t row = 0; row + t->columns <= t->cells; row += t->columns) {
			unsigned owed = 0;

			for (unsigned i = 0; i < to; i++)
				if (shown(t, i, from, to))
					put(o, &t->column[i], t->cell[row + i], &owed);
			sp_out_char(o, '\n');
		}
	}
}

void sp_table_free(struct sp_table *t)
{
	for (unsigned i = 0; i < t->columns; i++)
		free(t->column[i].heading);
	for (uint64_t i = 0; i < t->cells; i++)
		free(t->cell[i]);
	free(t->column);
	free(t->cell);
}
