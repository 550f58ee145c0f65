/* format-text-sites.c: names the code between two call sites by the program's own functions.
 *
 *	beta				both calls are in it
 *	solver → exchange		one function starts, another one reads
 *	main:12 → 18			a region of several in main: its lines
 *	main, parallel region at line 21	of OpenMP
 *	app+0x11f0			a function without a name
 *	assembly			a region of the high level
 *	end of assembly → output	between two of them
 *	call, PAPI_start → PAPI_read	call sites that differ by the PAPI function only
 *
 * The own function of a call site is the innermost one that is no helper.  A function is a helper
 * if its callers are different functions, or if its only caller calls it from several places and
 * it never has two call sites itself in one call: PAPI_start in it, PAPI_stop in another one.  A
 * library is a helper by the second rule, whatever functions call it, and libffi
 * always is.
 *
 * With SP_PAIR_ALL each frame has its place:
 *	begin (a.c:4 0x1189) → end (a.c:5 0x11a0) < beta (a.c:9 0x12a9) < main (a.c:10 0x10e6)
 */
#include "../base/sys.h"
#include "../model/observers.h"
#include "function-name.h"
#include "format-text-words.h"

#define NAME	96u			/* maximum columns of a function's name */
#define TEXT	2048u			/* bytes of a pair */
#define FRAMES	64u			/* of a call site, with inlined functions */

/* ---- frames ------------------------------------------------------------------ */

struct frame {
	const char *module, *symbol, *line;
	uint64_t offset;
	uint32_t i;			/* index in the call site, shared by inlined functions */
};

static uint32_t frames_of(const struct sp_model *m, uint32_t id, struct frame frames[FRAMES])
{
	struct sp_frame_info f;
	uint32_t n = 0;

	for (uint32_t i = 0; sp_model_frame(m, id, i, &f); i++)
		for (uint32_t k = 0; k <= f.n_into && n < FRAMES; k++) {
			const char *line = k ? f.into[k - 1].line : f.line;

			frames[n++] = (struct frame){ f.module, k ? f.into[k - 1].symbol : f.symbol,
						      line ? line : "", f.offset, i };
		}
	return n;
}

static bool is_of_system(const struct frame *f)
{
	return !strncmp(f->line, "/usr/", 5);
}

static bool is_of_libc(const struct frame *f)
{
	return !strncmp(sp_base_name(f->module), "libc.so.", 8) || !strcmp(f->symbol, "_start");
}

static const char *line_number(const struct frame *f)
{
	const char *colon = strrchr(f->line, ':');

	return colon ? colon + 1 : "";
}

static bool is_parallel_region(const char *symbol)
{
	return strstr(symbol, "_omp_fn.") || strstr(symbol, "omp_outlined");
}

static bool has_arguments(const char *symbol)
{
	return strchr(symbol, strncmp(symbol, "_Z", 2) == 0 ? 'I' : '<') != NULL;
}

/* Strips the suffixes of compilers from the symbol: main._omp_fn.0, step.constprop.0. */
static const char *plain_symbol(char plain[SP_FUNCTION_NAME], const char *symbol)
{
	size_t n = strcspn(symbol, ".(");

	if (!n || n >= SP_FUNCTION_NAME || symbol[n] != '.')
		return symbol;
	memcpy(plain, symbol, n);
	plain[n] = 0;
	return plain;
}

/* ---- facts about functions and libraries ----------------------------------------------- */

enum {
	CALLERS_DIFFER = 1,
	PLACES_DIFFER = 2,		/* calls of it come from several places */
	HAS_REGION = 4			/* one call of it has several call sites */
};

struct fact {
	uint64_t key, caller, place;
	unsigned flags;
};

struct sp_site_texts {
	const struct sp_model *m;
	uint32_t room;			/* facts: a power of two */
	struct fact fact[];
};

static uint64_t hash_text(uint64_t key, const char *text)
{
	for (; *text; text++)
		key = (key ^ (unsigned char)*text) * 0x100000001b3ull;
	return sp_mix_hash(key, 0);
}

static struct fact *fact_of(struct sp_site_texts *t, uint64_t key)
{
	uint32_t at = (uint32_t)(key >> 20) & (t->room - 1);

	key |= 1;
	while (t->fact[at].key && t->fact[at].key != key)
		at = (at + 1) & (t->room - 1);
	t->fact[at].key = key;
	return &t->fact[at];
}

static void note_caller(struct sp_site_texts *t, uint64_t key, uint64_t caller, uint64_t place)
{
	struct fact *f = fact_of(t, key);

	caller |= 1;
	if (!f->caller) {
		f->caller = caller;
		f->place = place;
	}
	f->flags |= (caller != f->caller ? CALLERS_DIFFER : 0) |
		    (place != f->place ? PLACES_DIFFER : 0);
}

