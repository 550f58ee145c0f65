/* model.c: reads a store once, trusts nothing in it, and sums it up the tree. */
#include <string.h>

#include "../store/gauge.h"
#include "../store/readings.h"
#include "core-kinds.h"
#include "gauges.h"
#include "intervals.h"
#include "../sys.h"

#define NOTES_MOST 1024
#define CPUS_MOST 65536			/* highest number of a CPU, plus one */
#define COMPONENTS_MOST (1ull << 24)	/* of all machines of a merged store */
#define SUMS_MOST (1ull << 27)		/* components x events; a store that claims more is damaged */

/* ---- memory ----------------------------------------------------------- */

static void *take(struct sp_model *m, uint64_t bytes)
{
	void *p = (char *)m->memory + m->memory_used;

	bytes = sp_align(bytes, 16);
	if (bytes > m->memory_bytes - m->memory_used)
		return NULL;
	m->memory_used += bytes;
	return p;
}

/* ---- blocks ----------------------------------------------------------- */

/* No list has more links than the store has room for blocks. */
static uint64_t most_blocks(const struct sp_model *m)
{
	return m->h.used / 64 + 1;
}

static bool spend(uint64_t *left)
{
	return *left && (*left)--;
}

/* All of its relations are settled: the cells hold everything. */
static bool is_merged(const struct sp_model *m)
{
	return m->h.members != 0;
}

static const struct sp_thread *thread_at(const struct sp_model *m, sp_off off)
{
	return sp_image_block(m->image, off, SP_BLOCK_THREAD,
			      is_merged(m) ? offsetof(struct sp_thread, calls) : sizeof(struct sp_thread));
}

static const struct sp_relation *relation_at(const struct sp_model *m, sp_off off)
{
	const struct sp_relation *r = sp_image_block(m->image, off, SP_BLOCK_RELATION, sizeof(*r));
	uint32_t k, cells;

	if (!r)
		return NULL;
	k = r->k;
	cells = r->cells;
	if (!k || k > SP_EVENTS_MAX || cells > (1u << 20) || (cells < SP_CELLS_EXTRA && !is_merged(m)) ||
	    (is_merged(m) ? sp_settled_layout(k, cells) : sp_relation_layout(k, cells)).bytes > r->b.bytes)
		return NULL;
	for (uint32_t e = 0; e < k; e++)
		if (((const uint32_t *)(r + 1))[e] >= m->n_events)
			return NULL;
	return r;
}

static const struct sp_event *event_at(const struct sp_model *m, sp_off off)
{
	return sp_image_block(m->image, off, SP_BLOCK_EVENT, sizeof(struct sp_event));
}

/* Where a list begins: of a torn file, with the newest block that is in it. */
static sp_off head(const struct sp_model *m, sp_off newest, sp_off kept, uint32_t kind)
{
	return m->h.torn && !sp_image_block(m->image, newest, kind, sizeof(struct sp_block)) ? kept : newest;
}

static sp_off events_head(const struct sp_model *m)
{
	return head(m, m->h.events, m->h.kept_events, SP_BLOCK_EVENT);
}

static sp_off threads_head(const struct sp_model *m, uint32_t process)
{
	const struct sp_header *h = m->process[process].h;

	return is_merged(m) ? h->threads : head(m, m->h.threads, m->h.kept_threads, SP_BLOCK_THREAD);
}

static sp_off relations_head(const struct sp_model *m, const struct sp_thread *t)
{
	return head(m, sp_acquire(&t->relations), t->kept, SP_BLOCK_RELATION);
}

static sp_off notes_head(const struct sp_model *m)
{
	return head(m, m->h.notes, m->h.kept_notes, SP_BLOCK_NOTE);
}

/* ---- one relation ----------------------------------------------------- */

/* A CPU of a row, as sp_model_next leaves it in row->values: this head, then
 * total[k] exact[k] entry[k]. */
struct cell_record {
	int64_t cpu, readings, ns;
	bool has_entry, has_kept, is_latest;
	int64_t at[];
};

static uint64_t record_bytes(uint32_t k)
{
	return sizeof(struct cell_record) + (uint64_t)SP_CELL_ARRAYS * k * 8;
}

static struct cell_record *record(const struct sp_row *row, uint64_t i)
{
	return (struct cell_record *)((char *)row->values + i * record_bytes(row->k));
}

static const struct sp_state *state_of(const struct sp_relation *r, uint32_t k, uint32_t cells)
{
	return (const struct sp_state *)((const char *)r +
					 sp_relation_layout(k, cells).state[sp_acquire(&r->turn) & 1]);
}

/* Words that their owner may be writing: no tearing, no order. */
static void copy_words(int64_t *to, const int64_t *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		to[i] = sp_get(&from[i]);
}

/* What the side ledger adds, if the state does not include it yet. */
static void add_side(struct cell_record *c, const struct sp_side *d, const struct sp_state *s, uint32_t k)
{
	uint32_t f = d->flags;
	const int64_t *y0 = d->at + SP_Y0 * k, *done = d->at + SP_ADD * k, *run = d->at + SP_RUN * k;

	for (uint32_t e = 0; e < k; e++)
		c->at[SP_TOTAL * k + e] += (f & SP_SIDE_Y0 ? y0[e] - s->at[e] : 0) +
					   (f & SP_SIDE_ZEROED ? (f & SP_SIDE_LAST ? run[e] : done[e]) : 0);
	c->readings += (int64_t)d->readings;
}

/* That of the application's last reading. */
static int latest_cell(const struct sp_state *s)
{
	uint32_t away = s->flags >> SP_STATE_AWAY_SHIFT;

	return away ? (int)away - 1 : s->cell;
}

