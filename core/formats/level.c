/* level.c: sums a model per CPU, core, cache, memory, package, machine, process, thread, event set
 * or call site. */
#include "../base/sort.h"
#include "../base/sys.h"
#include "../model/core-kinds.h"
#include "../model/repeats.h"
#include "level.h"
#include "format-text-words.h"

const struct sp_level sp_level_table[] = {
	{ "cpu", NULL, "CPU", "CPUs", "PU", SP_LEVEL_CPU, "CPU (hardware thread)" },
	{ "core", NULL, "core", "cores", "Core", SP_LEVEL_COMPONENT, "core" },
	{ "cache", NULL, "cache", "caches", NULL, SP_LEVEL_CACHE, "cache" },
	{ "numa", "node", "memory", "memories", "NUMANode", SP_LEVEL_COMPONENT, "NUMA node" },
	{ "package", "socket", "package", "packages", "Package", SP_LEVEL_COMPONENT, "package" },
	{ "machine", NULL, "machine", "machines", "Machine", SP_LEVEL_COMPONENT,
	  "machine (of a merged run: host)" },
	{ "process", NULL, "process", "processes", NULL, SP_LEVEL_PROCESS, "process" },
	{ "rank", NULL, "rank", "ranks", NULL, SP_LEVEL_RANK, "MPI rank" },
	{ "thread", NULL, "thread", "threads", NULL, SP_LEVEL_THREAD, "thread" },
	{ "set", NULL, "event set", "event sets", NULL, SP_LEVEL_SET, "event set" },
	{ "callsite", NULL, "PAPI call → PAPI call", "pairs", NULL, SP_LEVEL_CALLSITE,
	  "pair of PAPI calls, with the counts between them" },
};

const unsigned sp_n_levels = SP_COUNT(sp_level_table);

bool sp_is_same_rank(const struct sp_model *m, uint32_t a, uint32_t b)
{
	const struct sp_header *x = sp_process_header(m, a), *y = sp_process_header(m, b);

	return a == b || (x->process.rank >= 0 && x->process.rank == y->process.rank &&
			  m->process[a].machine == m->process[b].machine);
}

static bool each_its_rank(const struct sp_model *m)
{
	for (uint32_t i = 1; i < m->n_processes; i++)
		if (sp_is_same_rank(m, i - 1, i))
			return false;
	return true;
}

const struct sp_level *sp_level_by_name(const char *name)
{
	for (unsigned i = 0; i < sp_n_levels; i++) {
		const struct sp_level *l = &sp_level_table[i];

		if (strcmp(l->name, name) == 0 || (l->also && strcmp(l->also, name) == 0))
			return l;
	}
	return NULL;
}

/* ---- finding the row of a count ---------------------------------------- */

/* Sort keys of rows without a component, after all others. */
#define NOWHERE		(2ull << 32)
#define NOT_LISTED	(3ull << 32)
#define NOT_KNOWN	(4ull << 32)

/* hwloc's last cache before memory. */
static const char *last_cache(const struct sp_model *m)
{
	static const char *const name[] = { "L5", "L4", "L3", "L2", "L1", "L1d" };

	for (unsigned i = 0; i < SP_COUNT(name); i++)
		for (uint32_t c = 0; c < m->n_components; c++)
			if (sp_component_is(&m->component[c], name[i]))
				return name[i];
	return "L3";
}

static const struct sp_level_row of_nothing = {
	.component = -1, .cpu = SP_NO_CPU, .tid = -1, .process = -1, .machine = -1, .thread = ""
};

/* Sets with the same number and events are one row, in any process: 1000 ranks have one event set
 * 0. */
static struct sp_level_row find_set(const struct sp_levels *t, const struct sp_row *r)
{
	struct sp_level_row w = of_nothing;

	w.of_set = true;
	w.event_set = r->event_set;
	w.key = sp_mix_hash(1, (uint32_t)r->event_set);
	for (uint32_t i = 0; i < r->k; i++)
		w.key = sp_mix_hash(w.key, r->event[i]);
	w.place = t->n;
	return w;
}

/* Counts on a CPU, between two calls if a level has call sites. */
struct counts {
	struct sp_at_cpu at;
	uint32_t from, to;
};

/* Returns the first call site of this one's region, made by the same kind of call unless any_call;
 * the site itself if it has no region. */
