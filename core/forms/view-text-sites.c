/* view-text-sites.c: the text view's names of the code between two call sites.
 *
 *	assemble → solve			the functions that called PAPI
 *	solve (main.c:40 → 44)			where two calls are in one of them
 *	work < solver_b → work < solver_b	where they are told apart by who called them
 *	app+0x11f0 → app+0x1230			functions without names
 *	libffi.so.8 → libffi.so.8		of which there is one in the library
 *
 * Places are file:line, or offsets without debug information.  Functions that were inlined stand
 * under the name of the one that they are in: that one has a name in every form.  (But not under
 * one of the C++ library's: what a std::thread runs would all be _M_run, in std_thread.h.)
 */
#include <string.h>

#include "function-name.h"
#include "view-text-words.h"

#define NAME	96u			/* columns of a function's name, at most */
#define TEXT	1024u			/* bytes: more than any width takes */

static void function(struct sp_out *o, const char *symbol, bool brief)
{
	char text[SP_FUNCTION_NAME];

	sp_clip(o, sp_function_name(text, symbol, brief), NAME);
}

/* ---- frames ------------------------------------------------------------------ */

/* A header of the system's, as what std::thread calls stands in. */
static bool is_of_system(const char *line)
{
	return line && !strncmp(line, "/usr/", 5);
}

/* Of what was inlined the function that it stands in; of the program's own code, if there is any. */
static bool frame_at(const struct sp_model *m, uint32_t id, uint32_t i, struct sp_frame_seen *f)
{
	uint32_t k;

	if (!sp_model_frame(m, id, i, f))
		return false;
	k = f->n_into;
	while (k && is_of_system(f->into[k - 1].line))
		k--;
	if (!k && (!*f->line || is_of_system(f->line)))
		k = f->n_into;
	if (k) {
		f->symbol = f->into[k - 1].symbol;
		f->line = f->into[k - 1].line ? f->into[k - 1].line : "";
	}
	return true;
}

struct style {
	uint64_t marks;			/* frames at which it parts from other sites: shown */
	uint64_t places;		/* of these: from one in the same function */
	uint64_t twins;			/* of these: on the same line */
};

static bool in_one_function(const struct sp_frame_seen *f, const struct sp_frame_seen *g)
{
	return !strcmp(f->symbol, g->symbol) && !strcmp(f->module, g->module);
}

static struct style style_of(const struct sp_model *m, uint32_t id, uint32_t n)
{
	struct style s = { 0 };
	struct sp_frame_seen f, g;
	struct sp_callsite c;

	for (uint32_t other = 1; other < m->n_callsites; other++) {
		uint32_t i = 0;

		if (other == id || !sp_model_callsite(m, other, &c))
			continue;
		while (i < n && i < c.frames && sp_model_same_frame(m, id, i, other, i))
			i++;
		if (i == n)
			continue;
		s.marks |= 1ull << i;
		if (i == c.frames || !frame_at(m, id, i, &f) || !frame_at(m, other, i, &g) || !in_one_function(&f, &g))
			continue;
		s.places |= 1ull << i;
		s.twins |= *f.line && !strcmp(f.line, g.line) ? 1ull << i : 0;
	}
	return s;
}

static void place(struct sp_out *o, const struct sp_frame_seen *f, bool twin)
{
	if (*f->line)
		sp_out_plain(o, sp_base_name(f->line));
	if (*f->line && twin)
		sp_out_char(o, ' ');
	if (!*f->line || twin)
		sp_out_hex(o, f->offset);
}

static void frame(struct sp_out *o, const struct sp_frame_seen *f, const char *region, bool brief, bool with_place, bool twin)
{
	if (region && *region) {
		sp_out_plain(o, region);
	} else if (*f->symbol) {
		function(o, f->symbol, brief);
	} else {
		sp_out_plain(o, *f->module ? sp_base_name(f->module) : "unknown");
		if (with_place || !*f->module)
			sp_out_f(o, "+%#lx", f->offset);
		return;
	}
	if (!with_place && strcmp(f->symbol, "operator()") != 0)	/* a lambda: which one only its place says */
		return;
	sp_out_text(o, " (");
	place(o, f, twin);
	sp_out_char(o, ')');
}