static void read_cell(struct cell_record *c, const struct sp_cell *from, const struct sp_state *s, int i, uint32_t k)
{
	const int64_t *a = s->at;

	c->cpu = from->cpu;
	c->has_kept = (from->used & SP_CELL_KEPT) != 0;
	c->is_latest = (s->flags & SP_STATE_PERMANENT) && i == latest_cell(s);
	c->ns = (int64_t)s->ns;		/* all temporary entries take the time of the latest reading (A2, A4) */
	if (i == s->cell) {
		c->readings = (int64_t)s->readings;
		c->has_entry = (s->flags & SP_STATE_ENTRY) != 0;
		for (uint32_t e = 0; e < k; e++) {
			c->at[SP_TOTAL * k + e] = a[SP_LAST * k + e] + a[SP_OFF * k + e];
			c->at[SP_EXACT * k + e] = a[SP_LAST * k + e] + a[SP_XOFF * k + e];
			c->at[SP_ENTRY * k + e] = a[SP_LAST * k + e] + a[SP_EOFF * k + e];
		}
	} else if (i == s->jcell) {
		c->readings = (int64_t)s->jreadings;
		c->has_entry = s->jepoch == s->epoch;
		copy_words(c->at, a + SP_JTOTAL * k, 3 * (uint64_t)k);
	} else {
		c->readings = (int64_t)sp_get(&from->readings);
		c->has_entry = from->epoch == s->epoch;
		copy_words(c->at, from->at, 3 * (uint64_t)k);
	}
}

/* A split window and a reading that sspapi took itself leave counts where no reading was. */
static bool has_counts(const struct cell_record *c, uint32_t k)
{
	for (uint32_t e = 0; e < k; e++)
		if (c->at[SP_TOTAL * k + e])
			return true;
	return false;
}

static bool is_apart(const struct sp_event *v)
{
	return v && (v->data_type == SP_FP64 || v->kind == SP_GAUGE);
}

/* Floating-point counters are kept beside the cells; gauges have no sum. */
static void read_floating(const struct sp_model *m, const struct sp_row *row, struct cell_record *c, uint32_t cell)
{
	for (uint32_t e = 0; e < row->k; e++) {
		const struct sp_event *v = m->event[row->event[e]];
		int64_t *total = &c->at[SP_TOTAL * row->k + e], *exact = &c->at[SP_EXACT * row->k + e];

		if (is_apart(v) && (v->kind == SP_GAUGE || !sp_row_floating(row, e, cell, total, exact)))
			*total = *exact = 0;
	}
}

/* One pass over the cells; what was booked nowhere is left out. */
static void read_cells(struct sp_model *m, struct sp_row *row, const struct sp_relation *r, const struct sp_state *s)
{
	struct sp_layout l = sp_relation_layout(row->k, r->cells);
	const struct sp_side *d = (const struct sp_side *)((const char *)r + l.side);
	bool aside = (d->flags & SP_SIDE_ACTIVE) && d->number != s->side;
	uint32_t k = row->k;

	row->cells = 0;
	row->readings = 0;
	for (uint32_t i = 0; i < r->cells; i++)
		m->row_of[i] = -1;
	row->latest_ns = s->ns;
	row->latest_cpu = SP_NO_CPU;
	row->latest_away = s->flags >> SP_STATE_AWAY_SHIFT != 0;
	for (uint32_t i = 0; i < r->cells; i++) {
		const struct sp_cell *from = (const struct sp_cell *)((const char *)r + l.cell + i * l.cell_bytes);
		struct cell_record *c = record(row, row->cells);

		if (i >= r->cells - SP_CELLS_EXTRA)
			row->extra_cpu[i - (r->cells - SP_CELLS_EXTRA)] = from->cpu;
		if (!from->used)
			continue;
		read_cell(c, from, s, (int)i, k);
		if (aside && d->cell == (int)i)
			add_side(c, d, s, k);
		if (row->floating)
			read_floating(m, row, c, i);
		if (r->flags & SP_RELATION_PROVEN)
			memcpy(c->at + SP_EXACT * k, c->at + SP_TOTAL * k, k * 8);
		if (!c->readings && !has_counts(c, k))
			continue;
		if ((int)i == latest_cell(s))
			row->latest_cpu = (int32_t)c->cpu;
		row->readings += (uint64_t)c->readings;
		m->row_of[i] = (int32_t)row->cells;
		row->cell_of[row->cells] = row->cells;
		row->cells++;
	}
}

/* Of a merged store: nothing but cells, and nobody writes there. */
static void read_settled(struct sp_model *m, struct sp_row *row, const struct sp_relation *r)
{
	struct sp_layout l = sp_settled_layout(row->k, r->cells);
	uint32_t k = row->k;

	row->cells = 0;
	row->readings = 0;
	for (uint32_t i = 0; i < r->cells; i++) {
		const struct sp_cell *from = (const struct sp_cell *)((const char *)r + l.cell + i * l.cell_bytes);
		struct cell_record *c = record(row, row->cells);

		m->row_of[i] = from->used ? (int32_t)row->cells : -1;
		if (!from->used)
			continue;
		c->cpu = from->cpu;
		c->readings = (int64_t)from->readings;
		c->has_entry = from->epoch != 0;
		c->has_kept = (from->used & SP_CELL_KEPT) != 0;
		c->is_latest = false;
		c->ns = (int64_t)from->ns;
		memcpy(c->at, from->at, SP_CELL_ARRAYS * (uint64_t)k * 8);
		row->readings += from->readings;
		row->cell_of[row->cells] = row->cells;
		row->cells++;
	}
}

static void sort_cells(struct sp_row *row)
{
	/* Dense CPUs come in order; the few others are put into theirs. */
	for (uint32_t i = 1; i < row->cells; i++) {
		uint64_t c = row->cell_of[i];
		uint32_t j = i;

		for (; j && (uint64_t)record(row, row->cell_of[j - 1])->cpu > (uint64_t)record(row, c)->cpu; j--)
			row->cell_of[j] = row->cell_of[j - 1];
		row->cell_of[j] = c;
	}
}

