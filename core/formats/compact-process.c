/* compact-process.c: writes a process, its threads and relations; see compact-process.h. */
#include <string.h>

#include "../model/model-blocks.h"
#include "../model/format-common.h"
#include "../store/blocks.h"
#include "../store/interval.h"
#include "../store/overflow.h"
#include "compact-process.h"

/* State while a process is written. */
struct writing {
	struct sp_compact *c;
	struct sp_model *m;
	const struct sp_compact_map *map;
	struct sp_header *h;		/* the process's */
	struct sp_thread thread;	/* the current thread, written after its relations */
};

/* ---- the header --------------------------------------------------------- */

static void append_watched(struct sp_compact *c, const struct sp_model *m, struct sp_header *h)
{
	const struct sp_watched *w;
	uint64_t left = 4096;

	for (sp_off off = m->process[0].h->watched; off && sp_take_step(&left); off = w->next) {
		struct sp_watched to;

		w = sp_store_reader_block(m->reader, off, SP_BLOCK_WATCHED, sizeof(*w));
		if (!w)
			break;
		to = *w;
		to.next = h->watched;
		to.args = sp_compact_texts(c, m->reader, w->args);
		h->watched = sp_compact_copy(c, SP_BLOCK_WATCHED, &to, sizeof(to));
	}
}

void sp_compact_header(struct sp_compact *c, const struct sp_model *m, struct sp_header *h)
{
	const char *note;
	sp_off *const text[] = { &h->process.host, &h->process.exe,  &h->process.job,
				 &h->process.cwd,  &h->papi_library, &h->cpus_allowed,
				 &h->pmus };

	sp_header_copy(h, m->process[0].h);
	memset(h->magic, 0, sizeof(h->magic));
	h->used = h->output = h->format = h->topology = h->lists.events = h->lists.threads =
		h->lists.notes = h->call_names = h->code.sites = h->code.modules =
			h->compact.members = h->compact.machines = h->watched = h->kept.events =
				h->kept.threads = h->kept.notes = h->code.kept_sites =
					h->code.kept_modules = 0;
	h->lists.n_events = h->lists.n_relations = h->lists.n_notes = h->code.n_sites =
		h->code.n_modules = h->compact.n_members = h->compact.n_machines = 0;
	h->lists.n_threads = m->tally.threads;
	sp_header_begin(h);
	for (unsigned i = 0; i < SP_COUNT(text); i++)
		*text[i] = sp_compact_text(c, sp_store_reader_text(m->reader, *text[i]));
	h->process.args = sp_compact_texts(c, m->reader, h->process.args);
	append_watched(c, m, h);
	/* the newest last, the order in which a process adds them */
	for (; (note = sp_model_note_of(m, 0, h->lists.n_notes)) != NULL; h->lists.n_notes++)
		h->lists.notes = sp_compact_note(c, h->lists.notes, note, "");
}

/* ---- events of a row that are written -------------------------------------- */

static uint32_t events_of(const struct writing *w, const struct sp_row *row)
{
	uint32_t n = 0;

	if (!w->map->event)
		return row->k;
	for (uint32_t i = 0; i < row->k; i++)
		if (w->map->event[row->event[i]] != SP_LEFT_OUT)
			w->map->kept[n++] = i;
	return n;
}

/* Returns the index in the row of the i-th event written. */
static uint32_t kept(const struct writing *w, uint32_t i)
{
	return w->map->event ? w->map->kept[i] : i;
}

/* Appends the values of the events written. */
static void append_values(const struct writing *w, const int64_t *value, uint32_t k)
{
	for (uint32_t i = 0; w->map->event && i < k; i++)
		sp_compact_write(w->c, &value[kept(w, i)], sizeof(*value));
	if (!w->map->event)
		sp_compact_write(w->c, value, k * sizeof(*value));
}

/* ---- permanent readings ------------------------------------------------- */

/* Returns the call site's number; an unknown one of a damaged store is "other". */
static uint32_t site_of(const struct writing *w, uint32_t id)
{
	return id >= w->m->n_callsites ? 0 : w->map->site ? w->map->site[id] : id;
}

