/* intervals.c: reads intervals and call sites for the model; see model.h. */
#include <string.h>

#include "../store/interval.h"
#include "../base/sys.h"
#include "../store/rules.h"
#include "model-blocks.h"

/* ---- sites and modules ------------------------------------------------ */

static const struct sp_sites *sites_at(const struct sp_model *m, sp_off off)
{
	const struct sp_sites *b =
		sp_store_reader_block(m->reader, off, SP_BLOCK_SITES, sizeof(*b));

	return b && b->frames && b->frames <= SP_FRAMES_MAX && b->first % SP_SITES_EACH == 1 &&
			       b->first < SP_SITES_MOST &&
			       sizeof(*b) + SP_SITES_EACH * sp_site_bytes(b->frames) <= b->b.bytes
		       ? b
		       : NULL;
}

static const struct sp_site *site_of(const struct sp_model *m, uint32_t id, uint32_t *n)
{
	const struct sp_sites *b =
		id && id <= SP_SITES_MOST ? m->intervals.sites[(id - 1) / SP_SITES_EACH] : NULL;
	const struct sp_site *s;

	if (!b)
		return NULL;
	s = (const struct sp_site *)((const char *)(b + 1) +
				     (id - 1) % SP_SITES_EACH * sp_site_bytes(b->frames));
	*n = (uint32_t)sp_min(load_acquire(&s->n), b->frames);
	return *n ? s : NULL;
}

bool sp_model_callsite(const struct sp_model *m, uint32_t id, struct sp_callsite *c)
{
	const struct sp_site *s = site_of(m, id, &c->frames);

	if (!s) {
		c->frames = 0;
		c->name = id ? "" : "other";
		c->call = SP_SITE_CALL_UNKNOWN;
		c->is_cut = false;
		return false;
	}
	c->name = memchr(s->name, 0, sizeof(s->name)) ? s->name : "";
	c->call = (*c->name ? s->call <= SP_REGION_ENDS
			    : s->call - SP_SITE_PAPI <= SP_OP_WRITE)
			  ? (enum sp_site_call)s->call
			  : SP_SITE_CALL_UNKNOWN;
	c->is_cut = s->is_cut != 0;
	return true;
}

/* Search by address without a number: a killed process may not have assigned one. */
const struct sp_module *sp_module_found(const struct sp_model *m, uint32_t number, uint64_t address)
{
	if (number)
		return number <= SP_MODULES_MOST ? m->intervals.module[number - 1] : NULL;
	for (uint32_t n = 0; n < SP_MODULES_MOST; n++)
		if (m->intervals.module[n] && !m->intervals.module[n]->gone &&
		    address - m->intervals.module[n]->low < m->intervals.module[n]->span)
			return m->intervals.module[n];
	return NULL;
}

static const struct sp_module *module_of(const struct sp_model *m, const struct sp_frame *f)
{
	return sp_module_found(m, f->module, f->address - 1);
}

void sp_describe_code(const struct sp_model *m, const struct sp_module *o, uint64_t address,
		  uint32_t back, struct sp_frame_info *seen)
{
	static const char digits[] = "0123456789abcdef";

	memset(seen, 0, sizeof(*seen));
	seen->module = o ? sp_model_text(m, o->path) : "";
	seen->offset = address - (o ? o->base : 0);
	seen->symbol = seen->line = "";
	for (uint32_t b = 0; o && b < o->build_id_bytes && b < sizeof(o->build_id); b++) {
		seen->build_id[2 * b] = digits[o->build_id[b] >> 4];
		seen->build_id[2 * b + 1] = digits[o->build_id[b] & 15];
	}
	if (m->name_frame)
		m->name_frame(m->names, seen->offset - back, seen);
}

bool sp_model_frame(const struct sp_model *m, uint32_t id, uint32_t i, struct sp_frame_info *seen)
{
	const struct sp_site *s;
	const struct sp_frame *f;
	uint32_t n;

	s = site_of(m, id, &n);
	if (!s || i >= n)
		return false;
	f = (const struct sp_frame *)(s + 1) + i;
	sp_describe_code(m, module_of(m, f), f->address, 1, seen);
	if (!*seen->symbol)
		seen->symbol = sp_model_text(m, f->symbol);
	return true;
}

const char *sp_model_frame_module(const struct sp_model *m, uint32_t id, uint32_t i)
{
	uint32_t n;
	const struct sp_site *s = site_of(m, id, &n);
	const struct sp_module *o =
		s && i < n ? module_of(m, (const struct sp_frame *)(s + 1) + i) : NULL;

	return !s || i >= n ? NULL : o ? sp_model_text(m, o->path) : "";
}

