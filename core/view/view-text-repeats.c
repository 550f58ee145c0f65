/* view-text-repeats.c: see view-text-repeats.h. */
#include "repeats.h"
#include "view-text-repeats.h"
#include "view-text-table.h"

static void run_line(struct sp_text_list *l, uint32_t e, const struct sp_spread *s)
{
	const struct sp_model *m = l->s->m;
	enum sp_data_type type = sp_event_type(m, e);
	char name[256], runs[48], mean[48], spread[48], min[48], max[48];
	const char *cell[] = { sp_text_event(m, e, name), runs, mean, spread, min, max };

	sp_text_f(runs, sizeof(runs), "%'u", s->n);
	sp_short_text(mean, m, e, sp_nearest(type, s->mean));
	if (s->mean < 1000.0 && !strpbrk(mean, " kMGTPE"))	/* of 0, 0 and 1 it is not 0 */
		sp_text_f(mean, sizeof(mean), "%.1f", s->mean);
	sp_text_f(spread, sizeof(spread), "%.2f %%", s->mean > 0.0 ? sp_deviation(s) / s->mean * 100.0 : 0.0);
	sp_short_text(min, m, e, sp_nearest(type, s->min));
	sp_short_text(max, m, e, sp_nearest(type, s->max));
	sp_list_line(l, cell);
}

static void tell(struct sp_text_list *l, void *spread)
{
	static const char *const title[] = { "each run", "runs", "mean", "std dev", "min", "max" };
	const struct sp_spread *s = spread;

	sp_list_line(l, title);
	for (uint32_t e = 0; e < l->s->m->n_events; e++)
		if (s[e].n)
			run_line(l, e, &s[e]);
}

void sp_text_repeats(struct sp_out *o, const struct sp_show *s)
{
	struct sp_spread *spread = sp_repeats_spread(s->m);

	if (!spread)
		return;
	sp_list_show(o, s, 6, true, "events", tell, spread);
	sp_repeats_free(spread, s->m);
}
