/* model-rows.c: reads one relation at a time for the formats, with its cells and permanent
 * readings, also while its thread adds records. */
#include <errno.h>
#include <string.h>

#include "../store/gauge.h"
#include "../store/readings.h"
#include "gauges.h"
#include "model-blocks.h"
#include "pending.h"

#define STALE_MOST	64		/* attempts to read a relation that is folded meanwhile */

/* A CPU of a row in row->walk.values; total[k], exact[k] and entry[k] follow. */
struct cell_record {
	int64_t cpu, readings, ns, run_ns;
	bool has_entry, has_kept, is_latest, has_unsupported;
	int64_t at[];
};

static uint64_t record_bytes(uint32_t k)
{
	return sizeof(struct cell_record) + (uint64_t)SP_CELL_ARRAYS * k * 8;
}

static struct cell_record *record(const struct sp_row *row, uint64_t i)
{
	return (struct cell_record *)((char *)row->walk.values + i * record_bytes(row->k));
}

static void read_cell(struct cell_record *c, const struct sp_cell *from, const struct sp_pending *p,
		      uint32_t i, uint32_t k, uint64_t ns)
{
	const struct sp_state *s = p->state;

	c->cpu = from->cpu;
	c->readings = (int64_t)load_relaxed(&from->readings);
	/* all temporary entries have the time of the last reading (A2, A4) */
	c->ns = (int64_t)ns;
	c->has_entry = from->epoch == s->epoch;
	c->has_kept = (from->used & SP_CELL_KEPT) != 0;
	c->has_unsupported = false;
	c->is_latest = (s->flags & SP_STATE_PERMANENT) && (int)i == s->cell;
	sp_copy_words(c->at, from->at, SP_CELL_ARRAYS * (uint64_t)k);
	if (c->is_latest)
		memcpy(c->at + SP_ENTRY * k, s->at + (uint64_t)SP_KEPT * k, k * 8);
}

/* Returns whether the cell has no counts, as most do, since a thread runs on few CPUs. An unread
 * CPU may have counts of a window's part. Without a branch per count: 1000 threads on 256 CPUs have
 * two million of them. */
static bool is_empty(const struct sp_cell *c, uint32_t k)
{
	const int64_t *total = c->at + SP_TOTAL * k;
	int64_t any = (int64_t)load_relaxed(&c->readings);

	for (uint32_t e = 0; e < k; e++)
		any |= load_relaxed(&total[e]);
	return !any || !c->used;
}

static void read_state(struct sp_row *row, const struct sp_relation *r, const struct sp_state *s)
{
	row->cells = 0;
	row->readings = 0;
	row->flags &= ~SP_RELATION_RUNNING | r->flags;
	row->flags |= (s->flags & SP_STATE_RUNNING ? SP_RELATION_RUNNING : 0) |
		      (s->flags & SP_STATE_BACKWARDS ? SP_RELATION_BACKWARDS : 0) |
		      (s->flags & SP_STATE_UNSURE ? SP_RELATION_UNSURE : 0) |
		      (s->flags & SP_STATE_CROWDED ? SP_RELATION_CROWDED : 0);
	row->latest_ns = load_relaxed(&r->reading_ns);
	row->latest_cpu = SP_NO_CPU;
	row->last = s->at + (uint64_t)SP_LAST * row->k;
}

/* Limit the proven counts to the total, which is smaller after counts that went backwards. */
static void clip_exact(const struct sp_row *row, struct cell_record *c, const uint8_t *kinds)
{
	for (uint32_t e = 0; e < row->k; e++) {
		int64_t total = c->at[SP_TOTAL * row->k + e],
			*exact = &c->at[SP_EXACT * row->k + e];

		if (sp_values_by(kinds, e) != SP_COUNTS)
			continue;
		*exact = *exact > total ? total : *exact;
		*exact = *exact < 0 ? 0 : *exact;
	}
}

static void add_cell(struct sp_model *m, struct sp_row *row, const struct sp_relation *r,
		     const struct sp_pending *p, const struct sp_cell *from, uint32_t i)
{
	struct cell_record *c = record(row, row->cells);
	uint32_t k = row->k;

	read_cell(c, from, p, i, k, row->latest_ns);
	c->run_ns = row->ns ? (int64_t)load_relaxed(&row->ns[i]) : -1;
	if (r->flags & SP_RELATION_PROVEN)
		memcpy(c->at + SP_EXACT * k, c->at + SP_TOTAL * k, k * 8);
	clip_exact(row, c, p->f.kinds);
	if ((int)i == p->state->cell)
		row->latest_cpu = (int32_t)c->cpu;
	row->readings += (uint64_t)c->readings;
	m->intervals.row_of[i] = (int32_t)row->cells;
	row->walk.cell_of[row->cells] = row->cells;
	row->cells++;
}