bool sp_model_same_frame(const struct sp_model *m, uint32_t a, uint32_t i, uint32_t b, uint32_t k)
{
	uint32_t n;
	const struct sp_frame *f = (const struct sp_frame *)(site_of(m, a, &n) + 1) + i;
	const struct sp_frame *g = (const struct sp_frame *)(site_of(m, b, &n) + 1) + k;
	const struct sp_module *o, *p;

	if (f->address == g->address && f->module == g->module)
		return true;
	o = module_of(m, f);
	p = module_of(m, g);
	return o && p && f->address - o->base == g->address - p->base &&
	       o->build_id_bytes == p->build_id_bytes &&
	       memcmp(o->build_id, p->build_id, sizeof(o->build_id)) == 0 &&
	       strcmp(sp_model_text(m, o->path), sp_model_text(m, p->path)) == 0;
}

uint32_t sp_site_number(const struct sp_model *m, uint32_t id)
{
	return m->intervals.first_site && id < m->n_callsites ? m->intervals.first_site[id] : id;
}

/* Checks that site a has exactly the first n frames of b, and the same call and name. */
static bool has_frames_of(const struct sp_model *m, uint32_t a, uint32_t b, uint32_t n)
{
	struct sp_callsite x, y;
	uint32_t i = 0;

	if (!sp_model_callsite(m, a, &x) || !sp_model_callsite(m, b, &y) || x.frames != n ||
	    y.frames < n || x.call != y.call || strcmp(x.name, y.name) != 0)
		return false;
	while (i < n && sp_model_same_frame(m, a, i, b, i))
		i++;
	return i == n;
}

/* Hashes that are equal for sites of the same code: hash_call(), then hash_frame() for each. */
static uint64_t hash_call(const struct sp_model *m, uint32_t id)
{
	struct sp_callsite c;

	sp_model_callsite(m, id, &c);
	return sp_digest(sp_digest(SP_DIGEST, &c.call, sizeof(c.call)), c.name, strlen(c.name));
}

static uint64_t hash_frame(const struct sp_model *m, uint64_t hash, const struct sp_frame *f)
{
	const struct sp_module *o = module_of(m, f);
	uint64_t offset = f->address - (o ? o->base : 0);

	return sp_digest(hash, &offset, sizeof(offset));
}

/* A hash table of call sites by their code. */
struct site_table {
	uint32_t *site;			/* ids; 0: free */
	uint32_t room;			/* a power of two */
};

static bool open_table(struct site_table *t, const struct sp_model *m)
{
	t->room = 4;
	while (t->room < 2 * m->n_callsites)
		t->room *= 2;
	t->site = sp_map(t->room * sizeof(*t->site));
	return t->site != NULL;
}

static void close_table(const struct site_table *t)
{
	sp_unmap(t->site, t->room * sizeof(*t->site));
}

/* Returns the place of the site with the first n frames of `id`, or the free place for it. */
static uint32_t *place_of(const struct site_table *t, const struct sp_model *m, uint32_t id,
			  uint32_t n, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (t->room - 1);

	while (t->site[at] && !has_frames_of(m, t->site[at], id, n))
		at = (at + 1) & (t->room - 1);
	return &t->site[at];
}

/* Returns the table's site with the code of `id`, or adds that one. */
static uint32_t find_or_add(const struct site_table *t, const struct sp_model *m, uint32_t id)
{
	uint32_t n = 0, *place;
	const struct sp_site *s = site_of(m, id, &n);
	uint64_t hash = hash_call(m, id);

	if (!s)
		return id;
	for (uint32_t i = 0; i < n; i++)
		hash = hash_frame(m, hash, (const struct sp_frame *)(s + 1) + i);
	place = place_of(t, m, id, n, hash);
	*place = *place ? *place : id;
	return *place;
}

/* Returns the table's site with the fewest first frames of `id`, but not all of them; 0: none. */
static uint32_t find_cut(const struct site_table *t, const struct sp_model *m, uint32_t id)
{
	uint32_t n = 0, cut = 0;
	const struct sp_site *s = site_of(m, id, &n);
	uint64_t hash = hash_call(m, id);

	for (uint32_t i = 0; i + 1 < n && !cut; i++) {
		hash = hash_frame(m, hash, (const struct sp_frame *)(s + 1) + i);
		cut = *place_of(t, m, id, i + 1, hash);
	}
	return cut;
}

/* Fill in first_site, the first call site with the same code: a library may be loaded twice. */
static void find_first(struct sp_model *m)
{
	struct site_table t;
	uint32_t *first;

	if (m->n_callsites <= 2 || !open_table(&t, m))
		return;
	first = sp_map(m->n_callsites * sizeof(*first));
	for (uint32_t id = 1; first && id < m->n_callsites; id++)
		first[id] = find_or_add(&t, m, id);
	m->intervals.first_site = first;
	close_table(&t);
}

