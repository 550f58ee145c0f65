/* gauge.c: see gauge.h. */
#include <string.h>

#include "gauge.h"

double sp_value_double(enum sp_data_type type, int64_t v)
{
	if (type == SP_FP64)
		return sp_float(v);
	return type == SP_INT64 ? (double)v : (double)(uint64_t)v;
}

bool sp_value_below(enum sp_data_type type, int64_t a, int64_t b)
{
	if (type == SP_FP64)
		return sp_float(a) < sp_float(b);
	return type == SP_INT64 ? a < b : (uint64_t)a < (uint64_t)b;
}

/* Sets min and max so that the first value becomes both. */
static void no_values(struct sp_gauge *g, const struct sp_gauge_kind *kind)
{
	static const int64_t ends[][2] = {
		[SP_INT64] = { INT64_MAX, INT64_MIN },
		[SP_UINT64] = { -1, 0 },
		[SP_FP64] = { 0x7ff0000000000000, (int64_t)0xfff0000000000000 },
		[SP_BIT64] = { -1, 0 },
	};

	g->data_type = kind->data_type;
	g->min = ends[kind->data_type][0];
	g->max = ends[kind->data_type][1];
}

void sp_gauges_init(struct sp_gauges *g, uint32_t n, uint32_t cells,
		    const struct sp_gauge_kind *kind)
{
	struct sp_gauge *at = sp_gauges_at(g, n);
	uint32_t *index = (uint32_t *)(g + 1);

	g->n = n;
	g->cells = cells;
	for (uint32_t i = 0; i < n; i++)
		index[i] = kind[i].index;
	for (uint64_t i = 0; i < (uint64_t)n * cells; i++)
		no_values(&at[i], &kind[i % n]);
}

/* Sums are kept as their bits, since C has no atomic addition of doubles. */
static void add_double(double *to, double d)
{
	int64_t *word = (int64_t *)to, old = load_relaxed(word);

	while (!sp_cas(word, &old, sp_float_bits(sp_float(old) + d)))
		;
}

SP_COLD static void widen(struct sp_gauge *g, enum sp_data_type type, int64_t v)
{
	int64_t old = load_relaxed(&g->min);

	while (sp_value_below(type, v, old) && !sp_cas(&g->min, &old, v))
		;
	old = load_relaxed(&g->max);
	while (sp_value_below(type, old, v) && !sp_cas(&g->max, &old, v))
		;
}

static void show(struct sp_gauge *g, enum sp_data_type type, int64_t v, uint64_t ns)
{
	if (type == SP_FP64 && sp_float(v) != sp_float(v))
		return;				/* nan: a sensor without a value */
	if (type != SP_INT64 || v < load_relaxed(&g->min) || v > load_relaxed(&g->max))
		widen(g, type, v);
	store_relaxed(&g->last, v);
	store_relaxed(&g->ns, ns);
	add_double(&g->sum, type == SP_INT64 ? (double)v : sp_value_double(type, v));
	sp_add(&g->readings, 1);
}

void sp_gauges_record(struct sp_gauge_writer *w, enum sp_op op, uint32_t cell, const long long *x,
		    uint64_t ns)
{
	struct sp_gauge *at;

	if (op == SP_OP_START)
		store_relaxed(&w->running, 1);
	/* A stopped set returns its last values again: ignore them. */
	if (!x || op == SP_OP_WRITE || !load_relaxed(&w->running))
		return;
	at = w->at + sp_min(cell, w->cells - 1) * w->n;
	for (uint32_t i = 0; i < w->n; i++)
		show(&at[i], w->kind[i].data_type, x[w->kind[i].index], ns);
	if (op == SP_OP_STOP)
		store_relaxed(&w->running, 0);
}

void sp_gauges_add(struct sp_gauge *to, const struct sp_gauge *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++, to++, from++) {
		enum sp_data_type type = (enum sp_data_type)(from->data_type & 3);

		to->sum += from->sum;
		if (sp_value_below(type, from->min, to->min))
			to->min = from->min;
		if (sp_value_below(type, to->max, from->max))
			to->max = from->max;
		if (from->ns >= to->ns) {
			to->last = from->last;
			to->ns = from->ns;
		}
		to->readings += from->readings;
	}
}