/* Read the cells that have counts. */
static void read_cells(struct sp_model *m, struct sp_row *row, const struct sp_relation *r,
		       const struct sp_pending *p)
{
	uint32_t cells = p->f.cells, dense = cells - SP_CELLS_EXTRA;

	read_state(row, r, p->state);
	memset(m->intervals.row_of, 0xff, cells * sizeof(*m->intervals.row_of));
	for (uint32_t i = 0; i < SP_CELLS_EXTRA; i++)
		row->walk.extra_cpu[i] = SP_NO_CPU;
	for (uint32_t i = 0; i < cells; i++) {
		const struct sp_cell *c = sp_pending_cell(p, i);

		if (!c) {		/* skip its block, which was never allocated */
			i = (uint32_t)sp_min(i + p->layout.each - i % p->layout.each, cells - 1) -
			    1;
			continue;
		}
		if (i >= dense)
			row->walk.extra_cpu[i - dense] = c->cpu;
		if (!is_empty(c, row->k))
			add_cell(m, row, r, p, c, i);
	}
}

/* Read a relation of a merged store, which has only cells and no writer. */
static void read_compact(struct sp_model *m, struct sp_row *row, const struct sp_relation *r)
{
	struct sp_layout l = sp_compact_layout(row->k, r->cells);
	uint32_t k = row->k;

	row->cells = 0;
	row->readings = 0;
	row->last = NULL;
	for (uint32_t i = 0; i < r->cells; i++) {
		const struct sp_cell *from =
			(const struct sp_cell *)((const char *)r + l.cell + i * l.cell_bytes);
		struct cell_record *c = record(row, row->cells);

		m->intervals.row_of[i] = from->used ? (int32_t)row->cells : -1;
		if (!from->used)
			continue;
		c->cpu = from->cpu;
		c->readings = (int64_t)from->readings;
		c->has_unsupported = (from->used & SP_CELL_UNSUPPORTED) != 0;
		c->has_entry = from->epoch != 0 && !c->has_unsupported;
		c->has_kept = (from->used & SP_CELL_KEPT) != 0;
		c->is_latest = false;
		c->ns = (int64_t)from->ns;
		c->run_ns = row->ns ? (int64_t)row->ns[i] : -1;
		memcpy(c->at, from->at, SP_CELL_ARRAYS * (uint64_t)k * 8);
		row->readings += from->readings;
		row->walk.cell_of[row->cells] = row->cells;
		row->cells++;
	}
}

static void sort_cells(struct sp_row *row)
{
	/* Insertion sort: only the few extra cells are out of order. */
	for (uint32_t i = 1; i < row->cells; i++) {
		uint64_t c = row->walk.cell_of[i];
		uint32_t j = i;

		for (; j && (uint64_t)record(row, row->walk.cell_of[j - 1])->cpu >
				    (uint64_t)record(row, c)->cpu;
		     j--)
			row->walk.cell_of[j] = row->walk.cell_of[j - 1];
		row->walk.cell_of[j] = c;
	}
}

static sp_off readings_head(const struct sp_model *m, const struct sp_relation *r)
{
	return sp_list_head(m, r->readings, r->kept, SP_BLOCK_READINGS);
}

/* The chunk before `c`, whose number is one less. */
static const struct sp_chunk *chunk_before(const struct sp_model *m, const struct sp_chunk *c,
					   uint32_t k)
{
	const struct sp_chunk *p = sp_store_readings_at(m->reader, c->next);

	return p && p->number + 1 == c->number && p->k == k ? p : NULL;
}

