/* diff-metrics.c: see diff-metrics.h. */
#include <string.h>

#include "../../model/core-kinds.h"
#include "../../model/format-common.h"
#include "../tool/cmd.h"
#include "diff-metrics.h"

/* Returns the duration of the run; of several in one store (sspapi stat -r) that of its own
 * processes. */
static double elapsed(const struct sp_model *m, uint32_t repeat)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (uint32_t i = 0; repeat && i < m->n_processes; i++) {
		const struct sp_header *h = sp_process_header(m, i);

		if (h->stat >> SP_STAT_RUN_SHIFT != repeat)
			continue;
		first = sp_min(first, h->process.start_ns);
		last = sp_max(last, h->process.end_ns);
	}
	return repeat ? last > first ? (double)(last - first) : 0.0 : (double)sp_elapsed(m);
}

/* Sums the metrics of the whole run, over all its machines. */
static int add_up(struct sp_metrics *t, struct sp_model *m, struct sp_metric_sum *to,
		  uint32_t *kinds)
{
	struct sp_levels machines;
	int e = sp_levels_open(&machines, m, sp_level_by_name("machine"), t);

	if (e < 0)
		return e;
	for (uint32_t i = 0; i < machines.n; i++) {
		sp_metrics_sum(t, to, machines.row[i].metric);
		*kinds |= machines.row[i].kinds;
	}
	sp_levels_close(&machines);
	return 0;
}

static bool is_unproven(const struct sp_metrics *t, const struct sp_metric *d,
			const struct sp_level_row *row)
{
	for (uint32_t i = 0; i < d->n_slots; i++) {
		uint32_t e = t->slot[d->first_slot + i];

		if (row->total[e] != row->exact[e])
			return true;
	}
	return false;
}

/* Keeps the value, unless the row has several kinds of cores. */
static void keep(struct sp_diff_metric *to, struct sp_metrics *t, const struct sp_level_row *row,
		 const struct sp_metric_sum *sums, uint32_t kinds)
{
	sp_metrics_compute(t, sums);
	for (int32_t i = sp_metrics_next(t, -1); i >= 0; i = sp_metrics_next(t, i)) {
		const struct sp_metric *d = &t->at[i];

		*to++ = (struct sp_diff_metric){ .there = d->has_value && !sp_kinds_several(kinds),
						 .unproven = is_unproven(t, d, row),
						 .whole = d->whole,
						 .value = d->value };
	}
}

int sp_diff_metrics_keep(struct sp_diff_metrics *to, struct sp_names *names,
			 struct sp_levels *levels, const struct sp_level_row *total,
			 uint32_t repeat)
{
	struct sp_metrics *t = levels->metrics;
	struct sp_metric_sum *sums = sp_check_alloc(calloc(t->n_slots + 1, sizeof(*sums)));
	uint32_t kinds = 0;
	int e;

	to->number = sp_check_alloc(calloc(t->n + 1, sizeof(*to->number)));
	for (int32_t i = sp_metrics_next(t, -1); i >= 0; i = sp_metrics_next(t, i))
		to->number[to->n++] = sp_names_number(names, t->at[i].name, strlen(t->at[i].name));
	to->at = sp_check_alloc(calloc((uint64_t)(levels->n + 1) * to->n + 1, sizeof(*to->at)));
	t->elapsed_ns = elapsed(levels->m, repeat);
	for (uint32_t i = 0; i < levels->n; i++)
		keep(to->at + (uint64_t)(i + 1) * to->n, t, &levels->row[i], levels->row[i].metric,
		     levels->row[i].kinds);
	e = add_up(t, levels->m, sums, &kinds);
	if (e == 0)
		keep(to->at, t, total, sums, kinds);
	free(sums);
	return e;
}

const struct sp_diff_metric *sp_diff_metric_at(const struct sp_diff_metrics *s, uint32_t row,
					       uint32_t number)
{
	uint32_t i = 0;

	while (i < s->n && s->number[i] != number)
		i++;
	return i < s->n ? &s->at[(uint64_t)row * s->n + i] : NULL;
}
