/* repeats.c: sums each run on its own, and computes mean and deviation; see repeats.h. */
#include "../base/sys.h"
#include "observers.h"
#include "repeats.h"
#include "format-common.h"

void sp_spread_add(struct sp_spread *s, double v)
{
	double from = v - s->mean;

	if (!s->n || v < s->min)
		s->min = v;
	if (!s->n || v > s->max)
		s->max = v;
	s->n++;
	s->mean += from / s->n;
	s->squares += from * (v - s->mean);
}

/* Square root by Newton's method; libsspapi is not linked with libm. */
double sp_root(double v)
{
	double x = v > 1.0 ? v : 1.0;

	if (!(v > 0.0))
		return 0.0;
	for (int i = 0; i < 1100; i++) {
		double next = (x + v / x) / 2.0;

		if (!(next < x))
			break;
		x = next;
	}
	return x;
}

double sp_deviation(const struct sp_spread *s)
{
	return s->n > 1 ? sp_root(s->squares / (s->n - 1)) : 0.0;
}

static uint64_t bytes_of(const struct sp_model *m)
{
	return m->n_events * (sizeof(struct sp_spread) + sizeof(int64_t) + 1);
}

static void add_run(struct sp_model *m, struct sp_spread *s, int64_t *sum, bool *has)
{
	struct sp_row row = { .only_cells = true };
	struct sp_at_cpu at;

	memset(sum, 0, m->n_events * sizeof(*sum));
	memset(has, 0, m->n_events);
	while (sp_model_next(m, &row)) {
		for (uint32_t e = 0; e < row.k; e++)
			has[row.event[e]] = sp_event_is_summed(m, row.event[e]);
		for (uint32_t i = 0; i < row.cells; i++)
			for (uint32_t e = 0; sp_row_cell(m, &row, i, &at) && e < row.k; e++)
				if (!sp_row_is_omitted(m, &row, e))
					sum[row.event[e]] = sp_plus(sp_event_type(m, row.event[e]),
								    sum[row.event[e]], at.total[e]);
	}
	for (uint32_t e = 0; e < m->n_events; e++)
		if (has[e])
			sp_spread_add(&s[e], sp_value_double(sp_event_type(m, e), sum[e]));
}

/* ---- times of runs --------------------------------------------------------- */

/* The time from the start of the run's first process to the end of its last. */
static uint64_t elapsed_of(const struct sp_model *m, uint32_t run)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct sp_header *h = m->process[i].h;

		if (h->stat >> SP_STAT_RUN_SHIFT != run)
			continue;
		from = sp_min(from, h->process.start_ns);
		to = sp_max(to, h->process.end_ns);
	}
	return to > from ? to - from : 0;
}

/* The ns that its threads spent on CPUs; -1 if it is unknown for all of them. */
static double time_of(struct sp_model *m)
{
	struct sp_row row = { .only_cells = true };
	struct sp_at_cpu at;
	double sum = -1.0;

	while (sp_model_next(m, &row))
		for (uint32_t i = 0; i < row.cells; i++)
			if (sp_row_cell(m, &row, i, &at) && at.run_ns >= 0)
				sum = (sum > 0.0 ? sum : 0.0) + (double)at.run_ns;
	return sum;
}

void sp_repeats_times(struct sp_model *m, struct sp_spread *elapsed, struct sp_spread *busy)
{
	uint32_t runs = sp_n_repeats(m);

	memset(elapsed, 0, sizeof(*elapsed));
	memset(busy, 0, sizeof(*busy));
	for (uint32_t run = runs ? 1 : 0; run <= runs; run++) {
		uint64_t ns = run ? elapsed_of(m, run) : sp_elapsed(m);
		double time;

		if (!ns)
			continue;
		sp_spread_add(elapsed, (double)ns);
		m->only_run = run;
		time = time_of(m);
		m->only_run = 0;
		if (time >= 0.0)
			sp_spread_add(busy, time / (double)ns);
	}
}

struct sp_spread *sp_repeats_spread(struct sp_model *m)
{
	struct sp_spread *s = sp_n_repeats(m) ? sp_map(bytes_of(m)) : NULL;
	int64_t *sum = (int64_t *)(s + m->n_events);

	for (m->only_run = 1; s && m->only_run <= sp_n_repeats(m); m->only_run++)
		add_run(m, s, sum, (bool *)(sum + m->n_events));
	m->only_run = 0;
	return s;
}

void sp_repeats_free(struct sp_spread *s, const struct sp_model *m)
{
	sp_unmap(s, s ? bytes_of(m) : 0);
}
