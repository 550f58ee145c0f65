/* view-text-rows.c: the text view's tables of ranks, threads and call sites: what the relations
 * of each have together.
 */
#include "../cpu-list.h"
#include "../sys.h"
#include "core-kinds.h"
#include "view-text-table.h"

#define CPUS_MOST	4096u		/* in lists of CPUs; higher ones are not listed */
#define COLUMNS	3u		/* events, where labels are long */
#define SPREAD_LEAST	3u		/* rows that have a least, a mean and a most */
#define PAIRS_BYTES	(64ull << 20)

/* ---- ranks and threads ---------------------------------------------------- */

/* The relations of one thread, or of one process: they stand one after the other. */
struct group {
	bool by_process;
	uint32_t process, threads;
	int32_t tid;
	char name[64];
	const char *allowed;		/* "0-3"; "": not known */
	uint64_t moves;
	bool moves_known, many_cpus;
	bool together;			/* by sspapi stat: whose counts are known as a sum only */
	unsigned long cpus[CPUS_MOST / 8 / sizeof(unsigned long)];
};

static void note_cpu(struct group *g, int32_t cpu)
{
	unsigned bits = 8 * sizeof(unsigned long);

	if (cpu >= 0 && cpu < (int32_t)CPUS_MOST)
		g->cpus[(unsigned)cpu / bits] |= 1ul << (unsigned)cpu % bits;
	else
		g->many_cpus = true;
}

static void begin_group(struct sp_table *t, struct group *g, const struct sp_row *row)
{
	struct sp_out name;

	sp_table_clear(t);
	*g = (struct group){ .by_process = g->by_process, .process = row->process, .tid = row->tid, .threads = row->threads,
			     .allowed = row->times ? sp_model_text(t->m, row->times->allowed) : "", .moves_known = true,
			     .together = row->event_set < 0 };
	sp_memory_init(&name, g->name, sizeof(g->name));
	sp_out_plain(&name, row->thread);
	sp_memory_text(&name);
}

static void add_relation(struct sp_table *t, struct group *g, struct sp_row *row)
{
	struct sp_model *m = (struct sp_model *)t->m;
	struct sp_at_cpu at;

	g->moves_known = g->moves_known && row->times && (row->times->flags & SP_TIMES_MOVES);
	g->moves = sp_max(g->moves, row->times ? row->times->moves : 0);
	g->threads = (uint32_t)sp_max(g->threads, row->threads);
	t->sums.machine = row->process < m->n_processes ? (int32_t)m->process[row->process].machine : -1;
	for (uint32_t i = 0; i < row->cells; i++) {
		int32_t kind;

		if (!sp_row_cell(m, row, i, &at))
			continue;
		note_cpu(g, at.cpu);
		kind = sp_kind_of(m, at.component);
		if (m->n_kinds > 1)
			t->sums.kinds |= 1u << (kind < 0 ? SP_KINDS_MOST : (uint32_t)kind);
		t->sums.readings += at.readings;
		for (uint32_t e = 0; e < row->k; e++)
			if (sp_row_place(row, e) < 0)
				sp_table_sum(t, row->event[e], at.total[e], at.exact[e]);
	}
}

/* Sums the group whose first relation is number *index, and moves *index behind it; false: none. */
static bool next_group(struct sp_table *t, struct group *g, uint64_t *index)
{
	struct sp_model *m = (struct sp_model *)t->m;
	struct sp_row row = { .index = *index };
	uint64_t behind = *index;
	sp_off thread = 0;
	bool any = false;

	for (; sp_model_next(m, &row); behind = row.index) {
		if (any && (row.process != g->process || (!g->by_process && row.thread_at != thread)))
			break;
		if (!any)
			begin_group(t, g, &row);
		any = true;
		thread = row.thread_at;
		add_relation(t, g, &row);
	}
	*index = behind;
	return any;
}

static void rank_label(struct sp_table *t, const struct group *g)
{
	const struct sp_header *h = sp_process_header(t->m, g->process);
	struct sp_out o;

	sp_memory_init(&o, t->label, sizeof(t->label));
	if (h->rank >= 0) {
		sp_out_text(&o, "rank ");
		sp_out_i64(&o, h->rank);
	} else {
		const char *exe = sp_model_text(t->m, h->exe);

		sp_out_text(&o, "pid ");
		sp_out_u64(&o, h->pid);
		sp_out_text(&o, *exe ? " " : "");
		sp_out_plain(&o, sp_base_name(exe));
	}
	if (t->m->n_machines > 1) {
		sp_out_text(&o, " on ");
		sp_out_plain(&o, sp_model_text(t->m, h->host));
	}
	sp_memory_text(&o);
}

