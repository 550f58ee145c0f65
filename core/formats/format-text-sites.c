/* format-text-sites.c: the text view's names of the code between two call sites.
 *
 *	assemble → solve			the functions that called PAPI
 *	solve (main.c:40 → 44)			where two calls are in one of them
 *	solve (main.c:40 → 44) < main  with their callers, where those are kept and there is room
 *	read_counters < solve → ...  the program's functions, not only the helper that all calls
 *	stand in
 *	work < solver_b → work < solver_b	where they are told apart by who called them
 *	app+0x11f0 → app+0x1230			functions without names
 *	libffi.so.8 → libffi.so.8		of which there is one in the library
 *	assembly				in a region of the high level
 *	end of assembly → output		between two of them
 *
 * Places are file:line, or offsets without debug information.  Functions that were inlined stand
 * under the name of the one that they are in: that one has a name in every form.  (But not under
 * one of the C++ library's: what a std::thread runs would all be _M_run, in std_thread.h.)
 */
#include "../base/sys.h"
#include "function-name.h"
#include "format-text-words.h"

#define NAME	96u			/* columns of a function's name, at most */
#define TEXT	1024u			/* bytes: more than any width takes */
#define HELPERS	2u			/* functions that a program's calls of PAPI stand in, if
					 * those are helpers */

/* How much is said, where there is less and less room. */
enum room { WITH_CALLERS, WHOLE, BRIEF, SP_ROOMS };

/* ---- frames ------------------------------------------------------------------ */

/* A header of the system's, as what std::thread calls stands in. */
static bool is_of_system(const char *line)
{
	return line && !strncmp(line, "/usr/", 5);
}

/* Of what was inlined the function that it stands in; of the program's own code, if there is
 * any. */
static bool frame_at(const struct sp_model *m, uint32_t id, uint32_t i, struct sp_frame_info *f)
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

static bool in_one_function(const struct sp_frame_info *f, const struct sp_frame_info *g)
{
	return !strcmp(f->symbol, g->symbol) && !strcmp(f->module, g->module);
}

static bool is_linkers(const char *symbol)
{
	return strncmp(symbol, "_Z", 2) == 0;
}

/* Is there another instance of this template among the call sites? */
static bool is_one_of_several(const struct sp_model *m, uint32_t i, const char *symbol)
{
	char name[SP_FUNCTION_NAME], whole[SP_FUNCTION_NAME], other[SP_FUNCTION_NAME];
	struct sp_frame_info f;

	if (!strchr(symbol, is_linkers(symbol) ? 'I' : '<'))
		return false;
	sp_function_name(name, symbol, 0);
	sp_function_name(whole, symbol, SP_NAME_ARGUMENTS);
	for (uint32_t id = 1; id < m->n_callsites; id++)
		if (frame_at(m, id, i, &f) && strcmp(f.symbol, symbol) != 0 &&
		    !strcmp(sp_function_name(other, f.symbol, 0), name) &&
		    (is_linkers(symbol) ||
		     strcmp(sp_function_name(other, f.symbol, SP_NAME_ARGUMENTS), whole) != 0))
			return true;
	return false;
}

static void function(struct sp_out *o, const struct sp_model *m, uint32_t i, const char *symbol,
		     enum room room)
{
	char text[SP_FUNCTION_NAME];
	unsigned how = (room == BRIEF ? SP_NAME_BRIEF : 0) |
		       (is_one_of_several(m, i, symbol) ? SP_NAME_ARGUMENTS : 0);

	sp_clip(o, sp_function_name(text, symbol, how), NAME);
}

/* ---- the helper in front of the program's own functions ---------------------------- */

/* In how many functions frame i of the paths lies, up to one more than helpers are; 0: none is so
 * long. */
static uint32_t functions_at(const struct sp_model *m, uint32_t i)
{
	struct sp_frame_info seen[HELPERS + 1], f;
	struct sp_callsite c;
	uint32_t n = 0, k;

	for (uint32_t id = 1; id < m->n_callsites && n <= HELPERS; id++) {
		if (!sp_model_callsite(m, id, &c) || *c.name || !frame_at(m, id, i, &f))
			continue;
		for (k = 0; k < n && !in_one_function(&seen[k], &f); k++)
			;
		if (k == n)
			seen[n++] = f;
	}
	return n;
}