static sp_off readings_head(const struct sp_model *m, const struct sp_relation *r)
{
	return head(m, r->readings, r->kept, SP_BLOCK_READINGS);
}

/* The chunk before `c`: one less in number. */
static const struct sp_chunk *chunk_before(const struct sp_model *m, const struct sp_chunk *c, uint32_t k)
{
	const struct sp_chunk *p = sp_store_readings_at(m->image, c->next);

	return p && p->number + 1 == c->number && p->k == k ? p : NULL;
}

/* Chunks of readings, oldest first.  What was made since they were counted is left out. */
static void read_chunks(const struct sp_model *m, struct sp_row *row, const struct sp_relation *r)
{
	const struct sp_chunk *c = sp_store_readings_at(m->image, readings_head(m, r));
	uint32_t n = 0;

	row->chunks = row->last_chunk = 0;
	row->kept = 0;
	row->refused = r->refused;
	if (!m->most_chunks)
		return;
	while (c && c->k == row->k && c->number >= m->most_chunks)
		c = chunk_before(m, c, row->k);
	if (!c || c->k != row->k)
		return;
	row->last_chunk = sp_readings_complete(c);
	row->kept = row->last_chunk;
	for (const struct sp_chunk *p = c; p; p = chunk_before(m, p, row->k), n++)
		m->chunk[p->number] = p;
	row->chunks = n;
	if (n != c->number + 1)		/* the oldest cannot be read */
		memmove(m->chunk, m->chunk + c->number + 1 - n, n * sizeof(*m->chunk));
	for (uint32_t i = 0; i + 1 < n; i++)
		row->kept += sp_readings_complete(m->chunk[i]);
}

bool sp_row_kept(const struct sp_model *m, const struct sp_row *row, struct sp_kept *at)
{
	const struct sp_reading *r;

	for (; at->chunk < row->chunks; at->chunk++, at->i = 0) {
		const struct sp_chunk *c = m->chunk[at->chunk];

		if (!at->i)
			at->n = at->chunk + 1 == row->chunks ? row->last_chunk : sp_readings_complete(c);
		if (at->i >= at->n)
			continue;
		r = sp_reading_at(c, at->i++);
		at->ns = r->ns;
		at->cpu = r->cpu;
		at->value = r->value;
		return true;
	}
	return false;
}

/* Views read the block at any time: all of it must be inside the store. */
static bool index_is_sound(const uint32_t *index, uint32_t n, uint32_t k)
{
	for (uint32_t i = 0; i < n; i++)
		if (index[i] >= k || (i && index[i] <= index[i - 1]))
			return false;
	return true;
}

static void open_gauges(const struct sp_model *m, struct sp_row *row, sp_off block, uint32_t cells)
{
	const struct sp_gauges *g = sp_image_block(m->image, block, SP_BLOCK_GAUGES, sizeof(*g));
	uint32_t n = g ? sp_get(&g->n) : 0, c = g ? sp_get(&g->cells) : 0;

	row->gauge = NULL;
	row->n_gauges = 0;
	if (!n || n > row->k || !c || (!is_merged(m) && c != 1 && c != cells))
		return;
	if (!sp_image_at(m->image, block, sp_gauges_bytes(n, c)) || !index_is_sound((const uint32_t *)(g + 1), n, row->k))
		return;
	row->gauge_index = (const uint32_t *)(g + 1);
	row->gauge = sp_gauges_at(g, n);
	row->n_gauges = n;
	row->gauge_cells = c;
	row->relation_cells = is_merged(m) ? 0 : cells;
}

static const int64_t *total_of(const struct sp_row *row, uint32_t i, uint64_t *readings)
{
	const struct cell_record *c = record(row, i);

	*readings = (uint64_t)c->readings;
	return c->at;
}

static void read_relation(struct sp_model *m, struct sp_row *row, const struct sp_thread *t,
			  const struct sp_relation *r)
{
	struct sp_row_cells cells = { r->cells, m->row_of, total_of };

	row->event_set = r->event_set;
	row->tid = t->tid;
	row->thread = memchr(t->name, 0, sizeof(t->name)) ? t->name : "";
	row->target = r->target <= SP_TARGET_TID ? (enum sp_target)r->target : SP_TARGET_THREAD;
	row->target_id = r->target_id;
	row->scope = r->scope <= SP_SCOPE_DEVICE ? (enum sp_scope)r->scope : SP_SCOPE_HOST;
	row->flags = r->flags & ~SP_RELATION_HELD;	/* of that moment only */
	row->threads = r->threads;
	row->domain = r->domain;
	row->k = r->k;
	row->event = (const uint32_t *)(r + 1);
	row->starts = r->starts;
	row->resets = r->resets;
	row->first_ns = r->first_ns;
	row->last_ns = r->last_ns;
	open_gauges(m, row, r->gauges, sp_get(&r->cells));
	row->place = NULL;
	row->all_entries = m->process[row->process].h->version >= 2;
	row->floating = false;
	for (uint32_t e = 0; e < row->k; e++)
		row->floating = row->floating || is_apart(m->event[row->event[e]]);
	for (uint32_t e = 0; e < row->k && m->row_place; e++) {
		m->row_place[e] = sp_find_place(m, row, e);
		if (m->row_place[e] >= 0)
			row->place = m->row_place;
	}
	/* Its thread may go on booking while we read: again until nothing turned. */
	row->intervals = 0;
	if (is_merged(m)) {
		read_settled(m, row, r);
		sp_intervals_read(m, row, r, &cells);
	}
	for (int tries = 0; tries < 64 && !is_merged(m); tries++) {
		uint64_t turn = sp_acquire(&r->turn);

		read_cells(m, row, r, state_of(r, row->k, r->cells));
		sp_intervals_read(m, row, r, &cells);
		if (sp_acquire(&r->turn) == turn)
			break;
	}
	sort_cells(row);
}

