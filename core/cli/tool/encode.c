/* encode.c: processes, threads, relations and events as blocks of a merged store. */
#include <stdlib.h>
#include <string.h>

#include "../../model/view-common.h"
#include "../../store/interval.h"
#include "../../store/overflow.h"
#include "cmd.h"
#include "encode.h"

/* ---- events -------------------------------------------------------------- */

sp_off sp_encode_event(struct sp_bytes *b, sp_off before, const struct sp_image *image, const struct sp_event *e, uint32_t id,
		       const char *name)
{
	struct sp_event to = *e;

	to.next = before;
	to.id = id;
	to.name = sp_bytes_text(b, name);
	to.component = sp_bytes_text(b, sp_image_text(image, e->component));
	to.derived = sp_bytes_text(b, sp_image_text(image, e->derived));
	to.postfix = sp_bytes_text(b, sp_image_text(image, e->postfix));
	to.units = sp_bytes_text(b, sp_image_text(image, e->units));
	to.description = sp_bytes_text(b, sp_image_text(image, e->description));
	to.natives = sp_bytes_texts(b, image, e->natives);
	to.pmu = sp_bytes_text(b, sp_image_text(image, e->pmu));
	return sp_bytes_like(b, SP_BLOCK_EVENT, &to, sizeof(to));
}

/* ---- a process ------------------------------------------------------------ */

/* The list's newest block is last, as a process makes them. */
static sp_off encode_notes(struct sp_bytes *b, const struct sp_model *m, uint32_t *n)
{
	sp_off newest = 0;
	const char *text;

	for (*n = 0; (text = sp_model_note_of(m, 0, *n)) != NULL; ++*n)
		newest = sp_settled_note(b, newest, text, "");
	return newest;
}

static sp_off encode_watched(struct sp_bytes *b, const struct sp_model *m)
{
	const struct sp_watched *w;
	sp_off newest = 0;
	uint64_t left = 4096;

	for (sp_off off = m->process[0].h->watched; off && left--; off = w->next) {
		struct sp_watched to;

		w = sp_image_block(m->image, off, SP_BLOCK_WATCHED, sizeof(*w));
		if (!w)
			break;
		to = *w;
		to.next = newest;
		to.args = sp_bytes_texts(b, m->image, w->args);
		newest = sp_bytes_like(b, SP_BLOCK_WATCHED, &to, sizeof(to));
	}
	return newest;
}

static void encode_header(struct sp_bytes *b, struct sp_model *m, uint64_t member)
{
	const struct sp_header *from = m->process[0].h;
	struct sp_header h = {
		.end = from->end, .pid = from->pid, .ppid = from->ppid,
		.start_ticks = from->start_ticks, .pid_ns = from->pid_ns,
		.start_ns = from->start_ns, .end_ns = from->end_ns, .start_boot_ns = from->start_boot_ns,
		.end_boot_ns = from->end_boot_ns, .rank = from->rank,
		.papi_version = from->papi_version, .attribution = from->attribution,
		.readings = from->readings, .callsites = from->callsites, .readings_max = from->readings_max, .cpu_max_khz = from->cpu_max_khz,
		.n_threads = m->n_threads, .dropped_readings = from->dropped_readings,
		.dropped_relations = from->dropped_relations, .self_calls = from->self_calls,
		.self_ns = from->self_ns, .torn = from->torn, .stat = from->stat,
	};

	memcpy(h.boot_id, from->boot_id, sizeof(h.boot_id));
	h.host = sp_bytes_text(b, sp_image_text(m->image, from->host));
	h.exe = sp_bytes_text(b, sp_image_text(m->image, from->exe));
	h.args = sp_bytes_texts(b, m->image, from->args);
	h.job = sp_bytes_text(b, sp_image_text(m->image, from->job));
	h.cwd = sp_bytes_text(b, sp_image_text(m->image, from->cwd));
	h.papi_library = sp_bytes_text(b, sp_image_text(m->image, from->papi_library));
	h.csv_events = sp_bytes_text(b, sp_image_text(m->image, from->csv_events));
	h.user_events = sp_bytes_text(b, sp_image_text(m->image, from->user_events));
	h.cpus_allowed = sp_bytes_text(b, sp_image_text(m->image, from->cpus_allowed));
	h.watched = encode_watched(b, m);
	h.pmus = sp_bytes_text(b, sp_image_text(m->image, from->pmus));
	h.notes = encode_notes(b, m, &h.n_notes);
	((struct sp_member *)sp_bytes_at(b, member))->h = h;
}

static void encode_calls(struct sp_bytes *b, const struct sp_model *m, uint64_t member, const struct sp_encode *with)
{
	struct sp_member *p = sp_bytes_at(b, member);
	uint64_t *to = (uint64_t *)(p + 1);

	for (uint32_t i = 0; i < SP_CALLS_MAX; i++)
		if (m->calls[i] && with->call[i] < with->n_calls)
			to[with->call[i]] += m->calls[i];
}

