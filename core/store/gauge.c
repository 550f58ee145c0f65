/* gauge.c: see gauge.h. */
#include <string.h>

#include "gauge.h"
#include "../stamp.h"

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

/* No value is outside these: the first one becomes both ends. */
static void no_values(struct sp_gauge *g, const struct sp_gauge_kind *kind)
{
	static const int64_t ends[][2] = {
		[SP_INT64] = { INT64_MAX, INT64_MIN }, [SP_UINT64] = { -1, 0 },
		[SP_FP64] = { 0x7ff0000000000000, (int64_t)0xfff0000000000000 }, [SP_BIT64] = { -1, 0 },
	};

	g->data_type = kind->data_type | (kind->counts ? SP_GAUGE_COUNTS : 0);
	g->min = ends[kind->data_type][0];
	g->max = ends[kind->data_type][1];
}

void sp_gauges_init(struct sp_gauges *g, uint32_t n, uint32_t cells, const struct sp_gauge_kind *kind)
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

void sp_gauge_kinds(uint8_t *kinds, uint32_t k, const struct sp_gauge_kind *kind, uint32_t n)
{
	memset(kinds, SP_COUNTS, k);
	for (uint32_t i = 0; i < n; i++)
		kinds[kind[i].index] = kind[i].counts ? SP_FLOATS : SP_SHOWS;
}

void sp_gauges_sum(const struct sp_gauge_writer *w, uint32_t i, uint32_t cell, uint32_t cells, double *total,
		   double *exact)
{
	const struct sp_gauge *g = &w->at[(w->cells == 1 ? 0 : cell) * w->n + i];

	*total = *exact = 0;
	if (w->cells == 1 ? cell != cells - 1 : cell >= w->cells)
		return;
	*total = sp_float((int64_t)sp_get((const uint64_t *)&g->sum));
	*exact = sp_float((int64_t)sp_get((const uint64_t *)&g->exact));
}

/* Sums are kept as their bits, since C has no atomic addition of doubles. */
static void add_double(double *to, double d)
{
	int64_t *word = (int64_t *)to, old = sp_get(word);

	while (!sp_cas(word, &old, sp_float_bits(sp_float(old) + d)))
		;
}

static void widen(struct sp_gauge *g, enum sp_data_type type, int64_t v)
{
	int64_t old = sp_get(&g->min);

	while (sp_value_below(type, v, old) && !sp_cas(&g->min, &old, v))
		;
	old = sp_get(&g->max);
	while (sp_value_below(type, old, v) && !sp_cas(&g->max, &old, v))
		;
}

static void show(struct sp_gauge *g, enum sp_data_type type, int64_t v, uint64_t ns)
{
	if (type == SP_FP64 && sp_float(v) != sp_float(v))
		return;				/* nan: the sensor shows nothing */
	widen(g, type, v);
	sp_put(&g->last, v);
	sp_put(&g->ns, ns);
	add_double(&g->sum, sp_value_double(type, v));
	sp_add(&g->readings, 1);
}

static void count(struct sp_gauge_event *e, struct sp_gauge *g, int64_t v, uint64_t ns, bool proven)
{
	double now = sp_float(v), d;

	if (now != now)
		return;
	d = now - sp_float((int64_t)__atomic_exchange_n(&e->last, (uint64_t)v, __ATOMIC_ACQ_REL));
	if (__atomic_exchange_n(&e->baseline, 0, __ATOMIC_ACQ_REL))
		d = 0.0;
	add_double(&g->sum, d);
	if (proven)
		add_double(&g->exact, d);
	sp_put(&g->last, v);
	sp_put(&g->ns, ns);
	sp_add(&g->readings, 1);
}

/* What PAPI counts from now on: from 0, or from the first value (a baseline). */
static void zero(struct sp_gauge_writer *w, bool baseline)
{
	for (uint32_t i = 0; i < w->n; i++) {
		sp_put(&w->event[i].last, 0);
		sp_put(&w->event[i].baseline, baseline);
	}
}

void sp_gauges_book(struct sp_gauge_writer *w, enum sp_op op, uint32_t cell, const long long *x, bool proven)
{
	bool keeps = w->component & SP_KEEPS_ON_RESET;
	uint64_t ns;

	if (op == SP_OP_START) {
		zero(w, w->component & SP_KEEPS_ON_START);
		sp_put(&w->running, 1);
		return;
	}
	/* A set that does not run shows what it showed before: nothing new. */
	if (op == SP_OP_RESET || !sp_get(&w->running)) {
		if (op == SP_OP_RESET && !keeps)
			zero(w, false);
		return;
	}
	if (op == SP_OP_WRITE) {
		for (uint32_t i = 0; i < w->n; i++)
			sp_put(&w->event[i].last, (uint64_t)x[w->event[i].kind.index]);
		return;
	}
	ns = sp_stamp_ns();
	for (uint32_t i = 0; i < w->n; i++) {
		struct sp_gauge_event *e = &w->event[i];
		struct sp_gauge *g = &w->at[sp_min(cell, w->cells - 1) * w->n + i];

		if (e->kind.counts)
			count(e, g, x[e->kind.index], ns, proven);
		else
			show(g, e->kind.data_type, x[e->kind.index], ns);
	}
	if (op == SP_OP_ACCUM && !keeps)
		zero(w, false);
	if (op == SP_OP_STOP)
		sp_put(&w->running, 0);
}

void sp_gauges_add(struct sp_gauge *to, const struct sp_gauge *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++, to++, from++) {
		enum sp_data_type type = (enum sp_data_type)(from->data_type & 3);

		to->sum += from->sum;
		to->exact += from->exact;
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
