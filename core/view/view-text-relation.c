/* view-text-relation.c: the text view's event sets: whose, by CPU, by kind of core, between
 * which calls, and what is to be known of them.
 */
#include "core-kinds.h"
#include "view-text-table.h"

#define RELATION_METRICS 256u	/* most events of a relation that shows metrics */
#define PAIRS_SHOWN	24u	/* of call sites, of a relation */
#define ALL_OF_THEM	(-2)	/* in place of a kind of core */

/* ---- what its rows are called ------------------------------------------- */

static const char *kind_label(const struct sp_model *m, int32_t kind, char text[48])
{
	struct sp_out o;

	sp_memory_init(&o, text, 48);
	sp_out_text(&o, "  on ");
	sp_text_kinds(&o, m, 1u << kind);
	return sp_memory_text(&o);
}

static const char *cpu_label(const struct sp_model *m, const struct sp_at_cpu *at, char text[96])
{
	struct sp_out o;

	sp_memory_init(&o, text, 96);
	sp_out_text(&o, "  ");
	sp_text_cpu(&o, m, at->cpu, at->component);
	return sp_memory_text(&o);
}

/* ---- by call site ------------------------------------------------------- */

static const char *pair_label(const struct sp_model *m, const struct sp_row *row, const struct sp_between *at,
			      char text[600])
{
	struct sp_out o;

	sp_memory_init(&o, text, 600);
	sp_out_text(&o, "  ");
	sp_text_pair(&o, m, at->from, at->to, sp_pair_width(row->k) - 2);
	return sp_memory_text(&o);
}

/* Is interval i the first of its pair? */
static bool first_of_pair(struct sp_model *m, struct sp_row *row, uint32_t i, struct sp_between *at)
{
	struct sp_between other;

	sp_row_interval(m, row, i, at);
	for (uint32_t n = 0; n < i; n++) {
		sp_row_interval(m, row, n, &other);
		if (other.from == at->from && other.to == at->to)
			return false;
	}
	return true;
}

/* Are there sums in the table's columns? */
static bool has_sums(const struct sp_text_table *t)
{
	for (unsigned c = 0; c < t->n; c++)
		if (!sp_text_metric(t->m, t->col[c].id) && (t->col[c].sum || t->col[c].exact))
			return true;
	return false;
}

/* Sums of a row of the table: of its columns, and for metrics of all events. */
struct row_sums {
	int64_t total[RELATION_METRICS];
	uint64_t readings;
	uint32_t kinds;			/* of cores that they are of, a bit each */
};

static void clear(struct sp_text_table *t, struct row_sums *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < t->n; i++)
		t->col[i].sum = t->col[i].exact = 0;
}

static void add_values(struct sp_text_table *t, struct row_sums *s, const struct sp_row *row, int32_t component,
		       uint64_t readings, const int64_t *total, const int64_t *exact)
{
	int32_t kind = sp_kind_of(t->m, component);

	s->readings += readings;
	if (t->m->n_kinds > 1)
		s->kinds |= 1u << (kind < 0 ? SP_KINDS_MOST : (uint32_t)kind);
	for (uint32_t e = 0; sp_view_metrics && e < row->k && row->k <= RELATION_METRICS; e++)
		s->total[e] = sp_plus(sp_event_type(t->m, row->event[e]), s->total[e], total[e]);
	for (unsigned i = 0; i < t->n; i++) {
		struct sp_text_column *col = &t->col[i];

		if (sp_text_metric(t->m, col->id))
			continue;
		col->sum = sp_plus(sp_event_type(t->m, col->id), col->sum, total[col->index]);
		col->exact = sp_plus(sp_event_type(t->m, col->id), col->exact, exact[col->index]);
	}
}

static void sums_row(struct sp_out *o, struct sp_text_table *t, const struct sp_row *row, const char *label,
		     const struct row_sums *s)
{
	sp_text_row_begin(o, t, label, s->readings);
	if (sp_view_metrics && row->k <= RELATION_METRICS)
		sp_metrics_compute_row(sp_view_metrics, row, s->total);
	for (unsigned i = 0; i < t->n; i++) {
		if (sp_text_metric(t->m, t->col[i].id))
			sp_text_row_metric(o, t, i, sp_kinds_several(s->kinds));
		else
			sp_text_row_sum(o, t, i, t->col[i].sum, t->col[i].exact);
	}
	sp_text_row_end(o, t);
}