/* Is r included in a relation of the folded threads already? */
static bool is_folded(const struct sp_model *m, sp_off off)
{
	for (uint32_t i = 0; i < m->n_including; i++)
		if (m->including[i] == off)
			return true;
	return false;
}

bool sp_model_next(struct sp_model *m, struct sp_row *row)
{
	while (row->index < m->n_places) {
		const struct sp_place *p = &m->place[row->index++];
		const struct sp_thread *t = thread_at(m, p->thread);
		const struct sp_relation *r = relation_at(m, p->relation);

		/* Blocks that were whole a moment ago, unless somebody writes there. */
		if (!t || !r || r->k > m->most_k || r->cells > m->most_cells || is_folded(m, p->relation))
			continue;
		row->cell_of = m->row_cell_of;
		row->values = m->row_values;
		row->process = (uint32_t)p->process;
		row->thread_at = p->thread;
		row->interval_values = m->row_intervals;
		read_relation(m, row, t, r);
		read_chunks(m, row, r);
		row->id = row->given++;
		return true;
	}
	return false;
}

bool sp_row_cell(struct sp_model *m, struct sp_row *row, uint32_t i, struct sp_at_cpu *at)
{
	if (i >= row->cells)
		return false;
	sp_row_record(m, row, (uint32_t)row->cell_of[i], at);
	return true;
}

void sp_row_record(struct sp_model *m, const struct sp_row *row, uint32_t i, struct sp_at_cpu *at)
{
	const struct sp_model_machine *on = &m->machine[m->process[row->process].machine];
	struct cell_record *c = record(row, i);

	at->cpu = (int32_t)c->cpu;
	at->component = at->cpu >= 0 && (uint32_t)at->cpu < on->n_cpus ? on->cpu_component[at->cpu] : -1;
	at->readings = (uint64_t)c->readings;
	at->total = c->at + SP_TOTAL * row->k;
	at->exact = c->at + SP_EXACT * row->k;
	at->entry = c->at + SP_ENTRY * row->k;
	at->has_entry = c->has_entry;
	at->has_kept = c->has_kept;
	at->is_latest = c->is_latest;
	at->entry_ns = (uint64_t)c->ns;
}

/* ---- opening ---------------------------------------------------------- */

static int check_header(struct sp_model *m)
{
	const struct sp_header *h = sp_image_at(m->image, 0, 64);

	if (!h || memcmp(h->magic, SP_MAGIC, 8) != 0 || h->endian != SP_ENDIAN)
		return -EINVAL;
	if (h->oldest_reader > SP_FORMAT_VERSION)
		return -EPROTO;
	/* A header of a later minor form is longer, of an earlier one shorter. */
	if (h->bytes < 64 || !sp_image_at(m->image, 0, h->bytes))
		return -EINVAL;
	memcpy(&m->h, h, sp_min(h->bytes, sizeof(m->h)));
	return 0;
}

static void count_chunks(struct sp_model *m, const struct sp_relation *r)
{
	const struct sp_chunk *c = sp_store_readings_at(m->image, readings_head(m, r));

	if (c && c->k == r->k && c->number < UINT32_MAX)
		m->most_chunks = (uint32_t)sp_max(m->most_chunks, c->number + 1);
	else if (r->readings)
		m->damaged++;
}

/* A topology whose components are all there; NULL. */
static const struct sp_topology *topology_at(const struct sp_model *m, sp_off off)
{
	const struct sp_topology *p = sp_image_block(m->image, off, SP_BLOCK_TOPOLOGY, sizeof(*p));

	return p && p->n <= (p->b.bytes - sizeof(*p)) / sizeof(struct sp_component) ? p : NULL;
}

static const struct sp_machine *machine_at(const struct sp_model *m, sp_off off)
{
	return sp_image_block(m->image, off, SP_BLOCK_MACHINE, sizeof(struct sp_machine));
}

static const struct sp_member *member_at(const struct sp_model *m, sp_off off)
{
	const struct sp_member *p = sp_image_block(m->image, off, SP_BLOCK_MEMBER, sizeof(*p));

	return p && p->h.bytes >= sizeof(p->h) && !(p->h.bytes & 7) && p->h.bytes <= p->b.bytes - offsetof(struct sp_member, h) &&
	       p->n_calls <= (p->b.bytes - offsetof(struct sp_member, h) - p->h.bytes) / 8 ? p : NULL;
}

static bool is_pu(const struct sp_component *c)
{
	return strncmp(c->type, "PU", sizeof(c->type)) == 0 && c->os_index >= 0 && c->os_index < CPUS_MOST;
}

/* How much of everything there is, so that one mapping holds it all. */
struct amounts {
	uint64_t components, cpus;
};

static void count_topology(struct sp_model *m, struct amounts *n, sp_off off)
{
	const struct sp_topology *p = topology_at(m, off);
	int32_t top = -1;

	if (off && !p)
		m->damaged++;
	for (uint32_t i = 0; p && i < p->n; i++)
		if (is_pu(&p->at[i]))
			top = top > p->at[i].os_index ? top : p->at[i].os_index;
	n->components += p ? p->n : 0;
	n->cpus += (uint64_t)(top + 1);
}

static void count_machines(struct sp_model *m, struct amounts *n)
{
	uint64_t left = most_blocks(m);
	const struct sp_machine *on;

	for (sp_off off = m->h.machines; off && spend(&left); off = on->next) {
		on = machine_at(m, off);
		if (!on) {
			m->damaged++;
			break;
		}
		m->n_machines++;
		if (n->components > COMPONENTS_MOST)
			break;
		n->components++;	/* one that has no topology stands for itself; and the root */
		count_topology(m, n, on->topology);
	}
	n->components++;
	if (!m->n_machines) {
		m->n_machines = 1;
		count_topology(m, n, m->h.topology);
	}
}