void sp_model_join_callsites(struct sp_model *m)
{
	uint32_t *first = m->intervals.first_site;
	struct sp_callsite c;
	struct site_table t;

	if (!first || !open_table(&t, m))
		return;
	for (uint32_t id = 1; id < m->n_callsites; id++)
		if (sp_model_callsite(m, id, &c) && c.is_cut)
			(void)find_or_add(&t, m, id);
	for (uint32_t id = 1; id < m->n_callsites; id++)
		first[id] = first[find_cut(&t, m, id) ?: id];
	close_table(&t);
}

void sp_intervals_index(struct sp_model *m)
{
	const struct sp_sites *b;
	const struct sp_module *o;
	unsigned left = SP_SITES_MOST / SP_SITES_EACH;
	sp_off off;

	for (off = sp_list_head(m, m->h.code.sites, m->h.code.kept_sites, SP_BLOCK_SITES);
	     left && (b = sites_at(m, off)); off = b->next, left--)
		m->intervals.sites[b->first / SP_SITES_EACH] = b;
	m->tally.damaged += off && left;
	left = SP_MODULES_MOST;
	for (off = sp_list_head(m, m->h.code.modules, m->h.code.kept_modules, SP_BLOCK_MODULE);
	     left && (o = sp_store_reader_block(m->reader, off, SP_BLOCK_MODULE, sizeof(*o)));
	     off = o->next, left--)
		if (o->number && o->number <= SP_MODULES_MOST)
			m->intervals.module[o->number - 1] = o;
	m->tally.damaged += off && left;
	for (uint32_t id = SP_SITES_MOST; id && !m->n_callsites; id--)
		if (!m->intervals.sites[(id - 1) / SP_SITES_EACH])
			id -= SP_SITES_EACH - 1;
		else if (sp_model_callsite(m, id, &(struct sp_callsite){ 0 }))
			m->n_callsites = id + 1;
	if (!m->n_callsites && m->h.callsites)
		m->n_callsites = 1;
	find_first(m);
}

/* ---- intervals of a relation ------------------------------------------ */

/* A record of sp_intervals_read; total[k] and exact[k] follow. */
struct interval_record {
	uint32_t from, to;
	uint32_t cell;			/* index in the row */
	uint32_t pad;
	uint64_t count;
	int64_t at[];
};

uint64_t sp_interval_record_bytes(uint32_t k)
{
	return sizeof(struct interval_record) + 16 * (uint64_t)k;
}

static struct interval_record *record(const struct sp_row *row, uint32_t i)
{
	return (struct interval_record *)((char *)row->walk.interval_values +
					  i * sp_interval_record_bytes(row->k));
}

static struct interval_record *find(struct sp_row *row, uint32_t from, uint32_t to, uint32_t cell)
{
	struct interval_record *t;

	for (uint32_t i = 0; i < row->intervals; i++) {
		t = record(row, i);
		if (t->from == from && t->to == to && t->cell == cell)
			return t;
	}
	return NULL;
}

static bool is_float(const struct sp_model *m, const struct sp_row *row, uint32_t e)
{
	const struct sp_event *v = m->event[row->event[e]];

	return row->gauges.floating && v && v->data_type == SP_FP64 && v->kind == SP_COUNTER;
}

static int64_t within(int64_t exact, int64_t total)
{
	return exact < 0 || total < 0 ? 0 : exact > total ? total : exact;
}

/* Move the excess of proven counts to other intervals of the same CPU: a window may prove counts of
 * an earlier one. */
static void give_back(const struct sp_row *row, const struct interval_record *from, uint32_t e)
{
	int64_t more = from->at[row->k + e] - within(from->at[row->k + e], from->at[e]);

	for (uint32_t i = 0; i < row->intervals && more > 0; i++) {
		struct interval_record *to = record(row, i);
		int64_t *exact = &to->at[row->k + e], room = to->at[e] - *exact,
			part = room < more ? room : more;

		if (to == from || to->cell != from->cell || part <= 0)
			continue;
		*exact += part;
		more -= part;
	}
}

static void limit_proven(const struct sp_model *m, const struct sp_row *row)
{
	for (uint32_t n = 0; n < row->intervals * row->k; n++) {
		struct interval_record *rec = record(row, n / row->k);
		uint32_t e = n % row->k;

		if (is_float(m, row, e))
			continue;
		if (rec->at[row->k + e] > rec->at[e])
			give_back(row, rec, e);
		rec->at[row->k + e] = within(rec->at[row->k + e], rec->at[e]);
	}
}

static void add_values(const struct sp_model *m, const struct sp_row *row, int64_t *to,
		       const int64_t *more)
{
	for (uint32_t e = 0; e < 2 * row->k; e++) {
		if (is_float(m, row, e % row->k))
			sp_float_add(&to[e], more[e]);
		else
			to[e] += more[e];
	}
}