/* Over all CPUs, for the columns that the table has. */
static void pair_row(struct sp_out *o, struct sp_text_table *t, struct sp_model *m, struct sp_row *row, uint32_t first)
{
	struct sp_between at, other;
	struct row_sums sums;
	char text[600];

	sp_row_interval(m, row, first, &at);
	clear(t, &sums);
	for (uint32_t i = first; sp_row_interval(m, row, i, &other); i++)
		if (other.from == at.from && other.to == at.to)
			add_values(t, &sums, row, other.component, other.count, other.total, other.exact);
	if (!at.to && !sums.readings && !has_sums(t))
		return;
	sums_row(o, t, row, pair_label(m, row, &at, text), &sums);
}

static void pair_rows(struct sp_out *o, struct sp_text_table *t, struct sp_model *m, struct sp_row *row)
{
	struct sp_between at;
	uint32_t shown = 0, pairs = 0;

	for (uint32_t i = 0; i < row->intervals; i++)
		if (first_of_pair(m, row, i, &at) && pairs++ < PAIRS_SHOWN)
			shown += (pair_row(o, t, m, row, i), 1);
	if (pairs == shown)
		return;
	sp_out_text(o, "  ... and ");
	sp_out_amount(o, pairs - shown, "pair");
	sp_out_text(o, " of call sites more, which the json and csv forms show.\n");
}

static unsigned widest_pair(struct sp_model *m, struct sp_row *row)
{
	struct sp_between at;
	unsigned widest = 0;
	char text[600];

	for (uint32_t i = 0; i < row->intervals && i < 4 * PAIRS_SHOWN; i++) {
		sp_row_interval(m, row, i, &at);
		widest = (unsigned)sp_max(widest, sp_columns(pair_label(m, row, &at, text)));
	}
	return widest;
}

/* The widths of all columns but the events'; how many CPUs there are. */
static uint32_t measure_row(struct sp_text_table *t, struct sp_model *m, struct sp_row *row)
{
	struct sp_at_cpu at;
	uint64_t most = row->readings;
	uint32_t cpus = 0;
	char text[96], buf[32];

	t->label = 13;
	for (uint32_t i = 0; i < row->cells; i++) {
		if (!sp_row_cell(m, row, i, &at))
			continue;
		cpus++;
		most = sp_max(most, at.readings);
		t->label = (unsigned)sp_max(t->label, sp_columns(cpu_label(m, &at, text)));
	}
	t->label = (unsigned)sp_max(t->label, widest_pair(m, row));
	for (uint32_t k = 0; m->n_kinds > 1 && k < m->n_kinds; k++)
		t->label = (unsigned)sp_max(t->label, sp_columns(kind_label(m, (int32_t)k, text)));
	t->readings = (unsigned)sp_max(8, sp_format_grouped(buf, (int64_t)sp_min(most, INT64_MAX)));
	return cpus;
}

static unsigned widest_cell(struct sp_model *m, struct sp_row *row, uint32_t e)
{
	enum sp_data_type type = sp_event_type(m, row->event[e]);
	struct sp_at_cpu at;
	unsigned widest = 0;
	int64_t sum = 0;
	char buf[48];

	for (uint32_t i = 0; i < row->cells; i++) {
		if (!sp_row_cell(m, row, i, &at))
			continue;
		sum = sp_plus(type, sum, at.total[e]);
		widest = (unsigned)sp_max(widest, sp_value_text(buf, type, at.total[e]));
	}
	return (unsigned)sp_max(widest, sp_value_text(buf, type, sum));
}

/* Which metrics have all that they need in this relation?  Of the widest sets none. */
static void find_metrics(const struct sp_row *row)
{
	static const int64_t zeros[RELATION_METRICS];
	struct sp_metrics *t = sp_view_metrics;
	bool narrow = row->k <= RELATION_METRICS;

	if (narrow)
		sp_metrics_compute_row(t, row, zeros);
	for (uint32_t i = 0; i < t->n; i++)
		t->at[i].in_relation = narrow && t->at[i].shown && t->at[i].counted;
}

/* Adds the relation's column number e: of its events, then of metrics. */
static bool add_relation_column(struct sp_text_table *t, struct sp_model *m, struct sp_row *row, uint32_t e)
{
	uint32_t i = e - row->k;

	if (e < row->k && sp_event_is_gauge(m, row->event[e]))
		return true;		/* has a list of its own */
	if (e < row->k)
		return sp_text_table_add(t, row->event[e], e, widest_cell(m, row, e), row->k);
	return !sp_view_metrics->at[i].in_relation || sp_text_table_add(t, m->n_events + i, 0, SP_TEXT_METRIC, row->k);
}