static uint32_t of_region(const struct sp_model *m, uint32_t id, bool any_call)
{
	struct sp_callsite is, c;

	if (!sp_model_callsite(m, id, &is) || !*is.name || !is.call)
		return id;
	for (uint32_t i = 1; i < id; i++)
		if (sp_model_callsite(m, i, &c) && (any_call || c.call == is.call) && c.call &&
		    strcmp(c.name, is.name) == 0)
			return i;
	return id;
}

/* Returns the high level's region around the interval, which is one row for all calls inside; 0: no
 * region. */
static uint32_t region_around(const struct sp_model *m, const struct counts *c)
{
	struct sp_callsite from = { 0 }, to = { 0 };

	sp_model_callsite(m, c->from, &from);
	sp_model_callsite(m, c->to, &to);
	if (from.call == SP_REGION_BEGINS || from.call == SP_REGION_READ)
		return of_region(m, c->from, true);
	return to.call == SP_REGION_READ || to.call == SP_REGION_ENDS ? of_region(m, c->to, true)
								      : 0;
}

static struct sp_level_row find_sites(const struct sp_levels *t, const struct counts *c)
{
	uint32_t region = region_around(t->m, c);
	struct sp_level_row w = of_nothing;

	w.from = c->to ? region ?: of_region(t->m, c->from, false) : 0;
	w.to = region ?: of_region(t->m, c->to, false);
	w.key = (uint64_t)w.from << 32 | w.to;
	w.place = c->to ? t->n : UINT64_MAX;
	return w;
}

/* Returns the empty row to which this count belongs. */
static struct sp_level_row find(const struct sp_levels *t, const struct sp_row *r,
				const struct counts *c)
{
	const char *type = t->level->what == SP_LEVEL_CACHE ? t->cache : t->level->type;
	const struct sp_at_cpu *at = &c->at;
	struct sp_level_row w = of_nothing;
	int32_t above = -1;

	if (t->level->what == SP_LEVEL_SET)
		return find_set(t, r);
	if (sp_level_is_code(t->level))
		return find_sites(t, c);
	w.machine = (int32_t)t->m->process[r->process].machine;
	if (t->level->what == SP_LEVEL_THREAD || sp_level_is_process(t->level)) {
		bool thread = t->level->what == SP_LEVEL_THREAD;

		w.tid = thread ? r->tid : -1;
		w.thread = thread ? r->thread : "";
		w.together = r->event_set < 0;
		w.process = (int32_t)r->process;
		while (t->level->what == SP_LEVEL_RANK && w.process > 0 &&
		       sp_is_same_rank(t->m, (uint32_t)w.process - 1, (uint32_t)w.process))
			w.process--;
		w.key = thread ? r->thread_at : (uint32_t)w.process;
		w.place = t->n;
		return w;
	}
	if (at->component >= 0)
		above = sp_model_above(t->m, at->component, type);
	/* Memory does not contain packages: they are siblings. */
	if (above > at->component && !sp_is_pu(t->m, at->component))
		above = -1;
	/* CPUs without such a component above them share one row; counts of a larger component keep
	 * its row. */
	w.component = above >= 0 || sp_is_pu(t->m, at->component) ? above : at->component;
	if (t->level->what == SP_LEVEL_CPU)
		w.cpu = at->cpu;
	/* The machine's order; then CPUs that it lacks, by number; then the unknown CPU. */
	if (w.cpu >= 0)
		w.place = 1ull << 32 | (uint32_t)w.cpu;
	else if (w.component >= 0)
		w.place = (uint32_t)w.component;
	else
		w.place = at->component >= 0 ? NOWHERE : at->cpu >= 0 ? NOT_LISTED : NOT_KNOWN;
	w.place |= (uint64_t)w.machine << 35;
	w.key = w.place;
	return w;
}

/* Returns the slot of the row with this key, or the slot for it. */
static uint32_t *slot_of(const struct sp_levels *t, uint64_t key)
{
	uint64_t at = (key * 0x9e3779b97f4a7c15ull >> 32) % (2ull * t->room);

	while (t->slot[at] && t->row[t->slot[at] - 1].key != key)
		at = (at + 1) % (2ull * t->room);
	return &t->slot[at];
}

