/* format-text-places.c: writes the tables of places, and the lists; see format-text-places.h. */
#include "../base/sys.h"
#include "../model/core-kinds.h"
#include "../model/repeats.h"
#include "format-text-places.h"
#include "format-text-table.h"

#define UNKNOWN		(1ull << 40)	/* instead of a component: an unknown CPU */
/* a CPU that the topology lacks; its number is in the low bits */
#define OUTSIDE		(1ull << 41)
#define DEPTHS		8u

/* ---- the tree, without repeated levels ------------------------------------------------------ */

struct tree {
	const struct sp_model *m;
	uint32_t *below;		/* [component] number of direct children with counts */
	uint32_t *only;			/* the last of these children */
	uint8_t *depth;			/* of components that are shown */
	bool *shown, flat;
	uint32_t n;			/* components that are shown */
	void *memory;
	uint64_t bytes;
};

/* Returns whether the component's counts are those of its only child. */
static bool repeats(const struct tree *r, uint32_t c)
{
	for (uint32_t e = 0; e < r->m->n_events; e++)
		if (sp_event_has_column(r->m, e) &&
		    sp_sum(r->m, c, e) != sp_sum(r->m, r->only[c], e))
			return false;
	return true;
}

/* Components without per-CPU counts are not shown, nor is memory, which repeats its neighbour. */
static bool open_tree(struct tree *r, const struct sp_model *m)
{
	uint64_t nc = m->n_components;
	char *p;

	*r = (struct tree){ .m = m, .bytes = nc * 10 + 64 };
	r->memory = p = sp_map(r->bytes);
	if (!p)
		return false;
	r->below = (uint32_t *)p;
	r->only = (uint32_t *)p + nc;
	r->depth = (uint8_t *)(p + 8 * nc);
	r->shown = (bool *)(p + 9 * nc);
	for (uint32_t c = m->n_components; c-- > 0;) {
		int32_t up = sp_parent(m, c);

		if (!m->sums.counted[c] || (m->component[c].flags & SP_COMPONENT_MEMORY) ||
		    !(sp_is_pu(m, (int32_t)c) || r->below[c]))
			continue;
		r->shown[c] = r->below[c] != 1 || !repeats(r, c);
		r->n += r->shown[c];
		if (up >= 0) {
			r->below[up]++;
			r->only[up] = c;
		}
	}
	for (uint32_t c = 1; c < m->n_components; c++)
		if (sp_parent(m, c) >= 0)
			r->depth[c] = (uint8_t)sp_min(r->depth[sp_parent(m, c)] +
							      r->shown[sp_parent(m, c)],
						      DEPTHS);
	return true;
}

/* ---- a table of places -------------------------------------------------------- */

/* Sums the cells of this CPU, which the topology lacks, over all relations. */
static void outside_sums(struct sp_table *t, int32_t cpu)
{
	const struct sp_observers *left =
		t->s->metrics ? sp_metrics_model_observers(t->s->metrics) : NULL;
	struct sp_model *m = t->s->m;
	struct sp_row row = { .only_cells = true };
	struct sp_at_cpu at;

	while (sp_model_next(m, &row))
		for (uint32_t i = 0; i < row.cells; i++) {
			if (!sp_row_cell(m, &row, i, &at) || at.component >= 0 || at.cpu != cpu)
				continue;
			t->sums.kinds |= sp_kind_unknown(m);
			if (t->s->metrics)
				sp_metrics_add(t->s->metrics, &row, -1, left, at.total,
					       at.unsupported, t->sums.metric);
			for (uint32_t e = 0; e < row.k; e++)
				if (sp_row_place(&row, e) < 0 && !sp_is_unsupported(&at, e) &&
				    !sp_row_is_omitted(m, &row, e))
					sp_table_sum(t, row.event[e], at.total[e], at.exact[e]);
		}
}