/* Appends the call sites of the next n readings. */
static void append_reading_sites(struct writing *w, const struct sp_row *row, struct sp_kept at,
				 uint32_t n)
{
	for (uint32_t i = 0; i < n && sp_row_kept(w->m, row, &at); i++) {
		uint32_t to = site_of(w, at.to), from = to ? site_of(w, at.from) : 0;
		struct sp_reading_sites sites = { (uint16_t)from, (uint16_t)to };

		sp_compact_write(w->c, &sites, sizeof(sites));
	}
}

/* A store without call sites and one whose readings have none are written alike. */
static bool have_sites(const struct writing *w, const struct sp_row *row)
{
	struct sp_kept at = { 0 };

	while (w->m->n_callsites && sp_row_kept(w->m, row, &at))
		if (site_of(w, at.to))
			return true;
	return false;
}

static sp_off append_readings(struct writing *w, const struct sp_row *row, uint32_t k)
{
	uint64_t left = row->kept;
	struct sp_chunk chunk = { .k = k, .sites = have_sites(w, row) };
	struct sp_kept at = { 0 }, first = at;
	sp_off before = 0;

	while (left && sp_row_kept(w->m, row, &at)) {
		before = sp_compact_readings(w->c, &chunk, before, left, at.ns);
		for (uint32_t i = 0; i < chunk.room && (!i || sp_row_kept(w->m, row, &at)); i++) {
			struct sp_reading r = { .ns = at.ns, .cpu = at.cpu, .number = i + 1 };

			sp_compact_write(w->c, &r, sizeof(r));
			append_values(w, at.value, k);
		}
		if (chunk.sites)
			append_reading_sites(w, row, first, chunk.room);
		first = at;
		sp_compact_end(w->c);
		left -= chunk.room;
	}
	return before;
}

/* ---- intervals ---------------------------------------------------------- */

static int32_t cell_of(struct writing *w, struct sp_row *row, int32_t cpu)
{
	struct sp_at_cpu at;

	for (uint32_t i = 0; sp_row_cell(w->m, row, i, &at); i++)
		if (at.cpu == cpu)
			return (int32_t)i;
	return -1;
}

static bool is_same(const struct writing *w, const struct sp_interval_counts *a,
		    const struct sp_interval_counts *b)
{
	return a->cpu == b->cpu && site_of(w, a->to) == site_of(w, b->to) &&
	       site_of(w, a->from) == site_of(w, b->from);
}

/* Checks whether an earlier interval has the same CPU and sites, as only joined sites can. */
static bool is_repeated(struct writing *w, struct sp_row *row, uint32_t i,
			const struct sp_interval_counts *at)
{
	struct sp_interval_counts other;

	for (uint32_t j = 0; w->map->joined && j < i && sp_row_interval(w->m, row, j, &other); j++)
		if (is_same(w, at, &other))
			return true;
	return false;
}

/* Intervals without a site are left out: readers compute "other" from the rest. */
static bool is_written(struct writing *w, struct sp_row *row, uint32_t i,
		       const struct sp_interval_counts *at)
{
	return site_of(w, at->to) && cell_of(w, row, at->cpu) >= 0 && !is_repeated(w, row, i, at);
}

/* Sums event e over all intervals from number i on that equal `is`: the totals (of 0) or the proven
 * counts (of 1). */
static int64_t added(struct writing *w, struct sp_row *row, uint32_t i,
		     const struct sp_interval_counts *is, uint32_t e, unsigned of)
{
	int64_t sum = (of ? is->exact : is->total)[e];
	struct sp_interval_counts other;

	for (i++; w->map->joined && sp_row_interval(w->m, row, i, &other); i++)
		if (is_same(w, is, &other))
			sum = sp_plus(sp_event_type(w->m, row->event[e]), sum,
				      (of ? other.exact : other.total)[e]);
	return sum;
}

static uint64_t count_of(struct writing *w, struct sp_row *row, uint32_t i,
			 const struct sp_interval_counts *is)
{
	struct sp_interval_counts other;
	uint64_t count = is->count;

	for (i++; w->map->joined && sp_row_interval(w->m, row, i, &other); i++)
		count += is_same(w, is, &other) ? other.count : 0;
	return count;
}