/* path: of the callers; place: of the call in it. */
static void note_place(struct sp_site_texts *t, uint64_t key, uint64_t path, uint64_t place)
{
	struct fact *f = fact_of(t, sp_mix_hash(key, path));

	place |= 1;
	if (!f->place)
		f->place = place;
	else if (f->place != place)
		fact_of(t, key)->flags |= HAS_REGION;
}

/* All instances of a template are one function here: callers of Counter<T>::start differ in T. */
static uint64_t function_key(const struct frame *f)
{
	char plain[SP_FUNCTION_NAME], name[SP_FUNCTION_NAME];
	uint64_t key = hash_text(1, f->module);

	if (!*f->symbol)
		return sp_mix_hash(key, f->offset);
	return hash_text(key, sp_function_name(name, plain_symbol(plain, f->symbol), 0));
}

static uint64_t library_key(const struct frame *f)
{
	return hash_text(2, f->module);
}

static uint64_t instance_key(const struct frame *f)
{
	return hash_text(hash_text(3, f->module), f->symbol);
}

/* Returns the place of frame f for its callee `inner`; inlined frames have one offset for all
 * calls. */
static uint64_t place_of(const struct frame *f, const struct frame *inner)
{
	return f->i == inner->i ? hash_text(4, f->line) : f->offset;
}

static uint64_t path_key(const struct frame *f, uint32_t n)
{
	uint64_t key = 6;

	for (uint32_t j = 0; j < n; j++)
		key = sp_mix_hash(hash_text(key, f[j].module), f[j].offset);
	return key;
}

static void note_site(struct sp_site_texts *t, const struct frame *f, uint32_t n,
		      enum sp_site_call call)
{
	note_caller(t, path_key(f, n), 1, call);
	for (uint32_t j = 0; j < n; j++) {
		uint64_t key = function_key(&f[j]), path = 5;
		bool leaves = j + 1 < n && strcmp(f[j].module, f[j + 1].module) != 0;

		for (uint32_t k = j + 1; k < n; k++)
			path = sp_mix_hash(path, place_of(&f[k], &f[j]));
		note_place(t, key, path, f[j].offset);
		if (leaves)
			note_place(t, library_key(&f[j]), path, f[j].offset);
		if (!*f[j].symbol)
			note_caller(t, sp_mix_hash(library_key(&f[j]), 1), 1, f[j].offset);
		else if (has_arguments(f[j].symbol))
			note_caller(t, sp_mix_hash(key, 1), instance_key(&f[j]), 0);
		if (j + 1 == n)
			continue;
		note_caller(t, key,
			    *f[j + 1].symbol ? instance_key(&f[j + 1]) : function_key(&f[j + 1]),
			    place_of(&f[j + 1], &f[j]));
		if (leaves)
			note_caller(t, library_key(&f[j]), 1, f[j + 1].offset);
	}
}

static bool is_site(const struct sp_model *m, uint32_t id)
{
	struct sp_callsite c;

	return sp_model_callsite(m, id, &c) && !*c.name;
}

/* A frame has at most six facts and a site one, which fill half of the table. */
static uint32_t room_for_facts(const struct sp_model *m)
{
	struct frame f[FRAMES];
	uint64_t n = 0;
	uint32_t room = 64;

	for (uint32_t id = 1; id < m->n_callsites; id++)
		n += is_site(m, id) ? 6 * frames_of(m, id, f) + 1 : 0;
	while (room < 2 * n)
		room *= 2;
	return room;
}

static uint64_t site_texts_bytes(uint32_t room)
{
	return sizeof(struct sp_site_texts) + (uint64_t)room * sizeof(struct fact);
}

struct sp_site_texts *sp_site_texts_new(const struct sp_model *m)
{
	uint32_t room = room_for_facts(m);
	struct sp_site_texts *t = sp_map(site_texts_bytes(room));
	struct frame f[FRAMES];
	struct sp_callsite c;

	if (!t)
		return NULL;
	t->m = m;
	t->room = room;
	for (uint32_t id = 1; id < m->n_callsites; id++)
		if (sp_model_callsite(m, id, &c) && !*c.name)
			note_site(t, f, frames_of(m, id, f), c.call);
	return t;
}

void sp_sites_forget(struct sp_site_texts *t)
{
	if (t)
		sp_unmap(t, site_texts_bytes(t->room));
}

/* ---- the program's own function ------------------------------------------------------- */