/* List the chunks of readings, oldest first. Chunks newer than most_chunks are omitted. */
static void read_chunks(const struct sp_model *m, struct sp_row *row, const struct sp_relation *r)
{
	const struct sp_chunk *c = sp_store_readings_at(m->reader, readings_head(m, r));
	uint32_t n = 0;

	row->walk.chunks = row->walk.last_chunk = 0;
	row->kept = 0;
	row->refused = r->refused;
	if (!m->walk.most_chunks)
		return;
	while (c && c->k == row->k && c->number >= m->walk.most_chunks)
		c = chunk_before(m, c, row->k);
	if (!c || c->k != row->k)
		return;
	row->walk.last_chunk = sp_readings_complete(c);
	row->kept = row->walk.last_chunk;
	for (const struct sp_chunk *p = c; p; p = chunk_before(m, p, row->k), n++)
		m->walk.chunk[p->number] = p;
	row->walk.chunks = n;
	if (n != c->number + 1)		/* the oldest is unreadable */
		memmove(m->walk.chunk, m->walk.chunk + c->number + 1 - n,
			n * sizeof(*m->walk.chunk));
	for (uint32_t i = 0; i + 1 < n; i++)
		row->kept += sp_readings_complete(m->walk.chunk[i]);
}

static void read_sites(const struct sp_model *m, const struct sp_chunk *c, struct sp_kept *at)
{
	const struct sp_reading_sites *sites = c->sites ? &sp_reading_sites(c)[at->i] : NULL;

	at->to = sites ? sp_site_number(m, sites->site) : 0;
	at->from = at->to ? sp_site_number(m, sites->from) : 0;
}

bool sp_row_kept(const struct sp_model *m, const struct sp_row *row, struct sp_kept *at)
{
	const struct sp_reading *r;

	for (; at->chunk < row->walk.chunks; at->chunk++, at->i = 0) {
		const struct sp_chunk *c = m->walk.chunk[at->chunk];

		if (!at->i)
			at->n = at->chunk + 1 == row->walk.chunks ? row->walk.last_chunk
								  : sp_readings_complete(c);
		if (at->i >= at->n)
			continue;
		r = sp_reading_at(c, at->i);
		at->ns = r->ns;
		at->cpu = r->cpu;
		at->value = r->value;
		read_sites(m, c, at);
		at->i++;
		return true;
	}
	return false;
}

/* Check the indexes once, since formats read the block at any time. */
static bool index_is_sound(const uint32_t *index, uint32_t n, uint32_t k)
{
	for (uint32_t i = 0; i < n; i++)
		if (index[i] >= k || (i && index[i] <= index[i - 1]))
			return false;
	return true;
}

static void open_gauges(const struct sp_model *m, struct sp_row *row, sp_off block, uint32_t cells)
{
	const struct sp_gauges *g =
		sp_store_reader_block(m->reader, block, SP_BLOCK_GAUGES, sizeof(*g));
	uint32_t n = g ? load_relaxed(&g->n) : 0, c = g ? load_relaxed(&g->cells) : 0;

	row->gauges.at = NULL;
	row->gauges.n = 0;
	if (!n || n > row->k || !c || (!sp_is_merged(m) && c != 1 && c != cells))
		return;
	if (!sp_store_reader_at(m->reader, block, sp_gauges_bytes(n, c)) ||
	    !index_is_sound((const uint32_t *)(g + 1), n, row->k))
		return;
	row->gauges.index = (const uint32_t *)(g + 1);
	row->gauges.at = sp_gauges_at(g, n);
	row->gauges.n = n;
	row->gauges.cells = c;
	row->walk.relation_cells = sp_is_merged(m) ? 0 : cells;
}

static const int64_t *total_of(const struct sp_row *row, uint32_t i, uint64_t *readings)
{
	const struct cell_record *c = record(row, i);

	*readings = (uint64_t)c->readings;
	return c->at;
}

/* Returns whether the process has ended. A running set is worth reporting only then. */
static bool has_ended(const struct sp_model *m, const struct sp_row *row)
{
	uint32_t end = m->process[row->process].h->end;

	return end != SP_END_NONE && end != SP_END_SNAPSHOT;
}

static void read_times(const struct sp_model *m, struct sp_row *row, const struct sp_relation *r)
{
	uint32_t cells = load_relaxed(&r->cells), how = r->flags >> SP_RELATION_HOW_SHIFT & 15,
		 why = r->flags >> SP_RELATION_WHY_SHIFT & 63;
	struct sp_layout l = sp_layout_of(m, row->k, cells);
	const struct sp_times *t = sp_times_of(r, &l);

	row->attribution = how <= SP_BY_APPROXIMATE && how != SP_BY_AUTO ? (enum sp_attribution)how
								 : SP_BY_READING;
	row->why = why < SP_WHYS ? (enum sp_why)why : SP_WHY_NONE;
	row->times = t->flags & SP_TIMES_KNOWN ? t : NULL;
	row->run_ns = !row->times && t->flags & SP_TIMES_RUN ? load_relaxed(&t->run_ns)
							     : SP_COUNTED_UNKNOWN;
	row->ns = row->times ? t->at : NULL;
	row->error_margin = row->times ? t->at + cells : NULL;
}