/* Doubles the memory of rows, sums, order and slots. */
static int grow(struct sp_levels *t)
{
	uint64_t slots = t->metrics ? t->metrics->n_slots : 0;
	uint64_t ne = t->m->n_events,
		 sums = sp_align(26 * ne, 8) + slots * sizeof(struct sp_metric_sum),
		 room = t->room ? 2ull * t->room : 64;
	uint64_t bytes = room * (sizeof(*t->row) + sums + 3 * sizeof(uint32_t));
	struct sp_levels old = *t;
	char *p = sp_map(bytes), *at = p + room * sizeof(*t->row);

	if (!p)
		return -ENOMEM;
	t->memory = p;
	t->bytes = bytes;
	t->room = (uint32_t)room;
	t->row = (struct sp_level_row *)p;
	t->order = (uint32_t *)(at + room * sums);
	t->slot = t->order + room;
	if (old.memory) {
		memcpy(t->row, old.row, t->n * sizeof(*t->row));
		memcpy(at, old.row + old.room, t->n * sums);
		sp_unmap(old.memory, old.bytes);
	}
	for (uint32_t i = 0; i < t->n; i++)
		*slot_of(t, t->row[i].key) = i + 1;
	for (uint32_t i = 0; i < t->room; i++, at += sums) {
		t->row[i].total = (int64_t *)at;
		t->row[i].exact = t->row[i].total + ne;
		t->row[i].event_readings = (uint64_t *)(t->row[i].exact + ne);
		t->row[i].counted = (bool *)(t->row[i].event_readings + ne);
		t->row[i].unsupported = t->row[i].counted + ne;
		t->row[i].metric = (struct sp_metric_sum *)(at + sp_align(26 * ne, 8));
	}
	return 0;
}

static struct sp_level_row *row_at(struct sp_levels *t, const struct sp_row *r,
				   struct sp_level_row *w)
{
	uint32_t *slot = t->room ? slot_of(t, w->key) : NULL;
	struct sp_level_row *row;

	if (slot && *slot)
		return &t->row[*slot - 1];
	if (t->n == t->room && grow(t) < 0)
		return NULL;
	row = &t->row[t->n++];
	*slot_of(t, w->key) = t->n;
	w->total = row->total;
	w->exact = row->exact;
	w->event_readings = row->event_readings;
	w->counted = row->counted;
	w->unsupported = row->unsupported;
	w->metric = row->metric;
	w->relation = r->walk.index - 1;
	*row = *w;
	return row;
}

/* ---- the walk ----------------------------------------------------------- */

/* Adds an event. Gauges have no sums. */
static void add_event(struct sp_levels *t, struct sp_level_row *row, uint32_t e, int64_t total,
		      int64_t exact, uint64_t readings)
{
	enum sp_data_type type = sp_event_type(t->m, e);

	if (sp_event_is_gauge(t->m, e))
		return;
	row->total[e] = sp_plus(type, row->total[e], total);
	row->exact[e] = sp_plus(type, row->exact[e], exact);
	row->event_readings[e] += readings;
	row->counted[e] = true;
}

static bool is_by_place(const struct sp_levels *t)
{
	return t->side[0] ? is_by_place(t->side[0]) || is_by_place(t->side[1])
			  : sp_level_is_place(t->level);
}

static bool is_by_code(const struct sp_levels *t)
{
	return t->side[0] ? is_by_code(t->side[0]) || is_by_code(t->side[1])
			  : sp_level_is_code(t->level);
}

static uint64_t crossing_key(const uint32_t side[2])
{
	return (uint64_t)side[0] << 32 | side[1];
}

/* Returns the row of these counts, or NULL: no memory. */
static struct sp_level_row *row_of(struct sp_levels *t, const struct sp_row *r,
				   const struct counts *c)
{
	struct sp_level_row w = of_nothing;

	if (!t->side[0]) {
		w = find(t, r, c);
		return row_at(t, r, &w);
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct sp_level_row *side = row_of(t->side[i], r, c);

		if (!side)
			return NULL;
		w.side[i] = (uint32_t)(side - t->side[i]->row);
	}
	w.key = crossing_key(w.side);
	w.place = t->n;
	return row_at(t, r, &w);
}

/* A CPU that counted for a row. */
struct sp_level_cpu {
	uint32_t row;			/* number plus one; 0: a free slot */
	uint32_t machine, cpu;
};

