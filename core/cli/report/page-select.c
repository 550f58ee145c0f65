/* page-select.c: selects the part of a large run that a page shows; see page-select.h. */
#include "../../base/sort.h"
#include "../../formats/level.h"
#include "../../formats/format-json.h"
#include "../../formats/format-text-words.h"
#include "../tool/cmd.h"
#include "page-select.h"

#define EVENTS		16u		/* events by which rows are chosen */
#define CHOSEN		4096u		/* maximum rows of a level */

enum { THREAD, CALLSITE, PROCESS, MACHINE };
const char *const sp_page_part_level[SP_PAGE_PART_LEVELS] = { "per-thread", "per-callsite",
							      "per-process", "per-machine" };

struct level {
	const char *name;
	uint32_t n, shown;
	struct chosen {
		/* order of selection: 0, 1, ...; UINT32_MAX: not selected */
		uint32_t turn;
		uint32_t process, machine, from, to;
		int32_t tid;
	} *row;				/* [n], by the row's number */
	bool *has;			/* [n] within the limit */
};

struct sp_page_part {
	const struct sp_selection *show;
	uint32_t n_events, event[EVENTS];
	struct level level[SP_PAGE_PART_LEVELS];
	int32_t *machine_of;		/* [component] index of its machine; -1: none */
	bool *process, *component, *callsite, *machine, *whole;
	uint64_t *thread;
	struct sp_part part;
};

/* ---- selection of rows ------------------------------------------------------------------ */

struct order {
	const struct sp_levels *t;
	uint32_t event;
};

static double value(const struct order *of, uint32_t row)
{
	return sp_value_double(sp_event_type(of->t->m, of->event),
			       of->t->row[row].total[of->event]);
}

static bool is_before(const void *order, uint32_t a, uint32_t b)
{
	double x = value(order, a), y = value(order, b);

	return x > y || (!(x < y) && a < b);
}

/* Sorts the rows that have the event, largest first. Returns their number. */
static uint32_t sort_rows(const struct order *of, uint32_t *rows)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < of->t->n; i++)
		if (of->t->row[i].counted[of->event])
			rows[n++] = i;
	sp_sort(rows, n, is_before, of);
	return n;
}

static void choose(struct level *l, uint32_t row, uint32_t *turn)
{
	if (l->row[row].turn == UINT32_MAX && *turn < CHOSEN)
		l->row[row].turn = (*turn)++;
}

/* sorted: [events][n]; the first counts[event] of each are valid. Call sites are chosen by maximum
 * only. */
static void choose_rows(struct level *l, const uint32_t *sorted, const uint32_t *counts,
			uint32_t events, bool sites)
{
	uint32_t turn = 0;

	for (uint32_t i = 0; i < l->n && turn < CHOSEN; i++)
		for (uint32_t e = 0; e < events; e++) {
			const uint32_t *rows = sorted + (uint64_t)e * l->n;

			if (i >= counts[e])
				continue;
			choose(l, rows[i], &turn);
			if (!sites)
				choose(l, rows[counts[e] - 1 - i], &turn);
		}
}

static void open_level(struct sp_page_part *p, unsigned i)
{
	struct level *l = &p->level[i];
	uint32_t *sorted, counts[EVENTS] = { 0 };
	struct sp_levels t;

	l->name = sp_page_part_level[i] + strlen("per-");
	sp_check_alloc(sp_levels_open(&t, p->show->m, sp_level_by_name(l->name), NULL) < 0 ? NULL
											   : &t);
	sp_levels_group(&t, NULL);
	l->n = t.n;
	l->row = sp_check_alloc(calloc(t.n + 1, sizeof(*l->row)));
	l->has = sp_check_alloc(calloc(t.n + 1, sizeof(*l->has)));
	sorted = sp_check_alloc(malloc(((uint64_t)t.n * p->n_events + 1) * sizeof(*sorted)));
	for (uint32_t r = 0; r < t.n; r++) {
		const struct sp_level_row *row = &t.row[r];

		l->row[r] = (struct chosen){ UINT32_MAX,
					     (uint32_t)(row->process > 0 ? row->process : 0),
					     (uint32_t)(row->machine > 0 ? row->machine : 0),
					     row->from,
					     row->to,
					     row->tid };
	}
	for (uint32_t e = 0; e < p->n_events; e++) {
		struct order of = { &t, p->event[e] };

		counts[e] = sort_rows(&of, sorted + (uint64_t)e * t.n);
	}
	choose_rows(l, sorted, counts, p->n_events, i == CALLSITE);
	free(sorted);
	sp_levels_close(&t);
}

