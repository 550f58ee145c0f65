/* format-text-words.h: words, names and numbers of the text view; the command writes its own texts
 * with the same.
 */
#pragma once

#include "../base/out.h"
#include "../model/format-common.h"
#include "format-writer.h"

#define SP_TEXT_WIDTH	80u	/* no line of a table, nor of sentences */

/* Headings stand between these: bold, line by line (a pager forgets it at a line's end). */
void sp_heading_begin(struct sp_out *o, bool bold);
void sp_heading_end(struct sp_out *o, bool bold);	/* with the line's end */

/* The program's name and what it was given, as one line. */
void sp_text_command(struct sp_out *o, const struct sp_model *m);

/* Columns on a terminal, for texts that sp_out_plain has been over. */
unsigned sp_columns(const char *text);

/* The first `max` columns of text; ".." at the end says that there was more.
 * Returns the columns written. */
unsigned sp_clip(struct sp_out *o, const char *text, unsigned max);
void sp_left(struct sp_out *o, const char *text, unsigned width);	/* clipped */
void sp_right(struct sp_out *o, const char *text, unsigned width);	/* never clipped */

void sp_out_duration(struct sp_out *o, uint64_t ns);

/* Sentences, broken between words.  `start` stands before the first line, `indent` columns
 * before all others. */
void sp_paragraph(struct sp_out *o, const char *start, unsigned indent, const char *text);

/* Does the event count time: a clock of the kernel's, or cycles? */
bool sp_event_is_time(const struct sp_model *m, uint32_t event);

/* The event that decides the order of rows, their shares and colours: the one that --sort names,
 * else the first clock or cycles that was counted, else the first event that is not 0, else the
 * first.  columns: [n_events] the candidates.  n_events if there is no such event. */
uint32_t sp_leading_event(const struct sp_selection *s, const bool *columns);

/* A count as people read it; its columns are returned. */
unsigned sp_value_text(char buf[48], enum sp_data_type type, int64_t v);
/* The same with its unit where that can be scaled ("46.70 ms"), and M, G from 8 digits on. */
/* What shows more: ": sspapi report --OPTION FILE", of this run; where no store of it is there ":
 * --OPTION" of the verb that shows it (a level), or nothing (all). */
void sp_text_shown_by(struct sp_out *o, const struct sp_selection *s, const char *option);
unsigned sp_short_text(char buf[48], const struct sp_model *m, uint32_t event, int64_t v);
int64_t sp_round_to_type(enum sp_data_type type, double d);	/* the nearest value of the type */

/* 0 .. 1: how much of this total is proven; below 1 if anything is missing;
 * -1 where there is nothing to prove. */
double sp_proven_share(enum sp_data_type type, int64_t total, int64_t exact);
/* 0.1 % or more of the total is not proven: rows are marked ~ from there on. */
bool sp_is_unproven(enum sp_data_type type, int64_t total, int64_t exact);
/* rounded down: "100 %" means all */
const char *sp_percent(char buf[48], double part, double whole);
const char *sp_share(char buf[48], double part, double whole);		/* to the nearest: "95 %" */

/* "CPU 4 (core 2)", "CPU 9 (not in the topology)", "no known CPU"; "package 0", "L3 1". */
void sp_text_cpu(struct sp_out *o, const struct sp_model *m, int32_t cpu, int32_t component);
void sp_text_component(struct sp_out *o, const struct sp_model *m, uint32_t component);

/* An event's name, without its prefix where what is left is unique, and with its unit unless that
 * stands with its values; control characters escaped. */
const char *sp_text_event(const struct sp_model *m, uint32_t event, char text[256]);

/* By how many observers which events were seen over the same time: a line for those of one number,
 * from event *next on (0 before the first); false: there is none. */
bool sp_text_observers(const struct sp_model *m, uint32_t *next, char text[512]);

/* Is a counted event called so, without its prefix? */
bool sp_text_is_event(const struct sp_model *m, const char *name);

/* Facts about the functions of the model's call sites, which all names need; NULL: no memory.
 * Lives no longer than the model. */
struct sp_site_texts;
struct sp_site_texts *sp_site_texts_new(const struct sp_model *m);
void sp_sites_forget(struct sp_site_texts *t);

enum sp_pair_detail {
	SP_PAIR_FUNCTIONS,
	SP_PAIR_LINE,			/* with the line of the first call: main:12 */
	SP_PAIR_LINES,			/* with both: main:12 → 18 */
	SP_PAIR_ALL			/* all frames with lines and addresses */
};

/* The code between two call sites (to 0: others than those known), in at most `width` columns
 * (format-text-sites.c). */
void sp_text_pair(struct sp_out *o, struct sp_site_texts *t, uint32_t from, uint32_t to,
		  enum sp_pair_detail detail, unsigned width);
/* Tells pairs of one function apart by their lines; 0: the pair is not in one function. */
uint64_t sp_pair_lines(struct sp_site_texts *t, uint32_t from, uint32_t to);

/* The next sentence about the row's overflow handlers: for which event, how often, where; *next is
 * 0 before the first (format-text-overflows.c). */
bool sp_text_overflow(const struct sp_model *m, const struct sp_row *row, uint32_t *next,
		      char text[1024]);
