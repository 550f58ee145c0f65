/* level.c: sums a model up by CPU, core, kind of core, cache, memory, package, machine, thread or call site. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../view/core-kinds.h"
#include "../view/gauges.h"
#include "../view/view-text.h"
#include "level.h"

const struct sp_level sp_level_table[] = {
	{ "cpu", NULL, "CPU", "PU", SP_LEVEL_CPU },
	{ "core", NULL, "core", "Core", SP_LEVEL_COMPONENT },
	{ "kind", NULL, "kind of core", NULL, SP_LEVEL_KIND },
	{ "cache", NULL, "cache", NULL, SP_LEVEL_CACHE },
	{ "numa", "node", "memory", "NUMANode", SP_LEVEL_COMPONENT },
	{ "package", "socket", "package", "Package", SP_LEVEL_COMPONENT },
	{ "machine", NULL, "machine", "Machine", SP_LEVEL_COMPONENT },
	{ "thread", NULL, "thread", NULL, SP_LEVEL_THREAD },
	{ "callsite", NULL, "between", NULL, SP_LEVEL_CALLSITE },
};

const unsigned sp_n_levels = SP_COUNT(sp_level_table);

const struct sp_level *sp_level_by_name(const char *name)
{
	for (unsigned i = 0; i < sp_n_levels; i++) {
		const struct sp_level *l = &sp_level_table[i];

		if (strcmp(l->name, name) == 0 || (l->also && strcmp(l->also, name) == 0))
			return l;
	}
	return NULL;
}

unsigned sp_level_options(struct option *longs)
{
	static char names[SP_LEVEL_OPTIONS][16];
	unsigned n = 0;

	for (unsigned i = 0; i < sp_n_levels && n + 2 <= SP_LEVEL_OPTIONS; i++)
		for (unsigned also = 0; also < 2; also++) {
			const char *name = also ? sp_level_table[i].also : sp_level_table[i].name;

			if (!name)
				continue;
			snprintf(names[n], sizeof(names[n]), "per-%s", name);
			longs[n] = (struct option){ names[n], no_argument, NULL, 'L' };
			n++;
		}
	return n;
}

/* ---- labels ------------------------------------------------------------ */

static void component_words(struct sp_out *o, const struct sp_model *m, int32_t c)
{
	const struct sp_component *at = &m->component[c];

	sp_out_plain(o, at->type);
	if (sp_component_is(at, "Machine") && m->n_machines == 1)
		return;
	sp_out_text(o, " L#");
	sp_out_i64(o, at->logical_index);
}

static void thread_words(struct sp_out *o, const struct sp_row *r)
{
	if (r->tid == 0) {
		sp_out_text(o, "threads that have ended");
	} else {
		sp_out_i64(o, r->tid);
	}
	if (*r->thread) {
		sp_out_text(o, " \"");
		sp_out_plain(o, r->thread);
		sp_out_char(o, '"');
	}
}

/* ---- finding the row of a count ---------------------------------------- */

/* Places of rows without a component, behind all others. */
#define NOWHERE		(2ull << 32)
#define NOT_LISTED	(3ull << 32)
#define NOT_KNOWN	(4ull << 32)

struct where {
	uint64_t place, hash;
	int32_t component, cpu, tid, process, machine, kind;
	uint32_t from, to;
};

static bool is_pu(const struct sp_model *m, int32_t c)
{
	return c >= 0 && sp_component_is(&m->component[c], "PU");
}

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

static struct where find(const struct sp_levels *t, const struct sp_row *r, const struct sp_at_cpu *at)
{
	const char *type = t->level->what == SP_LEVEL_CACHE ? t->cache : t->level->type;
	struct where w = { .component = -1, .cpu = SP_NO_CPU, .tid = -1, .process = -1, .kind = -1 };
	int32_t above = -1;

	w.machine = (int32_t)t->m->process[r->process].machine;
	if (t->level->what == SP_LEVEL_THREAD) {
		w.tid = r->tid;
		w.process = (int32_t)r->process;
		w.hash = r->thread_at;
		w.place = t->n;
		return w;
	}
	if (t->level->what == SP_LEVEL_KIND)
		w.kind = sp_kind_of(t->m, at->component);
	else if (at->component >= 0)
		above = sp_model_above(t->m, at->component, type);
	/* A package is in no memory: memory stands beside it. */
	if (above > at->component && !is_pu(t->m, at->component))
		above = -1;
	/* A CPU that is under no such component is with all of its kind in one row; what
	 * was booked on a larger component stays there. */
	w.component = above >= 0 || is_pu(t->m, at->component) ? above : at->component;
	if (t->level->what == SP_LEVEL_CPU)
		w.cpu = at->cpu;
	/* As the machine has them; by number what it lacks; then the unknown. */
	if (w.kind >= 0)
		w.place = (uint32_t)w.kind;
	else if (w.cpu >= 0)
		w.place = 1ull << 32 | (uint32_t)w.cpu;
	else if (w.component >= 0)
		w.place = (uint32_t)w.component;
	else
		w.place = at->component >= 0 ? NOWHERE : at->cpu >= 0 ? NOT_LISTED : NOT_KNOWN;
	w.place |= (uint64_t)w.machine << 35;
	w.hash = w.place;
	return w;
}

