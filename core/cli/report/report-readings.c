/* report-readings.c: writes the permanent readings as rows of CSV, each with its time. */
#include "../../model/format-common.h"
#include "report.h"

static void csv_reading(struct sp_out *o, const struct sp_model *m, const struct sp_row *row,
			const struct sp_kept *at, uint32_t e)
{
	const struct sp_header *h = sp_process_header(m, row->process);
	char buf[32];

	sp_csv_f(o, "%s,% ld,%u,%d,%s,%d,%lu,% d,%s,", sp_model_text(m, h->process.host),
		 h->process.rank, h->process.pid, row->tid, row->thread, row->event_set, at->ns,
		 at->cpu, sp_event_name(m, row->event[e], buf));
	sp_out_value(o, sp_event_type(m, row->event[e]), at->value[e]);
	sp_out_char(o, '\n');
}

void sp_report_readings(const struct sp_report *r, struct sp_out *o, struct sp_model *m)
{
	struct sp_row row = { 0 };

	sp_out_text(o, "host,rank,pid,tid,thread,event_set,ns,cpu,event,value\n");
	while (sp_model_next(m, &row)) {
		struct sp_kept at = { 0 };

		while (sp_row_kept(m, &row, &at))
			for (uint32_t e = 0; e < row.k; e++)
				if (sp_selection_named(&r->show, row.event[e]))
					csv_reading(o, m, &row, &at, e);
	}
}