/* Prefers the leading event, as the text format does. */
static void choose_events(struct sp_page_part *p)
{
	const struct sp_model *m = p->show->m;

	for (unsigned time = 2; time-- > 0;)
		for (uint32_t e = 0; e < m->n_events && p->n_events < EVENTS; e++)
			if (sp_selection_event(p->show, e) && sp_event_is_summed(m, e) &&
			    (sp_event_is_time(m, e) && m->sums.total[e]) == time)
				p->event[p->n_events++] = e;
}

struct sp_page_part *sp_page_part_open(const struct sp_selection *s)
{
	struct sp_page_part *p = sp_check_alloc(calloc(1, sizeof(*p)));
	const struct sp_model *m = s->m;

	p->show = s;
	choose_events(p);
	for (unsigned i = 0; i < SP_PAGE_PART_LEVELS; i++)
		open_level(p, i);
	p->process = sp_check_alloc(calloc(m->n_processes + 1, sizeof(bool)));
	p->component = sp_check_alloc(calloc(m->n_components + 1, sizeof(bool)));
	p->callsite = sp_check_alloc(calloc(m->n_callsites + 1, sizeof(bool)));
	p->machine = sp_check_alloc(calloc(m->n_machines + 1, sizeof(bool)));
	p->whole = sp_check_alloc(calloc(m->n_machines + 1, sizeof(bool)));
	p->machine_of = sp_check_alloc(calloc(m->n_components + 1, sizeof(*p->machine_of)));
	p->thread = sp_check_alloc(calloc(p->level[THREAD].n + 1, sizeof(*p->thread)));
	for (uint32_t c = 0; c < m->n_components; c++)
		p->machine_of[c] = -1;
	for (uint32_t i = 0; i < m->n_machines; i++)
		if (m->machine[i].root >= 0)
			p->machine_of[m->machine[i].root] = (int32_t)i;
	return p;
}

/* ---- number of rows ------------------------------------------------------------ */

static void limit_level(struct level *l, uint32_t limit)
{
	l->shown = 0;
	for (uint32_t i = 0; i < l->n; i++)
		l->has[i] = l->row[i].turn < limit;
}