static void place_row(struct sp_table *t, uint64_t at)
{
	const struct sp_model *m = t->m;
	const struct tree *r = t->arg;
	struct sp_out o;

	sp_memory_init(&o, t->label, sizeof(t->label));
	if (at >= UNKNOWN) {
		int32_t cpu = at == UNKNOWN ? SP_NO_CPU : (int32_t)(at - OUTSIDE);

		sp_text_cpu(&o, m, cpu, -1);
		sp_memory_text(&o);
		outside_sums(t, cpu);
		return;
	}
	sp_out_repeat(&o, ' ', r->flat ? 0 : 2u * r->depth[at]);
	if (!r->flat && !r->depth[at] && !sp_is_pu(m, (int32_t)at) &&
	    !sp_component_is(&m->component[at], "Job"))
		sp_out_text(&o, "all CPUs");
	else
		sp_text_component(&o, m, (uint32_t)at);
	sp_memory_text(&o);
	t->sums.kinds = sp_kinds_below(m, (uint32_t)at);
	if (t->s->metrics)
		sp_table_metrics(t, sp_metrics_at(t->s->metrics, (uint32_t)at));
	for (uint32_t e = 0; e < m->n_events; e++)
		if (sp_is_present(m, (uint32_t)at, e))
			sp_table_sum(t, e, sp_sum(m, (uint32_t)at, e),
				     m->sums.below_exact[at * m->n_events + e]);
}

/* Adds a row for other CPUs only if they have counts. */
static void add_place(struct sp_table *t, uint64_t at)
{
	uint32_t before = t->rows.n;
	bool any = at < UNKNOWN;

	sp_table_add(t, at);
	/* Show an event that counted 0 everywhere. */
	for (uint32_t e = 0; e < t->m->n_events; e++)
		any = any || t->sums.total[e] || (!before && t->sums.has[e]);
	t->rows.n = any ? t->rows.n : before;
}

static void show(struct sp_out *o, struct sp_table *t, const char *title, const char *plural)
{
	t->title = title;
	t->plural = plural;
	sp_table_blocks(o, t);
	t->rows.n = 0;
}

/* Writes the whole tree if it is small; otherwise the root's children, and the CPUs by weight. */
static void tree_tables(struct sp_out *o, struct sp_table *t, struct tree *r)
{
	bool whole = t->s->all || r->n <= SP_TEXT_ROWS;
	const struct sp_model *m = t->m;

	t->in_place = whole;
	r->flat = !whole;
	for (uint32_t c = 0; !whole && c < m->n_components; c++)
		if (r->shown[c] && !sp_is_pu(m, (int32_t)c) && r->depth[c] == 1)
			add_place(t, c);
	show(o, t, "part of the machine", "parts");
	for (uint32_t c = 0; c < m->n_components; c++)
		if (r->shown[c] && (whole || sp_is_pu(m, (int32_t)c)))
			add_place(t, c);
	for (uint32_t i = 0; i < m->n_outside; i++)
		add_place(t, OUTSIDE + (uint32_t)m->outside[i]);
	if (m->unknown_cpu)
		add_place(t, UNKNOWN);
	show(o, t, "CPU", "CPUs");
}

static void hosts(struct sp_out *o, struct sp_table *t, struct tree *r)
{
	r->flat = true;
	for (uint32_t i = 0; i < t->m->n_machines; i++)
		if (t->m->machine[i].root >= 0)
			add_place(t, (uint32_t)t->m->machine[i].root);
	show(o, t, "host", "hosts");
}

void sp_text_cpus(struct sp_out *o, const struct sp_selection *s)
{
	const struct sp_model *m = s->m;
	struct tree r;
	struct sp_table t = { .row = place_row, .arg = &r, .all = s->all, .without_placed = true };

	if (!open_tree(&r, m))
		return;
	if (sp_table_open(&t, s, m->n_components + SP_UNLISTED_CPUS_MOST + 1)) {
		if (m->n_machines > 1)
			hosts(o, &t, &r);
		if (m->n_machines <= 1 || s->all)
			tree_tables(o, &t, &r);
		sp_table_close(&t);
	}
	sp_unmap(r.memory, r.bytes);
}

/* ---- counts outside of these tables -------------------------------------------------- */

#define WHERE	160u
/* Writes "package 0"; with several machines "package 0 on node17". */
static const char *component_text(const struct sp_model *m, int32_t c, char text[WHERE])
{
	int32_t machine = c < 0 || m->n_machines < 2 ? -1 : sp_model_above(m, c, "Machine");
	char host[sizeof(m->component->name) + 1];
	struct sp_out o;

	sp_memory_init(&o, text, WHERE);
	if (c < 0)
		sp_out_text(&o, "no known place");
	else
		sp_text_component(&o, m, (uint32_t)c);
	if (machine >= 0 && machine != c)
		sp_out_f(&o, " on %s",
			 sp_fixed_text(host, m->component[machine].name,
				       sizeof(m->component[machine].name)));
	return sp_memory_text(&o);
}

