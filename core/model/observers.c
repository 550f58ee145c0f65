/* observers.c: finds counts of the same thing and chooses the observers that count; see
 * observers.h. */
#include <errno.h>
#include <string.h>

#include "../base/sort.h"
#include "../base/sys.h"
#include "gauges.h"
#include "observers.h"

/* A relation's observation of one subject. */
struct sight {
	uint64_t subject, group, observer;
	/* in the observer's first sight: over all its sights; run_ns SP_COUNTED_UNKNOWN: some are
	 * not measured */
	uint64_t first_ns, last_ns, run_ns;
	uint32_t event, slot;		/* index in o->left */
};

struct work {
	struct sp_observers *o;
	struct sight *sight;
	uint32_t *order, *head, *chosen;
	uint32_t n, n_heads, n_chosen;
};

/* Returns whether the event counts only the process's own context, as CUDA's do: two processes
 * never observe the same, and device 0 of two ranks may be two GPUs. */
static bool is_of_contexts(const struct sp_model *m, const struct sp_event *v)
{
	return strcmp(sp_model_text(m, v->component), "cuda") == 0;
}

static bool may_be_shared(const struct sp_event *v)
{
	return v && v->kind == SP_COUNTER &&
	       (v->scope == SP_SCOPE_PROCESS || v->scope == SP_SCOPE_PACKAGE ||
		v->scope == SP_SCOPE_HOST || v->scope == SP_SCOPE_DEVICE);
}

/* Returns whether the row counts everything that runs on its CPU, with any event. */
static bool is_of_cpu(const struct sp_row *row)
{
	return row->scope == SP_SCOPE_CPU && row->target == SP_TARGET_CPU;
}

static bool is_shared(const struct sp_model *m, const struct sp_row *row, uint32_t i)
{
	const struct sp_event *v = m->event[row->event[i]];

	return may_be_shared(v) || (is_of_cpu(row) && v && v->kind == SP_COUNTER);
}

static bool any_shared(const struct sp_model *m)
{
	for (uint32_t e = 0; e < m->n_events; e++)
		if (may_be_shared(m->event[e]))
			return true;
	return m->tally.any_of_cpus;
}

/* Identify the event with its place, and with its process if it counts only the process. */
static uint64_t subject(const struct sp_model *m, const struct sp_row *row,
			const struct sp_sighting *at)
{
	const struct sp_event *v = m->event[row->event[at->i]];
	int32_t place = sp_row_place(row, at->i);
	uint64_t h = sp_mix_hash(sp_mix_hash(sp_mix_hash(1, at->of), (uint32_t)place),
				 m->process[row->process].machine);

	if (place < 0)
		h = sp_mix_hash(sp_mix_hash(h, (uint32_t)v->place_id),
				row->target == SP_TARGET_CPU ? (uint32_t)row->target_id + 1ull : 0);
	return v->scope == SP_SCOPE_PROCESS || is_of_contexts(m, v)
		       ? sp_mix_hash(h, row->process + 1ull)
		       : h;
}

/* The row's list of sightings and its length. */
static uint32_t list(const struct sp_observing *how, const struct sp_row *row,
		     const struct sp_sighting **at)
{
	*at = NULL;
	return how && how->list ? how->list(how->with, row, at) : row->k;
}

static void take_row(struct work *w, const struct sp_model *m, const struct sp_row *row,
		     const struct sp_observing *how, uint32_t slot)
{
	uint64_t observer = sp_observer(row);
	uint64_t group = how && how->group ? how->group(how->of, row) : 0;
	const struct sp_sighting *at;
	uint32_t n = list(how, row, &at);

	w->o->at[row->walk.index - 1] = slot + 1;
	/* A row without cells was never read. */
	for (uint32_t i = 0; row->cells && i < n; i++) {
		struct sp_sighting one = at ? at[i] : (struct sp_sighting){ row->event[i], i };

		if (is_shared(m, row, one.i))
			w->sight[w->n++] = (struct sight){ subject(m, row, &one),
							   group,
							   observer,
							   row->first_ns,
							   row->last_ns,
							   row->run_ns,
							   row->event[one.i],
							   slot + i };
	}
}

static bool is_same_subject(const struct sight *a, const struct sight *b)
{
	return a->subject == b->subject && a->group == b->group;
}

static bool by_subject(const void *of, uint32_t x, uint32_t y)
{
	const struct sight *a = (const struct sight *)of + x, *b = (const struct sight *)of + y;

	if (!is_same_subject(a, b))
		return a->subject != b->subject ? a->subject < b->subject : a->group < b->group;
	return a->observer != b->observer ? a->observer < b->observer : x < y;
}

/* Order by run time, longest first, then by the start, then by position. */
static bool by_time(const void *of, uint32_t x, uint32_t y)
{
	const struct sight *a = (const struct sight *)of + x, *b = (const struct sight *)of + y;

	if (a->run_ns != b->run_ns)
		return a->run_ns > b->run_ns;
	return a->first_ns != b->first_ns ? a->first_ns < b->first_ns : x < y;
}

