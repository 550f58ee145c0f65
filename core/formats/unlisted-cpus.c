/* unlisted-cpus.c: sums the counts of CPUs that the topology lacks; see unlisted-cpus.h. */
#include "../base/sort.h"
#include "../base/sys.h"
#include "../model/format-common.h"
#include "unlisted-cpus.h"

/* CPUs in the order of the rows. Each row lists its CPUs in order, so a search starts after the
 * last hit. */
struct found {
	struct sp_unlisted_cpus_cpu *cpu;
	uint32_t n, most, last;
};

static bool is_outside(const struct sp_at_cpu *at)
{
	return at->component < 0 && at->cpu >= 0;
}

/* Returns the CPU's number; n if there is no such CPU yet. */
static uint32_t number_of(struct found *f, struct sp_unlisted_cpus_cpu c)
{
	for (uint32_t i = 0, k = f->last; i < f->n; i++) {
		k = k + 1 < f->n ? k + 1 : 0;
		if (f->cpu[k].cpu == c.cpu && f->cpu[k].machine == c.machine) {
			f->last = k;
			return k;
		}
	}
	return f->n;
}

static struct sp_unlisted_cpus_cpu cpu_of(const struct sp_model *m, const struct sp_row *row,
					  const struct sp_at_cpu *at)
{
	return (struct sp_unlisted_cpus_cpu){ m->process[row->process].machine, at->cpu };
}

static uint32_t count_cells(struct sp_model *m)
{
	struct sp_row row = { .only_cells = true };
	struct sp_at_cpu at;
	uint32_t n = 0;

	while (m->n_outside && sp_model_next(m, &row))
		for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++)
			n += is_outside(&at);
	return n;
}

static void list_cpus(struct sp_model *m, struct found *f)
{
	struct sp_row row = { .only_cells = true };
	struct sp_at_cpu at;

	while (sp_model_next(m, &row))
		for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++)
			if (is_outside(&at) && number_of(f, cpu_of(m, &row, &at)) == f->n &&
			    f->n < f->most)
				f->cpu[f->n++] = cpu_of(m, &row, &at);
}

static bool sorts_before(const void *cpus, uint32_t a, uint32_t b)
{
	const struct sp_unlisted_cpus_cpu *cpu = cpus;

	return cpu[a].machine != cpu[b].machine ? cpu[a].machine < cpu[b].machine
						: cpu[a].cpu < cpu[b].cpu;
}

static bool allocate(struct sp_unlisted_cpus *o, const struct found *f, const struct sp_model *m,
		     const struct sp_metrics *t)
{
	uint64_t slots = t ? t->n_slots : 0, events = m->n_events;
	uint64_t each = sizeof(*o->cpu) + events * (sizeof(*o->sum) + 2 * sizeof(*o->present)) +
			slots * sizeof(*o->metric);
	uint32_t *order;

	o->bytes = (f->n + 1) * (each + sizeof(*order));
	o->memory = sp_map(o->bytes);
	if (!o->memory)
		return false;
	o->n = f->n;
	o->metric = o->memory;
	o->sum = (int64_t *)(o->metric + (f->n + 1) * slots);
	o->cpu = (struct sp_unlisted_cpus_cpu *)(o->sum + (f->n + 1) * events);
	order = (uint32_t *)(o->cpu + f->n);
	o->present = (bool *)(order + f->n);
	o->unsupported = o->present + (f->n + 1) * events;
	for (uint32_t i = 0; i < f->n; i++)
		order[i] = i;
	sp_sort(order, f->n, sorts_before, f->cpu);
	for (uint32_t i = 0; i < f->n; i++)
		o->cpu[i] = f->cpu[order[i]];
	return true;
}

static void add_cell(struct sp_unlisted_cpus *o, struct sp_model *m, const struct sp_row *row,
		     const struct sp_at_cpu *at, uint32_t i)
{
	for (uint32_t k = 0; k < row->k; k++) {
		uint64_t to = (uint64_t)i * m->n_events + row->event[k];

		if (m->event_placed[row->event[k]] || !sp_event_is_summed(m, row->event[k]) ||
		    sp_row_is_omitted(m, row, k))
			continue;
		if (sp_is_unsupported(at, k)) {
			o->unsupported[to] = true;
			continue;
		}
		o->sum[to] = sp_plus(sp_event_type(m, row->event[k]), o->sum[to], at->total[k]);
		o->present[to] = true;
	}
}