static sp_off append_intervals(struct writing *w, struct sp_row *row, uint32_t k)
{
	struct sp_intervals head = { .k = k };
	struct sp_interval_counts at;
	sp_off off;

	for (uint32_t i = 0; sp_row_interval(w->m, row, i, &at); i++)
		head.n += is_written(w, row, i, &at);
	if (!head.n)
		return 0;
	head.room = (uint32_t)head.n;
	off = sp_compact_begin(w->c, SP_BLOCK_INTERVALS, sp_intervals_bytes(k, head.room));
	sp_compact_write(w->c, &head.next, sizeof(head) - offsetof(struct sp_intervals, next));
	for (uint32_t i = 0; sp_row_interval(w->m, row, i, &at); i++) {
		struct sp_interval is = { .from = site_of(w, at.from),
					  .to = site_of(w, at.to),
					  .cell = cell_of(w, row, at.cpu),
					  .count = count_of(w, row, i, &at) };

		if (!is_written(w, row, i, &at))
			continue;
		sp_compact_write(w->c, &is, sizeof(is));
		for (uint32_t e = 0; e < 2 * k; e++)
			sp_compact_write(w->c,
					 &(int64_t){ added(w, row, i, &at, kept(w, e % k), e / k) },
					 sizeof(int64_t));
	}
	sp_compact_end(w->c);
	return off;
}

/* ---- gauges --------------------------------------------------------------- */

static bool is_gauge(const struct writing *w, const struct sp_row *row, uint32_t i)
{
	return sp_event_is_gauge(w->m, row->event[kept(w, i)]);
}

/* Returns the number of CPUs with gauges; each takes a cell. */
static uint32_t gauge_cells(const struct writing *w, const struct sp_row *row)
{
	struct sp_gauge_value g = { 0 };
	uint64_t at = 0;
	uint32_t n = 0;
	int32_t cpu = 0;

	for (; sp_row_gauge(w->m, row, &at, &g); cpu = g.cpu)
		n += !n || g.cpu != cpu;
	return n;
}

/* Writes zeros for the gauges from *i up to this event's. UINT32_MAX as event: up to the end of the
 * cell. */
static bool find_gauge(const struct writing *w, const struct sp_row *row, uint32_t k, uint32_t *i,
		       uint32_t event)
{
	for (; *i < k; ++*i) {
		if (is_gauge(w, row, *i) && row->event[kept(w, *i)] == event)
			return true;
		if (is_gauge(w, row, *i))
			sp_compact_zeros(w->c, sizeof(struct sp_gauge));
	}
	return false;
}

static void append_shown(struct writing *w, const struct sp_row *row, uint32_t k)
{
	struct sp_gauge_value g = { 0 };
	uint64_t at = 0;
	int32_t cpu = 0;
	uint32_t i = 0;

	for (bool first = true; sp_row_gauge(w->m, row, &at, &g); first = false) {
		if (!first && g.cpu != cpu) {
			find_gauge(w, row, k, &i, UINT32_MAX);
			i = 0;
		}
		cpu = g.cpu;
		if ((w->map->event && w->map->event[g.event] == SP_LEFT_OUT) ||
		    !find_gauge(w, row, k, &i, g.event))
			continue;
		sp_compact_write(w->c,
				 &(struct sp_gauge){ .readings = g.readings,
						     .ns = g.ns,
						     .last = g.last,
						     .min = g.min,
						     .max = g.max,
						     .sum = g.sum,
						     .data_type = w->m->event[g.event]->data_type,
						     .cpu = g.cpu },
				 sizeof(struct sp_gauge));
		i++;
	}
}

