/* window.c: the rule, over the values of scans; see window.h. */
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
		cpu[i] = (struct sp_window_cpu){ .anchor = SP_UNKNOWN, .after = SP_UNKNOWN };
}

static int64_t sum_proven(const struct sp_window *w)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < w->n; i++)
		sum += w->cpu[i].proven;
	return sum;
}

static void anchor_all(struct sp_window *w, const int64_t *shadow, int64_t before, uint32_t home)
{
	for (uint32_t i = 0; i < w->n; i++) {
		w->cpu[i].anchor = i == home ? SP_UNKNOWN : shadow[i];
		w->cpu[i].base = w->cpu[i].proven;
	}
	w->before = before;
	w->known = sum_proven(w);
}

void sp_window_begin(struct sp_window *w, const int64_t *shadow, int64_t before, uint32_t home)
{
	anchor_all(w, shadow, before, home);
	for (uint32_t i = 0; i < w->n; i++) {
		w->cpu[i].stayed = w->cpu[i].proven;
		w->cpu[i].after = SP_UNKNOWN;
	}
	w->value = w->greatest = 0;
	w->sound = true;
}

bool sp_window_may_switch_off(const struct sp_window *w)
{
	int64_t new = w->value - w->before, open = new - (sum_proven(w) - w->known);

	return w->sound && !w->falls && w->value == w->greatest && open <= new / 1000;
}

void sp_window_switch_off(struct sp_window *w, const int64_t *shadow, uint32_t home)
{
	anchor_all(w, shadow, w->value, home);
}

void sp_window_stayed(struct sp_window *w, int64_t value, uint32_t i)
{
	int64_t more = value - w->value;

	w->value = value;
	w->greatest = most(w->greatest, value);
	if (i == w->n)
		return;
	w->cpu[i].proven += more;
	w->cpu[i].stayed += w->falls ? 0 : more;
	w->cpu[i].total += more;
	w->cpu[i].reported += more;
}

void sp_window_add(struct sp_window *w)
{
	w->cpu[w->n++] = (struct sp_window_cpu){ .anchor = 0, .after = SP_UNKNOWN };
}

int64_t sp_window_replace(struct sp_window *w, uint32_t i)
{
	int64_t open = w->cpu[i].total - w->cpu[i].reported;

	w->known -= w->cpu[i].proven;
	w->cpu[i] = (struct sp_window_cpu){ .anchor = 0, .after = SP_UNKNOWN };
	return open;
}

/* ---- what is proven ---------------------------------------------------------- */

/* What the copies said. */
static void forget(struct sp_window *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		w->cpu[i].proven = w->cpu[i].stayed;
}

void sp_window_distrust(struct sp_window *w)
{
	w->sound = false;
	forget(w);
}

static void prove(struct sp_window_cpu *c, int64_t proven)
{
	c->proven = most(c->proven, proven);
}

static bool is_known(const struct sp_window_cpu *c, const int64_t *shadow, uint32_t i)
{
	return shadow && shadow[i] != SP_UNKNOWN && c->anchor != SP_UNKNOWN;
}

/* A copy that counted what P did not (a child that fork made while PAPI switched its counter on, a
 * counter of another PMU): a net, and no proof. */
static bool too_many(const struct sp_window *w, const struct sp_window_seen *s)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (is_known(&w->cpu[i], s->low, i))
			sum += most(s->low[i] - w->cpu[i].anchor, 0);
	return sum > s->value - w->before;
}

/* Compares growth since an earlier value, not since the zeroing: home's shadow counter could
 * otherwise hide in P's earlier counts. */
static bool grew_too_much(const struct sp_window *w, const struct sp_window_seen *s)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < w->n && s->low && !w->falls && !s->timed; i++)
		if (s->low[i] != SP_UNKNOWN && w->cpu[i].after != SP_UNKNOWN)
			sum += most(s->low[i] - w->cpu[i].after, 0);
	return sum > 0 && sum > s->value - w->after;
}

static void keep_after(struct sp_window *w, const struct sp_window_seen *s)
{
	for (uint32_t i = 0; i < w->n && s->high; i++)
		w->cpu[i].after = s->high[i];
	w->after = s->high ? s->value : w->after;
}

static uint32_t home_of(const struct sp_window *w)
{
	uint32_t i = 0;

	while (i < w->n && w->cpu[i].anchor != SP_UNKNOWN)
		i++;
	return i;
}

void sp_window_anchor(struct sp_window *w, int64_t papi, const int64_t *shadow)
{
	uint32_t home = home_of(w);

	if (home == w->n || w->falls || !w->sound)
		return;
	papi -= w->before;
	for (uint32_t i = 0; i < w->n; i++)
		papi -= i == home ? 0 : shadow[i] - w->cpu[i].anchor;
	w->cpu[home].anchor = shadow[home] - papi;
}