/* Returns whether no component below this one counted the event, which is not per CPU. */
static bool is_deepest(const struct sp_model *m, uint32_t c, uint32_t e)
{
	for (uint32_t d = c + 1; d < m->n_components && sp_parent(m, d) >= (int32_t)c; d++)
		if (sp_sum_is_known(m, d, e))
			return false;
	return true;
}

static void event_line(struct sp_text_list *l, uint32_t e, const char *where, int64_t v)
{
	char name[256], value[48];
	const char *cell[] = { sp_text_event(l->s->m, e, name), where, value };

	sp_short_text(value, l->s->m, e, v);
	sp_list_line(l, cell);
}

static bool has_value(struct sp_metrics *t, const struct sp_metric *d, uint32_t c)
{
	sp_metrics_compute(t, sp_metrics_at(t, c));
	return d->has_value;
}

/* Writes the metrics of each place at the end of a branch, and of all places together. */
static void metric_lines(struct sp_text_list *l, struct sp_metrics *t, uint32_t i)
{
	const struct sp_model *m = t->model;
	const struct sp_metric *d = &t->at[i];
	char where[WHERE], value[48];
	const char *cell[] = { d->name, where, value };

	for (uint32_t c = 0; c < m->n_components; c++) {
		bool below = false;

		for (uint32_t k = c + 1;
		     c && !below && k < m->n_components && sp_parent(m, k) >= (int32_t)c; k++)
			below = has_value(t, d, k);
		if (below || (!has_value(t, d, c) && (c || !d->sets)))
			continue;
		component_text(m, (int32_t)c, where);
		sp_metric_text(value, d);
		sp_list_line(l, cell);
	}
}

/* Events counted per CPU without a column: from number `from` on, except the leading event. */
struct rest {
	uint32_t from, lead;
};

/* Writes the events of packages, memory, devices and the host, further per-CPU events, and
 * metrics. */
static void event_lines(struct sp_text_list *l, void *arg)
{
	const struct rest *rest = arg;
	static const char *const title[] = { "event", "counted on", "total" };
	const struct sp_model *m = l->s->m;
	char where[WHERE];

	sp_list_line(l, title);
	for (uint32_t e = 0; e < m->n_events; e++) {
		if (sp_event_has_column(m, e) && e >= rest->from && e != rest->lead)
			event_line(l, e, "all CPUs", m->sums.total[e]);
		for (uint32_t c = 0;
		     sp_event_is_placed(m, e) && sp_event_is_summed(m, e) && c < m->n_components;
		     c++)
			if (sp_sum_is_known(m, c, e) && is_deepest(m, c, e))
				event_line(l, e, component_text(m, (int32_t)c, where),
					   sp_sum(m, c, e));
		if (sp_event_is_placed(m, e) && sp_event_is_summed(m, e) && m->sums.unplaced[e])
			event_line(l, e, component_text(m, -1, where), m->sums.unplaced[e]);
	}
	for (int32_t i = l->s->metrics ? sp_metrics_next(l->s->metrics, -1) : -1; i >= 0;
	     i = sp_metrics_next(l->s->metrics, i))
		if (sp_metric_is_placed(l->s->metrics, &l->s->metrics->at[i]))
			metric_lines(l, l->s->metrics, (uint32_t)i);
}

void sp_text_other_events(struct sp_out *o, const struct sp_selection *s)
{
	struct sp_table t = { 0 };
	struct rest rest;

	if (!sp_table_open(&t, s, 0))
		return;
	sp_table_columns(&t);
	rest.from = s->all ? s->m->n_events : t.next;
	rest.lead = t.lead;
	sp_table_close(&t);
	sp_list_show(o, s, 3, true, "events", event_lines, &rest);
}

/* Writes a gauge's name without the unit, which its values have. */
static const char *gauge_name(const struct sp_model *m, uint32_t event, char name[256])
{
	char *unit;

	sp_text_event(m, event, name);
	unit = strstr(name, " [");
	if (unit && sp_gauge_unit(m, event))
		*unit = 0;
	return name;
}