static bool is_helper(struct sp_site_texts *t, const struct frame *f)
{
	unsigned of_function = fact_of(t, function_key(f))->flags,
		 of_library = fact_of(t, library_key(f))->flags;

	if (of_function & CALLERS_DIFFER ||
	    (of_function & (PLACES_DIFFER | HAS_REGION)) == PLACES_DIFFER)
		return true;
	if (!strncmp(sp_base_name(f->module), "libffi.so.", 10))
		return true;
	return strcmp(f->module, sp_model_text(t->m, t->m->h.process.exe)) != 0 &&
	       (of_library & (PLACES_DIFFER | HAS_REGION)) == PLACES_DIFFER;
}

/* Returns the index among the n frames; 0 if n is 0. */
static uint32_t own_frame(struct sp_site_texts *t, const struct frame *f, uint32_t n)
{
	uint32_t own = 0;

	for (uint32_t j = 0; j < n && !is_of_libc(&f[j]); j++) {
		if (!is_of_system(&f[j]))
			own = j;
		if (!is_of_system(&f[j]) && !is_helper(t, &f[j]))
			break;
	}
	return own;
}

static bool in_one_function(const struct frame *f, const struct frame *g)
{
	return !strcmp(f->symbol, g->symbol) && !strcmp(f->module, g->module) &&
	       (*f->symbol || f->offset == g->offset);
}

/* The own functions of a pair of call sites. */
struct own_pair {
	struct frame from, to;
	bool is_one;			/* both are in one function */
	const char *from_call, *to_call;	/* if one is needed, or NULL */
};

/* If both calls were inlined into one function, finds the innermost function that contains both. */
static bool find_common(const struct frame *f, uint32_t n, uint32_t *i, const struct frame *g,
			uint32_t k, uint32_t *j)
{
	for (uint32_t a = *i; a < n && f[a].i == f[*i].i; a++)
		for (uint32_t b = *j; b < k && g[b].i == g[*j].i; b++)
			if (in_one_function(&f[a], &g[b])) {
				*i = a;
				*j = b;
				return true;
			}
	return false;
}

/* Is there another call site with the same frames? */
static bool needs_call(struct sp_site_texts *t, const struct frame *f, uint32_t n)
{
	return fact_of(t, path_key(f, n))->flags & PLACES_DIFFER;
}

static const char *call_of(struct sp_site_texts *t, uint32_t id)
{
	struct sp_callsite c;

	return sp_model_callsite(t->m, id, &c) ? sp_site_call_name(c.call) : NULL;
}

static struct own_pair own_pair_of(struct sp_site_texts *t, uint32_t from, uint32_t to)
{
	struct frame f[FRAMES] = { { "", "", "", 0, 0 } }, g[FRAMES] = { { "", "", "", 0, 0 } };
	uint32_t n = frames_of(t->m, from, f), k = frames_of(t->m, to, g);
	uint32_t i = own_frame(t, f, n), j = own_frame(t, g, k);
	struct own_pair p = { .is_one = find_common(f, n, &i, g, k, &j) };

	p.from = f[i];
	p.to = g[j];
	if (needs_call(t, f, n) || needs_call(t, g, k)) {
		p.from_call = call_of(t, from);
		p.to_call = call_of(t, to);
	}
	return p;
}

/* ---- words -------------------------------------------------------------------- */

static void function(struct sp_out *o, struct sp_site_texts *t, const struct frame *f, bool brief)
{
	char plain[SP_FUNCTION_NAME], name[SP_FUNCTION_NAME];
	bool several = fact_of(t, sp_mix_hash(function_key(f), 1))->flags & CALLERS_DIFFER;

	if (!*f->symbol) {
		sp_out_plain(o, *f->module ? sp_base_name(f->module) : "unknown");
		if (!*f->module ||
		    fact_of(t, sp_mix_hash(library_key(f), 1))->flags & PLACES_DIFFER)
			sp_out_f(o, "+%#lx", f->offset);
		return;
	}
	sp_function_name(name, plain_symbol(plain, f->symbol),
			 (brief ? SP_NAME_BRIEF : 0) | (several ? SP_NAME_ARGUMENTS : 0));
	sp_clip(o, name, NAME);
	if (is_parallel_region(f->symbol) && *f->line)
		sp_out_f(o, ", parallel region at line %s", line_number(f));
	else if (is_parallel_region(f->symbol))
		sp_out_text(o, ", parallel region");
}

/* Lambdas are distinguished by their lines only. */
static bool needs_line(const struct frame *f)
{
	return !strcmp(f->symbol, "operator()");
}

