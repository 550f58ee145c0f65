/* view-text-sites.c: the text view's names of the code between two call sites.
 *
 *	work (work.c:12) -> work (work.c:19)
 *	[work (work.c:12) -> more (work.c:31)] < .. < solver_b (main.c:7) < ..
 *	work (work.c:12 -> work.c:19) < solver_b (main.c:7)
 *	solve (main.c:40) -> solve (main.c:44)		a region of the high level
 *
 * A frame is function (file:line), or (0xoffset) without debug information, or
 * module+0xoffset; callers stand behind <, those of both sites behind the brackets.  Paths that
 * are too long keep their innermost frames and those at which they part from other paths.
 */
#include <string.h>

#include "view-text.h"

#define FRAME_NAME	30u	/* columns of a function's name, in what is too long */
#define TEXT		1024u	/* bytes: more than any width takes */

struct style {
	bool brief;
	uint64_t marks;			/* frames that are shown then: at which it parts from other paths */
	uint64_t twins;			/* of them: from one whose frame reads the same */
};

static void name(struct sp_out *o, const char *of, bool brief)
{
	char text[TEXT];
	struct sp_out plain;

	sp_memory_init(&plain, text, sizeof(text));
	sp_out_plain(&plain, of);
	sp_clip(o, sp_memory_text(&plain), brief ? FRAME_NAME : TEXT);
}

/* twin: there is another on the same line. */
static void place(struct sp_out *o, const struct sp_frame_seen *f, bool twin)
{
	if (*f->line)
		sp_out_plain(o, sp_base_name(f->line));
	if (*f->line && twin)
		sp_out_char(o, ' ');
	if (!*f->line || twin)
		sp_out_hex(o, f->offset);
}

/* Of what was inlined, in brief, only the function that it stands in. */
static void outermost(struct sp_frame_seen *f)
{
	if (!f->n_into)
		return;
	f->symbol = f->into[f->n_into - 1].symbol;
	f->line = f->into[f->n_into - 1].line ? f->into[f->n_into - 1].line : "";
	f->n_into = 0;
}

static void frame(struct sp_out *o, struct sp_frame_seen *f, bool brief, bool twin)
{
	if (brief)
		outermost(f);
	name(o, *f->symbol ? f->symbol : sp_base_name(f->module), brief);
	sp_out_text(o, *f->symbol ? " (" : "+");
	place(o, f, twin && *f->symbol);
	sp_out_text(o, *f->symbol ? ")" : "");
	for (uint32_t i = 0; i < f->n_into; i++) {
		sp_out_text(o, " < ");
		name(o, f->into[i].symbol, brief);
		if (!f->into[i].line)
			continue;
		sp_out_text(o, " (");
		sp_out_plain(o, sp_base_name(f->into[i].line));
		sp_out_char(o, ')');
	}
}

/* In brief: both in one function, called from the same place?  twin, twin_to: as in place(). */
static bool one_function(struct sp_out *o, const struct sp_model *m, uint32_t from, uint32_t to, bool twin,
			 bool twin_to)
{
	struct sp_frame_seen f, g;

	if (!sp_model_frame(m, from, 0, &f) || !sp_model_frame(m, to, 0, &g))
		return false;
	outermost(&f);
	outermost(&g);
	if (!*f.symbol || strcmp(f.symbol, g.symbol) != 0 || strcmp(f.module, g.module) != 0)
		return false;
	name(o, f.symbol, true);
	sp_out_text(o, " (");
	place(o, &f, twin);
	sp_out_text(o, " -> ");
	place(o, &g, twin_to);
	sp_out_char(o, ')');
	return true;
}

/* Frames from .. to - 1. */
static void frames(struct sp_out *o, const struct sp_model *m, uint32_t id, uint32_t from, uint32_t to,
		   const struct style *s)
{
	struct sp_frame_seen f;
	bool gap = false;

	for (uint32_t i = from; i < to && sp_model_frame(m, id, i, &f); i++) {
		if (s->brief && i && !(s->marks >> i & 1)) {
			gap = true;
			continue;
		}
		sp_out_text(o, i ? " < " : "");
		sp_out_text(o, gap ? ".. < " : "");
		frame(o, &f, s->brief, s->twins >> i & 1);
		gap = false;
	}
	sp_out_text(o, gap ? " < .." : "");
}

/* Up to where from the outermost frame on both are the same: frames of `from` that are its own. */
static uint32_t callers_begin(const struct sp_model *m, uint32_t from, uint32_t to, uint32_t n, uint32_t n_to)
{
	while (n > 1 && n_to > 1 && sp_model_same_frame(m, from, n - 1, to, n_to - 1))
		n--, n_to--;
	return n;
}

