/* event-names.c: what there is, for who asked for what is not. */
#include <string.h>

#include "../view/view-text-words.h"
#include "report.h"

/* Those of m that `but` has not. */
static void names(struct sp_out *o, const struct sp_model *m, const struct sp_model *but, unsigned *n)
{
	char buf[32];

	for (uint32_t e = 0; m && e < m->n_events; e++) {
		const char *name = sp_event_name(m, e, buf);

		if (!m->event_counted[e] || (but && sp_report_has(but, name, strlen(name))) || (*n)++ >= 20)
			continue;
		sp_out_text(o, *n > 1 ? ", " : "; there are ");
		sp_out_text(o, name);
	}
}

void sp_report_there_are(const char *what, const struct sp_model *m, const struct sp_model *other, char *text, size_t room)
{
	unsigned n = 0;
	struct sp_out o;

	sp_memory_init(&o, text, room);
	sp_out_text(&o, what);
	names(&o, m, NULL, &n);
	names(&o, other, m, &n);
	if (n > 20)
		sp_out_text(&o, " \xe2\x80\xa6");
	sp_memory_text(&o);
}