/* A row's events that stay: their places in the row; how many. */
static uint32_t kept_events(const struct sp_row *row, const struct sp_encode *with, uint32_t kept[SP_EVENTS_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < row->k; i++)
		if (with->event[row->event[i]] != SP_LEFT_OUT)
			kept[n++] = i;
	return n;
}

static void encode_cell(struct sp_cell *to, const struct sp_at_cpu *at, const uint32_t *kept, uint32_t k)
{
	to->cpu = at->cpu;
	to->used = SP_CELL_USED | (at->has_kept ? SP_CELL_KEPT : 0) | (at->hole ? SP_CELL_HOLES : 0);
	to->readings = at->readings;
	to->epoch = at->has_entry;
	to->ns = at->has_entry ? at->entry_ns : 0;
	for (uint32_t i = 0; i < k; i++) {
		to->at[SP_TOTAL * k + i] = at->total[kept[i]];
		to->at[SP_EXACT * k + i] = at->exact[kept[i]];
		to->at[SP_ENTRY * k + i] = at->has_entry || at->hole ? at->entry[kept[i]] : 0;
	}
}

/* Behind the relation at `relation`, whose events `kept` stay. */
static void encode_readings(struct sp_bytes *b, const struct sp_model *m, const struct sp_row *row, uint64_t relation,
			    const uint32_t *kept, uint32_t k)
{
	struct sp_settled_readings log = { .relation = relation };
	struct sp_kept at = { 0 };

	while (sp_row_kept(m, row, &at)) {
		int64_t *value = sp_settled_reading(b, &log, at.ns, at.cpu);

		for (uint32_t i = 0; i < k; i++)
			value[i] = at.value[kept[i]];
	}
}

static int32_t cell_of(struct sp_relation *r, int32_t cpu)
{
	for (uint32_t i = 0; i < r->cells; i++)
		if (sp_settled_cell(r, i)->cpu == cpu)
			return (int32_t)i;
	return -1;
}

/* An interval of a damaged store may name a site that is not there: it is "other". */
static uint32_t mapped(const struct sp_model *m, const uint32_t *site, uint32_t id)
{
	return id < m->n_callsites ? site[id] : 0;
}

/* Several of a process's sites may be one of ours.  What none of the intervals has, "other", the reader finds again. */
static void encode_intervals(struct sp_bytes *b, struct sp_model *m, struct sp_row *row, uint64_t relation,
			     const uint32_t *kept, uint32_t k, const uint32_t *site)
{
	struct sp_intervals *to;
	struct sp_between at;
	uint64_t place = b->used;

	if (!row->intervals)
		return;
	place = sp_bytes_block(b, SP_BLOCK_INTERVALS, sp_intervals_bytes(k, row->intervals));
	to = sp_bytes_at(b, place);
	to->k = k;
	to->room = row->intervals;
	for (uint32_t i = 0; sp_row_interval(m, row, i, &at); i++) {
		uint32_t from = mapped(m, site, at.from), at_site = mapped(m, site, at.to);
		int32_t cell = cell_of(sp_bytes_at(b, relation), at.cpu);
		struct sp_interval *is = at_site && cell >= 0 ? sp_interval_like(to, k, from, at_site, cell) : NULL;

		if (!is)
			continue;
		is->count += at.count;
		for (uint32_t e = 0; e < k; e++) {
			enum sp_data_type type = sp_event_type(m, row->event[kept[e]]);

			is->at[e] = sp_plus(type, is->at[e], at.total[kept[e]]);
			is->at[k + e] = sp_plus(type, is->at[k + e], at.exact[kept[e]]);
		}
	}
	to->room = to->n;
	to->b.bytes = (uint32_t)sp_intervals_bytes(k, to->n);
	b->used = place + (to->n ? to->b.bytes : 0);
	if (to->n)
		((struct sp_relation *)sp_bytes_at(b, relation))->intervals = b->origin + place;
}

/* Where event `id` stands among those that are gauges; how many these are. */
static uint32_t gauge_index(const struct sp_model *m, const struct sp_row *row, const uint32_t *kept, uint32_t k,
			    uint32_t *index, uint32_t id, uint32_t *of)
{
	uint32_t n = 0;

	*of = UINT32_MAX;
	for (uint32_t i = 0; i < k; i++) {
		uint32_t e = row->event[kept[i]];

		if (m->event[e]->kind != SP_GAUGE)
			continue;
		if (e == id && *of == UINT32_MAX)
			*of = n;
		if (index)
			index[n] = i;
		n++;
	}
	return n;
}