static struct sp_level_cpu *cpu_slot_of(const struct sp_levels *t, const struct sp_level_cpu *c)
{
	uint64_t at = sp_mix_hash(sp_mix_hash(sp_mix_hash(1, c->row), c->machine), c->cpu);

	for (;; at++) {
		struct sp_level_cpu *slot = &t->cpu[at & (t->cpus_room - 1)];

		if (!slot->row || memcmp(slot, c, sizeof(*c)) == 0)
			return slot;
	}
}

static int grow_cpus(struct sp_levels *t)
{
	struct sp_levels old = *t;

	t->cpus_room = old.cpus_room ? 2 * old.cpus_room : 256;
	t->cpu = sp_map(t->cpus_room * sizeof(*t->cpu));
	if (!t->cpu) {
		t->cpu = old.cpu;
		t->cpus_room = old.cpus_room;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < old.cpus_room; i++)
		if (old.cpu[i].row)
			*cpu_slot_of(t, &old.cpu[i]) = old.cpu[i];
	sp_unmap(old.cpu, old.cpus_room * sizeof(*old.cpu));
	return 0;
}

/* Adds the CPU to those of the row, with its kind. Several threads' counts may be one row, so it
 * may be there. */
static int add_cpu(struct sp_levels *t, struct sp_level_row *row, const struct sp_row *r,
		   const struct sp_at_cpu *at, int32_t place)
{
	const struct sp_level_cpu c = { .row = (uint32_t)(row - t->row + 1),
					.machine = t->m->process[r->process].machine,
					.cpu = (uint32_t)at->cpu };
	int32_t kind = sp_kind_of(t->m, at->component);
	struct sp_level_cpu *slot;

	if (kind >= 0)
		row->kinds |= 1u << kind;
	else if (place < 0)
		row->kinds |= sp_kind_unknown(t->m);
	if (at->cpu < 0)
		return 0;
	if (2 * t->n_cpus >= t->cpus_room && grow_cpus(t) < 0)
		return -ENOMEM;
	slot = cpu_slot_of(t, &c);
	if (!slot->row) {
		*slot = c;
		t->n_cpus++;
		row->cpus++;
	}
	return 0;
}

/* Adds the events of r that count at `place` (-1: on the CPU of the reading; SP_METRIC_ANYWHERE:
 * all events), which is now in `c`. */
static int add_at(struct sp_levels *t, const struct sp_row *r, const struct counts *c,
		  int32_t place)
{
	const struct sp_at_cpu *at = &c->at;
	struct sp_level_row *row = row_of(t, r, c);

	if (!row)
		return -ENOMEM;
	if (row->latest != t->latest)	/* events of one reading may count at several places */
		row->readings += at->readings;
	row->latest = t->latest;
	row->threads = (uint32_t)sp_max(row->threads, r->of_thread);
	if (!is_by_code(t) && add_cpu(t, row, r, at, place) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->k; i++)
		if ((place != SP_METRIC_ANYWHERE && sp_row_place(r, i) != place) ||
		    sp_observers_omit(t->left, r, i))
			continue;
		else if (sp_is_unsupported(at, i))
			row->unsupported[r->event[i]] = true;
		else
			add_event(t, row, r->event[i], at->total[i], at->exact[i], at->readings);
	if (t->metrics)
		sp_metrics_add(t->metrics, r, place, t->metrics_left, at->total, at->unsupported,
			       row->metric);
	return 0;
}

/* Returns whether event i is the first counter at its place. */
static bool first_at_place(const struct sp_levels *t, const struct sp_row *r, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (sp_row_place(r, j) == sp_row_place(r, i) &&
		    !sp_event_is_gauge(t->m, r->event[j]))
			return false;
	return !sp_event_is_gauge(t->m, r->event[i]);
}

static int add(struct sp_levels *t, const struct sp_row *r, const struct counts *c)
{
	int e = 0;

	t->latest++;
	if (is_by_code(t) && !is_by_place(t))
		return add_at(t, r, c, SP_METRIC_ANYWHERE);
	if (!r->place)
		return add_at(t, r, c, -1);
	for (uint32_t i = 0; i < r->k && e == 0; i++) {
		int32_t place = sp_row_place(r, i);
		struct counts there = *c;

		if (!first_at_place(t, r, i))
			continue;
		if (place >= 0) {
			there.at.component = place;
			there.at.cpu =
				sp_is_pu(t->m, place) ? t->m->component[place].os_index : SP_NO_CPU;
		}
		e = add_at(t, r, &there, place);
	}
	return e;
}

