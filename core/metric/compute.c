/* compute.c: computes the metrics of a store's rows from the event sets that have all events of a
 * metric; see compute.h. */
#include "../base/sys.h"
#include "../model/format-common.h"
#include "compute.h"

/* ---- events of a metric -------------------------------------------------------- */

static bool has_definitions(const struct sp_metrics *t, const struct sp_metric *d)
{
	for (uint32_t i = 0; i < d->n_terms; i++)
		if (t->term[d->first_term + i].definition >= 0)
			return true;
	return false;
}

/* Mark definition d and those it depends on, which precede it: needed[from .. d]. Returns
 * `from`. */
static uint32_t mark_needed(struct sp_metrics *t, uint32_t d)
{
	uint32_t from = d;

	t->needed[d] = true;
	for (uint32_t i = d + 1; i-- > from;)
		for (uint32_t k = 0; t->needed[i] && k < t->at[i].n_terms; k++) {
			int32_t other = t->term[t->at[i].first_term + k].definition;

			if (other < 0)
				continue;
			t->needed[other] = true;
			from = (uint32_t)sp_min(from, (uint32_t)other);
		}
	return from;
}

static void find_slots(struct sp_metrics *t, uint32_t number)
{
	struct sp_metric *d = &t->at[number];
	uint32_t from = mark_needed(t, number);

	d->first_slot = t->n_slots;
	for (uint32_t i = from; i <= number; i++) {
		const struct sp_metric *part = &t->at[i];

		for (uint32_t k = 0; t->needed[i] && k < part->n_terms; k++) {
			const struct sp_metric_term *term = &t->term[part->first_term + k];

			for (uint32_t j = 0; j < term->n_ids && t->n_slots < SP_METRIC_IDS_MOST;
			     j++) {
				uint32_t e = t->id[term->ids + j];

				if (!t->row.present[e])
					t->slot[t->n_slots++] = e;
				t->row.present[e] = true;
			}
		}
		t->needed[i] = false;
	}
	d->n_slots = t->n_slots - d->first_slot;
	for (uint32_t i = 0; i < d->n_slots; i++)
		t->row.present[t->slot[d->first_slot + i]] = false;
}

void sp_metrics_forget_sums(struct sp_metrics *t)
{
	sp_unmap(t->place, t->place_bytes);
	sp_unmap(t->joins, t->joins_bytes);
	sp_observers_close(&t->observers);
	t->place = NULL;
	t->joins = NULL;
	t->relation.event = NULL;
	t->has_observers = false;
}

void sp_metrics_prepare(struct sp_metrics *t)
{
	t->n_slots = 0;
	sp_metrics_forget_sums(t);
	for (uint32_t i = 0; i < t->n; i++)
		t->at[i].n_slots = 0;
	for (uint32_t i = 0; i < t->n; i++)
		for (int32_t v = t->at[i].shown ? (int32_t)i : -1; v >= 0; v = t->at[v].other)
			if (!t->at[v].n_slots && t->n_slots < SP_METRIC_IDS_MOST)
				find_slots(t, (uint32_t)v);
}

/* ---- sums -------------------------------------------------------------------------- */

static void add_value(const struct sp_metrics *t, struct sp_metric_sum *to, uint32_t slot,
		      int64_t value, uint64_t n)
{
	to[slot].value = sp_plus(sp_event_type(t->model, t->slot[slot]), to[slot].value, value);
	to[slot].n += n;
}

/* Add counts, but keep the longest time: the places were observed at the same time. */
static void add_longest(const struct sp_metrics *t, struct sp_metric_sum *to, uint32_t slot,
			const struct sp_metric_sum *from)
{
	add_value(t, to, slot, from->value, from->n);
	to[slot].ns = sp_max(to[slot].ns, from->ns);
}