static void thread_label(struct sp_table *t, const struct group *g)
{
	const struct sp_header *h = sp_process_header(t->m, g->process);
	struct sp_out o;

	sp_memory_init(&o, t->label, sizeof(t->label));
	if (sp_is_job(t->m) && h->rank >= 0) {
		sp_out_text(&o, "rank ");
		sp_out_i64(&o, h->rank);
		sp_out_text(&o, ": ");
	}
	if (!g->tid) {
		sp_out_amount(&o, g->threads, "thread");
		sp_out_text(&o, g->together ? " together" : g->threads == 1 ? " that has ended" : " that have ended");
	} else {
		sp_out_i64(&o, g->tid);
		sp_out_text(&o, *g->name ? " " : "");
		sp_out_text(&o, g->name);
	}
	sp_memory_text(&o);
}

/* "0-1", "3, pinned", "0-1 of 0-3" where not all of the process's were allowed. */
static void where(struct sp_table *t, const struct group *g)
{
	const char *all = sp_model_text(t->m, sp_process_header(t->m, g->process)->cpus_allowed);
	struct sp_out o;

	sp_memory_init(&o, t->tail[0], sizeof(t->tail[0]));
	sp_out_cpu_list(&o, g->cpus, sizeof(g->cpus));
	sp_memory_text(&o);
	if (*t->tail[0] && *g->allowed && strcmp(g->allowed, all) != 0) {
		bool pinned = !strpbrk(g->allowed, ",-") && !strcmp(g->allowed, t->tail[0]);

		sp_out_text(&o, pinned ? ", pinned" : " of ");
		sp_out_text(&o, pinned ? "" : g->allowed);
	}
	if (strlen(sp_memory_text(&o)) > 16)
		memcpy(t->tail[0] + 14, "..", 3);
	sp_memory_init(&o, t->tail[1], sizeof(t->tail[1]));
	if (g->moves_known && g->tid)
		sp_out_grouped(&o, g->moves);
	else
		sp_out_char(&o, '-');
	sp_memory_text(&o);
}

static void group_row(struct sp_table *t, uint64_t at)
{
	struct group *g = t->arg;

	if (!next_group(t, g, &at))
		return;
	if (g->by_process) {
		rank_label(t, g);
	} else {
		thread_label(t, g);
		where(t, g);
	}
}

/* ---- least, mean and most ---------------------------------------------------- */

struct spread {
	uint32_t *n;			/* [event]: rows that have it */
	double *sum;
	uint32_t rows, least, most;	/* of the first event: whose label that is */
	void *memory;
	uint64_t bytes;
};

static bool open_spread(struct sp_table *t, struct spread *s)
{
	uint64_t ne = t->m->n_events;
	char *p;

	s->bytes = ne * (3 * 17 + 12) + 64;
	s->memory = p = sp_map(s->bytes);
	if (!p)
		return false;
	s->sum = (double *)p;
	p += 8 * ne;
	for (unsigned i = 0; i < 3; i++, p += 16 * ne)
		t->spread[i] = (struct sp_text_sums){ .total = (int64_t *)p, .exact = (int64_t *)p + ne };
	s->n = (uint32_t *)p;
	p += 4 * ne;
	for (unsigned i = 0; i < 3; i++, p += ne)
		t->spread[i].has = (bool *)p;
	return true;
}

static void spread_row(struct sp_table *t, struct spread *s)
{
	for (uint32_t e = 0; e < t->m->n_events; e++) {
		enum sp_data_type type = sp_event_type(t->m, e);
		int64_t v = t->sums.total[e];

		if (!t->sums.has[e])
			continue;
		if (!s->n[e] || sp_number(type, v) < sp_number(type, t->spread[0].total[e]))
			t->spread[0].total[e] = v;
		if (!s->n[e] || sp_number(type, v) > sp_number(type, t->spread[2].total[e]))
			t->spread[2].total[e] = v;
		s->sum[e] += sp_number(type, v);
		s->n[e]++;
		for (unsigned i = 0; i < 3; i++)
			t->spread[i].has[e] = true;
	}
	s->rows++;
}