static bool reads_the_same(const struct sp_model *m, uint32_t a, uint32_t b, uint32_t i)
{
	struct sp_frame_seen f, g;

	if (!sp_model_frame(m, a, i, &f) || !sp_model_frame(m, b, i, &g) || !*f.line || strcmp(f.line, g.line) != 0 ||
	    strcmp(f.symbol, g.symbol) != 0 || f.n_into != g.n_into)
		return false;
	for (uint32_t k = 0; k < f.n_into; k++)
		if (strcmp(f.into[k].symbol, g.into[k].symbol) != 0 || !f.into[k].line != !g.into[k].line ||
		    (f.into[k].line && strcmp(f.into[k].line, g.into[k].line) != 0))
			return false;
	return true;
}

static struct style style_of(const struct sp_model *m, uint32_t id, uint32_t n, bool brief)
{
	struct style s = { .brief = brief };
	struct sp_callsite c;

	/* Offsets always differ, and what is shown whole needs no marks. */
	for (uint32_t other = 1; id && (brief || m->name_frame) && other < m->n_callsites; other++) {
		uint32_t i = 0;

		if (other == id || !sp_model_callsite(m, other, &c))
			continue;
		while (i < n && i < c.frames && sp_model_same_frame(m, id, i, other, i))
			i++;
		if (i == n)
			continue;
		s.marks |= 1ull << i;
		if (i < c.frames && !(s.twins >> i & 1) && reads_the_same(m, id, other, i))
			s.twins |= 1ull << i;
	}
	return s;
}

static uint64_t shifted(uint64_t bits, uint32_t own, uint32_t own_to)
{
	return own > own_to ? bits >> (own - own_to) : bits << (own_to - own);
}

/* A region's name, and where: it begins and ends under one name. */
static void region(struct sp_out *o, const struct sp_model *m, uint32_t id, const char *of, const struct style *s)
{
	struct sp_frame_seen f;

	name(o, of, s->brief);
	if (!sp_model_frame(m, id, 0, &f))
		return;
	outermost(&f);
	sp_out_text(o, " (");
	if (!*f.line && !s->brief) {
		sp_out_plain(o, sp_base_name(f.module));
		sp_out_char(o, '+');
	}
	place(o, &f, s->twins & 1);
	sp_out_char(o, ')');
}

/* What stands on one side of the arrow; site 0: not known. */
static void side(struct sp_out *o, const struct sp_model *m, uint32_t id, const struct sp_callsite *c, uint32_t own,
		 const struct style *s)
{
	if (!id)
		sp_out_char(o, '?');
	else if (*c->name)
		region(o, m, id, c->name, s);
	else
		frames(o, m, id, 0, own, s);
}

static void pair(struct sp_out *o, const struct sp_model *m, uint32_t from, uint32_t to, bool brief)
{
	struct sp_callsite a = { 0 }, b = { 0 };
	struct style of_from, of_to;
	uint32_t own, own_to;
	bool same;

	if (from)
		sp_model_callsite(m, from, &a);
	sp_model_callsite(m, to, &b);
	own = from && !*a.name && !*b.name ? callers_begin(m, from, to, a.frames, b.frames) : a.frames;
	own_to = b.frames - (a.frames - own);
	same = own == a.frames;
	of_from = style_of(m, from, a.frames, brief);
	of_to = style_of(m, to, b.frames, brief);
	if (same || !brief || own > 1 || own_to > 1 ||
	    !one_function(o, m, from, to, of_from.twins & 1, of_to.twins & 1)) {
		sp_out_text(o, same ? "" : "[");
		side(o, m, from, &a, own, &of_from);
		sp_out_text(o, " -> ");
		side(o, m, to, &b, own_to, &of_to);
		sp_out_text(o, same ? "" : "]");
	}
	/* What tells the first from others does for the pair. */
	of_to.marks |= shifted(of_from.marks, own, own_to);
	of_to.twins |= shifted(of_from.twins, own, own_to);
	if (!same)
		frames(o, m, to, own_to, b.frames, &of_to);
}

unsigned sp_pair_width(uint32_t events)
{
	return events > 3 ? 72 : 134 - 18 * events;
}

void sp_text_pair(struct sp_out *o, const struct sp_model *m, uint32_t from, uint32_t to, unsigned width)
{
	char text[TEXT], number[64];
	struct sp_out t;

	if (!to) {
		sp_out_text(o, "other call sites");
		return;
	}
	for (int brief = 0; brief < 2; brief++) {
		sp_memory_init(&t, text, sizeof(text));
		pair(&t, m, from, to, brief);
		if (sp_columns(sp_memory_text(&t)) <= width) {
			sp_out_text(o, text);
			return;
		}
	}
	/* The numbers that they have in JSON. */
	sp_memory_init(&t, number, sizeof(number));
	sp_out_text(&t, " #");
	sp_out_u64(&t, from);
	sp_out_text(&t, " -> #");
	sp_out_u64(&t, to);
	sp_clip(o, text, width - sp_columns(sp_memory_text(&t)));
	sp_out_text(o, number);
}