/* A line with the sums over the relation's CPUs of one kind of core; ALL_OF_THEM: over all. */
static void sum_row(struct sp_out *o, struct sp_text_table *t, struct sp_model *m, struct sp_row *row, int32_t kind)
{
	struct row_sums sums;
	struct sp_at_cpu at;
	char text[48];

	clear(t, &sums);
	for (uint32_t c = 0; c < row->cells; c++)
		if (sp_row_cell(m, row, c, &at) && (kind < 0 || sp_kind_of(m, at.component) == kind))
			add_values(t, &sums, row, at.component, at.readings, at.total, at.exact);
	sums_row(o, t, row, kind < 0 ? "  all of them" : kind_label(m, kind, text), &sums);
}

/* One table of a relation: its CPUs, a line over all of them if there are several, and over
 * those of each kind of core, its call sites. */
static void relation_table(struct sp_out *o, struct sp_text_table *t, struct sp_model *m, struct sp_row *row,
			   uint32_t cpus)
{
	uint32_t kinds = sp_kinds_of_row(m, row);
	struct sp_at_cpu at;
	char text[96];

	sp_text_table_head(o, t, "");
	for (uint32_t c = 0; c < row->cells; c++) {
		if (!sp_row_cell(m, row, c, &at))
			continue;
		sp_text_row_begin(o, t, cpu_label(m, &at, text), at.readings);
		if (sp_view_metrics)
			sp_metrics_compute_row(sp_view_metrics, row, at.total);
		for (unsigned i = 0; i < t->n; i++) {
			struct sp_text_column *col = &t->col[i];

			if (sp_text_metric(m, col->id))
				sp_text_row_metric(o, t, i, false);
			else
				sp_text_row_sum(o, t, i, at.total[col->index], at.exact[col->index]);
		}
		sp_text_row_end(o, t);
	}
	if (cpus >= 2)
		sum_row(o, t, m, row, ALL_OF_THEM);
	for (uint32_t k = 0; sp_kinds_several(kinds) && k < m->n_kinds; k++)
		if (kinds >> k & 1)
			sum_row(o, t, m, row, (int32_t)k);
	if (row->intervals)
		pair_rows(o, t, m, row);
}

static void whose(struct sp_out *o, const struct sp_row *row)
{
	static const char *const scopes[] = {
		"", ", counts of all that runs on the CPU", ", counts of the whole process",
		", counts of the package", ", counts of the whole host", ", counts of a device",
	};

	if (row->tid == 0) {
		sp_out_amount(o, row->threads, "thread");
		sp_out_text(o, row->threads == 1 ? " that has ended" : " that have ended");
	} else {
		sp_out_text(o, "thread ");
		sp_out_i64(o, row->tid);
	}
	if (*row->thread) {
		sp_out_text(o, " \"");
		sp_out_plain(o, row->thread);
		sp_out_char(o, '"');
	}
	sp_out_text(o, ", event set ");
	sp_out_i64(o, row->event_set);
	if (row->target == SP_TARGET_CPU)
		sp_out_text(o, ", attached to CPU ");
	else if (row->target == SP_TARGET_TID)
		sp_out_text(o, ", attached to thread ");
	if (row->target == SP_TARGET_CPU || row->target == SP_TARGET_TID)
		sp_out_i64(o, row->target_id);
	if ((unsigned)row->scope < SP_COUNT(scopes))
		sp_out_text(o, scopes[row->scope]);
	if (row->flags & SP_RELATION_API)
		sp_out_text(o, ", by sspapi_start");
	/* Of user code alone, as PAPI does by itself: not said. */
	for (uint32_t i = 0, n = 0; i < SP_DOMAINS && row->domain > 1; i++)
		if (row->domain >> i & 1) {
			sp_out_text(o, n++ ? "+" : ", domain ");
			sp_out_text(o, sp_domain_name(i));
		}
}

