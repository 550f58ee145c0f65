/* view-text-table.h: the tables of the text view: rows with a label and a column for each event,
 * and, behind them, for each derived metric (ids from n_events on).
 *
 * Tables have up to six events, and fewer where numbers are long.  There is no
 * memory for widths, so that each table is walked twice: to measure, to write.
 * Nothing here is of use outside the files of the text view.
 */
#ifndef SP_VIEW_TEXT_TABLE_H
#define SP_VIEW_TEXT_TABLE_H

#include "view-metrics.h"
#include "view-text.h"

#define SP_TEXT_EVENTS	6u
#define SP_TEXT_PROVEN	8u	/* columns of "  proven" */
#define SP_TEXT_METRIC	9u	/* columns of most metrics' values */

struct sp_text_column {
	uint32_t id;			/* of the event; n_events + i: metric number i */
	uint32_t index;			/* of its values in a row */
	unsigned width;
	int64_t sum, exact;		/* over the CPUs of a relation */
};

struct sp_text_table {
	const struct sp_model *m;
	struct sp_text_column col[SP_TEXT_EVENTS];
	unsigned n;
	unsigned label;			/* columns of what the rows are called */
	unsigned readings;		/* columns of the number of readings; 0: not shown */
	bool proven;			/* a column for what is proven */
	unsigned detail;
	double part, whole;		/* proven shares of the row at hand, and how many */
};

/* The metric whose column has this id; NULL: it is an event's. */
static inline struct sp_metric *sp_text_metric(const struct sp_model *m, uint32_t id)
{
	return id >= m->n_events ? &sp_view_metrics->at[id - m->n_events] : NULL;
}

/* Behind the last column that there may be. */
static inline uint32_t sp_text_columns_end(const struct sp_model *m)
{
	return m->n_events + (sp_view_metrics ? sp_view_metrics->n : 0);
}

/* Adds a column if it fits; `values` is how wide its values are, `events` how many are still to be shown. */
bool sp_text_table_add(struct sp_text_table *t, uint32_t id, uint32_t index, unsigned values, unsigned events);
void sp_text_table_head(struct sp_out *o, const struct sp_text_table *t, const char *label);

/* A row: its begin, for each column i one of these, its end (what is proven, the line's end). */
void sp_text_row_begin(struct sp_out *o, struct sp_text_table *t, const char *label, uint64_t readings);
void sp_text_row_sum(struct sp_out *o, struct sp_text_table *t, unsigned i, int64_t total, int64_t exact);
void sp_text_row_text(struct sp_out *o, const struct sp_text_table *t, unsigned i, const char *text);
/* As it was computed last; mixed: of the sum of several kinds of cores. */
void sp_text_row_metric(struct sp_out *o, const struct sp_text_table *t, unsigned i, bool mixed);
void sp_text_row_end(struct sp_out *o, struct sp_text_table *t);

#endif