static void add(const struct sp_model *m, struct sp_row *row, struct interval_record *rec,
		bool merge)
{
	struct interval_record *t = merge ? find(row, rec->from, rec->to, rec->cell) : NULL;
	bool any = rec->count != 0;

	for (uint32_t e = 0; e < 2 * row->k; e++)
		any |= rec->at[e] != 0;
	if (!any)
		return;
	if (!t) {
		row->intervals++;
		return;
	}
	t->count += rec->count;
	add_values(m, row, t->at, rec->at);
}

/* Read the intervals of one block at offset off. */
static void read_block(struct sp_model *m, struct sp_row *row, const struct sp_intervals *b,
		       sp_off off, const struct sp_redo_log *redo_log,
		       const struct sp_row_cells *cells)
{
	uint32_t k = row->k;

	for (uint32_t i = 0, n = sp_intervals_used(redo_log, b, off);
	     i < n && row->intervals < m->intervals.most; i++) {
		const struct sp_interval *at = sp_interval_logged(redo_log, b, off, k, i);
		struct interval_record *rec = record(row, row->intervals);

		if ((uint32_t)at->cell >= cells->n || cells->of[at->cell] < 0)
			continue;
		rec->cell = (uint32_t)cells->of[at->cell];
		rec->from = at->to ? sp_site_number(m, at->from) : 0;
		rec->to = sp_site_number(m, at->to);
		rec->count = load_relaxed(&at->count);
		sp_copy_words(rec->at, at->at, 2 * (uint64_t)k);
		if (row->flags & SP_RELATION_PROVEN)
			memcpy(rec->at + k, rec->at, k * 8);
		add(m, row, rec, rec->from != at->from || rec->to != at->to || !rec->to);
	}
}

/* The part of a cell's total that its intervals lack; for doubles ignore rounding errors. */
static int64_t rest(const struct sp_model *m, const struct sp_row *row, uint32_t i, uint32_t cell,
		    int64_t whole)
{
	bool floats = is_float(m, row, i % row->k);
	double left = sp_float(whole), most = left < 0 ? -left : left;

	for (uint32_t n = 0; n < row->intervals; n++) {
		const struct interval_record *rec = record(row, n);
		double part;

		if (rec->cell != cell)
			continue;
		if (!floats) {
			whole -= rec->at[i];
			continue;
		}
		part = sp_float(rec->at[i]);
		left -= part;
		most = most > part ? most > -part ? most : -part : part;
	}
	if (!floats)
		return whole;
	return sp_float_bits(left < most * 1e-12 && left > -most * 1e-12 ? 0.0 : left);
}

/* Add the counts that are in no interval. */
static void add_others(const struct sp_model *m, struct sp_row *row,
		       const struct sp_row_cells *cells)
{
	uint32_t k = row->k, n = row->intervals;

	for (uint32_t c = 0; c < row->cells; c++) {
		struct interval_record *rec = record(row, row->intervals);
		uint64_t readings;
		const int64_t *total = cells->total(row, c, &readings);

		rec->from = rec->to = 0;
		rec->cell = c;
		rec->count = readings;
		for (uint32_t i = 0; i < n; i++)
			rec->count -= record(row, i)->cell == c ? record(row, i)->count : 0;
		for (uint32_t i = 0; i < 2 * k; i++)
			rec->at[i] = rest(m, row, i, c, total[i]);
		add(m, row, rec, true);
	}
}

void sp_intervals_read(struct sp_model *m, struct sp_row *row, const struct sp_relation *r,
		       const struct sp_redo_log *redo_log, const struct sp_row_cells *cells)
{
	static const struct sp_redo_log none;
	const struct sp_intervals *b[SP_INTERVAL_BLOCKS];
	sp_off at[SP_INTERVAL_BLOCKS];
	unsigned n = 0;

	row->intervals = 0;
	if (!m->h.callsites)
		return;
	for (sp_off off = r->intervals;
	     off && n < SP_INTERVAL_BLOCKS && (b[n] = sp_intervals_at(m->reader, off, row->k));
	     n++) {
		at[n] = off;
		off = b[n]->next;
	}
	while (n--)			/* oldest first */
		read_block(m, row, b[n], at[n], redo_log ? redo_log : &none, cells);
	add_others(m, row, cells);
	limit_proven(m, row);
}

uint32_t sp_interval_get(const struct sp_row *row, uint32_t i, struct sp_interval_counts *at)
{
	struct interval_record *rec = record(row, i);

	at->from = rec->from;
	at->to = rec->to;
	at->count = rec->count;
	at->total = rec->at;
	at->exact = rec->at + row->k;
	return rec->cell;
}