void sp_metrics_add(struct sp_metrics *t, const struct sp_row *row, int32_t place,
		    const struct sp_observers *observers, const int64_t *total,
		    const int64_t *unsupported, struct sp_metric_sum *to)
{
	sp_metrics_take(t, row);
	for (uint32_t i = 0; i < t->relation.n_pairs; i++)
		if ((place == SP_METRIC_ANYWHERE
			     ? !t->relation.pair_joins[i]
			     : sp_row_place(row, t->relation.pair[i].i) == place) &&
		    !(unsupported && unsupported[t->relation.pair[i].i]) &&
		    !(observers && sp_observers_omit(observers, row, i)))
			add_value(t, to, t->relation.pair[i].of, total[t->relation.pair[i].i], 1);
	for (uint32_t i = 0; observers && place != SP_METRIC_ANYWHERE && i < t->relation.n_pairs;
	     i++)
		if (sp_row_place(row, t->relation.pair[i].i) == place)
			to[t->relation.pair[i].of].ns += sp_observers_ns(observers, row, i);
}

static uint32_t list_pairs(void *metrics, const struct sp_row *row, const struct sp_sighting **list)
{
	struct sp_metrics *t = metrics;

	sp_metrics_take(t, row);
	*list = t->relation.pair;
	return t->relation.n_pairs;
}

int sp_metrics_observers(struct sp_metrics *t, struct sp_observers *o,
			 const struct sp_observing *how)
{
	struct sp_observing of = { .list = list_pairs, .with = t };

	if (sp_metrics_join(t) < 0)
		return -ENOMEM;
	if (how) {
		of.group = how->group;
		of.of = how->of;
	}
	return sp_observers_open(o, t->model, &of);
}

/* Include all runs, whichever is selected: rows are identified by their index among all. */
const struct sp_observers *sp_metrics_model_observers(struct sp_metrics *t)
{
	uint32_t run = t->model->only_run;

	t->model->only_run = 0;
	t->has_observers = t->has_observers || sp_metrics_observers(t, &t->observers, NULL) == 0;
	t->model->only_run = run;
	return t->has_observers ? &t->observers : NULL;
}

void sp_metrics_sum(const struct sp_metrics *t, struct sp_metric_sum *to,
		    const struct sp_metric_sum *from)
{
	for (uint32_t i = 0; i < t->n_slots; i++)
		if (from[i].n)
			add_longest(t, to, i, &from[i]);
}

/* ---- the model's components ------------------------------------------------------- */

static struct sp_metric_sum *place_at(const struct sp_metrics *t, uint64_t row)
{
	return t->place + row * t->n_slots;
}

static void add_cell(struct sp_metrics *t, const struct sp_row *row, const struct sp_at_cpu *at)
{
	const struct sp_model *m = t->model;

	sp_metrics_take(t, row);
	for (uint32_t i = 0; i < t->relation.n_pairs; i++) {
		uint32_t slot = t->relation.pair[i].of, e = t->relation.pair[i].i;
		int32_t place = sp_row_place(row, e);
		bool more = !sp_observers_omit(&t->observers, row, i);

		if (!more || sp_is_unsupported(at, e))
			continue;
		for (int32_t c = place >= 0 ? place : at->component; more && c >= 0;
		     c = m->component[c].parent) {
			add_value(t, place_at(t, (uint32_t)c), slot, at->total[e], 1);
			place_at(t, (uint32_t)c)[slot].ns += sp_observers_ns(&t->observers, row, i);
			more = m->component[c].flags & SP_COMPONENT_MEMORY;
		}
	}
}