static void count_threads(struct sp_model *m, sp_off newest, uint64_t *left)
{
	const struct sp_thread *t;

	for (sp_off off = newest; off && spend(left); off = t->next) {
		const struct sp_relation *r;

		t = thread_at(m, off);
		if (!t) {
			m->damaged++;
			break;
		}
		if (!is_merged(m))
			m->n_threads += (uint32_t)sp_min(t->threads, UINT32_MAX - m->n_threads);
		for (sp_off at = relations_head(m, t); at && spend(left); at = r->next) {
			r = relation_at(m, at);
			if (!r) {
				m->damaged++;
				break;
			}
			m->n_places++;
			m->most_k = (uint32_t)sp_max(m->most_k, r->k);
			m->most_cells = (uint32_t)sp_max(m->most_cells, r->cells);
			count_chunks(m, r);
			m->most_intervals = (uint32_t)sp_max(m->most_intervals, sp_intervals_room(m->image, r->intervals, r->k));
		}
	}
	m->most_chunks = (uint32_t)sp_min(m->most_chunks, most_blocks(m));
}

/* What one row at a time needs, of any relation. */
static uint64_t row_bytes(const struct sp_model *m)
{
	return m->most_chunks * sizeof(void *) + (uint64_t)m->most_cells * (8 + record_bytes(m->most_k)) +
	       record_bytes(m->most_k) +
	       ((uint64_t)m->most_intervals + m->most_cells + 1) * sp_interval_record_bytes(m->most_k) +
	       m->most_cells * sizeof(int32_t);
}

static int take_row(struct sp_model *m)
{
	m->chunk = take(m, m->most_chunks * sizeof(void *));
	m->row_of = take(m, m->most_cells * sizeof(int32_t));
	m->row_intervals = take(m, ((uint64_t)m->most_intervals + m->most_cells + 1) * sp_interval_record_bytes(m->most_k));
	m->row_cell_of = take(m, (uint64_t)m->most_cells * 8);
	/* one more than there are cells: an empty one is decoded, then left out */
	m->row_values = take(m, (uint64_t)(m->most_cells + 1) * record_bytes(m->most_k));
	return m->row_values ? 0 : -ENOMEM;
}

static void count_members(struct sp_model *m)
{
	uint64_t left = most_blocks(m);
	const struct sp_member *p;

	for (sp_off off = m->h.members; off && spend(&left); off = p->next) {
		p = member_at(m, off);
		if (!p) {
			m->damaged++;
			break;
		}
		m->n_processes++;
		m->n_threads += (uint32_t)sp_min(p->h.n_threads, UINT32_MAX - m->n_threads);
		count_threads(m, p->h.threads, &left);
	}
}

static void count(struct sp_model *m, struct amounts *n)
{
	uint64_t left = most_blocks(m);
	const struct sp_event *v;

	for (sp_off off = events_head(m); off && spend(&left); off = v->next) {
		v = event_at(m, off);
		if (!v) {
			m->damaged++;
			break;
		}
		m->n_events = (uint32_t)sp_max(m->n_events, v->id < m->h.n_events ? v->id + 1 : 0);
	}
	m->n_events = (uint32_t)sp_min(m->n_events, most_blocks(m));
	if (is_merged(m)) {
		count_members(m);
	} else {
		m->n_processes = 1;
		left = most_blocks(m);
		count_threads(m, head(m, m->h.threads, m->h.kept_threads, SP_BLOCK_THREAD), &left);
	}
	count_machines(m, n);
}

static uint64_t count_gauges(const struct sp_model *m)
{
	uint64_t left = most_blocks(m), n = 0;
	const struct sp_event *v;

	for (sp_off off = events_head(m); off && spend(&left) && (v = event_at(m, off)); off = v->next)
		n += v->kind == SP_GAUGE;
	return sp_min(n, m->n_events);
}

static int allocate(struct sp_model *m, const struct amounts *n)
{
	uint64_t nc = n->components, ne = m->n_events, ng = count_gauges(m);

	if (nc > COMPONENTS_MOST || (nc + 1) * (ne + 1 + ng * sizeof(struct sp_gauge_sum) / 8) > SUMS_MOST)
		return -EINVAL;
	m->n_gauges = (uint32_t)ng;
	m->memory_bytes = ne * 5 + (nc + 1) * ng * sizeof(struct sp_gauge_sum) + (uint64_t)m->most_k * 4 +
			  nc * sizeof(struct sp_component) + ne * sizeof(void *) + 2 * nc * ne * 8 + 3 * nc + 4 * ne * 8 +
			  2 * SP_KINDS_MOST * ne * 8 +
			  m->n_processes * sizeof(*m->process) + m->n_machines * sizeof(*m->machine) +
			  m->n_places * sizeof(struct sp_place) + n->cpus * sizeof(int32_t) + m->n_machines * 16ull +
			  row_bytes(m) + 4096;
	m->memory = sp_map(m->memory_bytes);
	if (!m->memory)
		return -ENOMEM;
	m->component = take(m, nc * sizeof(struct sp_component));
	m->event = take(m, ne * sizeof(void *));
	m->sum = take(m, nc * ne * 8);
	m->exact = take(m, nc * ne * 8);
	m->counted = take(m, nc);
	m->kind_of = take(m, nc);
	m->kinds_below = take(m, nc);
	for (uint32_t i = 0; i < SP_KINDS_MOST; i++) {
		m->kind[i].sum = take(m, ne * 8);
		m->kind[i].exact = take(m, ne * 8);
	}
	m->total = take(m, ne * 8);
	m->total_exact = take(m, ne * 8);
	m->unplaced = take(m, ne * 8);
	m->event_counted = take(m, ne);
	m->event_placed = take(m, ne);
	m->gauge_of = take(m, ne * sizeof(*m->gauge_of));
	m->gauge_sum = take(m, (nc + 1) * ng * sizeof(*m->gauge_sum));
	m->row_place = take(m, (uint64_t)m->most_k * sizeof(*m->row_place));
	m->process = take(m, m->n_processes * sizeof(*m->process));
	m->machine = take(m, m->n_machines * sizeof(*m->machine));
	m->place = take(m, m->n_places * sizeof(struct sp_place));
	return take_row(m);
}