/* The library that all calls of PAPI stand in; NULL: none, or it is the program itself. */
static const char *wrapper_of(const struct sp_model *m)
{
	const char *module = NULL, *its;
	struct sp_callsite c;

	for (uint32_t id = 1; id < m->n_callsites; id++) {
		if (!sp_model_callsite(m, id, &c) || !(its = sp_model_frame_module(m, id, 0)))
			continue;
		if (*c.name || (module && strcmp(module, its) != 0))
			return NULL;
		module = its;
	}
	return module && *module && strcmp(module, sp_model_text(m, m->h.process.exe)) != 0 ? module
											    : NULL;
}

/* Which frame of a path is the program's own: where all calls stand in a library that wraps PAPI
 * the first outside, else where the paths spread over more functions than a helper has. */
struct owner {
	const char *wrapper;
	uint32_t spread;
};

static struct owner owner_of(const struct sp_model *m)
{
	struct owner o = { .wrapper = wrapper_of(m) };
	uint32_t most = 0, here;

	for (uint32_t i = 0;
	     !o.wrapper && i < SP_FRAMES_MAX && most <= HELPERS && (here = functions_at(m, i)) != 0;
	     i++)
		if (here > most) {
			most = here;
			o.spread = i;
		}
	return o;
}

static uint32_t own_frame(const struct sp_model *m, const struct owner *o, uint32_t id, uint32_t n)
{
	uint32_t i = 1;

	if (o->wrapper)
		while (i < n && strcmp(sp_model_frame_module(m, id, i), o->wrapper) == 0)
			i++;
	else
		i = o->spread;
	return i < n ? i : n ? n - 1 : 0;
}

struct style {
	bool known;
	uint32_t own;			/* the frame of the program's */
	uint64_t marks;			/* frames at which it parts from other sites: shown */
	uint64_t places;		/* of these: from one in the same function */
	uint64_t same_line;			/* of these: on the same line */
};

/* A path, and which frame of it is the program's own. */
struct path {
	uint32_t id, n, own;
};

/* The first frame of a at which b differs, from the programs' own on outwards, and then in the
 * helpers; a's n: none. */
static uint32_t parts_at(const struct sp_model *m, const struct path *a, const struct path *b)
{
	uint32_t i = a->own, k = b->own;

	while (i < a->n && k < b->n && sp_model_same_frame(m, a->id, i, b->id, k))
		i++, k++;
	if (i < a->n)
		return i;
	for (i = 0; i < a->own; i++)
		if (i >= b->own || !sp_model_same_frame(m, a->id, i, b->id, i))
			return i;
	return a->n;
}

static struct style find_style(const struct sp_model *m, const struct owner *owner, uint32_t id,
			       uint32_t n)
{
	struct path own = { id, n, own_frame(m, owner, id, n) };
	struct style s = { .known = true, .own = own.own };
	struct sp_frame_info f, g;
	struct sp_callsite c;

	for (uint32_t other = 1; other < m->n_callsites; other++) {
		struct path its = { .id = other };
		uint32_t i, k;

		if (other == id || !sp_model_callsite(m, other, &c) || *c.name)
			continue;
		its.n = c.frames;
		its.own = own_frame(m, owner, other, its.n);
		i = parts_at(m, &own, &its);
		k = i < own.own ? i : its.own + i - own.own;
		if (i == n)
			continue;
		s.marks |= 1ull << i;
		if (k >= its.n || !frame_at(m, id, i, &f) || !frame_at(m, other, k, &g) ||
		    !in_one_function(&f, &g))
			continue;
		s.places |= 1ull << i;
		s.same_line |= *f.line && !strcmp(f.line, g.line) ? 1ull << i : 0;
	}
	return s;
}

/* ---- found once --------------------------------------------------------------- */

struct sp_site_texts {
	const struct sp_model *m;
	uint32_t n;
	bool owner_known;
	struct owner owner;
	struct style style[];		/* [n] */
};