/* Finds the common beginning of all gauges' names, up to a colon; "" for a single gauge. */
static const char *common_beginning(const struct sp_model *m, char common[256])
{
	char name[256];
	size_t n = 0, i;
	unsigned gauges = 0;

	for (uint32_t e = 0; e < m->n_events; e++) {
		if (!sp_event_is_gauge(m, e))
			continue;
		gauge_name(m, e, name);
		if (!gauges++)
			n = strlen(strcpy(common, name));
		for (i = 0; i < n && common[i] == name[i];)
			i++;
		n = i;
	}
	while (n && common[n - 1] != ':')
		n--;
	common[gauges > 1 ? n : 0] = 0;
	return common;
}

static void gauge_line(struct sp_text_list *l, const struct sp_gauge_value *g,
		       const char *beginning)
{
	const struct sp_model *m = l->s->m;
	enum sp_data_type type = sp_event_type(m, g->event);
	char name[256], where[WHERE], number[4][48] = { "", "-", "-", "-" };
	const char *cell[] = { gauge_name(m, g->event, name) + strlen(beginning),
			       component_text(m, g->component, where),
			       number[0],
			       number[1],
			       number[2],
			       number[3] };

	sp_gauge_text(number[0], m, g->event, type, g->last);
	if (type != SP_BIT64) {		/* bits have no order and no mean */
		sp_gauge_text(number[1], m, g->event, type, g->min);
		sp_gauge_text(number[2], m, g->event, type, g->max);
		sp_gauge_text(number[3], m, g->event, SP_FP64, sp_float_bits(g->mean));
	}
	sp_list_line(l, cell);
}

static void gauge_lines(struct sp_text_list *l, void *beginning)
{
	static const char *const title[] = { "gauge", "of", "last", "min", "max", "mean" };
	const struct sp_model *m = l->s->m;
	struct sp_gauge_value g;

	sp_list_line(l, title);
	for (uint32_t e = 0; e < m->n_events; e++)
		for (int32_t c = -1; sp_event_is_gauge(m, e) && c < (int32_t)m->n_components; c++)
			if (sp_gauge_at(m, c, e, &g))
				gauge_line(l, &g, beginning);
}

void sp_text_gauges(struct sp_out *o, const struct sp_selection *s)
{
	char beginning[256];

	if (*common_beginning(s->m, beginning))
		sp_out_f(o, "\ngauges of %s\n", beginning);
	sp_list_show(o, s, 6, !*beginning, "gauges", gauge_lines, beginning);
}

/* ---- repeats -------------------------------------------------------------------- */

static void run_line(struct sp_text_list *l, uint32_t e, const struct sp_spread *s)
{
	const struct sp_model *m = l->s->m;
	enum sp_data_type type = sp_event_type(m, e);
	char name[256], runs[48], mean[48], spread[48], min[48], max[48];
	const char *cell[] = { sp_text_event(m, e, name), runs, mean, spread, min, max };

	sp_text_f(runs, sizeof(runs), "%'u", s->n);
	sp_short_text(mean, m, e, sp_round_to_type(type, s->mean));
	/* the mean of 0, 0 and 1 is not 0 */
	if (s->mean < 1000.0 && !strpbrk(mean, " kMGTPE"))
		sp_text_f(mean, sizeof(mean), "%.1f", s->mean);
	sp_text_f(spread, sizeof(spread), "%.2f %%",
		  s->mean > 0.0 ? sp_deviation(s) / s->mean * 100.0 : 0.0);
	sp_short_text(min, m, e, sp_round_to_type(type, s->min));
	sp_short_text(max, m, e, sp_round_to_type(type, s->max));
	sp_list_line(l, cell);
}

static void run_lines(struct sp_text_list *l, void *spread)
{
	static const char *const title[] = { "each run", "runs", "mean", "std dev", "min", "max" };
	const struct sp_spread *s = spread;

	sp_list_line(l, title);
	for (uint32_t e = 0; e < l->s->m->n_events; e++)
		if (s[e].n)
			run_line(l, e, &s[e]);
}

void sp_text_repeats(struct sp_out *o, const struct sp_selection *s)
{
	struct sp_spread *spread = sp_repeats_spread(s->m);

	if (!spread)
		return;
	sp_list_show(o, s, 6, true, "events", run_lines, spread);
	sp_repeats_free(spread, s->m);
}
