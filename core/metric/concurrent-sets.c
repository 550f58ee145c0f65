/* concurrent-sets.c: finds event sets that ran at the same time; see concurrent-sets.h.
 *
 * A PAPI event set has events of one component. A metric over two components uses the sets of one
 * thread. If some of its events count more than a thread, it uses all sets of that process or
 * machine. All are used, or none: each event must have been counted during 99 % of the time in
 * which any of them was. Only a set that ran without a pause is known to have counted from its
 * first call to its last.
 */
#include "../base/sort.h"
#include "../base/sys.h"
#include "concurrent-sets.h"

#define COVERED 99u			/* percent */

/* One event of a metric in a relation that lacks other events of the metric. */
struct part {
	uint64_t group, row;		/* parts of one group may be joined; the relation's index */
	uint64_t at[2];			/* start and end */
	uint32_t metric, variant, machine_kind, event;
	bool whole;			/* counted all that time */
	bool wide, by_stat;		/* counts more than a thread; counted by sspapi stat */
};

struct joining {
	struct sp_metrics *t;
	struct part *part;
	uint32_t *order, *end;		/* [2 * part]: its start, [2 * part + 1]: its end */
	uint32_t n;
};

enum width { THREAD, PROCESS, MACHINE };

const char *const sp_metric_levels[] = {
	[THREAD] = "thread", [PROCESS] = "process", [MACHINE] = "machine"
};

/* The widest scope of its events. */
static enum width width(const struct sp_metrics *t, const struct sp_metric *d)
{
	enum width most = THREAD;

	for (uint32_t k = 0; k < d->n_slots; k++) {
		uint8_t scope = t->model->event[t->slot[d->first_slot + k]]->scope;

		if (scope != SP_SCOPE_THREAD && most != MACHINE)
			most = scope == SP_SCOPE_PROCESS ? PROCESS : MACHINE;
	}
	return most;
}

static bool is_of_stat(const struct sp_row *row)
{
	return row->event_set < 0;
}

static uint64_t group_of(const struct sp_model *m, const struct sp_row *row, enum width wide)
{
	if (wide == THREAD)
		return sp_observer(row);
	return wide == PROCESS ? row->process : m->process[row->process].machine;
}

static bool is_whole(const struct sp_row *row)
{
	return is_of_stat(row) || (row->starts == 1 && row->threads <= 1 && !row->runs &&
				   !(row->flags & SP_RELATION_UNSURE));
}

/* Write the parts of one relation to `to`, unless NULL; returns their number. */
static uint32_t parts_of(struct sp_metrics *t, const struct sp_row *row, struct part *to)
{
	uint32_t n = 0, machine_kind = sp_metrics_machine_kind(t, row);

	sp_metrics_take(t, row);
	for (int32_t i = sp_metrics_next(t, -1); row->cells && i >= 0; i = sp_metrics_next(t, i)) {
		int32_t v = sp_metrics_variant(t, (uint32_t)i, machine_kind);
		const struct sp_metric *d = v >= 0 && !t->at[v].has_all ? &t->at[v] : NULL;

		for (uint32_t k = 0; d && k < d->n_slots; k++)
			for (uint32_t e = 0; e < row->k; e++) {
				if (row->event[e] != t->slot[d->first_slot + k])
					continue;
				if (to)
					to[n] = (struct part){
						.group = group_of(t->model, row, width(t, d)),
						.row = row->walk.index,
						.at = { row->first_ns,
							sp_max(row->first_ns, row->last_ns) },
						.metric = (uint32_t)i,
						.variant = (uint32_t)v,
						.machine_kind = machine_kind,
						.event = row->event[e],
						.whole = is_whole(row),
						.wide = t->model->event[row->event[e]]->scope !=
							SP_SCOPE_THREAD,
						.by_stat = is_of_stat(row)
					};
				n++;
				break;
			}
	}
	return n;
}

static bool is_same_group(const struct part *a, const struct part *b)
{
	return a->metric == b->metric && a->group == b->group && a->machine_kind == b->machine_kind;
}

static bool by_group(const void *of, uint32_t x, uint32_t y)
{
	const struct part *a = (const struct part *)of + x, *b = (const struct part *)of + y;

	if (a->metric != b->metric)
		return a->metric < b->metric;
	if (a->machine_kind != b->machine_kind)
		return a->machine_kind < b->machine_kind;
	return a->group != b->group ? a->group < b->group : x < y;
}

static uint64_t time_of(const struct part *part, uint32_t end)
{
	return part[end / 2].at[end % 2];
}

static bool by_time(const void *of, uint32_t x, uint32_t y)
{
	uint64_t a = time_of(of, x), b = time_of(of, y);

	return a != b ? a < b : x < y;
}