static uint64_t site_texts_bytes(uint32_t n)
{
	return sizeof(struct sp_site_texts) + (uint64_t)n * sizeof(struct style);
}

struct sp_site_texts *sp_site_texts_new(const struct sp_model *m)
{
	struct sp_site_texts *t = sp_map(site_texts_bytes(m->n_callsites));

	if (t) {
		t->m = m;
		t->n = m->n_callsites;
	}
	return t;
}

void sp_sites_forget(struct sp_site_texts *t)
{
	if (t)
		sp_unmap(t, site_texts_bytes(t->n));
}

/* Each is compared with all others, so that a name that needed six of them took 200,000
 * instructions where there were five sites: that was four fifths of a dump. */
static struct style style_of(struct sp_site_texts *t, uint32_t id, uint32_t n)
{
	if (!t->owner_known)
		t->owner = owner_of(t->m);
	t->owner_known = true;
	if (id >= t->n)
		return find_style(t->m, &t->owner, id, n);
	if (!t->style[id].known)
		t->style[id] = find_style(t->m, &t->owner, id, n);
	return t->style[id];
}

/* ---- words -------------------------------------------------------------------- */

static void place(struct sp_out *o, const struct sp_frame_info *f, bool on_same_line)
{
	if (*f->line)
		sp_out_plain(o, sp_base_name(f->line));
	if (*f->line && on_same_line)
		sp_out_char(o, ' ');
	if (!*f->line || on_same_line)
		sp_out_hex(o, f->offset);
}

static void frame(struct sp_out *o, const struct sp_model *m, uint32_t i,
		  const struct sp_frame_info *f, enum room room, bool with_place, bool on_same_line)
{
	if (*f->symbol) {
		function(o, m, i, f->symbol, room);
	} else {
		sp_out_plain(o, *f->module ? sp_base_name(f->module) : "unknown");
		if (with_place || !*f->module)
			sp_out_f(o, "+%#lx", f->offset);
		return;
	}
	/* Which lambda it is only its place says, and which instance of a template if its name has
	 * no arguments. */
	if (!with_place && strcmp(f->symbol, "operator()") != 0 &&
	    !(is_linkers(f->symbol) && is_one_of_several(m, i, f->symbol)))
		return;
	sp_out_text(o, " (");
	place(o, f, on_same_line);
	sp_out_char(o, ')');
}

/* Does it say something?  What calls main or a thread's function does not. */
static bool is_worth_a_name(const struct sp_frame_info *f)
{
	return *f->symbol && strncmp(sp_base_name(f->module), "libc.so.", 8) != 0 &&
	       strcmp(f->symbol, "_start") != 0;
}

/* The path's last two names: the program's own function and its caller; where that is not kept, the
 * helper in front. */
static bool is_shown(const struct style *s, uint32_t i, uint32_t n, const struct sp_frame_info *f,
		     enum room room)
{
	if (i == s->own || s->marks >> i & 1)
		return true;
	return room == WITH_CALLERS &&
	       (s->own + 1 < n ? i == s->own + 1 && is_worth_a_name(f) : i + 1 == s->own);
}

/* Where it lies in the code says less than its name. */
static void region(struct sp_out *o, const struct sp_callsite *c)
{
	sp_out_text(o, c->call == SP_REGION_ENDS   ? "end of "
		       : c->call == SP_REGION_READ ? "a reading in "
						   : "");
	sp_out_plain(o, c->name);
}

/* Those of the path that are shown, from number `first` on; one behind another names what called
 * it. */
static void frames(struct sp_out *o, const struct sp_model *m, uint32_t id, uint32_t first,
		   uint32_t n, const struct style *s, enum room room)
{
	struct sp_frame_info f;
	bool any = first > 0;

	for (uint32_t i = first; i < n && frame_at(m, id, i, &f); i++) {
		if (!is_shown(s, i, n, &f, room))
			continue;
		sp_out_text(o, any ? " < " : "");
		any = true;
		frame(o, m, i, &f, room, s->places >> i & 1, s->same_line >> i & 1);
	}
}

