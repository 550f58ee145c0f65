/* t-test.c: computes the t test of two means from the tails of its distribution; see t-test.h. */
#include "t-test.h"

#define DF_MOST	1000u			/* larger values are treated as this one */

/* The integral of x^(df - 1) / sqrt(1 - x^2) from 0 to 1, by integration by parts from that for df
 * - 2. */
static double whole(unsigned df)
{
	double sum = df & 1 ? 1.5707963267948966 : 1.0;

	for (unsigned i = df & 1 ? 3 : 4; i <= df; i += 2)
		sum *= (i - 2.0) / (i - 1.0);
	return sum;
}

/* The same integral up to c = 1 / sqrt(1 + t^2 / df), by its series, is the area under the tails.
 * (Below t = 1 the series hardly converges, but callers need only tails.) */
double sp_chance_of_t(double t, unsigned df)
{
	double square, power = 1.0, factor = 1.0, sum = 0.0, c;

	df = df < DF_MOST ? df : DF_MOST;
	if (t * t <= 1.0)
		return 1.0;
	square = 1.0 / (1.0 + t * t / df);
	c = sp_root(square);
	for (unsigned i = 0; i < df; i++)
		power *= c;
	for (unsigned i = 0; i < 100 * DF_MOST; i++) {
		double more = factor * power / (df + 2.0 * i);

		sum += more;
		if (more < sum * 1e-12)
			break;
		factor *= (2.0 * i + 1.0) / (2.0 * i + 2.0);
		power *= square;
	}
	return sum / whole(df);
}

/* Returns the variance of the mean. */
static double variance(const struct sp_spread *of, uint32_t n, double least)
{
	double v = of->squares / (of->n - 1);

	return (v > least ? v : least) / (n ? n : 1);
}

double sp_chance(const struct sp_spread *a, const struct sp_spread *b, double least)
{
	const struct sp_spread *x = a->n > 1 ? a : b, *y = b->n > 1 ? b : a;
	double by = b->mean - a->mean, u, v, df;

	if (x->n < 2)
		return by == 0.0;
	u = variance(x, a->n, least);
	v = variance(y, b->n, least);
	if (u + v == 0.0)
		return by == 0.0;
	/* a single run uses the other side's spread, which gains no precision by that */
	df = x == y ? x->n - 1 : (u + v) * (u + v) / (u * u / (x->n - 1) + v * v / (y->n - 1));
	return sp_chance_of_t(by / sp_root(u + v), df < 1.0	  ? 1
						   : df < DF_MOST ? (unsigned)df
								  : DF_MOST);
}