static int add_relation(struct sp_levels *t, struct sp_row *r)
{
	struct sp_interval_counts between;
	struct counts c = { 0 };
	int e = 0;

	for (uint32_t i = 0; is_by_code(t) && e == 0 && sp_row_interval(t->m, r, i, &between); i++)
		e = add(t, r, &(struct counts){ .at = { .cpu = between.cpu,
							.component = between.component,
							.readings = between.count,
							.total = between.total,
							.exact = between.exact },
						.from = between.from,
						.to = between.to });
	if (is_by_code(t) && r->intervals)
		return e;
	for (uint32_t i = 0; e == 0 && sp_row_cell(t->m, r, i, &c.at); i++) {
		if (is_by_code(t))
			c.at.unsupported = NULL;
		e = add(t, r, &c);
	}
	return e;
}

static uint64_t group_of(const void *levels, const struct sp_row *r)
{
	static const struct counts no_place = { .at = { .component = -1, .cpu = SP_NO_CPU } };

	return find(levels, r, &no_place).key;
}

/* Threads, processes, ranks and sets each show their own counts once. */
static int find_left(struct sp_levels *t)
{
	bool together = sp_level_is_process(t->level) || t->level->what == SP_LEVEL_SET ||
			t->level->what == SP_LEVEL_THREAD;
	const struct sp_observing how = { .group = group_of, .of = t };
	int e = together ? sp_observers_open(&t->observers, t->m, &how) : 0;

	if (e == 0 && together && t->metrics)
		e = sp_metrics_observers(t->metrics, &t->metrics_observers, &how);
	t->left = together ? &t->observers : &t->m->observers;
	t->metrics_left = together     ? &t->metrics_observers
			  : t->metrics ? sp_metrics_model_observers(t->metrics)
				       : NULL;
	return e == 0 && t->metrics && !t->metrics_left ? -ENOMEM : e;
}

static int sum_up(struct sp_levels *t, int e)
{
	struct sp_row r = { .only_cells = !is_by_code(t) };

	while (e == 0 && sp_model_next(t->m, &r))
		e = add_relation(t, &r);
	if (e < 0) {
		sp_levels_close(t);
		return e;
	}
	for (uint32_t i = 0; i < t->n; i++)
		t->order[i] = i;
	sp_levels_sort(t, SP_SORT_PLACE);
	return 0;
}

int sp_levels_open(struct sp_levels *t, struct sp_model *m, const struct sp_level *level,
		   struct sp_metrics *metrics)
{
	int e;

	memset(t, 0, sizeof(*t));
	t->m = m;
	t->level = level;
	t->metrics = metrics;
	t->ranks = level->what == SP_LEVEL_RANK ||
		   (level->what == SP_LEVEL_PROCESS && each_its_rank(m));
	t->cache = last_cache(m);
	t->sites = sp_level_is_code(level) ? sp_site_texts_new(m) : NULL;
	e = t->sites || !sp_level_is_code(level) ? grow(t) : -ENOMEM;
	return sum_up(t, e == 0 ? find_left(t) : e);
}

int sp_levels_open_crossed(struct sp_levels *t, struct sp_levels *rows, struct sp_levels *columns)
{
	memset(t, 0, sizeof(*t));
	t->m = rows->m;
	t->level = rows->level;
	t->side[0] = rows;
	t->side[1] = columns;
	t->metrics = rows->metrics;
	t->left = rows->left;
	t->metrics_left = rows->metrics_left;
	return sum_up(t, grow(t));
}

const struct sp_level_row *sp_levels_crossing(const struct sp_levels *t, uint32_t row,
					      uint32_t column)
{
	const uint32_t *slot = slot_of(t, crossing_key((uint32_t[]){ row, column }));

	return *slot ? &t->row[*slot - 1] : NULL;
}

void sp_levels_close(struct sp_levels *t)
{
	sp_observers_close(&t->observers);
	sp_observers_close(&t->metrics_observers);
	sp_unmap(t->memory, t->bytes);
	sp_sites_forget(t->sites);
	sp_unmap(t->cpu, t->cpus_room * sizeof(*t->cpu));
}

