/* view-text.h: what the files of the text view share: words, numbers and tables
 * in columns.  Nothing here is of use outside it.
 */
#ifndef SP_VIEW_TEXT_H
#define SP_VIEW_TEXT_H

#include "view-common.h"

#define SP_WIDTH	160u	/* no line is wider */
#define SP_TEXT_WIDTH	110u	/* of sentences */

/* Headings stand between these: bold, line by line (a pager forgets it at a line's end), where the
 * command shows the text on a terminal and says so; nothing is written otherwise. */
extern bool sp_view_bold;
void sp_heading_begin(struct sp_out *o);
void sp_heading_end(struct sp_out *o);		/* with the line's end */

/* Text into a buffer; what does not fit is left out. */
void sp_memory_init(struct sp_out *o, char *buf, size_t size);
const char *sp_memory_text(struct sp_out *o);

/* Columns on a terminal, for texts that sp_out_plain has been over. */
unsigned sp_columns(const char *text);

/* The first `max` columns of text; ".." at the end says that there was more.
 * Returns the columns written. */
unsigned sp_clip(struct sp_out *o, const char *text, unsigned max);
void sp_left(struct sp_out *o, const char *text, unsigned width);	/* clipped */
void sp_right(struct sp_out *o, const char *text, unsigned width);	/* never clipped */

void sp_out_grouped(struct sp_out *o, uint64_t v);
void sp_out_amount(struct sp_out *o, uint64_t n, const char *thing);	/* "1 reading", "12,034 readings" */
void sp_out_duration(struct sp_out *o, uint64_t ns);
void sp_out_date(struct sp_out *o, uint64_t ns);			/* since the epoch */

/* Sentences, broken between words.  Fed in pieces of whole words. */
struct sp_para {
	struct sp_out *o;
	unsigned column, indent;
};

void sp_words(struct sp_para *p, const char *text);
void sp_word(struct sp_para *p, const char *word);	/* kept together, whatever is in it */
void sp_paragraph(struct sp_out *o, const char *start, unsigned indent, const char *text);

/* A count as people read it; its columns are returned. */
unsigned sp_value_text(char buf[48], enum sp_data_type type, int64_t v);
int64_t sp_plus(enum sp_data_type type, int64_t a, int64_t b);

/* 0 .. 1: how much of this total is proven; below 1 if anything is missing;
 * -1 where there is nothing to prove. */
double sp_proven_share(enum sp_data_type type, int64_t total, int64_t exact);
const char *sp_percent(char buf[48], double part, double whole);	/* rounded down: "100 %" means all */

/* "CPU 4 (Core L#2, P)", "CPU 9 (not in the topology)", "not on a known CPU"; an event's name, with its unit,
 * control characters escaped, cut so that 15 bytes are left. */
void sp_text_cpu(struct sp_out *o, const struct sp_model *m, int32_t cpu, int32_t component);
const char *sp_text_event(const struct sp_model *m, uint32_t event, char text[256]);

/* The code between two call sites (to 0: other than those known), in at most `width` columns; what
 * tells it from others is not cut off (view-text-sites.c). */
void sp_text_pair(struct sp_out *o, const struct sp_model *m, uint32_t from, uint32_t to, unsigned width);

/* Columns that are kept for it beside so many events'; so that six fit. */
unsigned sp_pair_width(uint32_t events);

/* `proven`: with a column for how much is. */
void sp_text_tree(struct sp_out *o, const struct sp_model *m, bool proven);
/* "P cores", "P and E cores": the kinds with a bit here. */
void sp_text_kinds(struct sp_out *o, const struct sp_model *m, uint32_t kinds);
/* On a machine with cores of several kinds: a line, a table; what a relation has of which. */
void sp_text_kinds_line(struct sp_out *o, const struct sp_model *m);
void sp_text_by_kind(struct sp_out *o, const struct sp_model *m);
void sp_text_row_kinds(struct sp_out *o, struct sp_model *m, struct sp_row *row);
/* Lists: of the row's gauges; of its events that are counted on components as a whole. */
void sp_text_gauges(struct sp_out *o, const struct sp_model *m, const struct sp_row *row);
void sp_text_placed(struct sp_out *o, struct sp_model *m, struct sp_row *row);
/* Sentences: how often its overflow handler was called, where. */
void sp_text_overflows(struct sp_out *o, const struct sp_model *m, const struct sp_row *row);
void sp_text_relation(struct sp_out *o, struct sp_model *m, struct sp_row *row, bool proven);

#endif
