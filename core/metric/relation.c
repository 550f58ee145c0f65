/* relation.c: see relation.h. */
#include "relation.h"

int32_t sp_metrics_next(const struct sp_metrics *t, int32_t i)
{
	for (i++; (uint32_t)i < t->n; i++)
		if (t->at[i].shown)
			return i;
	return -1;
}

/* Returns whether the current relation has a value for the term. */
static bool term_is_there(const struct sp_metrics *t, const struct sp_metric_term *term)
{
	for (uint32_t i = 0; i < term->n_ids; i++)
		if (t->row.at[t->id[term->ids + i]])
			return true;
	if (term->elapsed || term->observed)
		return term->observed || t->elapsed_ns > 0.0;
	return term->definition >= 0 && t->at[term->definition].has_all;
}

void sp_metrics_find_whole(struct sp_metrics *t, uint32_t machine_kind)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct sp_metric *d = &t->at[i];

		d->has_all = d->usable && (d->machine_kinds >> machine_kind & 1);
		for (uint32_t k = 0; d->has_all && k < d->n_terms; k++)
			d->has_all = term_is_there(t, &t->term[d->first_term + k]);
	}
}

/* Select the definition of a shown metric for this kind of machine, or -1. */
int32_t sp_metrics_variant(const struct sp_metrics *t, uint32_t shown, uint32_t machine_kind)
{
	int32_t v = (int32_t)shown;

	while (v >= 0 && !(t->at[v].machine_kinds >> machine_kind & 1))
		v = t->n_machine_kinds > 1 ? t->at[v].other : -1;
	return v;
}

uint32_t sp_metrics_machine_kind(const struct sp_metrics *t, const struct sp_row *row)
{
	return t->n_machine_kinds > 1 ? t->machine_kind_of[t->model->process[row->process].machine]
				      : 0;
}

/* Reuse the results for the previous relation if it had the same events, as is usual. */
void sp_metrics_take(struct sp_metrics *t, const struct sp_row *row)
{
	const uint8_t *joins = t->joins && row->walk.index && row->walk.index <= t->n_joins
				       ? t->joins + (row->walk.index - 1) * (t->n / 8 + 1)
				       : NULL;
	uint32_t machine_kind = sp_metrics_machine_kind(t, row);

	if (t->relation.event && t->relation.k == row->k &&
	    t->relation.machine_kind == machine_kind &&
	    memcmp(t->relation.event, row->event, row->k * sizeof(*row->event)) == 0 &&
	    !joins == !t->relation.joins &&
	    (!joins || memcmp(joins, t->relation.joins, t->n / 8 + 1) == 0))
		return;
	t->relation.event = row->event;
	t->relation.k = row->k;
	t->relation.machine_kind = machine_kind;
	t->relation.joins = joins;
	t->relation.n_pairs = 0;
	for (uint32_t i = row->k; i-- > 0;)
		/* count an event that is in a set twice once */
		t->row.at[row->event[i]] = i + 1;
	sp_metrics_find_whole(t, machine_kind);
	for (int32_t i = sp_metrics_next(t, -1); i >= 0; i = sp_metrics_next(t, i)) {
		int32_t v = sp_metrics_variant(t, (uint32_t)i, machine_kind);
		const struct sp_metric *d = v >= 0 ? &t->at[v] : NULL;

		for (uint32_t k = 0;
		     d && (d->has_all || sp_metrics_joins(t, (uint32_t)i)) && k < d->n_slots; k++) {
			uint32_t at = t->row.at[t->slot[d->first_slot + k]];

			if (!at || t->relation.n_pairs == SP_METRIC_IDS_MOST)
				continue;
			t->relation.pair_joins[t->relation.n_pairs] = !d->has_all;
			t->relation.pair[t->relation.n_pairs++] =
				(struct sp_sighting){ d->first_slot + k, at - 1 };
		}
	}
	for (uint32_t i = 0; i < row->k; i++)
		t->row.at[row->event[i]] = 0;
}