static void add_cells(struct sp_unlisted_cpus *o, struct sp_model *m, struct sp_metrics *t)
{
	const struct sp_observers *left = t ? sp_metrics_model_observers(t) : NULL;
	struct found f = { .cpu = o->cpu, .n = o->n };
	struct sp_row row = { .only_cells = true };
	struct sp_at_cpu at;

	while (sp_model_next(m, &row))
		for (uint32_t i = 0; sp_row_cell(m, &row, i, &at); i++) {
			uint32_t k = is_outside(&at) ? number_of(&f, cpu_of(m, &row, &at)) : o->n;

			if (k == o->n)
				continue;
			add_cell(o, m, &row, &at, k);
			if (t)
				sp_metrics_add(t, &row, -1, left, at.total, at.unsupported,
					       o->metric + (uint64_t)k * t->n_slots);
		}
	/* As for CPUs of the topology: an event is supported unless every row reports it as
	 * unsupported. */
	for (uint64_t i = 0; i < (uint64_t)o->n * m->n_events; i++)
		o->present[i] = o->present[i] || !o->unsupported[i];
}

void sp_unlisted_cpus_open(struct sp_unlisted_cpus *o, struct sp_model *m, struct sp_metrics *t)
{
	struct found f = { .most = count_cells(m) };

	*o = (struct sp_unlisted_cpus){ 0 };
	f.cpu = f.most ? sp_map(f.most * sizeof(*f.cpu)) : NULL;
	if (!f.cpu)
		return;
	list_cpus(m, &f);
	if (allocate(o, &f, m, t))
		add_cells(o, m, t);
	sp_unmap(f.cpu, f.most * sizeof(*f.cpu));
}

void sp_unlisted_cpus_close(struct sp_unlisted_cpus *o)
{
	sp_unmap(o->memory, o->bytes);
}

static bool is_below(const struct sp_model *m, uint32_t machine, uint32_t component)
{
	int32_t root = m->machine[machine].root;

	return root >= 0 &&
	       (component == (uint32_t)root || (int32_t)component == sp_parent(m, (uint32_t)root));
}

static void add_cpu(struct sp_unlisted_cpus *o, const struct sp_model *m,
		    const struct sp_metrics *t, uint32_t i)
{
	uint64_t from = (uint64_t)i * m->n_events, to = (uint64_t)o->n * m->n_events;

	for (uint32_t e = 0; e < m->n_events; e++) {
		o->sum[to + e] = sp_plus(sp_event_type(m, e), o->sum[to + e], o->sum[from + e]);
		o->present[to + e] = o->present[to + e] || o->present[from + e];
	}
	if (t)
		sp_metrics_sum(t, o->metric + (uint64_t)o->n * t->n_slots,
			       o->metric + (uint64_t)i * t->n_slots);
}

bool sp_unlisted_cpus_below(struct sp_unlisted_cpus *o, const struct sp_model *m,
			    struct sp_metrics *t, uint32_t component)
{
	const struct sp_metric_sum *sums = t ? sp_metrics_at(t, component) : NULL;
	uint64_t at = (uint64_t)component * m->n_events, to = (uint64_t)o->n * m->n_events;
	bool any = false;

	for (uint32_t i = 0; i < o->n; i++) {
		if (!is_below(m, o->cpu[i].machine, component))
			continue;
		if (!any) {
			memcpy(o->sum + to, m->sums.below + at, m->n_events * sizeof(*o->sum));
			memcpy(o->present + to, m->sums.present + at,
			       m->n_events * sizeof(*o->present));
		}
		if (!any && sums)
			memcpy(o->metric + (uint64_t)o->n * t->n_slots, sums,
			       t->n_slots * sizeof(*sums));
		any = true;
		add_cpu(o, m, t, i);
	}
	return any;
}
