/* window.c: applies the rule of window.h to the values of scans. */
#include <string.h>

#include "window.h"

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void sp_window_init(struct sp_window *w, struct sp_window_cpu *cpu, uint32_t n, bool can_fall)
{
	*w = (struct sp_window){ .n = n, .can_fall = can_fall, .cpu = cpu };
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
	w->base_proven = sum_proven(w);
}

void sp_window_begin(struct sp_window *w, const int64_t *shadow, int64_t before, uint32_t home)
{
	anchor_all(w, shadow, before, home);
	for (uint32_t i = 0; i < w->n; i++) {
		w->cpu[i].stayed = w->cpu[i].proven;
		w->cpu[i].after = SP_UNKNOWN;
	}
	w->value = w->greatest = 0;
	w->is_sound = true;
}

bool sp_window_may_switch_off(const struct sp_window *w)
{
	int64_t new = w->value - w->before, open = new - (sum_proven(w) - w->base_proven);

	return w->is_sound && !w->can_fall && w->value == w->greatest && open <= new / 1000;
}

void sp_window_switch_off(struct sp_window *w, const int64_t *shadow, uint32_t home)
{
	anchor_all(w, shadow, w->value, home);
}

void sp_window_attribute_stayed(struct sp_window *w, int64_t value, uint32_t i)
{
	int64_t more = value - w->value;

	w->value = value;
	w->greatest = max64(w->greatest, value);
	if (i == w->n)
		return;
	w->cpu[i].proven += more;
	w->cpu[i].stayed += w->can_fall ? 0 : more;
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

	w->base_proven -= w->cpu[i].proven;
	w->cpu[i] = (struct sp_window_cpu){ .anchor = 0, .after = SP_UNKNOWN };
	return open;
}

/* ---- proof --------------------------------------------------------------------- */

/* Keeps only counts that were proven without shadow counters of this period. */
static void forget_proofs(struct sp_window *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		w->cpu[i].proven = w->cpu[i].stayed;
}

void sp_window_distrust(struct sp_window *w)
{
	w->is_sound = false;
	forget_proofs(w);
}

static void raise_proven(struct sp_window_cpu *c, int64_t proven)
{
	c->proven = max64(c->proven, proven);
}

static bool is_known(const struct sp_window_cpu *c, const int64_t *shadow, uint32_t i)
{
	return shadow && shadow[i] != SP_UNKNOWN && c->anchor != SP_UNKNOWN;
}

/* Has a shadow counter counted what P did not? Examples: a child that was forked while PAPI
 * switched its counter on, or a counter of another PMU. This is a safety net, not a proof. */
static bool exceeds_papi(const struct sp_window *w, const struct sp_window_reading *s)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (is_known(&w->cpu[i], s->low, i))
			sum += max64(s->low[i] - w->cpu[i].anchor, 0);
	return sum > s->value - w->before;
}

/* Compares growth since an earlier value, not since the reset: home's shadow counter could
 * otherwise hide in P's earlier counts. */
static bool growth_exceeds_papi(const struct sp_window *w, const struct sp_window_reading *s)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < w->n && s->low && !w->can_fall && !s->is_clock; i++)
		if (s->low[i] != SP_UNKNOWN && w->cpu[i].after != SP_UNKNOWN)
			sum += max64(s->low[i] - w->cpu[i].after, 0);
	return sum > 0 && sum > s->value - w->after;
}

static void save_check(struct sp_window *w, const struct sp_window_reading *s)
{
	for (uint32_t i = 0; i < w->n && s->high; i++)
		w->cpu[i].after = s->high[i];
	w->after = s->high ? s->value : w->after;
}

static uint32_t find_home(const struct sp_window *w)
{
	uint32_t i = 0;

	while (i < w->n && w->cpu[i].anchor != SP_UNKNOWN)
		i++;
	return i;
}

void sp_window_anchor(struct sp_window *w, int64_t papi, const int64_t *shadow)
{
	uint32_t home = find_home(w);

	if (home == w->n || w->can_fall || !w->is_sound)
		return;
	papi -= w->before;
	for (uint32_t i = 0; i < w->n; i++)
		papi -= i == home ? 0 : shadow[i] - w->cpu[i].anchor;
	w->cpu[home].anchor = shadow[home] - papi;
}

/* Home's lower limit is the rest of P without the upper limits of the others. */
static void prove_home(struct sp_window *w, const struct sp_window_reading *s, uint32_t home)
{
	struct sp_window_cpu *h = &w->cpu[home];
	int64_t left = s->value - w->before;

	for (uint32_t i = 0; i < w->n && s->high; i++)
		if (i != home)
			left -= s->high[i] - w->cpu[i].anchor;
	if (s->high)
		raise_proven(h, h->base + left);
	/* The scan of a late value may be older than counts that a later value proved: these would
	 * count twice. */
	if (s->now && s->value >= w->greatest) {
		h->anchor = s->now[home];
		h->base = h->proven;
	}
}