static void spread_label(struct sp_table *t, const struct spread *s)
{
	uint32_t e = sp_first_column(t->m);
	enum sp_data_type type = sp_event_type(t->m, e);
	struct sp_out o;

	strcpy(t->spread_label[0], "min");
	strcpy(t->spread_label[1], "mean");
	sp_memory_init(&o, t->spread_label[2], sizeof(t->spread_label[2]));
	sp_out_text(&o, "max");
	if (s->n[e] && s->sum[e] > 0.0) {
		sp_out_text(&o, " (max/mean ");
		sp_out_double(&o, sp_number(type, t->spread[2].total[e]) * s->n[e] / s->sum[e], 2);
		sp_out_char(&o, ')');
	}
	sp_memory_text(&o);
}

/* The nearest value of the type; sums of a damaged store may be anything. */
static int64_t nearest(enum sp_data_type type, double d)
{
	int64_t bits;

	if (type == SP_FP64) {
		memcpy(&bits, &d, sizeof(bits));
		return bits;
	}
	d += d < 0.0 ? -0.5 : 0.5;
	if (type == SP_INT64)
		return d >= 0x1p63 ? INT64_MAX : d >= -0x1p63 ? (int64_t)d : INT64_MIN;
	return d >= 0x1p64 ? -1 : d > 0.0 ? (int64_t)(uint64_t)d : 0;
}

static void end_spread(struct sp_table *t, const struct spread *s)
{
	for (uint32_t e = 0; e < t->m->n_events; e++) {
		t->spread[1].total[e] = nearest(sp_event_type(t->m, e), s->n[e] ? s->sum[e] / s->n[e] : 0.0);
		for (unsigned i = 0; i < 3; i++)
			t->spread[i].exact[e] = t->spread[i].total[e];
	}
	spread_label(t, s);
	t->n_spread = s->rows >= SPREAD_LEAST ? 3 : 0;
}

static bool has_columns(const struct sp_table *t)
{
	for (uint32_t e = 0; e < t->m->n_events; e++)
		if (t->sums.has[e] && sp_event_has_column(t->m, e))
			return true;
	return false;
}

/* ---- a table of groups --------------------------------------------------------- */

static void groups(struct sp_out *o, struct sp_model *m, bool by_process)
{
	struct group g = { .by_process = by_process };
	bool ranks = by_process && sp_text_have_ranks(m);
	struct sp_table t = { .title = ranks ? "rank" : by_process ? "process" : "thread",
			      .things = ranks ? "ranks" : by_process ? "processes" : "threads", .row = group_row, .arg = &g,
			      .most = COLUMNS, .tail_title = { by_process ? NULL : "ran on CPU", by_process ? NULL : "moves" } };
	struct spread s = { 0 };

	if (sp_first_column(m) == m->n_events || !sp_table_open(&t, m, m->n_relations))
		return;
	if (open_spread(&t, &s)) {
		for (uint64_t at = 0, next = 0; next_group(&t, &g, &next); at = next) {
			if (!has_columns(&t))
				continue;
			sp_table_add(&t, at, sp_table_weight(&t));
			if (by_process || g.tid)
				spread_row(&t, &s);
		}
		end_spread(&t, &s);
		if (t.n > 1)
			sp_table_blocks(o, &t);
		sp_unmap(s.memory, s.bytes);
	}
	sp_table_close(&t);
}

void sp_text_ranks(struct sp_out *o, struct sp_model *m)
{
	groups(o, m, true);
}

void sp_text_threads(struct sp_out *o, struct sp_model *m)
{
	groups(o, m, false);
}

uint64_t sp_text_n_threads(struct sp_model *m)
{
	struct sp_row row = { 0 };
	sp_off before = 0;
	uint32_t process = 0;
	uint64_t n = 0;

	while (sp_model_next(m, &row)) {
		if (!row.cells || (n && row.thread_at == before && row.process == process && row.tid))
			continue;
		before = row.thread_at;
		process = row.process;
		n += row.tid ? 1 : row.threads;
	}
	return n;
}

/* ---- call sites ---------------------------------------------------------------- */