static void one_function(struct sp_out *o, struct sp_site_texts *t, const struct own_pair *p,
			 enum sp_pair_detail detail, bool brief)
{
	function(o, t, &p->from, brief);
	if ((detail == SP_PAIR_LINES || needs_line(&p->from)) && *p->from.line &&
	    !is_parallel_region(p->from.symbol))
		sp_out_f(o, ":%s", line_number(&p->from));
	if (detail == SP_PAIR_LINES && *p->to.line)
		sp_out_f(o, " → %s", line_number(&p->to));
	if (p->from_call)
		sp_out_f(o, ", %s", p->from_call);
	if (p->to_call)
		sp_out_f(o, "%s %s", p->from_call ? " →" : ",", p->to_call);
}

/* Writes the name of a region, which says more than its place in the code. */
static void region(struct sp_out *o, const struct sp_callsite *c)
{
	sp_out_text(o, c->call == SP_REGION_ENDS   ? "end of "
		       : c->call == SP_REGION_READ ? "a reading in "
						   : "");
	sp_out_plain(o, c->name);
}

/* Writes one side of the arrow if the other is a region or unknown. */
static void side(struct sp_out *o, struct sp_site_texts *t, uint32_t id, bool brief)
{
	struct sp_callsite c = { 0 };
	struct own_pair p;

	if (!id || !sp_model_callsite(t->m, id, &c)) {
		sp_out_text(o, id ? "?" : "any other call");
	} else if (*c.name) {
		region(o, &c);
	} else {
		p = own_pair_of(t, id, id);
		p.from_call = NULL;
		one_function(o, t, &p, SP_PAIR_FUNCTIONS, brief);
	}
}

static void frames(struct sp_out *o, struct sp_site_texts *t, const struct frame *f, uint32_t n,
		   const char *call)
{
	if (call)
		sp_out_f(o, "%s < ", call);
	for (uint32_t i = 0; i < n; i++) {
		sp_out_text(o, i ? " < " : "");
		function(o, t, &f[i], false);
		if (!*f[i].symbol)
			continue;
		sp_out_text(o, " (");
		if (*f[i].line)
			sp_out_plain(o, sp_base_name(f[i].line));
		sp_out_f(o, *f[i].line ? " %#lx)" : "%#lx)", f[i].offset);
	}
}

void sp_text_path(struct sp_out *o, struct sp_site_texts *t, uint32_t id)
{
	struct frame f[FRAMES];

	frames(o, t, f, frames_of(t->m, id, f), NULL);
}

/* Writes all frames; the frames of both sites follow the second one. */
static void all_frames(struct sp_out *o, struct sp_site_texts *t, uint32_t from, uint32_t to)
{
	struct frame f[FRAMES], g[FRAMES];
	uint32_t n = frames_of(t->m, from, f), k = frames_of(t->m, to, g);

	bool calls = needs_call(t, f, n) || needs_call(t, g, k);

	while (n > 1 && k > 1 && in_one_function(&f[n - 1], &g[k - 1]) &&
	       f[n - 1].offset == g[k - 1].offset)
		n--, k--;
	frames(o, t, f, n, calls ? call_of(t, from) : NULL);
	sp_out_text(o, " → ");
	frames(o, t, g, frames_of(t->m, to, g), calls ? call_of(t, to) : NULL);
}

static void pair(struct sp_out *o, struct sp_site_texts *t, uint32_t from, uint32_t to,
		 enum sp_pair_detail detail, bool brief)
{
	struct own_pair p;
	struct sp_callsite c;

	if (from == to && sp_model_callsite(t->m, to, &c) && *c.name) {
		sp_out_plain(o, c.name);
		return;
	}
	if (is_site(t->m, from) && is_site(t->m, to)) {
		if (detail == SP_PAIR_ALL) {
			all_frames(o, t, from, to);
			return;
		}
		p = own_pair_of(t, from, to);
		if (p.is_one) {
			one_function(o, t, &p, detail, brief);
			return;
		}
	}
	side(o, t, from, brief);
	sp_out_text(o, " → ");
	side(o, t, to, brief);
}

void sp_text_pair(struct sp_out *o, struct sp_site_texts *t, uint32_t from, uint32_t to,
		  enum sp_pair_detail detail, unsigned width)
{
	char text[TEXT];
	struct sp_out whole;

	for (unsigned brief = 0; brief < 2; brief++) {
		sp_memory_init(&whole, text, sizeof(text));
		if (to)
			pair(&whole, t, from, to, detail, brief);
		else
			sp_out_text(&whole, "other call sites");
		if (sp_columns(sp_memory_text(&whole)) <= width)
			break;
	}
	sp_clip(o, text, width);
}

uint64_t sp_pair_lines(struct sp_site_texts *t, uint32_t from, uint32_t to)
{
	struct own_pair p;

	if (!is_site(t->m, from) || !is_site(t->m, to))
		return 0;
	p = own_pair_of(t, from, to);
	return p.is_one ? hash_text(hash_text(6, p.from.line), p.to.line) : 0;
}
