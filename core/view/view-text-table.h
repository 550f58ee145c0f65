/* view-text-table.h: the text view's tables: rows with a label, a column for each event, the share
 * of the first one, and a column for each derived metric (ids from n_events on).
 *
 * A table takes what its rows are in any order (sp_table_add), shows the heaviest ten, in all
 * modes but sp_view_all, and below them the sum of the rest.  Events that do not fit beside each
 * other are for the next table (`next`).  Memory is the table's own: no malloc is called where
 * dumps are made.  Nothing here is of use outside the files of the text view.
 */
#ifndef SP_VIEW_TEXT_TABLE_H
#define SP_VIEW_TEXT_TABLE_H

#include "view-metrics.h"
#include "view-text.h"

#define SP_TEXT_EVENTS	6u
#define SP_TEXT_ROWS	10u		/* shown of a table */
#define SP_TEXT_TAILS	2u		/* columns of text behind the numbers */

/* Sums by event id, of a row of a table. */
struct sp_text_sums {
	int64_t *total, *exact;
	bool *has;			/* was the event counted there at all? */
	uint64_t readings;
	uint32_t kinds;			/* of cores that they are of, a bit each */
	int32_t machine;		/* whose they are; -1: of several, perhaps */
};

struct sp_table {
	const struct sp_model *m;
	const char *title, *things;	/* "CPU", "CPUs": of what is left out */
	const char *tail_title[SP_TEXT_TAILS];	/* NULL: no such column */
	unsigned most;			/* columns, beside each other; 0: what fits */
	bool in_place;			/* the rows stand as they were added */
	/* Fills in label, tail and sums (which are empty) of row number `at`. */
	void (*row)(struct sp_table *t, uint64_t at);
	void *arg;
	char label[600], tail[SP_TEXT_TAILS][64];
	struct sp_text_sums sums;
	unsigned n_spread;		/* lines above the rows: least, mean, most */
	struct sp_text_sums spread[3];
	char spread_label[3][48];
	unsigned room_for_label;	/* columns that a row may take for it */
	uint32_t next;			/* the first event or metric that has no column yet */

	uint32_t col[SP_TEXT_EVENTS];	/* private, as all below */
	unsigned n_cols, share, width[SP_TEXT_EVENTS], label_width, tail_width[SP_TEXT_TAILS];
	bool marks;
	struct sp_heavy {
		double weight;
		uint64_t at;
	} *heavy;
	uint32_t n, room;
	void *memory;
	uint64_t bytes;
};

/* False: there is no memory.  `room`: most rows. */
bool sp_table_open(struct sp_table *t, const struct sp_model *m, uint32_t room);
void sp_table_close(struct sp_table *t);

void sp_table_clear(struct sp_table *t);	/* the sums */
void sp_table_add(struct sp_table *t, uint64_t at, double weight);
double sp_table_weight(const struct sp_table *t);	/* of the sums: their first event's */

/* Event e of the row at hand. */
static inline void sp_table_sum(struct sp_table *t, uint32_t e, int64_t total, int64_t exact)
{
	enum sp_data_type type = sp_event_type(t->m, e);

	if (sp_event_is_gauge(t->m, e))
		return;
	t->sums.total[e] = sp_plus(type, t->sums.total[e], total);
	t->sums.exact[e] = sp_plus(type, t->sums.exact[e], exact);
	t->sums.has[e] = true;
}

/* The columns from t->next on that fit; false: there are none left. */
bool sp_table_columns(struct sp_table *t);
/* With the events that fit beside each other, and all metrics where columns are not limited; with
 * sp_view_all with all events, below each other. */
void sp_table_blocks(struct sp_out *o, struct sp_table *t);

/* Events that stand in these tables: sums of what was counted by CPU. */
static inline bool sp_event_has_column(const struct sp_model *m, uint32_t e)
{
	return sp_event_is_summed(m, e) && !sp_event_is_placed(m, e);
}

/* The one that rows are weighed by, and have shares of: the first that counted anything; n_events:
 * there are none. */
static inline uint32_t sp_first_column(const struct sp_model *m)
{
	uint32_t first = m->n_events;

	for (uint32_t e = m->n_events; e-- > 0;)
		if (sp_event_has_column(m, e) && (m->total[e] || first == m->n_events || !m->total[first]))
			first = e;
	return first;
}

/* Lists, of what does not fit into tables of events: told twice, to measure and to write; the
 * first line is the heading, the first two columns stand on the left. */
struct sp_text_list {
	struct sp_out *o;		/* NULL: widths are measured */
	unsigned width[6], n;
	uint32_t lines, left;		/* shown; and left out */
};
void sp_list_line(struct sp_text_list *l, const char *const *cell);
void sp_list_fit(struct sp_text_list *l, const struct sp_text_list *measured);
void sp_list_end(struct sp_text_list *l, const char *things);

/* The tables that view-text.c puts in order (view-text-rows.c, view-text-places.c). */
void sp_text_cpus(struct sp_out *o, struct sp_model *m);
void sp_text_by_kind(struct sp_out *o, struct sp_model *m);
void sp_text_other_events(struct sp_out *o, const struct sp_model *m);
void sp_text_gauges(struct sp_out *o, const struct sp_model *m);
void sp_text_ranks(struct sp_out *o, struct sp_model *m);
bool sp_text_have_ranks(const struct sp_model *m);	/* each process one */
void sp_text_threads(struct sp_out *o, struct sp_model *m);
void sp_text_sites(struct sp_out *o, struct sp_model *m);

/* Is anything that stands in tables not proven? */
bool sp_text_unproven(const struct sp_model *m);

/* How many threads have counts, those that have ended among them. */
uint64_t sp_text_n_threads(struct sp_model *m);

#endif