static void prove_all(struct sp_window *w, const struct sp_window_reading *s)
{
	uint32_t home = find_home(w);

	for (uint32_t i = 0; i < w->n; i++)
		if (is_known(&w->cpu[i], s->low, i))
			raise_proven(&w->cpu[i], w->cpu[i].base + s->low[i] - w->cpu[i].anchor);
	if (home < w->n)
		prove_home(w, s, home);
}

/* ---- attribution --------------------------------------------------------------- */

static int64_t to_whole(double x)
{
	return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

/* First, counts that are proven but not attributed yet. */
static int64_t attribute_proven(const struct sp_window *w, int64_t rest, int64_t *total)
{
	for (uint32_t i = 0; i < w->n && rest > 0; i++) {
		total[i] = min64(rest, max64(w->cpu[i].proven - w->cpu[i].total, 0));
		rest -= total[i];
	}
	return rest;
}

/* Distributes the rest by weight, to the last count. */
static int64_t attribute_rest(const struct sp_window *w, const double *weight, double away,
			      int64_t rest, int64_t *total)
{
	double whole = away;

	for (uint32_t i = 0; i < w->n && weight; i++)
		whole += weight[i];
	for (uint32_t i = 0; i < w->n && weight && whole > 0 && rest > 0; i++) {
		int64_t part = min64(rest, to_whole((double)rest * (weight[i] / whole)));

		total[i] += part;
		rest -= part;
		whole -= weight[i];
	}
	return rest;
}

/* Attributes the growth of each shadow counter beyond its proven counts; if the rest is smaller, in
 * proportion. */
static int64_t attribute_grown(const struct sp_window *w, const int64_t *grown, int64_t rest,
			       int64_t *total)
{
	int64_t all = 0, now;

	for (uint32_t i = 0; i < w->n && grown; i++)
		all += max64(grown[i] - total[i], 0);
	now = min64(rest, all);
	rest -= max64(now, 0);
	for (uint32_t i = 0; i < w->n && now > 0; i++) {
		int64_t more = max64(grown[i] - total[i], 0),
			part = min64(now, to_whole((double)now * ((double)more / (double)all)));

		total[i] += part;
		now -= part;
		all -= more;
	}
	return rest;
}

/* Takes back unproven counts first; the last of it goes to the unwatched CPUs. */
static void take_back(const struct sp_window *w, int64_t rest, int64_t *total)
{
	for (uint32_t i = 0; i < 2 * w->n && rest < 0; i++) {
		const struct sp_window_cpu *c = &w->cpu[i % w->n];
		int64_t available = c->total + total[i % w->n] - (i < w->n ? c->proven : 0);
		int64_t part = min64(-rest, max64(available, 0));

		total[i % w->n] -= part;
		rest += part;
	}
	total[w->n] = rest;
}

static void attribute(const struct sp_window *w, const struct sp_window_reading *s, int64_t rest,
		      int64_t *total)
{
	memset(total, 0, (w->n + 1) * sizeof(*total));
	if (rest < 0)
		take_back(w, rest, total);
	else
		total[s->at] +=
			attribute_rest(w, s->weight, s->away_weight,
				       attribute_grown(w, s->grown,
						       attribute_proven(w, rest, total), total),
				       total);
}

/* Reports the counts that are both proven and attributed. Not below 0, as the store's counts are:
 * taking them back would prove them. */
static int64_t take_new_proven(struct sp_window_cpu *c, int64_t total)
{
	int64_t before = c->reported;

	c->total += total;
	c->reported = max64(min64(c->proven, c->total), 0);
	return c->reported - before;
}

void sp_window_attribute(struct sp_window *w, const struct sp_window_reading *s,
			 const struct sp_window_shares *to)
{
	int64_t rest = s->value - w->value;

	if (w->is_sound && (exceeds_papi(w, s) || growth_exceeds_papi(w, s)))
		w->is_sound = false;
	save_check(w, s);
	if (!w->is_sound || w->can_fall)
		forget_proofs(w);
	if (w->is_sound)
		prove_all(w, s);
	w->value = s->value;
	w->greatest = max64(w->greatest, s->value);
	attribute(w, s, rest, to->total);
	for (uint32_t i = 0; i < w->n; i++)
		to->proven[i] = take_new_proven(&w->cpu[i], to->total[i]);
	to->proven[w->n] = 0;
}

void sp_window_miss(struct sp_window *w, int64_t value, uint32_t i)
{
	if (i < w->n)
		w->cpu[i].total += value - w->value;
	if (w->can_fall)
		forget_proofs(w);
	w->value = value;
}

void sp_window_prove_skipped(struct sp_window *w, int64_t counts, uint32_t i)
{
	w->cpu[i].proven += counts;
	w->cpu[i].stayed += w->can_fall ? 0 : counts;
	w->cpu[i].reported += counts;
}

void sp_window_skip(struct sp_window *w, int64_t value, uint32_t i)
{
	sp_window_miss(w, value, i);
	w->greatest = value;
}