/* Percentage of the time with any of the n parts in which every event was counted. */
static uint32_t covered(struct joining *j, const uint32_t *order, uint32_t n, uint32_t n_events)
{
	uint64_t any_ns = 0, all_ns = 0, before = 0;
	/* [event] number of parts */
	uint32_t *running = j->t->row.at, n_any = 0, n_running = 0;

	for (uint32_t i = 0; i < 2 * n; i++)
		j->end[i] = 2 * order[i / 2] + i % 2;
	sp_sort(j->end, 2 * n, by_time, j->part);
	for (uint32_t i = 0; i < 2 * n; i++) {
		const struct part *p = &j->part[j->end[i] / 2];
		uint64_t now = time_of(j->part, j->end[i]);

		any_ns += n_any ? now - before : 0;
		all_ns += n_running == n_events ? now - before : 0;
		before = now;
		if (j->end[i] % 2) {
			n_any--;
			n_running -= p->whole && !--running[p->event];
		} else {
			n_any++;
			n_running += p->whole && !running[p->event]++;
		}
	}
	return any_ns ? (uint32_t)(100.0 * (double)all_ns / (double)any_ns) : 0;
}

/* Extend a thread's part that sspapi stat counted to the machine's part: its counters are on during
 * all of it. */
static void extend_to_machine(struct joining *j, struct part *p, const uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; p->by_stat && !p->wide && i < n; i++) {
		const struct part *q = &j->part[order[i]];

		if (q->by_stat && q->wide && q->at[0] <= p->at[0] && p->at[1] <= q->at[1]) {
			memcpy(p->at, q->at, sizeof(p->at));
			return;
		}
	}
}

/* Join the n parts of a metric that a thread, process or machine has, if possible. */
static void join_group(struct joining *j, const uint32_t *order, uint32_t n)
{
	const struct part *first = &j->part[order[0]];
	struct sp_metrics *t = j->t;
	struct sp_metric *d = &t->at[first->metric];
	uint32_t n_events = 0, per_cent;
	bool paused = false;

	for (uint32_t i = 0; i < n; i++) {
		n_events += !t->row.at[j->part[order[i]].event]++;
		paused = paused || !j->part[order[i]].whole;
		extend_to_machine(j, &j->part[order[i]], order, n);
	}
	sp_metrics_find_whole(t, first->machine_kind);
	for (uint32_t i = 0; i < n; i++)
		t->row.at[j->part[order[i]].event] = 0;
	if (!t->at[first->variant].has_all)
		return;
	per_cent = covered(j, order, n, n_events);
	for (uint32_t i = 0; per_cent >= COVERED && i < n; i++)
		t->joins[(j->part[order[i]].row - 1) * (t->n / 8 + 1) + first->metric / 8] |=
			(uint8_t)(1u << first->metric % 8);
	if (per_cent >= COVERED) {
		d->joined = sp_metric_levels[width(t, &t->at[first->variant])];
		return;
	}
	d->covered = d->has_gap ? (uint32_t)sp_min(d->covered, per_cent) : per_cent;
	d->paused = d->paused || paused;
	d->has_gap = true;
}

static void join_all(struct joining *j)
{
	for (uint32_t i = 0; i < j->n; i++)
		j->order[i] = i;
	sp_sort(j->order, j->n, by_group, j->part);
	for (uint32_t i = 0, from; i < j->n;) {
		from = i;
		while (i < j->n && is_same_group(&j->part[j->order[i]], &j->part[j->order[from]]))
			i++;
		join_group(j, j->order + from, i - from);
	}
}

/* Include all runs, whichever is selected: rows are identified by their index among all. */
static int join(struct joining *j)
{
	struct sp_metrics *t = j->t;
	struct sp_row row = { .only_cells = true };
	uint64_t most = 0, bytes;

	for (; sp_model_next(t->model, &row); most += parts_of(t, &row, NULL))
		t->n_joins = row.walk.index;
	t->joins_bytes = (t->n_joins + 1) * (t->n / 8 + 1);
	t->joins = most < UINT32_MAX / 2 ? sp_map(t->joins_bytes) : NULL;
	if (!t->joins || !most)
		return t->joins ? 0 : -ENOMEM;
	bytes = most * (sizeof(*j->part) + 3 * sizeof(uint32_t));
	j->part = sp_map(bytes);
	if (!j->part)
		return -ENOMEM;
	j->order = (uint32_t *)(j->part + most);
	j->end = j->order + most;
	row = (struct sp_row){ .only_cells = true };
	while (sp_model_next(t->model, &row) && row.walk.index <= t->n_joins &&
	       j->n + parts_of(t, &row, NULL) <= most)
		j->n += parts_of(t, &row, j->part + j->n);
	join_all(j);
	sp_unmap(j->part, bytes);
	return 0;
}

int sp_metrics_join(struct sp_metrics *t)
{
	struct joining j = { .t = t };
	uint32_t run = t->model->only_run;
	int e = 0;

	if (t->joins)
		return 0;
	t->n_joins = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		t->at[i].has_gap = t->at[i].paused = false;
		t->at[i].joined = NULL;
	}
	t->model->only_run = 0;
	t->relation.event = NULL;
	e = join(&j);
	t->model->only_run = run;
	t->relation.event = NULL;
	return e;
}