/* Sum up the tree as the model does; memory gets the sums of its parent. */
static void sum_tree(struct sp_metrics *t)
{
	const struct sp_model *m = t->model;

	for (uint32_t c = m->n_components; c-- > 1;)
		if (m->sums.counted[c] && m->component[c].parent >= 0 &&
		    !(m->component[c].flags & SP_COMPONENT_MEMORY))
			sp_metrics_sum(t, place_at(t, (uint32_t)m->component[c].parent),
				       place_at(t, c));
	for (uint32_t c = 1; c < m->n_components; c++) {
		if (!(m->component[c].flags & SP_COMPONENT_MEMORY) || m->component[c].parent < 0)
			continue;
		for (uint32_t i = 0; i < t->n_slots; i++) {
			const struct sp_metric_sum *from =
				place_at(t, (uint32_t)m->component[c].parent) + i;

			if (from->n && !sp_event_is_placed(m, t->slot[i]))
				add_longest(t, place_at(t, c), i, from);
		}
	}
}

/* Count the event sets of which each metric is, or is not, made: a relation with some of the
 * metric's events is one or the other. */
static void count_sets(struct sp_metrics *t, const struct sp_row *row)
{
	for (int32_t i = sp_metrics_next(t, -1); i >= 0; i = sp_metrics_next(t, i)) {
		int32_t v = sp_metrics_variant(t, (uint32_t)i, sp_metrics_machine_kind(t, row));
		bool any = false;

		for (uint32_t k = 0; v >= 0 && !any && k < t->at[v].n_slots; k++)
			for (uint32_t e = 0; e < row->k && !any; e++)
				any = row->event[e] == t->slot[t->at[v].first_slot + k];
		any = any && v >= 0;
		t->at[i].sets += any && (t->at[v].has_all || sp_metrics_joins(t, (uint32_t)i));
		t->at[i].others += any && !t->at[v].has_all && !sp_metrics_joins(t, (uint32_t)i);
	}
}

static void sum_model(struct sp_metrics *t)
{
	struct sp_row row = { .only_cells = true };
	struct sp_at_cpu at;

	t->place_bytes =
		(t->model->n_components + UINT64_C(1)) * (t->n_slots + 1ull) * sizeof(*t->place);
	t->place = sp_metrics_model_observers(t) ? sp_map(t->place_bytes) : NULL;
	for (uint32_t i = 0; i < t->n; i++)
		t->at[i].sets = t->at[i].others = 0;
	while (t->place && sp_model_next(t->model, &row)) {
		sp_metrics_take(t, &row);
		if (row.cells)
			count_sets(t, &row);
		for (uint32_t i = 0; sp_row_cell(t->model, &row, i, &at); i++)
			add_cell(t, &row, &at);
	}
	if (t->place)
		sum_tree(t);
}

const struct sp_metric_sum *sp_metrics_at(struct sp_metrics *t, uint32_t component)
{
	if (!t->place)
		sum_model(t);
	return t->place ? place_at(t, component) : NULL;
}

/* ---- computing ----------------------------------------------------------------------- */

static bool term_value(const struct sp_metrics *t, const struct sp_metric_term *term, double *v)
{
	bool any = false;

	*v = 0.0;
	for (uint32_t i = 0; i < term->n_ids; i++) {
		uint32_t e = t->id[term->ids + i];

		if (!t->row.present[e])
			continue;
		*v += sp_value_double(sp_event_type(t->model, e), t->row.sum[e]) / t->rows;
		any = true;
	}
	if (any)
		return true;
	if (term->elapsed) {
		*v = t->elapsed_ns;
		return t->elapsed_ns > 0.0;
	}
	if (term->observed) {
		*v = t->observed_ns;
		return t->observed_ns > 0.0;
	}
	if (term->definition < 0 || !t->now[term->definition].has_value)
		return false;
	*v = t->now[term->definition].value;
	return true;
}

