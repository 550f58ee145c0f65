/* window.c: see window.h. */
#include <string.h>

#include "window.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void sp_window_init(struct sp_window *w, struct sp_window_cpu *cpu, uint32_t n, bool falls)
{
	*w = (struct sp_window){ .n = n, .falls = falls, .cpu = cpu };
	for (uint32_t i = 0; i < n; i++)
		cpu[i] = (struct sp_window_cpu){ .anchor = SP_UNKNOWN };
}

void sp_window_begin(struct sp_window *w, const int64_t *copies, int64_t before, uint32_t home)
{
	for (uint32_t i = 0; i < w->n; i++) {
		w->cpu[i].anchor = i == home ? SP_UNKNOWN : copies[i];
		w->cpu[i].base = w->cpu[i].proven = w->cpu[i].stayed = 0;
	}
	w->value = 0;
	w->before = before;
	w->sound = true;
}

static uint32_t home_of(const struct sp_window *w)
{
	uint32_t i = 0;

	while (i < w->n && w->cpu[i].anchor != SP_UNKNOWN)
		i++;
	return i;
}

void sp_window_anchor(struct sp_window *w, const int64_t *copies)
{
	uint32_t home = home_of(w);

	if (home == w->n)
		return;
	w->cpu[home].anchor = copies[home];
	w->cpu[home].base = w->cpu[home].proven;
}

void sp_window_stayed(struct sp_window *w, int64_t value, uint32_t i)
{
	w->cpu[i].proven += value - w->value;
	w->cpu[i].stayed += value - w->value;
	w->value = value;
}

void sp_window_missed(struct sp_window *w, int64_t value, uint32_t i)
{
	if (i < w->n)
		w->cpu[i].open += value - w->value;
	w->value = value;
}

/* ---- what is proven ---------------------------------------------------------- */

/* What the rule says of CPU i in this segment from now on. */
static void prove(struct sp_window *w, uint32_t i, int64_t proven)
{
	w->cpu[i].open -= proven - w->cpu[i].proven;
	w->cpu[i].proven = proven;
}

void sp_window_distrust(struct sp_window *w)
{
	w->sound = false;
	for (uint32_t i = 0; i < w->n; i++)
		prove(w, i, w->cpu[i].stayed);
}

static bool is_known(const struct sp_window_cpu *c, const int64_t *copies, uint32_t i)
{
	return copies && copies[i] != SP_UNKNOWN && c->anchor != SP_UNKNOWN;
}

/* A copy that counted what P did not (a child that fork made while PAPI switched its counter on, a counter of another
 * PMU): a net, and no proof. */
static bool too_many(const struct sp_window *w, const struct sp_window_seen *s)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (is_known(&w->cpu[i], s->low, i))
			sum += most(s->low[i] - w->cpu[i].anchor, 0);
	return sum > s->value - w->before;
}

/* What the others leave of P at most is home's. */
static void prove_home(struct sp_window *w, const struct sp_window_seen *s, uint32_t home)
{
	struct sp_window_cpu *h = &w->cpu[home];
	int64_t left = s->value;

	for (uint32_t i = 0; i < w->n; i++)
		if (i != home)
			left -= s->high[i] - w->cpu[i].anchor;
	prove(w, home, w->falls ? left : most(left, h->proven));
}

static void prove_all(struct sp_window *w, const struct sp_window_seen *s)
{
	uint32_t home = home_of(w);

	for (uint32_t i = 0; i < w->n; i++) {
		const struct sp_window_cpu *c = &w->cpu[i];

		if (!is_known(c, s->low, i))
			continue;
		prove(w, i, w->falls ? c->base + s->low[i] - c->anchor : most(c->proven, c->base + s->low[i] - c->anchor));
	}
	if (home < w->n && s->high)
		prove_home(w, s, home);
}

/* ---- where it is booked -------------------------------------------------------- */

static int64_t to_whole(double x)
{
	return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

/* The rest by weight, to the last count. */
static void share(const struct sp_window *w, const struct sp_window_seen *s, int64_t rest, int64_t *total)
{
	double whole = 0;

	for (uint32_t i = 0; i < w->n && s->weight; i++)
		whole += s->weight[i];
	for (uint32_t i = 0; i < w->n && whole > 0 && rest > 0; i++) {
		int64_t part = to_whole((double)rest * (s->weight[i] / whole));

		total[i] += part;
		rest -= part;
		whole -= s->weight[i];
	}
	total[s->at] += rest;
}

/* What both books have in common is proven. */
static int64_t in_both(int64_t open)
{
	return least(open, 0);
}

void sp_window_moved(struct sp_window *w, const struct sp_window_seen *s, const struct sp_window_shares *to)
{
	int64_t rest = s->value - w->value;
	uint32_t n = w->n;

	for (uint32_t i = 0; i < n; i++)
		to->proven[i] = -w->cpu[i].proven - in_both(w->cpu[i].open);
	memset(to->total, 0, (n + 1) * sizeof(*to->total));
	to->proven[n] = 0;
	w->value = s->value;
	/* (A value below the last one: another reader's, which PAPI read later, was booked first.) */
	if (rest >= 0 || w->falls) {
		if (w->sound && (too_many(w, s) || (w->falls && !s->high)))
			sp_window_distrust(w);
		if (w->sound)
			prove_all(w, s);
	}
	for (uint32_t i = 0; i < n && rest > 0; i++) {
		to->total[i] = least(rest, most(-w->cpu[i].open, 0));
		rest -= to->total[i];
	}
	share(w, s, rest, to->total);
	for (uint32_t i = 0; i < n; i++) {
		w->cpu[i].open += to->total[i];
		to->proven[i] += w->cpu[i].proven + in_both(w->cpu[i].open);
	}
}