/* Returns whether all counts are proven, so that no reason is needed. */
static bool is_proven(struct sp_model *m, struct sp_row *row)
{
	struct sp_at_cpu at;

	for (uint32_t i = 0; sp_row_cell(m, row, i, &at); i++)
		if (memcmp(at.total, at.exact, row->k * sizeof(*at.total)) != 0)
			return false;
	return true;
}

static void read_relation(struct sp_model *m, struct sp_row *row, const struct sp_thread *t,
			  const struct sp_relation *r, sp_off off)
{
	struct sp_row_cells cells = { r->cells, m->intervals.row_of, total_of };

	row->event_set = r->event_set;
	row->tid = t->tid;
	row->thread = memchr(t->name, 0, sizeof(t->name)) ? t->name : "";
	row->target = r->target <= SP_TARGET_TID ? (enum sp_target)r->target : SP_TARGET_THREAD;
	row->started_by = r->flags & SP_RELATION_OTHER_STARTER ? r->target_id : 0;
	row->target_id = !row->started_by		? r->target_id
			 : row->target == SP_TARGET_TID ? t->tid
							: 0;
	row->scope = r->scope <= SP_SCOPE_DEVICE ? (enum sp_scope)r->scope : SP_SCOPE_HOST;
	row->flags = r->flags & ~SP_RELATION_HANDLE;	/* valid at the time of writing only */
	row->threads = r->threads;
	row->of_thread = (uint32_t)sp_min(sp_max(t->threads, r->threads), UINT32_MAX);
	row->domain = r->domain;
	row->k = r->k;
	row->event = (const uint32_t *)(r + 1);
	row->starts = r->starts;
	row->resets = r->resets;
	row->first_ns = r->first_ns;
	row->last_ns = r->last_ns;
	read_times(m, row, r);
	open_gauges(m, row, r->gauges, load_relaxed(&r->cells));
	row->place = NULL;
	row->gauges.floating = false;
	for (uint32_t e = 0; e < row->k; e++)
		row->gauges.floating = row->gauges.floating ||
				       sp_event_values(m->event[row->event[e]]) != SP_COUNTS;
	for (uint32_t e = 0; e < row->k && m->walk.row_place; e++) {
		m->walk.row_place[e] = sp_find_place(m, row, e);
		if (m->walk.row_place[e] >= 0)
			row->place = m->walk.row_place;
	}
	row->intervals = 0;
	if (sp_is_merged(m)) {
		read_compact(m, row, r);
		if (!row->only_cells)
			sp_intervals_read(m, row, r, NULL, &cells);
	}
	/* Repeat if the thread folded records meanwhile. */
	for (int tries = 0; !sp_is_merged(m); tries++) {
		struct sp_pending p;

		sp_pending_read(&p, m, r, off, row->k, cells.n, !row->only_cells, m->walk.pending);
		read_cells(m, row, r, &p);
		if (!row->only_cells)
			sp_intervals_read(m, row, r, &p.redo_log, &cells);
		if (!sp_pending_is_stale(&p))
			break;
		if (tries == STALE_MOST) {
			row->flags |= SP_RELATION_UNSURE;
			break;
		}
	}
	row->runs = row->flags & SP_RELATION_RUNNING;
	if (!has_ended(m, row))
		row->flags &= ~SP_RELATION_RUNNING;
	sort_cells(row);
	row->proven = is_proven(m, row);
	if (row->proven)
		row->why = SP_WHY_NONE;
}

/* Returns whether to omit a relation that was replaced because the set's start opened counters of
 * another thread. Do not omit it if it was opened alone (sspapi.h) before anything was counted. */
static bool was_never_used(const struct sp_model *m, const struct sp_row *row)
{
	return row->started_by && !row->starts && !row->cells && m->walk.n_places > 1;
}

/* Returns whether the relation of ended threads already includes this one. */
static bool is_folded(const struct sp_model *m, sp_off off)
{
	for (uint32_t i = 0; i < m->walk.n_including; i++)
		if (m->walk.including[i] == off)
			return true;
	return false;
}