static void whose_process(struct sp_out *o, const struct sp_model *m, const struct sp_header *h)
{
	if (h->rank >= 0) {
		sp_out_text(o, "rank ");
		sp_out_i64(o, h->rank);
		sp_out_text(o, ", ");
	}
	sp_out_text(o, "pid ");
	sp_out_u64(o, h->pid);
	sp_out_text(o, " on ");
	sp_out_plain(o, sp_model_text(m, h->host));
	sp_out_text(o, ": ");
}

static void relation_head(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	struct sp_out line;
	char text[512];

	sp_memory_init(&line, text, sizeof(text));
	if (sp_is_job(m))
		whose_process(&line, m, sp_process_header(m, row->process));
	whose(&line, row);
	sp_out_text(&line, ": ");
	sp_out_amount(&line, row->starts, "start");
	sp_out_text(&line, ", ");
	if (row->resets) {
		sp_out_amount(&line, row->resets, "reset");
		sp_out_text(&line, ", ");
	}
	sp_out_amount(&line, row->readings, "reading");
	/* These times are those of a clock that ticks every few ms. */
	if (row->first_ns && row->last_ns > row->first_ns && row->last_ns - row->first_ns >= 10000000) {
		sp_out_text(&line, " in ");
		sp_out_duration(&line, row->last_ns - row->first_ns);
	}
	sp_out_char(o, '\n');
	sp_heading_begin(o);
	sp_clip(o, sp_memory_text(&line), SP_WIDTH);
	sp_heading_end(o);
}

static bool subtracts(const struct sp_model *m, const struct sp_row *row)
{
	for (uint32_t e = 0; e < row->k; e++)
		if (!strcmp(SP_EVENT_TEXT(m, row->event[e], derived), "DERIVED_SUB") ||
		    strchr(SP_EVENT_TEXT(m, row->event[e], postfix), '-'))
			return true;
	return false;
}

static void notes_of(struct sp_out *o, const struct sp_model *m, const struct sp_row *row)
{
	bool estimated = row->flags & SP_RELATION_ESTIMATED;

	if (estimated)
		sp_paragraph(o, "  ", 2, "PAPI counted these events in turns (multiplexing): they are estimates.");
	if (row->flags & SP_RELATION_BACKWARDS)
		sp_paragraph(o, "  ", 2,
			     estimated ? "A count was seen to go backwards, as estimates do; the totals are what PAPI handed out." :
			     subtracts(m, row) ? "A count was seen to go backwards: one of them is a difference." :
			     "A count was seen to go backwards: something but PAPI set it anew.");
	if (row->flags & SP_RELATION_UNSURE)
		sp_paragraph(o, "  ", 2, "A signal handler called PAPI for this set in the middle of another call for it, or jumped "
					 "out of one: what was counted inside that call may be missing here, or be here twice.");
	if (row->flags & SP_RELATION_RUNNING)
		sp_paragraph(o, "  ", 2, "Still running at the end: what it counted since its last reading was not handed out.");
	if (row->flags & SP_RELATION_CROWDED)
		sp_paragraph(o, "  ", 2, "There were more pairs of call sites than there was room for (of a relation 1,024, "
					 "and fewer new ones in one run): the rest is under other call sites.");
}

void sp_text_relation(struct sp_out *o, struct sp_model *m, struct sp_row *row, bool proven)
{
	struct sp_text_table t = { .m = m, .proven = proven };
	uint32_t cpus = measure_row(&t, m, row);

	relation_head(o, m, row);
	sp_text_overflows(o, m, row);
	if (!cpus) {
		sp_paragraph(o, "  ", 2,
			     !row->starts ? "never started" :
			     row->flags & SP_RELATION_RUNNING ?
			     "never read, and still running at the end: what it counted was not handed out" :
			     "never read: no PAPI_read, PAPI_accum or PAPI_stop of it succeeded");
		return;
	}
	if (sp_view_metrics)
		find_metrics(row);
	for (uint32_t e = 0, end = row->k + sp_text_columns_end(m) - m->n_events; e < end && !row->place;) {
		t.n = 0;
		while (e < end && add_relation_column(&t, m, row, e))
			e++;
		if (t.n)
			relation_table(o, &t, m, row, cpus);
	}
	if (row->place)
		sp_text_placed(o, m, row);
	sp_text_gauges(o, m, row);
	sp_text_row_kinds(o, m, row);
	notes_of(o, m, row);
	if (row->flags & SP_RELATION_FOREIGN)
		sp_paragraph(o, "  ", 2,
			     "Read by a thread that is not the one counted: its CPU is where that one last ran.");
}