/* What the others leave of P at most is home's. */
static void prove_home(struct sp_window *w, const struct sp_window_seen *s, uint32_t home)
{
	struct sp_window_cpu *h = &w->cpu[home];
	int64_t left = s->value - w->before;

	for (uint32_t i = 0; i < w->n && s->high; i++)
		if (i != home)
			left -= s->high[i] - w->cpu[i].anchor;
	if (s->high)
		prove(h, h->base + left);
	/* (A late value's look may be from before what is proven by a later one: that would be
	 * counted twice.) */
	if (s->now && s->value >= w->greatest) {
		h->anchor = s->now[home];
		h->base = h->proven;
	}
}

static void prove_all(struct sp_window *w, const struct sp_window_seen *s)
{
	uint32_t home = home_of(w);

	for (uint32_t i = 0; i < w->n; i++)
		if (is_known(&w->cpu[i], s->low, i))
			prove(&w->cpu[i], w->cpu[i].base + s->low[i] - w->cpu[i].anchor);
	if (home < w->n)
		prove_home(w, s, home);
}

/* ---- where it is booked -------------------------------------------------------- */

static int64_t to_whole(double x)
{
	return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

/* What is proven and not booked yet first. */
static int64_t book_proven(const struct sp_window *w, int64_t rest, int64_t *total)
{
	for (uint32_t i = 0; i < w->n && rest > 0; i++) {
		total[i] = least(rest, most(w->cpu[i].proven - w->cpu[i].total, 0));
		rest -= total[i];
	}
	return rest;
}

/* The rest by weight, to the last count. */
static int64_t book_rest(const struct sp_window *w, const double *weight, double away, int64_t rest,
			 int64_t *total)
{
	double whole = away;

	for (uint32_t i = 0; i < w->n && weight; i++)
		whole += weight[i];
	for (uint32_t i = 0; i < w->n && weight && whole > 0 && rest > 0; i++) {
		int64_t part = least(rest, to_whole((double)rest * (weight[i] / whole)));

		total[i] += part;
		rest -= part;
		whole -= weight[i];
	}
	return rest;
}

/* Attributes the growth of each shadow counter beyond its proven counts; if the rest is smaller, in
 * proportion. */
static int64_t book_grown(const struct sp_window *w, const int64_t *grown, int64_t rest,
			  int64_t *total)
{
	int64_t all = 0, now;

	for (uint32_t i = 0; i < w->n && grown; i++)
		all += most(grown[i] - total[i], 0);
	now = least(rest, all);
	rest -= most(now, 0);
	for (uint32_t i = 0; i < w->n && now > 0; i++) {
		int64_t more = most(grown[i] - total[i], 0),
			part = least(now, to_whole((double)now * ((double)more / (double)all)));

		total[i] += part;
		now -= part;
		all -= more;
	}
	return rest;
}

/* Of what is booked, what is not proven first; the last of it is elsewhere. */
static void take_back(const struct sp_window *w, int64_t rest, int64_t *total)
{
	for (uint32_t i = 0; i < 2 * w->n && rest < 0; i++) {
		const struct sp_window_cpu *c = &w->cpu[i % w->n];
		int64_t may = c->total + total[i % w->n] - (i < w->n ? c->proven : 0);
		int64_t part = least(-rest, most(may, 0));

		total[i % w->n] -= part;
		rest += part;
	}
	total[w->n] = rest;
}

static void book(const struct sp_window *w, const struct sp_window_seen *s, int64_t rest,
		 int64_t *total)
{
	memset(total, 0, (w->n + 1) * sizeof(*total));
	if (rest < 0)
		take_back(w, rest, total);
	else
		total[s->at] +=
			book_rest(w, s->weight, s->away,
				  book_grown(w, s->grown, book_proven(w, rest, total), total),
				  total);
}

/* What both books have in common is proven.  (The store's counts are never below 0: what was
 * reported below would be proven when it is taken back.) */
static int64_t take_new_proven(struct sp_window_cpu *c, int64_t total)
{
	int64_t before = c->reported;

	c->total += total;
	c->reported = most(least(c->proven, c->total), 0);
	return c->reported - before;
}

void sp_window_moved(struct sp_window *w, const struct sp_window_seen *s,
		     const struct sp_window_shares *to)
{
	int64_t rest = s->value - w->value;

	if (w->sound && (too_many(w, s) || grew_too_much(w, s)))
		w->sound = false;
	keep_after(w, s);
	if (!w->sound || w->falls)
		forget(w);
	if (w->sound)
		prove_all(w, s);
	w->value = s->value;
	w->greatest = most(w->greatest, s->value);
	book(w, s, rest, to->total);
	for (uint32_t i = 0; i < w->n; i++)
		to->proven[i] = take_new_proven(&w->cpu[i], to->total[i]);
	to->proven[w->n] = 0;
}

void sp_window_missed(struct sp_window *w, int64_t value, uint32_t i)
{
	if (i < w->n)
		w->cpu[i].total += value - w->value;
	if (w->falls)
		forget(w);
	w->value = value;
}

void sp_window_owed(struct sp_window *w, int64_t counts, uint32_t i)
{
	w->cpu[i].proven += counts;
	w->cpu[i].stayed += w->falls ? 0 : counts;
	w->cpu[i].reported += counts;
}

void sp_window_skipped(struct sp_window *w, int64_t value, uint32_t i)
{
	sp_window_missed(w, value, i);
	w->greatest = value;
}
