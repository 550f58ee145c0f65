/* report-readings.c: the permanent readings, each with its time: rows for programs, or lines for people;
 * and how far the hosts' clocks are apart.
 */
#include <stdlib.h>
#include <string.h>

#include "../../forms/view-text-words.h"
#include "../../model/view-common.h"
#include "../tool/cmd.h"
#include "report.h"

#define MS 1000000			/* ns */

/* ---- rows --------------------------------------------------------------------- */

static void csv_reading(struct sp_out *o, const struct sp_model *m, const struct sp_row *row, const struct sp_kept *at, uint32_t e)
{
	const struct sp_header *h = sp_process_header(m, row->process);
	char buf[32];

	sp_csv_f(o, "%s,% ld,%u,%d,%s,%d,%lu,% d,%s,", sp_model_text(m, h->host), h->rank, h->pid, row->tid, row->thread, row->event_set,
		 at->ns, at->cpu, sp_event_name(m, row->event[e], buf));
	sp_out_value(o, sp_event_type(m, row->event[e]), at->value[e]);
	sp_out_char(o, '\n');
}

/* ---- lines --------------------------------------------------------------------- */

static void heading(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	const struct sp_header *h = sp_process_header(m, row->process);

	sp_out_f(o, "\nevent set %d of thread %d (%s)", row->event_set, row->tid, row->thread);
	if (sp_is_job(m))
		sp_out_f(o, ", %s %ld on %s", h->rank >= 0 ? "rank" : "process", h->rank >= 0 ? h->rank : (int64_t)h->pid,
			 sp_model_text(m, h->host));
	sp_out_text(o, "\n   elapsed s  CPU                 value  event\n");
}

/* Since the set was first started, as sspapi_elapsed_time has it. */
static void text_reading(struct sp_out *o, const struct sp_model *m, const struct sp_row *row, const struct sp_kept *at, uint32_t e)
{
	double s = at->ns > row->first_ns ? (double)(at->ns - row->first_ns) / 1e9 : 0.0;
	char buf[64];

	sp_right(o, sp_text_f(buf, sizeof(buf), "%.6f", s), 12);
	sp_right(o, at->cpu >= 0 ? sp_text_f(buf, sizeof(buf), "%d", at->cpu) : "-", 5);
	sp_value_text(buf, sp_event_type(m, row->event[e]), at->value[e]);
	sp_right(o, buf, 22);
	sp_out_f(o, "  %s\n", sp_event_name(m, row->event[e], buf));
}

/* ---- the hosts' clocks --------------------------------------------------------------- */

struct clock {
	uint64_t start, end;		/* of all processes there */
	bool any;
};

static struct clock clock_of(const struct sp_model *m, uint32_t machine)
{
	struct clock c = { .any = false };

	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct sp_header *h = m->process[i].h;

		if (m->process[i].machine != machine || !h->end_ns)
			continue;
		c.start = c.any ? sp_min(c.start, h->start_ns) : h->start_ns;
		c.end = c.any ? sp_max(c.end, h->end_ns) : h->end_ns;
		c.any = true;
	}
	return c;
}

/* Ranks of a job start together and end together: by as much as both differ, and no more than they
 * differ from each other, clocks are apart.  (Hosts of separate runs differ by far more: nothing is said.) */
static void say_offsets(const char *verb, const struct sp_model *m)
{
	struct clock first = clock_of(m, 0);

	for (uint32_t i = 1; first.any && i < m->n_machines; i++) {
		struct clock c = clock_of(m, i);
		int64_t start = (int64_t)(c.start - first.start), end = (int64_t)(c.end - first.end);
		int64_t offset = (start + end) / 2, unsure = llabs(start - end) / 2;

		if (!c.any || llabs(offset) < 100 * MS || llabs(offset) < 2 * unsure || !strcmp(m->machine[i].host, m->machine[0].host))
			continue;
		fprintf(stderr, "sspapi %s: the clock of ", verb);
		sp_put_plain(stderr, m->machine[i].host);
		fprintf(stderr, " is %s that of ", offset > 0 ? "ahead of" : "behind");
		sp_put_plain(stderr, m->machine[0].host);
		fprintf(stderr, " by %.3f s (give or take %.3f s), if their processes started and ended together; times are each host's own\n",
			(double)llabs(offset) / 1e9, (double)unsure / 1e9);
	}
}

/* A clock that was set meanwhile tells itself by the one that nobody sets. */
static void say_set(const char *verb, const struct sp_model *m)
{
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct sp_header *h = m->process[i].h;
		int64_t by = (int64_t)(h->end_ns - h->start_ns) - (int64_t)(h->end_boot_ns - h->start_boot_ns);

		if (!h->start_boot_ns || !h->end_boot_ns || llabs(by) < 10 * MS)
			continue;
		fprintf(stderr, "sspapi %s: the clock of ", verb);
		sp_put_plain(stderr, sp_model_text(m, h->host));
		fprintf(stderr, " was set %s by %.3f s while process %u ran\n", by > 0 ? "forward" : "back", (double)llabs(by) / 1e9, h->pid);
		return;
	}
}

void sp_report_readings(const struct sp_report *r, struct sp_out *o, struct sp_model *m, bool text)
{
	struct sp_row row = { 0 };

	if (!m->kept)
		sp_complain(0, r->verb, "no reading was kept: run with SSPAPI_READINGS=permanent", NULL);
	say_offsets(r->verb, m);
	say_set(r->verb, m);
	if (!text)
		sp_out_text(o, "host,rank,pid,tid,thread,event_set,ns,cpu,event,value\n");
	while (sp_model_next(m, &row)) {
		struct sp_kept at = { 0 };

		for (bool first = true; sp_row_kept(m, &row, &at); first = false) {
			if (first && text)
				heading(o, m, &row);
			for (uint32_t e = 0; e < row.k; e++)
				if (sp_show_named(&r->show, row.event[e]))
					(text ? text_reading : csv_reading)(o, m, &row, &at, e);
		}
	}
}