static void outside_words(struct sp_out *o, const struct sp_levels *t, uint64_t place)
{
	if (place == NOWHERE) {
		sp_out_text(o, "CPUs without ");
		sp_out_text(o, t->level->heading);
	} else {
		sp_out_text(o, place == NOT_LISTED ? "CPUs that the topology lacks" : "not on a known CPU");
	}
}

static void label(struct sp_levels *t, struct sp_level_row *row, const struct sp_row *r)
{
	struct sp_out o;

	sp_memory_init(&o, row->label, sizeof(row->label));
	if (t->level->what == SP_LEVEL_THREAD)
		thread_words(&o, r);
	else if (t->level->what == SP_LEVEL_CALLSITE)
		sp_text_pair(&o, t->m, row->from, row->to, SP_PAIR_WIDTH);
	else if (row->kind >= 0)
		sp_text_kinds(&o, t->m, 1u << row->kind);
	else if (row->cpu >= 0)
		sp_text_cpu(&o, t->m, row->cpu, row->component);
	else if (row->component >= 0)
		component_words(&o, t->m, row->component);
	else
		outside_words(&o, t, row->place & (7ull << 32));
	sp_memory_text(&o);
}

/* ---- the walk ----------------------------------------------------------- */

static struct sp_level_row *add_row(struct sp_levels *t, const struct where *w, const struct sp_row *r)
{
	uint64_t ne = t->m->n_events;
	struct sp_level_row *row;

	if (t->n == t->room) {
		uint32_t room = t->room ? 2 * t->room : 64;
		void *more = reallocarray(t->row, room, sizeof(*t->row));

		if (!more)
			return NULL;
		t->row = more;
		t->room = room;
	}
	row = &t->row[t->n];
	memset(row, 0, sizeof(*row));
	row->total = calloc(ne + !ne, 3 * sizeof(int64_t) + sizeof(bool));
	if (!row->total)
		return NULL;
	row->exact = row->total + ne;
	row->event_readings = (uint64_t *)(row->exact + ne);
	row->counted = (bool *)(row->event_readings + ne);
	row->component = w->component;
	row->cpu = w->cpu;
	row->tid = w->tid;
	row->process = w->process;
	row->machine = w->machine;
	row->kind = w->kind;
	row->thread = t->level->what == SP_LEVEL_THREAD ? r->thread : "";
	row->from = w->from;
	row->to = w->to;
	row->place = w->place;
	row->hash = w->hash;
	label(t, row, r);
	t->n++;
	return row;
}

/* Components have their rows in row_of; the others are few, but for threads. */
static struct sp_level_row *row_at(struct sp_levels *t, const struct sp_row *r, const struct where *at)
{
	struct where w = *at;
	struct sp_level_row *row;

	if (w.component >= 0 && t->row_of[w.component])
		return &t->row[t->row_of[w.component] - 1];
	/* A thread's relations come one after the other. */
	for (uint32_t i = t->n; w.component < 0 && i-- > 0;) {
		if (t->row[i].hash == w.hash && t->row[i].component < 0)
			return &t->row[i];
		if (t->level->what == SP_LEVEL_THREAD)
			break;
	}
	row = add_row(t, &w, r);
	if (row && w.component >= 0)
		t->row_of[w.component] = t->n;
	return row;
}

/* Gauges have no sums. */
static void add_event(struct sp_levels *t, struct sp_level_row *row, uint32_t e, int64_t total, int64_t exact,
		      uint64_t readings)
{
	enum sp_data_type type = sp_event_type(t->m, e);

	if (sp_event_is_gauge(t->m, e))
		return;
	row->total[e] = sp_plus(type, row->total[e], total);
	row->exact[e] = sp_plus(type, row->exact[e], exact);
	row->event_readings[e] += readings;
	row->counted[e] = true;
}

/* The events of r that are counted at `place` (-1: where they were read), which `at` now says. */
static int add_at(struct sp_levels *t, const struct sp_row *r, const struct sp_at_cpu *at, int32_t place)
{
	struct where w = find(t, r, at);
	struct sp_level_row *row = row_at(t, r, &w);

	if (!row)
		return -ENOMEM;
	row->readings += at->readings;
	if (sp_kind_of(t->m, at->component) >= 0)
		row->kinds |= 1u << sp_kind_of(t->m, at->component);
	if (at->component < 0) {
		row->cpus += at->cpu >= 0 && row->cpus == 0;
	} else if (t->stamp[at->component] != row - t->row + 1) {
		t->stamp[at->component] = (uint32_t)(row - t->row + 1);
		row->cpus += is_pu(t->m, at->component);
	}
	for (uint32_t i = 0; i < r->k; i++)
		if (sp_row_place(r, i) == place)
			add_event(t, row, r->event[i], at->total[i], at->exact[i], at->readings);
	return 0;
}