static sp_off append_gauges(struct writing *w, const struct sp_row *row, uint32_t k)
{
	uint32_t n = 0, cells = gauge_cells(w, row);
	sp_off off;

	for (uint32_t i = 0; i < k; i++)
		n += is_gauge(w, row, i);
	if (!n || !cells)
		return 0;
	off = sp_compact_begin(w->c, SP_BLOCK_GAUGES, sp_gauges_bytes(n, cells));
	sp_compact_u32(w->c, n);
	sp_compact_u32(w->c, cells);
	for (uint32_t i = 0; i < k; i++)
		if (is_gauge(w, row, i))
			sp_compact_u32(w->c, i);
	if (n % 2)
		sp_compact_u32(w->c, 0);
	append_shown(w, row, k);
	sp_compact_end(w->c);
	return off;
}

/* ---- overflows --------------------------------------------------------------- */

/* Returns the index of event e among those written; k for hits whose event PAPI did not report; -1:
 * the event is left out. */
static int64_t kept_index(const struct writing *w, const struct sp_row *row, uint32_t e, uint32_t k)
{
	uint32_t lo = 0, hi = k;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (kept(w, mid) < e)
			lo = mid + 1;
		else
			hi = mid;
	}
	return e == row->k || (lo < k && kept(w, lo) == e) ? (int64_t)lo : -1;
}

/* Counts the hits of the row's written events. With `append` writes them, otherwise their new
 * modules. */
static uint32_t hits_of(struct writing *w, const struct sp_row *row, uint32_t k, bool append)
{
	struct sp_overflowed at;
	uint32_t n = 0, hits = 0;

	for (uint32_t i = 0; sp_row_overflow(w->m, row, &i, &at);) {
		struct sp_frame_info f;
		uint64_t count;

		if (kept_index(w, row, at.event, k) < 0)
			continue;
		n++;
		for (uint32_t hit = UINT32_MAX; sp_row_hit(w->m, row, &at, &hit, &f, &count);
		     hits++) {
			struct sp_hit is = { .address = f.offset, .of = n, .count = count };

			if (w->map->module)
				is.module =
					w->map->module(w->map->arg, w->c, &f, &w->h->code.modules);
			else
				is.module = sp_row_hit_module(w->m, hit, &is.address);
			if (append)
				sp_compact_write(w->c, &is, sizeof(is));
		}
	}
	return hits;
}

static sp_off append_overflows(struct writing *w, const struct sp_row *row, uint32_t k)
{
	uint32_t n = 0, hits;
	struct sp_overflowed at;
	sp_off off;

	for (uint32_t i = 0; sp_row_overflow(w->m, row, &i, &at);)
		n += kept_index(w, row, at.event, k) >= 0;
	if (!n)
		return 0;
	hits = hits_of(w, row, k, false);
	off = sp_compact_begin(w->c, SP_BLOCK_OVERFLOWS, sp_overflows_bytes(n, hits));
	sp_compact_u32(w->c, n);
	sp_compact_u32(w->c, hits);
	for (uint32_t i = 0; sp_row_overflow(w->m, row, &i, &at);) {
		int64_t e = kept_index(w, row, at.event, k);

		if (e >= 0)
			sp_compact_write(w->c,
					 &(struct sp_overflow){ .event = (uint32_t)e,
								.cpu = at.cpu,
								.count = at.count },
					 sizeof(struct sp_overflow));
	}
	hits_of(w, row, k, true);
	sp_compact_end(w->c);
	return off;
}

/* ---- relations ------------------------------------------------------------------ */

static void append_cell(struct writing *w, const struct sp_at_cpu *at, uint32_t k)
{
	struct sp_cell cell = {
		.cpu = at->cpu,
		.used = SP_CELL_USED | (at->has_kept ? SP_CELL_KEPT : 0) |
			(at->unsupported ? SP_CELL_UNSUPPORTED : 0),
		.readings = at->readings,
		.epoch = at->has_entry,
		.ns = at->has_entry ? at->entry_ns : 0,
	};

	sp_compact_write(w->c, &cell, sizeof(cell));
	append_values(w, at->total, k);
	append_values(w, at->exact, k);
	if (at->has_entry || at->unsupported)
		append_values(w, at->entry, k);
	else
		sp_compact_zeros(w->c, k * sizeof(int64_t));
}