static int by_number(const void *a, const void *b)
{
	return SP_COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Includes each machine as a whole, as a root without its tree, or not at all. */
static void limit_components(struct sp_page_part *p)
{
	const struct sp_model *m = p->show->m;

	for (uint32_t c = 0; c < m->n_components; c++) {
		int32_t parent = sp_parent(m, c), machine = p->machine_of[c];

		if (machine >= 0)
			p->component[c] = p->machine[machine];
		else if (parent < 0)
			p->component[c] = true;
		else if (p->machine_of[parent] >= 0)
			p->component[c] = p->whole[p->machine_of[parent]];
		else
			p->component[c] = p->component[parent];
	}
}

/* Includes the processes of included threads, and the machines of both. */
static void limit_rows(struct sp_page_part *p)
{
	const struct level *thread = &p->level[THREAD];
	struct level *process = &p->level[PROCESS], *machine = &p->level[MACHINE];
	const struct sp_model *m = p->show->m;

	p->part.n_threads = 0;
	for (uint32_t i = 0; i < thread->n; i++) {
		if (!thread->has[i])
			continue;
		p->thread[p->part.n_threads++] =
			sp_part_thread(thread->row[i].process, thread->row[i].tid);
		p->process[thread->row[i].process] = true;
	}
	qsort(p->thread, p->part.n_threads, sizeof(*p->thread), by_number);
	for (uint32_t i = 0; i < process->n; i++) {
		process->has[i] = process->has[i] || p->process[process->row[i].process];
		p->process[process->row[i].process] |= process->has[i];
	}
	for (uint32_t i = 0; i < m->n_processes; i++)
		p->machine[m->process[i].machine] |= p->process[i];
	for (uint32_t i = 0; i < machine->n; i++) {
		machine->has[i] = machine->has[i] || p->machine[machine->row[i].machine];
		p->machine[machine->row[i].machine] |= machine->has[i];
	}
}

const struct sp_part *sp_page_part_limit(struct sp_page_part *p, uint32_t limit, bool trees)
{
	const struct sp_model *m = p->show->m;
	const struct level *machine = &p->level[MACHINE], *site = &p->level[CALLSITE];

	memset(p->process, 0, m->n_processes * sizeof(bool));
	memset(p->machine, 0, m->n_machines * sizeof(bool));
	memset(p->whole, 0, m->n_machines * sizeof(bool));
	memset(p->callsite, 0, m->n_callsites * sizeof(bool));
	limit_level(&p->level[THREAD], 4 * limit);
	limit_level(&p->level[CALLSITE], 4 * limit);
	limit_level(&p->level[PROCESS], limit);
	limit_level(&p->level[MACHINE], 4 * limit);
	for (uint32_t i = 0; trees && i < machine->n; i++)
		p->whole[machine->row[i].machine] |= machine->row[i].turn <= limit / 16;
	limit_rows(p);
	limit_components(p);
	for (uint32_t i = 0; i < site->n; i++)
		for (unsigned k = 0; k < 2 && site->has[i]; k++)
			if ((k ? site->row[i].to : site->row[i].from) < m->n_callsites)
				p->callsite[k ? site->row[i].to : site->row[i].from] = true;
	for (unsigned i = 0; i < SP_PAGE_PART_LEVELS; i++)
		for (uint32_t r = 0; r < p->level[i].n; r++)
			p->level[i].shown += p->level[i].has[r];
	p->part.process = p->process;
	p->part.component = p->component;
	p->part.callsite = p->callsite;
	p->part.thread = p->thread;
	p->part.readings = 8ull * limit;
	return &p->part;
}

bool sp_page_part_has_row(const void *part, unsigned level, uint32_t row)
{
	const struct level *l = &((const struct sp_page_part *)part)->level[level];

	return row < l->n && l->has[row];
}

/* ---- numbers of all rows ---------------------------------------------------------- */

void sp_page_part_json(const struct sp_page_part *p, struct sp_out *o)
{
	const struct sp_model *m = p->show->m;
	uint32_t cpus = 0, counted = 0;

	for (uint32_t c = 0; c < m->n_components; c++) {
		cpus += sp_component_is(&m->component[c], "PU");
		counted += sp_component_is(&m->component[c], "PU") && m->sums.counted[c];
	}
	sp_json_f(o,
		  ",\n \"part\": {\"processes\": %u, \"machines\": %u, \"cpus\": %u, "
		  "\"cpus_counted\": %u, \"levels\": [",
		  m->n_processes, m->n_machines, cpus, counted);
	for (unsigned i = 0; i < SP_PAGE_PART_LEVELS; i++) {
		const struct level *l = &p->level[i];

		sp_json_line(o, "  ");
		sp_json_f(o, "{\"level\": %s, \"rows\": %u, \"shown\": %u}", l->name, l->n,
			  l->shown);
	}
	sp_out_text(o, "]}");
}
