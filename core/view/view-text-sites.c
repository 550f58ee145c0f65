/* view-text-sites.c: the text view's names of the code between two call sites.
 *
 *	assemble → solve			the functions that called PAPI
 *	solve (main.c:40 → 44)			where two calls are in one of them
 *	work < solver_b → work < solver_b	where they are told apart by who called them
 *	app+0x11f0 → app+0x1230			functions without names
 *
 * Places are file:line, or offsets without debug information.  Functions that were inlined stand
 * under the name of the one that they are in: that one has a name in every form.
 */
#include <string.h>

#include "view-text.h"

#define NAME	96u			/* columns of a function's name, at most */
#define TEXT	1024u			/* bytes: more than any width takes */

/* ---- names of functions ---------------------------------------------------- */

/* Behind a substitution: St, Sa, S_, S0_, T_, T1_. */
static const char *behind_substitution(const char *s)
{
	s++;
	while ((*s >= '0' && *s <= '9') || (*s >= 'A' && *s <= 'Z'))
		s++;
	return *s ? s + 1 : s;
}

/* The parts of _ZN3sim6Solver4stepEi, and of _Z4stepi, from behind the _Z; template arguments and what the standard
 * abbreviates are left out.  False: another construct (operators, lambdas). */
static bool demangled(struct sp_out *o, const char *s)
{
	bool nested = *s == 'N', any = false;
	const char *class = "";
	size_t n = 0, depth = 0;

	if (*s == 'Z') {		/* within a function */
		any = demangled(o, s + 1);
		sp_out_text(o, strstr(s, "Ul") ? "::lambda" : "::local");
		return any;
	}
	for (s += nested; *s;) {
		if (*s >= '1' && *s <= '9') {
			for (n = 0; *s >= '0' && *s <= '9' && n < TEXT; s++)
				n = n * 10 + (size_t)(*s - '0');
			if (strnlen(s, n) < n)
				return false;
			if (!depth && (n != 12 || memcmp(s, "_GLOBAL__N_1", 12) != 0)) {
				class = s;
				sp_out_text(o, any ? "::" : "");
				sp_out_bytes(o, s, n);
				any = true;
			}
			s += n;
			if (!nested && !depth && *s != 'I')
				return any;
		} else if (*s == 'S' || *s == 'T') {
			s = behind_substitution(s);
		} else if (depth && *s == 'L') {
			s += strcspn(s, "E") + (strchr(s, 'E') != NULL);
		} else if (*s == 'I' || (depth && strchr("NXJF", *s))) {
			depth++, s++;
		} else if (*s == 'E') {
			if (!depth || (depth == 1 && !nested))
				return any;
			depth--, s++;
		} else if (!depth && any && (*s == 'C' || *s == 'D') && *class) {
			sp_out_text(o, *s == 'C' ? "::" : "::~");
			sp_out_bytes(o, class, n);
			return true;
		} else if (!depth && any && !strncmp(s, "cl", 2)) {
			sp_out_text(o, "::operator()");
			return true;
		} else if (depth || strchr("KVrLRO", *s)) {
			s++;
		} else {
			return false;
		}
	}
	return false;
}

/* What addr2line -C says without arguments and what stands in angle brackets:
 * (anonymous namespace)::Solver<double>::step(int) const, main::{lambda(int)#1}::operator()(int). */
static void plain_name(struct sp_out *o, const char *name)
{
	unsigned depth = 0;

	for (const char *p = name; *p; p++) {
		if (!depth && !strncmp(p, "(anonymous namespace)::", 23)) {
			p += 22;
		} else if (!depth && !strncmp(p, "{lambda", 7) && strstr(p, "operator()")) {
			sp_out_text(o, "lambda");
			return;
		} else if (!depth && !strncmp(p, "operator", 8)) {
			sp_out_text(o, "operator");
			sp_out_bytes(o, p + 8, 1 + strcspn(p + 9, "("));
			return;
		} else if (!depth && *p == '(') {
			return;
		} else if (*p == '<' || *p == '>') {
			depth = *p == '<' ? depth + 1 : depth - (depth != 0);
		} else if (!depth) {
			sp_out_char(o, *p);
		}
	}
}

/* In brief without the namespaces that it is in. */
static void function(struct sp_out *o, const char *name, bool brief)
{
	char text[TEXT], plain[TEXT], *from = text;
	struct sp_out t;

	sp_memory_init(&t, text, sizeof(text));
	if (strncmp(name, "_Z", 2) != 0) {
		plain_name(&t, name);
	} else if (!demangled(&t, name + 2)) {
		sp_memory_init(&t, text, sizeof(text));
		sp_out_bytes(&t, name, sp_min(strlen(name), TEXT - 1));
	}
	sp_memory_text(&t);
	for (char *last = strstr(text, "::"), *next; brief && last && (next = strstr(last + 2, "::")) != NULL; last = next)
		from = last + 2;
	sp_memory_init(&t, plain, sizeof(plain));
	sp_out_plain(&t, from);
	sp_clip(o, sp_memory_text(&t), NAME);
}

/* ---- frames ------------------------------------------------------------------ */

/* Of what was inlined the function that it stands in. */
static bool frame_at(const struct sp_model *m, uint32_t id, uint32_t i, struct sp_frame_seen *f)
{
	if (!sp_model_frame(m, id, i, f))
		return false;
	if (f->n_into) {
		f->symbol = f->into[f->n_into - 1].symbol;
		f->line = f->into[f->n_into - 1].line ? f->into[f->n_into - 1].line : "";
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
	return *f->symbol && !strcmp(f->symbol, g->symbol) && !strcmp(f->module, g->module);
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
		sp_out_char(o, '+');
		sp_out_hex(o, f->offset);
		return;
	}
	if (!with_place)
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
		sp_out_text(o, id ? "?" : "an unknown call");
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

/* Both in one function, and nothing else to tell: "solve (main.c:40 → 44)". */
static bool one_function(struct sp_out *o, const struct sp_model *m, uint32_t from, uint32_t to, bool brief)
{
	struct sp_callsite a = { 0 }, b = { 0 };
	struct sp_frame_seen f, g;
	struct style s, t;
	size_t file;

	if (from == to || !sp_model_callsite(m, from, &a) || !sp_model_callsite(m, to, &b) || *a.name || *b.name ||
	    !frame_at(m, from, 0, &f) || !frame_at(m, to, 0, &g) || !in_one_function(&f, &g))
		return false;
	s = style_of(m, from, a.frames);
	t = style_of(m, to, b.frames);
	if ((s.marks | t.marks) & ~1ull)
		return false;
	function(o, f.symbol, brief);
	sp_out_text(o, " (");
	place(o, &f, s.twins & 1);
	sp_out_text(o, " → ");
	file = strcspn(f.line, ":") + 1;
	if (*f.line && !strncmp(f.line, g.line, file) && !((s.twins | t.twins) & 1))
		sp_out_plain(o, g.line + file);
	else
		place(o, &g, t.twins & 1);
	sp_out_char(o, ')');
	return true;
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
