/* unfinished.c: what the store of a process that did not come to its end cannot say: until
 * when it ran, and that it was killed. */
#include <string.h>
#include <unistd.h>

#include "../store/live.h"
#include "../view/view-common.h"
#include "cmd.h"

/* At least until its last reading of which the time is known: temporary ones on one CPU have none
 * of their own.  What is there is the last snapshot's time, or none. */
static void until_last_reading(struct sp_model *m)
{
	struct sp_row row = { 0 };

	m->h.end_ns = sp_max(m->h.end_ns, m->h.start_ns);	/* times of readings are some ms coarse */
	while (sp_model_next(m, &row)) {
		struct sp_kept at = { 0 };

		m->h.end_ns = sp_max(m->h.end_ns, sp_max(row.last_ns, row.latest_ns));
		while (sp_row_kept(m, &row, &at))
			m->h.end_ns = sp_max(m->h.end_ns, at.ns);
	}
}

bool sp_may_run(const struct sp_header *h, const struct sp_image *image)
{
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	return sp_live_may_run(h, strcmp(sp_image_text(image, h->host), host) == 0);
}

void sp_unfinished(struct sp_model *m)
{
	if (!sp_is_job(m) && m->h.end == SP_END_NONE)
		until_last_reading(m);
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct sp_header *h = sp_process_header(m, i);

		m->n_killed += h->end == SP_END_NONE && !sp_may_run(h, m->image);
	}
}