bool sp_model_next(struct sp_model *m, struct sp_row *row)
{
	while (row->walk.index < m->walk.n_places) {
		const struct sp_place *p = &m->walk.place[row->walk.index++];
		const struct sp_thread *t = sp_thread_at(m, p->thread);
		const struct sp_relation *r = sp_relation_at(m, p->relation);

		/* Check again: a live store may have changed. */
		if (!t || !r || r->k > m->walk.most_k || r->cells > m->walk.most_cells ||
		    is_folded(m, p->relation))
			continue;
		if (m->only_run &&
		    m->process[p->process].h->stat >> SP_STAT_RUN_SHIFT != m->only_run)
			continue;
		row->walk.cell_of = m->walk.cell_of;
		row->walk.values = m->walk.values;
		row->process = p->process;
		row->thread_at = p->thread;
		row->walk.interval_values = m->intervals.row;
		read_relation(m, row, t, r, p->relation);
		if (was_never_used(m, row))
			continue;
		sp_overflows_read(m, row, r);
		read_chunks(m, row, r);
		row->id = row->walk.given++;
		return true;
	}
	return false;
}

static void read_record(struct sp_model *m, const struct sp_row *row, uint32_t i,
			struct sp_at_cpu *at)
{
	const struct sp_model_machine *on = &m->machine[m->process[row->process].machine];
	struct cell_record *c = record(row, i);

	at->cpu = (int32_t)c->cpu;
	at->component =
		at->cpu >= 0 && (uint32_t)at->cpu < on->n_cpus ? on->cpu_component[at->cpu] : -1;
	at->readings = (uint64_t)c->readings;
	at->total = c->at + SP_TOTAL * row->k;
	at->exact = c->at + SP_EXACT * row->k;
	at->entry = c->at + SP_ENTRY * row->k;
	at->unsupported = c->has_unsupported ? at->entry : NULL;
	at->has_entry = c->has_entry;
	at->has_kept = c->has_kept;
	at->is_latest = c->is_latest;
	at->entry_ns = (uint64_t)c->ns;
	at->run_ns = c->run_ns;
}

bool sp_row_cell(struct sp_model *m, struct sp_row *row, uint32_t i, struct sp_at_cpu *at)
{
	if (i >= row->cells)
		return false;
	read_record(m, row, (uint32_t)row->walk.cell_of[i], at);
	return true;
}

bool sp_row_interval(struct sp_model *m, struct sp_row *row, uint32_t i,
		     struct sp_interval_counts *at)
{
	struct sp_at_cpu where;

	if (i >= row->intervals)
		return false;
	read_record(m, row, sp_interval_get(row, i, at), &where);
	at->cpu = where.cpu;
	at->component = where.component;
	return true;
}

/* ---- memory ------------------------------------------------------------- */

void sp_row_count_chunks(struct sp_model *m, const struct sp_relation *r)
{
	const struct sp_chunk *c = sp_store_readings_at(m->reader, readings_head(m, r));

	if (c && c->k == r->k && c->number < UINT32_MAX)
		m->walk.most_chunks = (uint32_t)sp_max(m->walk.most_chunks, c->number + 1);
	else if (r->readings)
		m->tally.damaged++;
}

uint64_t sp_row_bytes(const struct sp_model *m)
{
	return m->walk.most_chunks * sizeof(void *) +
	       (uint64_t)m->walk.most_cells * (8 + record_bytes(m->walk.most_k)) +
	       record_bytes(m->walk.most_k) + sp_pending_bytes(m, m->walk.most_k) +
	       ((uint64_t)m->intervals.most + m->walk.most_cells + 1) *
		       sp_interval_record_bytes(m->walk.most_k) +
	       m->walk.most_cells * sizeof(int32_t) + sp_overflows_row_bytes(m);
}

int sp_row_take(struct sp_model *m)
{
	m->walk.chunk = sp_model_take(m, m->walk.most_chunks * sizeof(void *));
	m->intervals.row_of = sp_model_take(m, m->walk.most_cells * sizeof(int32_t));
	sp_overflows_take(m);
	m->walk.pending = sp_model_take(m, sp_pending_bytes(m, m->walk.most_k));
	m->intervals.row = sp_model_take(m, ((uint64_t)m->intervals.most + m->walk.most_cells + 1) *
					    sp_interval_record_bytes(m->walk.most_k));
	m->walk.cell_of = sp_model_take(m, (uint64_t)m->walk.most_cells * 8);
	/* one more for an empty cell, which is read and then dropped */
	m->walk.values =
		sp_model_take(m, (uint64_t)(m->walk.most_cells + 1) * record_bytes(m->walk.most_k));
	return m->walk.values ? 0 : -ENOMEM;
}
