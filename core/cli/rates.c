/* rates.c: see rates.h. */
#include <stdlib.h>
#include <string.h>

#include "../view/view-text-words.h"
#include "cmd.h"
#include "rates.h"

#define MOST 6u				/* events of the line */

/* What came of event e meanwhile, for each second, in the event's own type. */
static int64_t rate(const struct sp_rates *r, const struct sp_model *m, uint32_t e, double seconds)
{
	enum sp_data_type type = sp_event_type(m, e);
	double more = sp_value_double(type, m->total[e]) - (e < r->n_events ? sp_value_double(type, r->total[e]) : 0.0);
	double each = more > 0.0 && seconds > 0.0 ? more / seconds : 0.0;

	return type == SP_FP64 ? sp_float_bits(each) : each < 9e18 ? (int64_t)(each + 0.5) : INT64_MAX;
}

void sp_rates_write(const struct sp_rates *r, struct sp_out *o, const struct sp_model *m)
{
	uint64_t from = r->ns ? r->ns : m->h.start_ns, ns = m->h.end_ns > from ? m->h.end_ns - from : 0;
	unsigned n = 0;

	sp_out_f(o, "%s (pid %u), in %s ", sp_base_name(sp_model_text(m, m->h.exe)), m->h.pid, r->ns ? "the last" : "its");
	sp_out_duration(o, ns);
	for (uint32_t e = 0; e < m->n_events; e++) {
		char name[256], value[48];

		if (!sp_event_is_summed(m, e) || n++ >= MOST)
			continue;
		sp_short_text(value, m, e, rate(r, m, e, (double)ns / 1e9));
		sp_out_f(o, "%s %s %s/s", n > 1 ? "," : ":", sp_text_event(m, e, name), value);
	}
	sp_out_text(o, n > MOST ? " \xe2\x80\xa6\n\n" : "\n\n");
}

void sp_rates_keep(struct sp_rates *r, const struct sp_model *m)
{
	free(r->total);
	*r = (struct sp_rates){ 0 };
	if (!m)
		return;
	r->ns = m->h.end_ns;
	r->n_events = m->n_events;
	r->total = sp_need(calloc(m->n_events + 1, sizeof(*r->total)));
	memcpy(r->total, m->total, m->n_events * sizeof(*r->total));
}