/* Appends how the row's counts were attributed, if known. */
static void append_times(struct writing *w, struct sp_row *row, struct sp_times *t, uint32_t k)
{
	struct sp_at_cpu at;

	if (row->times) {
		t->moves = row->times->moves;
		t->windows = row->times->windows;
		t->flags = row->times->flags;
		t->unwatched = row->times->unwatched;
	} else if (row->run_ns != SP_COUNTED_UNKNOWN) {
		t->run_ns = row->run_ns;
		t->flags = SP_TIMES_RUN;
	}
	sp_compact_write(w->c, t, sizeof(*t));
	for (uint32_t i = 0; row->times && sp_row_cell(w->m, row, i, &at); i++)
		sp_compact_write(w->c, &at.run_ns, sizeof(at.run_ns));
	if (row->times)
		append_values(w, (const int64_t *)row->error_margin, k);
}

static void append_relation(struct writing *w, struct sp_row *row, uint32_t k)
{
	struct sp_times t = {
		.allowed = row->times
				   ? sp_compact_text(w->c, sp_model_text(w->m, row->times->allowed))
				   : 0
	};
	struct sp_relation r = {
		.id = w->h->lists.n_relations++,
		.event_set = row->event_set,
		.k = k,
		.cells = row->cells,
		.target = row->target,
		.target_id = row->started_by ? row->started_by : row->target_id,
		.scope = row->scope,
		.domain = row->domain,
		.flags = row->flags,
		.threads = row->threads,
		.starts = row->starts,
		.resets = row->resets,
		.first_ns = row->first_ns,
		.last_ns = row->last_ns,
		.refused = row->refused,
	};
	struct sp_at_cpu at;

	r.intervals = append_intervals(w, row, k);
	r.gauges = append_gauges(w, row, k);
	r.readings = append_readings(w, row, k);
	t.overflows = append_overflows(w, row, k);
	sp_compact_relation(w->c, &w->thread, &r);
	for (uint32_t i = 0; i < k; i++)
		sp_compact_u32(w->c, w->map->event ? w->map->event[row->event[kept(w, i)]]
						   : row->event[i]);
	if (k % 2)
		sp_compact_u32(w->c, 0);
	for (uint32_t i = 0; sp_row_cell(w->m, row, i, &at); i++)
		append_cell(w, &at, k);
	append_times(w, row, &t, k);
	sp_compact_end(w->c);
}

/* Appends the threads that have a relation with an event that is written. */
static void append_threads(struct writing *w)
{
	struct sp_row row = { 0 };
	sp_off thread_at = 0;

	while (sp_model_next(w->m, &row)) {
		uint32_t k = events_of(w, &row);

		if (k && row.thread_at != thread_at) {
			sp_compact_thread(w->c, w->h, &w->thread, row.tid, row.thread,
					  row.of_thread);
			thread_at = row.thread_at;
		}
		if (k)
			append_relation(w, &row, k);
	}
	sp_compact_thread(w->c, w->h, &w->thread, 0, "", 0);
}

/* ---- the process -------------------------------------------------------------------- */

void sp_compact_process(struct sp_compact *c, struct sp_model *m, const struct sp_compact_map *map,
			struct sp_header *h, bool more)
{
	struct sp_member p = { .machine = map->machine, .n_calls = map->n_calls };
	struct writing w = { .c = c, .m = m, .map = map, .h = h ? h : &p.h };
	sp_off at = sp_compact_begin(c, SP_BLOCK_MEMBER, sizeof(p) + p.n_calls * 8ull);

	sp_compact_zeros(c, sizeof(p) - sizeof(p.b));
	for (uint32_t n = 0; n < p.n_calls; n++) {
		uint64_t calls = 0;

		for (uint32_t i = 0; i < SP_CALLS_MAX; i++)
			calls += map->call[i] == n ? m->tally.calls[i] : 0;
		sp_compact_write(c, &calls, sizeof(calls));
	}
	sp_compact_end(c);
	if (!h)
		sp_compact_header(c, m, &p.h);
	append_threads(&w);
	p.extent = sp_compact_offset(c) - at;
	p.next = more ? sp_compact_offset(c) : 0;
	p.h = *w.h;
	sp_compact_rewrite(c, at + sizeof(p.b), &p.next, sizeof(p) - sizeof(p.b));
}