/* What was read on one CPU is a cell. */
static uint32_t gauge_cells(const struct sp_model *m, const struct sp_row *row)
{
	struct sp_shown g = { 0 };
	uint64_t at = 0;
	uint32_t n = 0;
	int32_t cpu = 0;

	for (; sp_row_gauge(m, row, &at, &g); cpu = g.cpu)
		n += !n || g.cpu != cpu;
	return n;
}

static void encode_gauges(struct sp_bytes *b, const struct sp_model *m, const struct sp_row *row, uint64_t relation,
			  const uint32_t *kept, uint32_t k)
{
	uint32_t none, n = gauge_index(m, row, kept, k, NULL, 0, &none), cells = gauge_cells(m, row), cell = 0;
	struct sp_shown g = { 0 };
	struct sp_gauges *to;
	uint64_t place, at = 0;
	int32_t cpu = 0;

	if (!n || !cells)
		return;
	place = sp_bytes_block(b, SP_BLOCK_GAUGES, sp_gauges_bytes(n, cells));
	to = sp_bytes_at(b, place);
	to->n = n;
	to->cells = cells;
	gauge_index(m, row, kept, k, (uint32_t *)(to + 1), 0, &none);
	for (bool first = true; sp_row_gauge(m, row, &at, &g); first = false) {
		uint32_t i;

		cell += !first && g.cpu != cpu;
		cpu = g.cpu;
		gauge_index(m, row, kept, k, NULL, g.event, &i);
		if (i == UINT32_MAX)
			continue;
		sp_gauges_at(to, n)[(uint64_t)cell * n + i] = (struct sp_gauge){
			.readings = g.readings, .ns = g.ns, .last = g.last, .min = g.min, .max = g.max, .sum = g.sum,
			.data_type = m->event[g.event]->data_type, .cpu = g.cpu,
		};
	}
	((struct sp_relation *)sp_bytes_at(b, relation))->gauges = b->origin + place;
}

/* How its counts were told to CPUs, as far as that is known. */
static void encode_times(struct sp_bytes *b, struct sp_model *m, struct sp_row *row, uint64_t relation,
			 const uint32_t *kept, uint32_t k)
{
	struct sp_at_cpu at;
	struct sp_times *t;
	sp_off allowed;

	if (!row->times)
		return;
	allowed = sp_bytes_text(b, sp_model_text(m, row->times->allowed));
	t = sp_settled_times(sp_bytes_at(b, relation));
	t->allowed = allowed;
	t->moves = row->times->moves;
	t->windows = row->times->windows;
	t->flags = row->times->flags;
	for (uint32_t i = 0; sp_row_cell(m, row, i, &at); i++)
		t->at[i] = (uint64_t)at.there;
	for (uint32_t e = 0; e < k; e++)
		t->at[row->cells + e] = row->edge[kept[e]];
}

static unsigned nibble(char c)
{
	return c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');
}

void sp_encode_build_id(struct sp_module *m, const char *id)
{
	for (m->build_id_bytes = 0; id[0] && id[1] && m->build_id_bytes < sizeof(m->build_id); id += 2)
		m->build_id[m->build_id_bytes++] = (unsigned char)(nibble(id[0]) << 4 | nibble(id[1]));
}

/* The number of f's module in the list of the process, whose block is the buffer's first; 0: in none. */
static uint32_t encode_module(struct sp_bytes *b, const struct sp_frame_seen *f)
{
	struct sp_header h = ((struct sp_member *)sp_bytes_at(b, 0))->h;
	struct sp_module is = { .number = h.n_modules + 1, .next = h.modules }, *to;

	sp_encode_build_id(&is, f->build_id);
	for (sp_off off = h.modules; off; off = to->next) {
		to = sp_bytes_at(b, off - b->origin);
		if (memcmp(to->build_id, is.build_id, sizeof(is.build_id)) == 0 &&
		    strcmp(((struct sp_string *)sp_bytes_at(b, to->path - b->origin))->text, f->module) == 0)
			return to->number;
	}
	if (!*f->module || is.number > SP_MODULES_MOST)
		return 0;
	is.path = sp_bytes_text(b, f->module);
	h.modules = sp_bytes_like(b, SP_BLOCK_MODULE, &is, sizeof(is));
	((struct sp_member *)sp_bytes_at(b, 0))->h.modules = h.modules;
	((struct sp_member *)sp_bytes_at(b, 0))->h.n_modules = is.number;
	return is.number;
}

/* Where event e of the row stands among those that stay; behind them what PAPI did not tell; -1: it is left out. */
static int64_t kept_index(const struct sp_row *row, uint32_t e, const uint32_t *kept, uint32_t k)
{
	uint32_t lo = 0, hi = k;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (kept[mid] < e)
			lo = mid + 1;
		else
			hi = mid;
	}
	return e == row->k || (lo < k && kept[lo] == e) ? (int64_t)lo : -1;
}