/* What stands on one side of the arrow; site 0: not known. */
static void side(struct sp_out *o, struct sp_site_texts *t, uint32_t id, enum room room)
{
	const struct sp_model *m = t->m;
	struct sp_callsite c = { 0 };
	struct style s;

	if (!id || !sp_model_callsite(m, id, &c)) {
		sp_out_text(o, id ? "?" : "any other call");
		return;
	}
	if (*c.name) {
		region(o, &c);
		return;
	}
	s = style_of(t, id, c.frames);
	frames(o, m, id, 0, c.frames, &s, room);
}

/* The outermost frame at which two paths of one length differ; of one path the program's own. */
static uint32_t pivot_of(const struct sp_model *m, uint32_t from, uint32_t to, uint32_t n,
			 uint32_t own)
{
	for (uint32_t i = n; i--;)
		if (!sp_model_same_frame(m, from, i, to, i))
			return i;
	return own;
}

/* Both in one function that was called from one place: "solve (main.c:40 → 44) < main (main.c:9)";
 * a loop's: "solve (main.c:40 → 40)". */
static bool one_function(struct sp_out *o, struct sp_site_texts *site_texts, uint32_t from,
			 uint32_t to, enum room room)
{
	const struct sp_model *m = site_texts->m;
	struct sp_callsite a = { 0 }, b = { 0 };
	struct sp_frame_info f, g;
	struct style s, t;
	size_t file;
	uint32_t at;

	if (!sp_model_callsite(m, from, &a) || !sp_model_callsite(m, to, &b) || *a.name ||
	    *b.name || a.frames != b.frames)
		return false;
	s = style_of(site_texts, from, a.frames);
	t = style_of(site_texts, to, b.frames);
	at = pivot_of(m, from, to, a.frames, s.own);
	if (!frame_at(m, from, at, &f) || !frame_at(m, to, at, &g) || !*f.symbol ||
	    !in_one_function(&f, &g) || (s.marks | t.marks) & ((1ull << at) - 1) ||
	    (from == to && !(s.places >> at & 1)))
		return false;
	function(o, m, at, f.symbol, room);
	sp_out_text(o, " (");
	place(o, &f, s.same_line >> at & 1);
	sp_out_text(o, " → ");
	file = strcspn(f.line, ":") + 1;
	if (*f.line && !strncmp(f.line, g.line, file))	/* the file is said; and of two calls on a
							 * line, that */
		g.line +=
			strcmp(f.line, g.line) || !(t.same_line >> at & 1) ? file : strlen(g.line);
	place(o, &g, t.same_line >> at & 1);
	sp_out_char(o, ')');
	s.marks |= t.marks;
	s.places |= t.places;
	s.same_line |= t.same_line;
	frames(o, m, from, at + 1, a.frames, &s, room);
	return true;
}

void sp_text_pair(struct sp_out *o, struct sp_site_texts *site_texts, uint32_t from, uint32_t to,
		  unsigned width)
{
	char text[2 * TEXT], number[64];
	struct sp_callsite c;
	struct sp_out t;

	if (!to) {
		sp_out_text(o, "other call sites");
		return;
	}
	if (from == to && sp_model_callsite(site_texts->m, to, &c) && *c.name) {
		sp_memory_init(&t, text, sizeof(text));
		sp_out_plain(&t, c.name);
		sp_clip(o, sp_memory_text(&t), width);
		return;
	}
	for (enum room room = WITH_CALLERS; room < SP_ROOMS; room++) {
		sp_memory_init(&t, text, sizeof(text));
		if (!one_function(&t, site_texts, from, to, room)) {
			side(&t, site_texts, from, room);
			sp_out_text(&t, " → ");
			side(&t, site_texts, to, room);
		}
		if (sp_columns(sp_memory_text(&t)) <= width) {
			sp_out_text(o, text);
			return;
		}
	}
	/* Cut: the numbers that they have in JSON tell them apart. */
	sp_text_f(number, sizeof(number), " #%u → #%u", from, to);
	sp_clip(o, text, width - sp_columns(number));
	sp_out_text(o, number);
}