/* Find the position among the chosen sights, which do not overlap; false if it overlaps one of
 * them. */
static bool find_room(const struct work *w, const struct sight *s, uint32_t *at)
{
	uint32_t low = 0, high = w->n_chosen;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (w->sight[w->chosen[middle]].first_ns <= s->first_ns)
			low = middle + 1;
		else
			high = middle;
	}
	*at = low;
	return (!low || w->sight[w->chosen[low - 1]].last_ns <= s->first_ns) &&
	       (low == w->n_chosen || w->sight[w->chosen[low]].first_ns >= s->last_ns);
}

/* Choose the observers of one subject that count. w->head has the first sight of each observer,
 * whose further sights follow in w->order; mark those of the others in `omitted`. */
static void choose(struct work *w, uint32_t *from)
{
	uint32_t *several = &w->o->n[w->sight[w->head[0]].event], at, n_omitted = 0;

	sp_sort(w->head, w->n_heads, by_time, w->sight);
	w->n_chosen = 0;
	for (uint32_t i = 0; i < w->n_heads; i++) {
		const struct sight *s = &w->sight[w->head[i]];

		if (!find_room(w, s, &at)) {
			for (uint32_t k = from[w->head[i]];
			     k < w->n && is_same_subject(&w->sight[w->order[k]], s) &&
			     w->sight[w->order[k]].observer == s->observer;
			     k++)
				w->o->omitted[w->sight[w->order[k]].slot] = true;
			n_omitted++;
			continue;
		}
		w->o->ns[s->slot] = s->run_ns;
		memmove(w->chosen + at + 1, w->chosen + at,
			(w->n_chosen - at) * sizeof(*w->chosen));
		w->chosen[at] = w->head[i];
		w->n_chosen++;
	}
	if (n_omitted)
		*several = (uint32_t)sp_max(*several, w->n_heads);
}

/* Find the subjects and their observers, and choose for each subject. */
static void find_omitted(struct work *w, uint32_t *from)
{
	sp_sort(w->order, w->n, by_subject, w->sight);
	for (uint32_t i = 0; i < w->n;) {
		const struct sight *of = &w->sight[w->order[i]];

		for (w->n_heads = 0; i < w->n && is_same_subject(&w->sight[w->order[i]], of);) {
			struct sight *first = &w->sight[w->order[i]];

			from[w->order[i]] = i;
			w->head[w->n_heads++] = w->order[i];
			for (i++; i < w->n && is_same_subject(&w->sight[w->order[i]], first) &&
				  w->sight[w->order[i]].observer == first->observer;
			     i++) {
				first->first_ns =
					sp_min(first->first_ns, w->sight[w->order[i]].first_ns);
				first->last_ns =
					sp_max(first->last_ns, w->sight[w->order[i]].last_ns);
				first->run_ns = sp_counted_add(first->run_ns,
							       w->sight[w->order[i]].run_ns);
			}
			if (first->run_ns == SP_COUNTED_UNKNOWN)
				first->run_ns = first->last_ns - first->first_ns;
		}
		choose(w, from);
	}
}

int sp_observers_open(struct sp_observers *o, struct sp_model *m, const struct sp_observing *how)
{
	struct work w = { .o = o };
	struct sp_row row = { .only_cells = true };
	const struct sp_sighting *at;
	uint64_t most = 0, n_rows = 0, bytes;
	uint32_t slot = 0, n;

	memset(o, 0, sizeof(*o));
	if (!any_shared(m))
		return 0;
	for (; sp_model_next(m, &row); most += list(how, &row, &at))
		n_rows = row.walk.index;
	row = (struct sp_row){ .only_cells = true };
	o->bytes = most * 9 + n_rows * 4 + m->n_events * 4 + 64;
	bytes = (most + 1) * (sizeof(*w.sight) + 4 * sizeof(uint32_t));
	o->memory = most < UINT32_MAX ? sp_map(o->bytes) : NULL;
	w.sight = o->memory ? sp_map(bytes) : NULL;
	if (!w.sight) {
		sp_observers_close(o);
		return -ENOMEM;
	}
	o->ns = o->memory;
	o->at = (uint32_t *)(o->ns + most);
	o->n = o->at + n_rows;
	o->omitted = (bool *)(o->n + m->n_events);
	w.order = (uint32_t *)(w.sight + most + 1);
	w.head = w.order + most + 1;
	w.chosen = w.head + most + 1;
	while (sp_model_next(m, &row) && row.walk.index <= n_rows &&
	       slot + (n = list(how, &row, &at)) <= most) {
		take_row(&w, m, &row, how, slot);
		slot += n;
	}
	for (uint32_t i = 0; i < w.n; i++)
		w.order[i] = i;
	find_omitted(&w, w.chosen + most + 1);
	sp_unmap(w.sight, bytes);
	return 0;
}

void sp_observers_close(struct sp_observers *o)
{
	if (o->memory)
		sp_unmap(o->memory, o->bytes);
	memset(o, 0, sizeof(*o));
}