/* The same by the two calls that they lie between; of how many CPUs is not known then. */
static int add_between(struct sp_levels *t, const struct sp_row *r, const struct sp_between *at)
{
	struct where w = { .component = -1, .cpu = SP_NO_CPU, .tid = -1, .process = -1, .machine = -1, .kind = -1,
			   .from = at->from, .to = at->to, .hash = (uint64_t)at->from << 32 | at->to,
			   .place = at->to ? t->n : UINT64_MAX };
	struct sp_level_row *row = row_at(t, r, &w);

	if (!row)
		return -ENOMEM;
	row->readings += at->count;
	for (uint32_t i = 0; i < r->k; i++)
		add_event(t, row, r->event[i], at->total[i], at->exact[i], at->count);
	return 0;
}

/* Is there a counter at event i's place, and none before it that has the same? */
static bool first_at_place(const struct sp_levels *t, const struct sp_row *r, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (sp_row_place(r, j) == sp_row_place(r, i) && !sp_event_is_gauge(t->m, r->event[j]))
			return false;
	return !sp_event_is_gauge(t->m, r->event[i]);
}

static int add(struct sp_levels *t, const struct sp_row *r, const struct sp_at_cpu *at)
{
	int e = 0;

	if (!r->place)
		return add_at(t, r, at, -1);
	for (uint32_t i = 0; i < r->k && e == 0; i++) {
		int32_t place = sp_row_place(r, i);
		struct sp_at_cpu there = *at;

		if (!first_at_place(t, r, i))
			continue;
		if (place >= 0) {
			there.component = place;
			there.cpu = is_pu(t->m, place) ? t->m->component[place].os_index : SP_NO_CPU;
		}
		e = add_at(t, r, &there, place);
	}
	return e;
}

static int by_place(const void *a, const void *b, void *table)
{
	const struct sp_levels *t = table;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (t->row[x].place != t->row[y].place)
		return t->row[x].place < t->row[y].place ? -1 : 1;
	return x < y ? -1 : x > y;
}

struct by {
	struct sp_levels *t;
	long event;
};

static double amount(const struct by *by, uint32_t i)
{
	const struct sp_level_row *row = &by->t->row[i];

	if (by->event == SP_SORT_READINGS)
		return (double)row->readings;
	return sp_number(sp_event_type(by->t->m, (uint32_t)by->event), row->total[by->event]);
}

static int by_amount(const void *a, const void *b, void *arg)
{
	const struct by *by = arg;
	double x = amount(by, *(const uint32_t *)a), y = amount(by, *(const uint32_t *)b);

	return x > y ? -1 : x < y ? 1 : by_place(a, b, by->t);
}

void sp_levels_sort(struct sp_levels *t, long event)
{
	struct by by = { t, event };

	if (event == SP_SORT_PLACE)
		qsort_r(t->order, t->n, sizeof(*t->order), by_place, t);
	else if (event == SP_SORT_READINGS || (event >= 0 && event < (long)t->m->n_events))
		qsort_r(t->order, t->n, sizeof(*t->order), by_amount, &by);
}

static int add_row_of_model(struct sp_levels *t, struct sp_row *r)
{
	bool by_site = t->level->what == SP_LEVEL_CALLSITE;
	struct sp_between between;
	struct sp_at_cpu at;
	int e = 0;

	for (uint32_t i = 0; by_site && e == 0 && sp_row_interval(t->m, r, i, &between); i++)
		e = add_between(t, r, &between);
	if (by_site && r->intervals)
		return e;
	for (uint32_t i = 0; e == 0 && sp_row_cell(t->m, r, i, &at); i++) {
		between = (struct sp_between){ .count = at.readings, .total = at.total, .exact = at.exact };
		e = by_site ? add_between(t, r, &between) : add(t, r, &at);
	}
	return e;
}

int sp_levels_open(struct sp_levels *t, struct sp_model *m, const struct sp_level *level)
{
	struct sp_row r = { 0 };
	int e = 0;

	memset(t, 0, sizeof(*t));
	t->m = m;
	t->level = level;
	t->cache = last_cache(m);
	t->stamp = calloc(m->n_components + 1, sizeof(uint32_t));
	t->row_of = calloc(m->n_components + 1, sizeof(uint32_t));
	if (!t->stamp || !t->row_of)
		e = -ENOMEM;
	while (e == 0 && sp_model_next(m, &r))
		e = add_row_of_model(t, &r);
	if (e == 0)
		t->order = malloc((t->n + 1) * sizeof(*t->order));
	if (e < 0 || !t->order) {
		sp_levels_close(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->n; i++)
		t->order[i] = i;
	sp_levels_sort(t, SP_SORT_PLACE);
	return 0;
}

void sp_levels_close(struct sp_levels *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free(t->row[i].total);
	free(t->row);
	free(t->order);
	free(t->stamp);
	free(t->row_of);
}