/* ---- call sites by function ---------------------------------------------- */

static uint64_t label_key(const struct sp_levels *t, const struct sp_level_row *row)
{
	uint64_t key = 0xcbf29ce484222325ull;
	char text[1024];
	struct sp_out o;

	sp_memory_init(&o, text, sizeof(text));
	sp_text_pair(&o, t->sites, row->from, row->to, row->detail, sizeof(text));
	for (const char *p = sp_memory_text(&o); *p; p++)
		key = (key ^ (unsigned char)*p) * 0x100000001b3ull;
	return key;
}

/* Adds the lines to rows with the same label but different lines. */
static void add_lines(struct sp_levels *t)
{
	memset(t->slot, 0, 2ull * t->room * sizeof(*t->slot));
	for (uint32_t i = 0; i < t->n; i++) {
		struct sp_level_row *row = &t->row[i], *first;
		uint32_t *slot;

		row->has_twins = false;
		row->key = label_key(t, row);
		slot = slot_of(t, row->key);
		if (!*slot)
			*slot = i + 1;
		first = &t->row[*slot - 1];
		first->has_twins |= sp_pair_lines(t->sites, row->from, row->to) !=
				    sp_pair_lines(t->sites, first->from, first->to);
	}
	for (uint32_t i = 0; i < t->n; i++)
		if (t->row[*slot_of(t, t->row[i].key) - 1].has_twins)
			t->row[i].detail = SP_PAIR_LINES;
}

static void add_row(struct sp_levels *t, struct sp_level_row *to, const struct sp_level_row *from)
{
	to->readings += from->readings;
	to->kinds |= from->kinds;
	for (uint32_t e = 0; e < t->m->n_events; e++)
		if (from->counted[e])
			add_event(t, to, e, from->total[e], from->exact[e],
				  from->event_readings[e]);
	if (t->metrics)
		sp_metrics_sum(t->metrics, to->metric, from->metric);
}

void sp_levels_name(struct sp_levels *t)
{
	add_lines(t);
	t->named = true;
}

const struct sp_level_row *sp_levels_between(const struct sp_levels *t, uint32_t from, uint32_t to)
{
	struct sp_level_row is = find_sites(t, &(struct counts){ .from = from, .to = to });

	for (uint32_t i = 0; i < t->n; i++)
		if (t->row[i].from == is.from && t->row[i].to == is.to)
			return &t->row[i];
	return NULL;
}

/* Makes one row of all rows with the same key. */
static void join_rows(struct sp_levels *t, uint32_t *into)
{
	uint32_t n = 0;

	memset(t->slot, 0, 2ull * t->room * sizeof(*t->slot));
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t key = t->side[0] ? crossing_key(t->row[i].side)
					  : label_key(t, &t->row[i]);
		uint32_t *slot = slot_of(t, key);

		if (*slot) {
			add_row(t, &t->row[*slot - 1], &t->row[i]);
		} else {
			t->row[n] = t->row[i];
			t->row[n].key = key;
			*slot = ++n;
		}
		if (into)
			into[i] = *slot - 1;
	}
	t->n = n;
	for (uint32_t i = 0; i < n; i++)
		t->order[i] = i;
}

void sp_levels_group(struct sp_levels *t, uint32_t *into)
{
	for (uint32_t i = 0; into && i < t->n; i++)
		into[i] = i;
	if (!sp_level_is_code(t->level))
		return;
	sp_levels_name(t);
	join_rows(t, into);
	sp_levels_sort(t, SP_SORT_PLACE);
}

void sp_levels_group_side(struct sp_levels *t, unsigned side, const uint32_t *into)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->row[i].side[side] = into[t->row[i].side[side]];
	join_rows(t, NULL);
}

/* ---- the order ---------------------------------------------------------- */

struct by {
	const struct sp_levels *t;
	long event;
};

static double amount(const struct by *by, const struct sp_level_row *row)
{
	if (by->event == SP_SORT_PLACE)
		return 0.0;
	if (by->event == SP_SORT_READINGS)
		return (double)row->readings;
	return sp_value_double(sp_event_type(by->t->m, (uint32_t)by->event), row->total[by->event]);
}