/* ---- topologies --------------------------------------------------------- */

static void index_cpus(struct sp_model *m, struct sp_model_machine *on, uint32_t from)
{
	for (uint32_t i = from; i < m->n_components; i++)
		if (is_pu(&m->component[i]))
			on->n_cpus = (uint32_t)sp_max(on->n_cpus, m->component[i].os_index + 1);
	on->cpu_component = take(m, on->n_cpus * sizeof(int32_t));
	if (!on->cpu_component)
		on->n_cpus = 0;
	for (uint32_t i = 0; i < on->n_cpus; i++)
		on->cpu_component[i] = -1;
	for (uint32_t i = from; on->n_cpus && i < m->n_components; i++)
		if (is_pu(&m->component[i]))
			on->cpu_component[m->component[i].os_index] = (int32_t)i;
}

/* Puts the tree behind the components that are there: alone, or below the root. */
static void add_tree(struct sp_model *m, struct sp_model_machine *on, const struct sp_topology *p)
{
	struct sp_component *c = (struct sp_component *)m->component + m->n_components;
	uint32_t from = m->n_components, n = p ? p->n : 0;
	bool below = from > 0;

	on->root = n || below ? (int32_t)from : -1;
	for (uint32_t i = 0; i < n; i++) {
		c[i] = p->at[i];
		c[i].type[sizeof(c[i].type) - 1] = 0;
		c[i].name[sizeof(c[i].name) - 1] = 0;
		if (c[i].parent >= (int32_t)i || (i && c[i].parent < 0)) {
			m->damaged++;
			c[i].parent = i ? 0 : -1;
		}
		c[i].parent += below ? (int32_t)from : 0;
		c[i].depth = (uint32_t)sp_min(c[i].depth, 64) + below;
	}
	if (below && !n) {
		c[0] = (struct sp_component){ .os_index = -1, .cpu_kind = -1, .depth = 1, .type = "Machine" };
		n = 1;
	}
	m->n_components += n;
	index_cpus(m, on, from);
	sp_kinds_index(m, p ? sp_topology_kinds(p) : NULL, from);
}

static void name_machine(struct sp_model *m, uint32_t i)
{
	struct sp_component *c = (struct sp_component *)&m->component[m->machine[i].root];
	const char *host = m->machine[i].host;

	c->parent = 0;
	c->logical_index = (int32_t)i;
	memset(c->name, 0, sizeof(c->name));
	memcpy(c->name, host, sp_min(strlen(host), sizeof(c->name) - 1));
}

static void disallow(struct sp_model *m, const struct sp_machine *on, uint32_t root)
{
	struct sp_component *c = (struct sp_component *)m->component + root;
	uint64_t words = (on->b.bytes - sizeof(*on)) / 8;

	for (uint32_t i = 0; i < m->n_components - root && i / 64 < words; i++)
		if (on->disallowed[i / 64] >> i % 64 & 1)
			c[i].flags |= SP_COMPONENT_DISALLOWED;
}

static void take_source(struct sp_model *m, const struct sp_topology *p, bool first)
{
	const char *source = p ? sp_model_text(m, p->source) : "";
	uint64_t room;

	m->topology_source = first || strcmp(source, m->topology_source) == 0 ? source : "merged";
	if (!p || m->n_machines > 1 || !p->n)
		return;
	room = p->b.bytes - sizeof(*p) - (uint64_t)p->n * sizeof(struct sp_component);
	if (p->xml_bytes && p->xml_bytes <= room) {
		m->xml = (const char *)(p->at + p->n);
		m->xml_bytes = p->xml_bytes;
	}
}

static void index_topology(struct sp_model *m)
{
	const struct sp_topology *p = topology_at(m, m->h.topology);
	const struct sp_machine *on;
	uint32_t n = 0;

	if (!m->h.machines) {
		m->machine[0].host = sp_model_text(m, m->h.host);
		take_source(m, p, true);
		add_tree(m, &m->machine[0], p);
		return;
	}
	if (m->n_machines > 1) {
		((struct sp_component *)m->component)[0] =
			(struct sp_component){ .parent = -1, .os_index = -1, .cpu_kind = -1, .type = "Job" };
		m->n_components = 1;
	}
	for (sp_off off = m->h.machines; n < m->n_machines && (on = machine_at(m, off)); off = on->next, n++) {
		uint32_t root = m->n_components;

		p = topology_at(m, on->topology);
		take_source(m, p, n == 0);
		m->machine[n].host = sp_model_text(m, on->host);
		add_tree(m, &m->machine[n], p);
		disallow(m, on, root);
		if (m->n_machines > 1)
			name_machine(m, n);
	}
}

/* ---- lists --------------------------------------------------------------- */

static void index_threads(struct sp_model *m, uint32_t process, uint64_t *n, uint64_t *left)
{
	const struct sp_thread *t;

	for (sp_off off = threads_head(m, process); off && spend(left) && (t = thread_at(m, off)); off = t->next) {
		const struct sp_relation *r;

		for (uint32_t i = 0; i < SP_CALLS_MAX && !is_merged(m); i++)
			m->calls[i] += sp_get(&t->calls[i]);
		for (sp_off at = relations_head(m, t); at && *n && spend(left) && (r = relation_at(m, at)); at = r->next) {
			m->place[--*n] = (struct sp_place){ off, at, process };
			if (r->folded && m->n_including < SP_COUNT(m->including))
				m->including[m->n_including++] = r->folded;
		}
	}
}