/* What stands on one side of the arrow; site 0: not known. */
static void side(struct sp_out *o, const struct sp_model *m, uint32_t id, bool brief)
{
	struct sp_callsite c = { 0 };
	struct sp_frame_seen f;
	struct style s;

	if (!id || !sp_model_callsite(m, id, &c)) {
		sp_out_text(o, id ? "?" : "any other call");
		return;
	}
	s = style_of(m, id, c.frames);
	for (uint32_t i = 0; i < c.frames && frame_at(m, id, i, &f); i++) {
		if (i && !(s.marks >> i & 1))
			continue;
		sp_out_text(o, i ? " < " : "");
		/* A region of the high level begins and ends under one name. */
		frame(o, &f, i ? NULL : c.name, brief, (s.places >> i & 1) || (!i && *c.name), s.twins >> i & 1);
	}
}

/* Both in one function, and nothing else to tell: "solve (main.c:40 → 44)"; a loop's: "solve (main.c:40 → 40)". */
static bool one_function(struct sp_out *o, const struct sp_model *m, uint32_t from, uint32_t to, bool brief)
{
	struct sp_callsite a = { 0 }, b = { 0 };
	struct sp_frame_seen f, g;
	struct style s, t;
	size_t file;

	if (!sp_model_callsite(m, from, &a) || !sp_model_callsite(m, to, &b) || *a.name || *b.name ||
	    !frame_at(m, from, 0, &f) || !frame_at(m, to, 0, &g) || !*f.symbol || !in_one_function(&f, &g))
		return false;
	s = style_of(m, from, a.frames);
	t = style_of(m, to, b.frames);
	if ((s.marks | t.marks) & ~1ull || (from == to && !(s.places & 1)))
		return false;
	function(o, f.symbol, brief);
	sp_out_text(o, " (");
	place(o, &f, s.twins & 1);
	sp_out_text(o, " → ");
	file = strcspn(f.line, ":") + 1;
	if (*f.line && !strncmp(f.line, g.line, file))	/* the file is said; and of two calls on a line, that */
		g.line += strcmp(f.line, g.line) || !(t.twins & 1) ? file : strlen(g.line);
	place(o, &g, t.twins & 1);
	sp_out_char(o, ')');
	return true;
}

void sp_text_site(struct sp_out *o, const struct sp_model *m, uint32_t id, unsigned width)
{
	char text[TEXT];
	struct sp_out t;

	sp_memory_init(&t, text, sizeof(text));
	if (id)
		side(&t, m, id, false);
	else
		sp_out_text(&t, "other call sites");
	sp_clip(o, sp_memory_text(&t), width);
}

void sp_text_pair(struct sp_out *o, const struct sp_model *m, uint32_t from, uint32_t to, unsigned width)
{
	char text[2 * TEXT], number[64];
	struct sp_out t;

	if (!to) {
		sp_out_text(o, "other call sites");
		return;
	}
	for (int brief = 0; brief < 2; brief++) {
		sp_memory_init(&t, text, sizeof(text));
		if (!one_function(&t, m, from, to, brief)) {
			side(&t, m, from, brief);
			sp_out_text(&t, " → ");
			side(&t, m, to, brief);
		}
		if (sp_columns(sp_memory_text(&t)) <= width) {
			sp_out_text(o, text);
			return;
		}
	}
	/* Cut: the numbers that they have in JSON tell them apart. */
	sp_memory_init(&t, number, sizeof(number));
	sp_out_text(&t, " #");
	sp_out_u64(&t, from);
	sp_out_text(&t, " → #");
	sp_out_u64(&t, to);
	sp_clip(o, text, width - sp_columns(sp_memory_text(&t)));
	sp_out_text(o, number);
}