struct pair {
	uint32_t from, to;
	uint64_t count;
	int64_t at[];			/* total, exact by event id, then has */
};

struct pairs {
	uint32_t n, room;		/* the first is of all that there is no room for */
	uint64_t each, bytes;
	char *memory;
	uint32_t *slot;			/* [room * 2]: number of a pair, plus one; 0: free */
};

static struct pair *pair_at(const struct pairs *p, uint64_t i)
{
	return (struct pair *)(p->memory + i * p->each);
}

static bool open_pairs(struct pairs *p, struct sp_model *m)
{
	struct sp_row row = { 0 };
	uint64_t n = 1;

	while (sp_model_next(m, &row))
		n += row.intervals;
	p->each = sizeof(struct pair) + sp_align(17ull * m->n_events, 8);
	p->room = (uint32_t)sp_min(n, PAIRS_BYTES / p->each + 1);
	p->bytes = p->room * (p->each + 2 * sizeof(*p->slot));
	p->memory = sp_map(p->bytes);
	p->slot = (uint32_t *)(p->memory + p->room * p->each);
	p->n = 1;
	return p->memory != NULL;
}

static struct pair *find_pair(struct pairs *p, uint32_t from, uint32_t to)
{
	uint64_t h = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)((h >> 32) % (2 * p->room));
	struct pair *is;

	for (; to && p->slot[at]; at = (at + 1) % (2 * p->room)) {
		is = pair_at(p, p->slot[at] - 1);
		if (is->from == from && is->to == to)
			return is;
	}
	if (!to || p->n == p->room)
		return pair_at(p, 0);
	is = pair_at(p, p->n++);
	p->slot[at] = p->n;
	is->from = from;
	is->to = to;
	return is;
}

static void add_pairs(struct pairs *p, struct sp_model *m, struct sp_row *row)
{
	struct sp_between at;

	for (uint32_t i = 0; sp_row_interval(m, row, i, &at); i++) {
		struct pair *is = find_pair(p, at.from, at.to);
		bool *has = (bool *)(is->at + 2ull * m->n_events);

		is->count += at.count;
		for (uint32_t e = 0; e < row->k; e++) {
			uint32_t id = row->event[e];
			int64_t *total = &is->at[id], *exact = &is->at[m->n_events + id];

			if (sp_event_is_gauge(m, id) || sp_row_place(row, e) >= 0)
				continue;
			*total = sp_plus(sp_event_type(m, id), *total, at.total[e]);
			*exact = sp_plus(sp_event_type(m, id), *exact, at.exact[e]);
			has[id] = true;
		}
	}
}

static void load_pair(struct sp_table *t, const struct pair *is)
{
	uint64_t ne = t->m->n_events;

	memcpy(t->sums.total, is->at, 16 * ne);
	memcpy(t->sums.has, is->at + 2 * ne, ne);
	t->sums.readings = is->count;
}

static void pair_row(struct sp_table *t, uint64_t i)
{
	const struct pair *is = pair_at(t->arg, i);
	struct sp_out o;

	load_pair(t, is);
	sp_memory_init(&o, t->label, sizeof(t->label));
	sp_text_pair(&o, t->m, is->from, is->to, t->room_for_label);
	sp_memory_text(&o);
}

static bool has_counts(const struct sp_table *t)
{
	for (uint32_t e = 0; e < t->m->n_events; e++)
		if (t->sums.total[e] || t->sums.exact[e])
			return true;
	return t->sums.readings != 0;
}

void sp_text_sites(struct sp_out *o, struct sp_model *m)
{
	struct pairs p = { 0 };
	struct sp_table t = { .title = "between the calls in", .things = "pairs", .row = pair_row, .arg = &p,
			      .most = COLUMNS };
	struct sp_row row = { 0 };

	if (!open_pairs(&p, m))
		return;
	if (sp_table_open(&t, m, p.room)) {
		while (sp_model_next(m, &row))
			add_pairs(&p, m, &row);
		for (uint32_t i = 0; i < p.n; i++) {
			load_pair(&t, pair_at(&p, i));
			if (has_counts(&t))
				sp_table_add(&t, i, sp_table_weight(&t));
		}
		sp_table_blocks(o, &t);
		sp_table_close(&t);
	}
	sp_unmap(p.memory, p.bytes);
}