static void index_members(struct sp_model *m)
{
	const struct sp_member *p;
	uint32_t n = 0;

	if (!is_merged(m)) {
		m->process[0] = (struct sp_model_process){ .h = &m->h };
		return;
	}
	for (sp_off off = m->h.members; n < m->n_processes && (p = member_at(m, off)); off = p->next, n++) {
		m->process[n].h = &p->h;
		m->process[n].machine = p->machine < m->n_machines ? p->machine : 0;
		for (uint32_t i = 0; i < p->n_calls && i < SP_CALLS_MAX; i++)
			m->calls[i] += ((const uint64_t *)((const char *)&p->h + p->h.bytes))[i];
	}
	m->n_processes = n;
}

static void index_events(struct sp_model *m)
{
	uint64_t left = most_blocks(m);
	const struct sp_event *v;

	for (sp_off off = events_head(m); off && spend(&left) && (v = event_at(m, off)); off = v->next)
		if (v->id < m->n_events)
			m->event[v->id] = v;
}

static void index_lists(struct sp_model *m)
{
	uint64_t left, n = m->n_places;

	index_events(m);
	for (uint32_t e = 0, gauges = 0; e < m->n_events; e++)
		m->gauge_of[e] = m->event[e] && m->event[e]->kind == SP_GAUGE ? gauges++ : UINT32_MAX;
	index_members(m);
	left = most_blocks(m);
	for (uint32_t p = m->n_processes; p-- > 0;)
		index_threads(m, p, &n, &left);
	/* A list that changed meanwhile: the front of the array is not filled. */
	m->place += n;
	m->n_places -= n;
}

/* ---- sums ------------------------------------------------------------- */

/* Sums of floating-point events are kept as their bits. */
static int64_t plus(const struct sp_event *v, int64_t a, int64_t b)
{
	double d;

	if (!v || v->data_type != SP_FP64)
		return a + b;
	d = sp_value_double(SP_FP64, a) + sp_value_double(SP_FP64, b);
	memcpy(&a, &d, sizeof(a));
	return a;
}

/* At component c; memory stands beside the tree, so that its counts go into the tree, too. */
static void add_at(struct sp_model *m, int32_t c, uint32_t e, int64_t total, int64_t exact)
{
	bool more = true;

	for (; more && c >= 0; c = m->component[c].parent) {
		uint64_t at = (uint64_t)c * m->n_events + e;

		m->sum[at] = plus(m->event[e], m->sum[at], total);
		m->exact[at] = plus(m->event[e], m->exact[at], exact);
		m->counted[c] = true;
		more = m->component[c].flags & SP_COMPONENT_MEMORY;
	}
}

static void add_outside(struct sp_model *m, int32_t cpu)
{
	uint32_t i = 0;

	while (i < m->n_outside && m->outside[i] != cpu)
		i++;
	if (i == m->n_outside && i < SP_OUTSIDE_MOST)
		m->outside[m->n_outside++] = cpu;
}

static void add_cell(struct sp_model *m, const struct sp_row *row, const struct sp_at_cpu *at)
{
	int32_t kind = sp_kind_of(m, at->component);

	for (uint32_t i = 0; i < row->k; i++) {
		uint32_t e = row->event[i];
		const struct sp_event *v = m->event[e];
		int32_t place = sp_row_place(row, i), c = place >= 0 ? place : at->component;

		if (!v || v->kind != SP_COUNTER)
			continue;
		m->event_placed[e] = m->event_placed[e] || place >= 0;
		m->total[e] = plus(v, m->total[e], at->total[i]);
		m->total_exact[e] = plus(v, m->total_exact[e], at->exact[i]);
		if (c < 0)
			m->unplaced[e] = plus(v, m->unplaced[e], at->total[i]);
		else
			add_at(m, c, e, at->total[i], at->exact[i]);
		if (kind >= 0 && c == at->component) {
			m->kind[kind].sum[e] = plus(v, m->kind[kind].sum[e], at->total[i]);
			m->kind[kind].exact[e] = plus(v, m->kind[kind].exact[e], at->exact[i]);
		}
	}
	if (kind >= 0) {
		m->kind[kind].readings += at->readings;
		m->kinds_below[at->component] = (uint8_t)(1u << kind);
	}
	if (at->component >= 0)
		m->counted[at->component] = true;
	else if (at->cpu >= 0)
		add_outside(m, at->cpu);
}

static void add_up(struct sp_model *m, int64_t *to, const int64_t *from)
{
	for (uint32_t e = 0; e < m->n_events; e++)
		to[e] = plus(m->event[e], to[e], from[e]);
}

/* But not what is counted in a package as a whole: that is no memory's. */
static void add_beside(struct sp_model *m, int64_t *to, const int64_t *from)
{
	for (uint32_t e = 0; e < m->n_events; e++)
		if (!m->event_placed[e])
			to[e] = plus(m->event[e], to[e], from[e]);
}

static void sum_tree(struct sp_model *m)
{
	uint64_t ne = m->n_events;

	for (uint32_t i = m->n_components; i-- > 1;) {
		uint32_t up = (uint32_t)m->component[i].parent;

		if ((m->component[i].flags & SP_COMPONENT_MEMORY) || !m->counted[i])
			continue;
		m->counted[up] = true;
		m->kinds_below[up] |= m->kinds_below[i];
		add_up(m, m->sum + up * ne, m->sum + i * ne);
		add_up(m, m->exact + up * ne, m->exact + i * ne);
	}
	/* Memory stands beside the tree: it sums what hangs from where it hangs. */
	for (uint32_t i = 1; i < m->n_components; i++) {
		uint32_t up = (uint32_t)m->component[i].parent;

		if (!(m->component[i].flags & SP_COMPONENT_MEMORY) || !m->counted[up])
			continue;
		m->counted[i] = true;
		m->kinds_below[i] = m->kinds_below[up];
		add_beside(m, m->sum + i * ne, m->sum + up * ne);
		add_beside(m, m->exact + i * ne, m->exact + up * ne);
	}
}