static void encode_overflows(struct sp_bytes *b, const struct sp_model *m, const struct sp_row *row, uint64_t relation,
			     const uint32_t *kept, uint32_t k)
{
	struct sp_overflow *counts = sp_need(calloc(row->overflows + 1ull, sizeof(*counts)));
	struct sp_hit *hits = sp_need(calloc(row->hits + 1ull, sizeof(*hits)));
	struct sp_overflows o = { .n = 0 };
	struct sp_overflowed at;
	struct sp_frame_seen f;
	uint64_t place, count;

	for (uint32_t i = 0; sp_row_overflow(m, row, &i, &at);) {
		int64_t e = kept_index(row, at.event, kept, k);

		if (e < 0)
			continue;
		counts[o.n++] = (struct sp_overflow){ .event = (uint32_t)e, .cpu = at.cpu, .count = at.count };
		for (uint32_t hit = UINT32_MAX; sp_row_hit(m, row, &at, &hit, &f, &count);)
			hits[o.hits++] = (struct sp_hit){ .address = f.offset, .module = encode_module(b, &f), .of = o.n,
							  .count = count };
	}
	if (o.n) {
		place = sp_bytes_block(b, SP_BLOCK_OVERFLOWS, sp_overflows_bytes(o.n, o.hits));
		o.b = *(struct sp_block *)sp_bytes_at(b, place);
		memcpy(sp_bytes_at(b, place), &o, sizeof(o));
		memcpy(sp_overflow_in(sp_bytes_at(b, place)), counts, o.n * sizeof(*counts));
		memcpy(sp_hits_in(sp_bytes_at(b, place), o.n), hits, o.hits * sizeof(*hits));
		sp_settled_times(sp_bytes_at(b, relation))->overflows = b->origin + place;
	}
	free(counts);
	free(hits);
}

static void encode_relation(struct sp_bytes *b, struct sp_model *m, struct sp_row *row, uint64_t thread, uint32_t id,
			    const uint32_t *kept, uint32_t k, const struct sp_encode *with)
{
	const struct sp_relation like = {
		.id = id, .event_set = row->event_set, .k = k, .cells = row->cells, .target = row->target, .target_id = row->target_id,
		.scope = row->scope, .domain = row->domain, .flags = row->flags, .threads = row->threads, .starts = row->starts,
		.resets = row->resets, .first_ns = row->first_ns, .last_ns = row->last_ns, .refused = row->refused,
	};
	static uint32_t event[SP_EVENTS_MAX];
	struct sp_at_cpu at;
	uint64_t place;

	for (uint32_t i = 0; i < k; i++)
		event[i] = with->event[row->event[kept[i]]];
	place = sp_settled_relation(b, thread, &like, event);
	for (uint32_t i = 0; sp_row_cell(m, row, i, &at); i++)
		encode_cell(sp_settled_cell(sp_bytes_at(b, place), i), &at, kept, k);
	encode_times(b, m, row, place, kept, k);
	encode_intervals(b, m, row, place, kept, k, with->site);
	encode_gauges(b, m, row, place, kept, k);
	encode_overflows(b, m, row, place, kept, k);
	encode_readings(b, m, row, place, kept, k);
}

/* Those that have a relation of which an event stays. */
static void encode_threads(struct sp_bytes *b, struct sp_model *m, uint64_t member, const struct sp_encode *with)
{
	static uint32_t kept[SP_EVENTS_MAX];
	struct sp_row row = { 0 };
	sp_off thread_at = 0, newest = 0;
	uint64_t thread = 0;
	uint32_t n = 0;

	while (sp_model_next(m, &row)) {
		uint32_t k = kept_events(&row, with, kept);

		if (k && row.thread_at != thread_at) {
			thread = sp_settled_thread(b, newest, row.tid, row.thread, row.tid ? 1 : row.threads);
			newest = b->origin + thread;
			thread_at = row.thread_at;
		}
		if (k)
			encode_relation(b, m, &row, thread, n++, kept, k, with);
	}
	((struct sp_member *)sp_bytes_at(b, member))->h.threads = newest;
	((struct sp_member *)sp_bytes_at(b, member))->h.n_relations = n;
}

void sp_encode_member(struct sp_bytes *b, struct sp_model *m, const struct sp_encode *with)
{
	uint64_t member = sp_bytes_block(b, SP_BLOCK_MEMBER, sizeof(struct sp_member) + with->n_calls * 8ull);
	struct sp_member *p = sp_bytes_at(b, member);

	p->machine = with->machine;
	p->n_calls = with->n_calls;
	encode_calls(b, m, member, with);
	encode_header(b, m, member);
	encode_threads(b, m, member, with);
	sp_settled_end(b, member);
}