/* Evaluate a formula; the parser has checked that the stack neither overflows nor underflows. */
static bool compute(const struct sp_metrics *t, const struct sp_metric *d, double *value)
{
	double stack[SP_FORMULA_STEPS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_steps; i++) {
		const struct sp_formula_step *s = &t->step[d->first_step + i];

		if (s->op == SP_FORMULA_TERM) {
			if (!term_value(t, &t->term[d->first_term + s->term], &stack[n++]))
				return false;
		} else if (s->op == SP_FORMULA_NUMBER) {
			stack[n++] = s->number;
		} else if (s->op == SP_FORMULA_HERTZ) {
			stack[n++] = t->hertz;
		} else {
			n--;
			if (!sp_formula_calculate(s->op, &stack[n - 1], stack[n]))
				return false;
		}
	}
	*value = stack[0];
	return stack[0] - stack[0] == 0.0;	/* neither infinite nor NaN */
}

/* Evaluate definition v for the current sums, after those it depends on. */
static void evaluate(struct sp_metrics *t, uint32_t v)
{
	uint32_t from = has_definitions(t, &t->at[v]) ? mark_needed(t, v) : v;

	t->needed[v] = true;
	for (uint32_t i = from; i <= v; i++) {
		if (t->needed[i])
			t->now[i].has_value =
				t->at[i].usable && compute(t, &t->at[i], &t->now[i].value);
		t->needed[i] = false;
	}
}

static bool has_counts(const struct sp_metric *d, const struct sp_metric_sum *sums)
{
	for (uint32_t i = 0; i < d->n_slots; i++)
		if (sums[d->first_slot + i].n)
			return true;
	return !d->n_slots;		/* it needs only the elapsed time */
}

static void compute_of(struct sp_metrics *t, struct sp_metric *d, uint32_t v,
		       const struct sp_metric_sum *sums, uint32_t rows)
{
	const struct sp_metric *of = &t->at[v];

	t->observed_ns = 0.0;
	t->rows = sp_max(rows, 1);
	for (uint32_t i = 0; i < of->n_slots; i++) {
		const struct sp_metric_sum *s = &sums[of->first_slot + i];

		t->row.sum[t->slot[of->first_slot + i]] = s->value;
		t->row.present[t->slot[of->first_slot + i]] = s->n != 0;
		if ((double)s->ns > t->observed_ns)
			t->observed_ns = (double)s->ns;
	}
	evaluate(t, v);
	for (uint32_t i = 0; i < of->n_slots; i++)
		t->row.present[t->slot[of->first_slot + i]] = false;
	d->has_value = t->now[v].has_value;
	d->value = t->now[v].value;
}

/* A metric that different kinds of machines define differently has no value for their sum. */
void sp_metrics_mean(struct sp_metrics *t, const struct sp_metric_sum *sums, const uint32_t *rows)
{
	for (int32_t i = sp_metrics_next(t, -1); i >= 0; i = sp_metrics_next(t, i)) {
		int32_t of = -1;
		unsigned n = 0;

		for (int32_t v = sums ? i : -1; v >= 0;
		     v = t->n_machine_kinds > 1 ? t->at[v].other : -1)
			if (has_counts(&t->at[v], sums)) {
				of = v;
				n++;
			}
		t->at[i].has_value = false;
		if (n == 1)
			compute_of(t, &t->at[i], (uint32_t)of, sums, rows ? rows[i] : 1);
	}
}

void sp_metrics_compute(struct sp_metrics *t, const struct sp_metric_sum *sums)
{
	sp_metrics_mean(t, sums, NULL);
}

void sp_metrics_compute_row(struct sp_metrics *t, const struct sp_row *row, const int64_t *total,
			    const int64_t *unsupported)
{
	memset(t->one, 0, t->n_slots * sizeof(*t->one));
	sp_metrics_add(t, row, SP_METRIC_ANYWHERE, NULL, total, unsupported, t->one);
	/* the time between two calls of an interval is unknown */
	for (uint32_t i = 0; !row->intervals && i < t->n_slots; i++)
		t->one[i].ns = !t->one[i].n			    ? 0
			       : row->run_ns != SP_COUNTED_UNKNOWN  ? row->run_ns
			       : row->last_ns > row->first_ns	    ? row->last_ns - row->first_ns
								    : 0;
	sp_metrics_compute(t, t->one);
}