static void sum(struct sp_model *m)
{
	struct sp_row row = { 0 };
	struct sp_at_cpu at;

	while (sp_model_next(m, &row)) {
		m->n_relations++;
		m->readings += row.readings;
		m->kept += row.kept;
		m->refused += row.refused;
		m->starts += row.starts;
		for (uint32_t i = 0; i < row.k; i++)
			m->event_counted[row.event[i]] = true;
		for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++)
			add_cell(m, &row, &at);
		sp_add_gauges(m, &row);
	}
	sum_tree(m);
	for (uint32_t i = 0; i < m->n_components; i++) {
		bool counted = m->counted[i] && strcmp(m->component[i].type, "PU") == 0;
		int32_t kind = sp_kind_of(m, (int32_t)i);

		m->n_cpus_counted += counted;
		if (counted && kind >= 0)
			m->kind[kind].n_counted++;
	}
}

int sp_model_open(struct sp_model *m, const struct sp_image *image)
{
	struct amounts n = { 0 };
	int r;

	memset(m, 0, sizeof(*m));
	m->image = image;
	r = check_header(m);
	if (r < 0)
		return r;
	count(m, &n);
	r = allocate(m, &n);
	if (r < 0) {
		sp_model_close(m);
		return r;
	}
	index_topology(m);
	index_lists(m);
	sp_intervals_index(m);
	sum(m);
	return 0;
}

int sp_model_one(struct sp_model *m, const struct sp_image *image, sp_off relation, bool kept)
{
	const struct sp_relation *r;
	int error;

	memset(m, 0, sizeof(*m));
	m->image = image;
	error = check_header(m);
	if (error < 0)
		return error;
	m->n_events = m->h.n_events;
	m->h.callsites = 0;		/* its intervals are not asked for */
	r = relation_at(m, relation);
	if (!r)
		return -EINVAL;
	m->most_k = r->k;
	m->most_cells = r->cells;
	if (kept)
		count_chunks(m, r);
	m->memory_bytes = sizeof(*m->place) + sizeof(*m->process) + sizeof(*m->machine) + row_bytes(m) + 4096 +
			  m->n_events * sizeof(void *);
	m->memory = sp_map(m->memory_bytes);
	if (!m->memory)
		return -ENOMEM;
	memset(m->memory, 0, m->memory_bytes);
	m->place = take(m, sizeof(*m->place));
	*m->place = (struct sp_place){ .thread = r->thread, .relation = relation };
	m->n_places = 1;
	m->process = take(m, sizeof(*m->process));	/* a machine without CPUs: no component is told */
	m->process->h = &m->h;
	m->machine = take(m, sizeof(*m->machine));
	m->event = take(m, m->n_events * sizeof(void *));
	index_events(m);
	take_row(m);
	return 0;
}

void sp_model_close(struct sp_model *m)
{
	sp_unmap(m->memory, m->memory_bytes);
	m->memory = NULL;
}

/* ---- questions -------------------------------------------------------- */

const char *sp_model_text(const struct sp_model *m, sp_off off)
{
	return sp_image_text(m->image, off);
}

const char *sp_model_call_name(const struct sp_model *m, uint32_t i)
{
	return i < SP_CALLS_MAX ? sp_image_text_at(m->image, m->h.call_names, i) : NULL;
}

static const struct sp_note *note_at(const struct sp_model *m, sp_off off)
{
	const struct sp_note *note = sp_image_block(m->image, off, SP_BLOCK_NOTE, sizeof(*note) + 1);

	return note && memchr(note->text, 0, note->b.bytes - sizeof(*note)) ? note : NULL;
}

static const char *note_of(const struct sp_model *m, sp_off newest, uint32_t i)
{
	const struct sp_note *note = NULL;
	uint32_t n = 0;

	/* They stand newest first and are asked for oldest first. */
	for (sp_off off = newest; n < NOTES_MOST && (note = note_at(m, off)) != NULL; off = note->next)
		n++;
	if (i >= n)
		return NULL;
	for (sp_off off = newest; n > i; off = note->next, n--)
		note = note_at(m, off);
	return note->text;
}

const char *sp_model_note(const struct sp_model *m, uint32_t i)
{
	return note_of(m, notes_head(m), i);
}

const char *sp_model_note_of(const struct sp_model *m, uint32_t process, uint32_t i)
{
	return note_of(m, is_merged(m) ? m->process[process].h->notes : notes_head(m), i);
}

static int32_t memory_beside(const struct sp_model *m, int32_t c, const char *type)
{
	for (uint32_t i = (uint32_t)c + 1; i < m->n_components; i++)
		if ((m->component[i].flags & SP_COMPONENT_MEMORY) && m->component[i].parent == c &&
		    strcmp(m->component[i].type, type) == 0)
			return (int32_t)i;
	return -1;
}

int32_t sp_model_above(const struct sp_model *m, int32_t c, const char *type)
{
	bool memory = strcmp(type, "NUMANode") == 0;

	for (; c >= 0 && (uint32_t)c < m->n_components; c = m->component[c].parent) {
		int32_t beside = memory ? memory_beside(m, c, type) : -1;

		if (strcmp(m->component[c].type, type) == 0)
			return c;
		if (beside >= 0)
			return beside;
	}
	return -1;
}
