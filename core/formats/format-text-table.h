/* format-text-table.h: the text format's tables: rows with a label, a column per event, the share
 * of the leading event, and a column per derived metric (ids from n_events on).
 *
 * A table takes rows in any order (sp_table_add) and shows the ten largest, or all, and the sum of
 * the rest. Events that do not fit in one block are in the next. Memory is the table's own, mapped:
 * dumps call no malloc.
 */
#pragma once

#include "level.h"
#include "format-metrics.h"
#include "format-text-words.h"
#include "format-writer.h"

#define SP_TEXT_EVENTS	6u
#define SP_TEXT_ROWS	10u		/* rows shown in a table */

static inline void sp_text_cut(const struct sp_selection *s)
{
	if (s->cut)
		*s->cut = true;
}
#define SP_TEXT_TAILS	3u		/* text columns after the numbers */

/* A row's sums, by event id. */
struct sp_text_sums {
	int64_t *total, *exact;
	bool *has;			/* whether the event was counted there */
	uint32_t kinds;			/* kinds of its cores, one bit each */
	struct sp_metric_sum *metric;	/* input of the metrics */
};

/* The minimum, mean and maximum of the rows added by sp_table_spread. */
struct sp_table_spread {
	struct sp_text_sums row[3];	/* minimum, mean, maximum */
	uint32_t *n, rows;
	char who[2][32];		/* the rows of minimum and maximum, by the leading event */
	/* [metrics] minimum and maximum of the rows that have a value */
	double *sum, *metric[2];
	uint32_t *metric_rows;		/* [metrics] number of rows that have a value */
	int line;			/* the line of `row` being written; -1: none */
};

/* The rows and their order. */
struct sp_table_rows {
	uint64_t *at;
	double *weight;
	uint32_t *order, n, room;
};

struct sp_table {
	const struct sp_selection *s;
	const char *title, *plural;	/* "CPU", "CPUs": names rows that are left out */
	const char *tail_title[SP_TEXT_TAILS];	/* NULL: no such column */
	/* the level named below as showing the columns that do not fit; NULL: no such line */
	const char *further;
	unsigned most;			/* events per block; 0: as many as fit */
	unsigned line;			/* columns of a line on a terminal; 0: SP_TEXT_WIDTH */
	bool in_place;			/* keep the order in which rows were added */
	bool all;			/* all rows; otherwise ten */
	bool first_line;		/* no text precedes the table */
	bool name_spread;		/* name the rows of minimum and maximum */
	bool placed;			/* include events of packages and other whole components */
	bool without_placed;		/* leave out metrics of such events alone */
	/* Fills in the sums of row `at` and, unless `only_sums`, its label and tail (all empty
	 * before). */
	void (*row)(struct sp_table *t, uint64_t at);
	void *arg;
	char label[600], tail[SP_TEXT_TAILS][64];
	struct sp_text_sums sums;
	/* only_sums saves time: a thread's CPUs need a pass over all its relations, a call site's
	 * name one over all paths */
	bool only_sums;
	unsigned room_for_label;	/* columns available for the label */
	/* the first event and the first metric's id without a column so far */
	uint32_t next, next_metric;

	const struct sp_model *m;	/* private, as all below */
	uint32_t col[SP_TEXT_EVENTS];
	unsigned n_cols, share, width[SP_TEXT_EVENTS], label_width, tail_width[SP_TEXT_TAILS];
	uint32_t lead;			/* sp_leading_event(); n_events: none */
	bool lead_shown;		/* in this block or an earlier one */
	bool marks, *columns;		/* columns: [n_events] events shown in tables */
	struct sp_text_sums own, rest;
	struct sp_table_spread spread;
	struct sp_table_rows rows;
	void *memory;
	uint64_t bytes;
};

/* room: the maximum number of rows. Returns false if out of memory. */
bool sp_table_open(struct sp_table *t, const struct sp_selection *s, uint32_t room);
void sp_table_close(struct sp_table *t);

/* Adds a row if it has a value in any column. */
void sp_table_add(struct sp_table *t, uint64_t at);
/* Includes the row of the latest sp_table_add in minimum, mean and maximum. */
void sp_table_spread(struct sp_table *t);

/* Adds to event e of the current row. */
static inline void sp_table_sum(struct sp_table *t, uint32_t e, int64_t total, int64_t exact)
{
	enum sp_data_type type = sp_event_type(t->m, e);

	if (!t->columns[e])
		return;
	t->sums.total[e] = sp_plus(type, t->sums.total[e], total);
	t->sums.exact[e] = sp_plus(type, t->sums.exact[e], exact);
	t->sums.has[e] = true;
}

/* Adds to the input of the current row's metrics (NULL: nothing). */
static inline void sp_table_metrics(struct sp_table *t, const struct sp_metric_sum *from)
{
	if (t->s->metrics && from)
		sp_metrics_sum(t->s->metrics, t->sums.metric, from);
}

void sp_table_first(struct sp_table *t);	/* start again at the first column */
/* Selects the next columns that fit: three events, the metrics, other events. False: no columns are
 * left. */
bool sp_table_columns(struct sp_table *t);
/* Writes the table with the events and metrics that fit, and all metrics if columns are unlimited;
 * with s->all in blocks with all events. */
void sp_table_blocks(struct sp_out *o, struct sp_table *t);

/* Returns whether tables show the event: a sum of per-CPU counts. */
static inline bool sp_event_has_column(const struct sp_model *m, uint32_t e)
{
	return sp_event_is_summed(m, e) && !sp_event_is_placed(m, e);
}

/* A list of rows that do not fit into event tables. Its writer runs twice, to measure and to write.
 * The first line is the heading; the first two columns are left-aligned. */
struct sp_text_list {
	const struct sp_selection *s;
	struct sp_out *o;		/* NULL: measure widths */
	unsigned width[8], n;
	uint32_t lines, left;		/* lines shown, lines left out */
};
void sp_list_line(struct sp_text_list *l, const char *const *cell);
/* Measures the list and writes it if it has more than the heading. `plural` names lines left out;
 * `below`: other text precedes. */
void sp_list_show(struct sp_out *o, const struct sp_selection *s, unsigned columns, bool below,
		  const char *plural, void (*add_rows)(struct sp_text_list *l, void *arg),
		  void *arg);
