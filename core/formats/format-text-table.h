/* format-text-table.h: the text form's tables: rows with a label, a column for each event, the
 * share of the leading one, and a column for each derived metric (ids from n_events on).
 *
 * A table takes what its rows are in any order (sp_table_add), shows the heaviest ten, or all of
 * them, and below them the sum of the rest.  Events that do not fit beside each other are for the
 * next block.  Memory is the table's own: no malloc is called where dumps are made.
 */
#pragma once

#include "level.h"
#include "format-metrics.h"
#include "format-text-words.h"
#include "format-writer.h"

#define SP_TEXT_EVENTS	6u
#define SP_TEXT_ROWS	10u		/* shown of a table */

static inline void sp_text_cut(const struct sp_selection *s)
{
	if (s->cut)
		*s->cut = true;
}
#define SP_TEXT_TAILS	3u		/* columns of text behind the numbers */

/* What a row of a table has, by event id. */
struct sp_text_sums {
	int64_t *total, *exact;
	bool *has;			/* was the event counted there at all? */
	uint32_t kinds;			/* of cores that they are of, a bit each */
	struct sp_metric_sum *metric;	/* what the metrics are computed from */
};

/* The minimum, mean and maximum of the rows that were added by sp_table_spread. */
struct sp_table_spread {
	struct sp_text_sums row[3];	/* least, mean, most */
	uint32_t *n, rows;
	char who[2][32];		/* by the leading event */
	double *sum, *metric[2];	/* [metrics] least and most of the rows that have a value */
	bool *any;			/* [metrics] has any of them one? */
	int line;			/* of `row`: being written; -1: none is */
};

/* The rows, and by what they are put in order. */
struct sp_table_rows {
	uint64_t *at;
	double *weight;
	uint32_t *order, n, room;
};

struct sp_table {
	const struct sp_selection *s;
	const char *title, *plural;	/* "CPU", "CPUs": of what is left out */
	const char *tail_title[SP_TEXT_TAILS];	/* NULL: no such column */
	const char *further;		/* the level that shows what has no room here, in a line
					 * below; NULL: not said */
	unsigned most;			/* events beside each other; 0: what fits */
	unsigned line;			/* columns on a terminal that a line may take; 0:
					 * SP_TEXT_WIDTH */
	bool in_place;			/* the rows stand as they were added */
	bool all;			/* of them; else ten */
	bool first_line;		/* nothing stands above it */
	bool name_spread;		/* say which rows have the least and the most */
	bool placed;			/* also events that are counted on packages and other
					 * components as a whole */
	bool without_placed;		/* nor metrics of such events alone: the rows have none */
	/* Fills in sums, and, unless `only_sums`, label and tail (all of which are empty) of row
	 * number `at`. */
	void (*row)(struct sp_table *t, uint64_t at);
	void *arg;
	char label[600], tail[SP_TEXT_TAILS][64];
	struct sp_text_sums sums;
	bool only_sums;			/* of a thread's row the CPUs are a look at all its
					 * relations, of a call site's the name one at all paths */
	unsigned room_for_label;	/* columns that a row may take for it */
	uint32_t next, next_metric;	/* the first event, and the first metric's id, that have no
					 * column yet */

	const struct sp_model *m;	/* private, as all below */
	uint32_t col[SP_TEXT_EVENTS];
	unsigned n_cols, share, width[SP_TEXT_EVENTS], label_width, tail_width[SP_TEXT_TAILS];
	uint32_t lead;			/* sp_leading_event; n_events: none */
	bool lead_shown;		/* in this block or an earlier one */
	bool marks, *columns;		/* columns: [n_events] the events that stand in tables */
	struct sp_text_sums own, rest;
	struct sp_table_spread spread;
	struct sp_table_rows rows;
	void *memory;
	uint64_t bytes;
};

/* False: there is no memory.  `room`: most rows. */
bool sp_table_open(struct sp_table *t, const struct sp_selection *s, uint32_t room);
void sp_table_close(struct sp_table *t);

/* One more row, if it has anything in any column. */
void sp_table_add(struct sp_table *t, uint64_t at);
/* That row counts for the table's least, mean and most, which three rows have. */
void sp_table_spread(struct sp_table *t);

/* Event e of the row at hand. */
static inline void sp_table_sum(struct sp_table *t, uint32_t e, int64_t total, int64_t exact)
{
	enum sp_data_type type = sp_event_type(t->m, e);

	if (!t->columns[e])
		return;
	t->sums.total[e] = sp_plus(type, t->sums.total[e], total);
	t->sums.exact[e] = sp_plus(type, t->sums.exact[e], exact);
	t->sums.has[e] = true;
}

/* Of the row at hand: adds to what its metrics are computed from (NULL: nothing). */
static inline void sp_table_metrics(struct sp_table *t, const struct sp_metric_sum *from)
{
	if (t->s->metrics && from)
		sp_metrics_sum(t->s->metrics, t->sums.metric, from);
}

void sp_table_first(struct sp_table *t);	/* from the first column on, again */
/* The next columns that fit: three events, the metrics, other events; false: there are none
 * left. */
bool sp_table_columns(struct sp_table *t);
/* With the events and metrics that fit beside each other, and all metrics where columns are not
 * limited; with s->all with all events, below each other. */
void sp_table_blocks(struct sp_out *o, struct sp_table *t);

/* Events that stand in these tables: sums of what was counted by CPU. */
static inline bool sp_event_has_column(const struct sp_model *m, uint32_t e)
{
	return sp_event_is_summed(m, e) && !sp_event_is_placed(m, e);
}

/* Lists, of what does not fit into tables of events: told twice, to measure and to write; the
 * first line is the heading, the first two columns stand on the left. */
struct sp_text_list {
	const struct sp_selection *s;
	struct sp_out *o;		/* NULL: widths are measured */
	unsigned width[8], n;
	uint32_t lines, left;		/* shown; and left out */
};
void sp_list_line(struct sp_text_list *l, const char *const *cell);
/* Measured, then written if there is more than the heading; `plural` are what is left out; `below`:
 * something stands above. */
void sp_list_show(struct sp_out *o, const struct sp_selection *s, unsigned columns, bool below,
		  const char *plural, void (*add_rows)(struct sp_text_list *l, void *arg),
		  void *arg);
