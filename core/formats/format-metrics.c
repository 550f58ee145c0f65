/* format-metrics.c: writes metrics' values and definitions in each format; see format-metrics.h. */
#include "format-metrics.h"

static double size_of(double v)
{
	return v < 0.0 ? -v : v;
}

/* Writes 4.87e-05 style numbers, for values that need more than six decimals. */
static void scientific(struct sp_out *o, double v)
{
	double size = size_of(v);
	unsigned places = 0;

	for (; size < 1.0 && places < 400; places++) {
		size *= 10.0;
		v *= 10.0;
	}
	sp_out_double(o, v, 2);
	sp_out_f(o, places < 10 ? "e-0%u" : "e-%u", places);
}

unsigned sp_metric_text(char buf[48], const struct sp_metric *d)
{
	double v = size_of(d->value);
	struct sp_out o;

	if (!d->has_value) {
		strcpy(buf, "-");
		return 1;
	}
	if ((d->whole || v >= 1000.0) && v < 1e15)
		return (unsigned)sp_format_grouped(buf, (int64_t)(d->value +
								  (d->value < 0.0 ? -0.5 : 0.5)));
	sp_out_init(&o, -1, buf, 47);
	/* below 1: the first significant digits */
	if (v > 0.0 && v < 1e-4)
		scientific(&o, d->value);
	else
		sp_out_double(&o, d->value, v >= 1e15 ? -1 : v >= 0.1 || !(v > 0.0) ? 3 : 6);
	buf[o.used] = 0;
	return (unsigned)o.used;
}

bool sp_metric_is_placed(const struct sp_metrics *t, const struct sp_metric *d)
{
	for (uint32_t i = 0; i < d->n_slots; i++)
		if (sp_event_is_placed(t->model, t->slot[d->first_slot + i]))
			return true;
	return false;
}

void sp_metric_number(struct sp_out *o, const struct sp_metric *d)
{
	if (d->has_value)
		sp_out_double(o, d->value, -1);
}

/* Returns whether all its events are of one component. A PAPI set cannot have events of two. */
static bool is_of_one_component(const struct sp_metrics *t, const struct sp_metric *d)
{
	const uint32_t *slot = t->slot + d->first_slot;

	for (uint32_t i = 1; i < d->n_slots; i++)
		if (strcmp(SP_EVENT_TEXT(t->model, slot[i], component),
			   SP_EVENT_TEXT(t->model, slot[0], component)) != 0)
			return false;
	return true;
}

/* Writes why no set gives the metric a value, and the fix. */
static void why_none(struct sp_out *o, const struct sp_metrics *t, const struct sp_metric *d)
{
	if (t->model->h.stat)
		sp_out_text(o, ": name fewer events, so that the same run counts all of these");
	else if (is_of_one_component(t, d))
		sp_out_text(o, ": count these in one set, since counts of different times are not "
			       "divided");
	else if (!d->has_gap)
		sp_out_text(o, ": start a set for each PAPI component in the same thread");
	else
		sp_out_f(o,
			 ", and the sets with them ran together only %u %% of the time: start and "
			 "stop them together%s",
			 d->covered, d->paused ? ", once, and use PAPI_read in between" : "");
}

bool sp_metric_sets_text(char *text, size_t room, struct sp_metrics *t, const struct sp_metric *d)
{
	bool known = sp_metrics_at(t, 0) != NULL;
	struct sp_out o;

	if (!known || !d->others)
		return false;
	sp_memory_init(&o, text, room);
	if (d->sets)
		sp_out_f(&o,
			 "%s is made of %'lu of %'lu event sets: those that have all its events (",
			 d->name, d->sets, d->sets + d->others);
	else
		sp_out_f(&o, "%s: no event set has all its events (", d->name);
	for (uint32_t i = 0; i < d->n_terms; i++)
		sp_out_f(&o, "%s%s", i ? ", " : "", t->term[d->first_term + i].name);
	sp_out_text(&o, d->sets ? ") or ran together with the rest of them" : ")");
	if (!d->sets)
		why_none(&o, t, d);
	sp_memory_text(&o);
	return true;
}