static bool sorts_before(const void *of, uint32_t a, uint32_t b)
{
	const struct by *by = of;
	const struct sp_level_row *x = &by->t->row[a], *y = &by->t->row[b];
	double more = amount(by, x), less = amount(by, y);

	if (more > less || more < less)
		return more > less;
	return x->place != y->place ? x->place < y->place : a < b;
}

void sp_levels_sort(struct sp_levels *t, long event)
{
	if (event < (long)t->m->n_events)
		sp_sort(t->order, t->n, sorts_before, &(struct by){ t, event });
}

/* ---- labels ------------------------------------------------------------ */

/* A control group replaces a process, and has one thread: all its counts. */
static void group_words(struct sp_out *o, const struct sp_model *m, const struct sp_header *h)
{
	const char *name = sp_store_reader_text_at(m->reader, h->process.args, 1);

	sp_out_f(o, "cgroup %s", name ? name : "");
}

static void process_words(struct sp_out *o, const struct sp_levels *t,
			  const struct sp_level_row *row)
{
	const struct sp_header *h = sp_process_header(t->m, (uint32_t)row->process);
	const char *exe = sp_model_text(t->m, h->process.exe);

	if (h->process.rank >= 0)
		sp_out_f(o, t->ranks ? "rank %ld" : "rank %ld: ", h->process.rank);
	if (h->process.rank >= 0 && t->ranks)
		return;		/* the row is the rank's sum of all runs */
	if (sp_n_repeats(t->m))
		sp_out_f(o, "run %lu: ", h->stat >> SP_STAT_RUN_SHIFT);
	if (h->stat & SP_STAT_GROUP)
		group_words(o, t->m, h);
	else
		sp_out_f(o, "pid %u%s%s", h->process.pid, *exe ? " " : "", sp_base_name(exe));
}

static void thread_words(struct sp_out *o, const struct sp_model *m, const struct sp_level_row *row)
{
	const struct sp_header *h = sp_process_header(m, (uint32_t)row->process);

	if (sp_is_job(m) && h->process.rank >= 0)
		sp_out_f(o, "rank %ld: ", h->process.rank);
	if (h->stat & SP_STAT_GROUP) {
		sp_out_text(o, "all of ");
		group_words(o, m, h);
		return;
	}
	if (row->tid)
		sp_out_f(o, "%d%s%s", row->tid, *row->thread ? " " : "", row->thread);
	else if (*row->thread)
		sp_out_text(o, row->thread);
	else
		sp_out_f(o, "%'u thread%s %s", row->threads, SP_MANY(row->threads),
			 row->together	     ? "together"
			 : row->threads == 1 ? "that has ended"
					     : "that have ended");
}

/* "set 0: TOT_INS, TOT_CYC" */
static void set_words(struct sp_out *o, const struct sp_levels *t, const struct sp_level_row *row)
{
	struct sp_row r = { .only_cells = true, .walk.index = row->relation };
	char text[256];

	if (row->event_set >= 0)
		sp_out_f(o, "set %d: ", row->event_set);
	if (!sp_model_next(t->m, &r))
		return;
	for (uint32_t i = 0; i < r.k; i++)
		sp_out_f(o, "%s%s", i ? ", " : "", sp_text_event(t->m, r.event[i], text));
}

static void outside_words(struct sp_out *o, const struct sp_levels *t, uint64_t place)
{
	if (place == NOWHERE)
		sp_out_f(o, "CPUs without %s", t->level->heading);
	else
		sp_out_text(o, place == NOT_LISTED ? "CPUs not in the topology" : "no known CPU");
}

void sp_level_label(struct sp_out *o, const struct sp_levels *t, const struct sp_level_row *row,
		    unsigned width)
{
	const struct sp_model *m = t->m;

	if (t->level->what == SP_LEVEL_THREAD)
		thread_words(o, m, row);
	else if (sp_level_is_process(t->level))
		process_words(o, t, row);
	else if (row->of_set)
		set_words(o, t, row);
	else if (sp_level_is_code(t->level))
		sp_text_pair(o, t->sites, row->from, row->to,
			     t->named ? (enum sp_pair_detail)row->detail : SP_PAIR_ALL, width);
	else if (row->cpu >= 0)
		sp_text_cpu(o, m, row->cpu, row->component);
	else if (row->component >= 0)
		sp_text_component(o, m, (uint32_t)row->component);
	else
		outside_words(o, t, row->place & (7ull << 32));
}
