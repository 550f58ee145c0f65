/* format-text-words.h: words, names and numbers of the text format, also for the command's own
 * texts.
 */
#pragma once

#include "../base/out.h"
#include "../model/format-common.h"
#include "format-writer.h"

#define SP_TEXT_WIDTH	80u	/* maximum columns of a line of a table or paragraph */

/* Enclose a heading: bold on each of its lines, because a pager resets it at the end of a line. */
void sp_heading_begin(struct sp_out *o, bool bold);
void sp_heading_end(struct sp_out *o, bool bold);	/* also ends the line */

/* Returns the columns that text takes on a terminal. The text has passed sp_out_plain. */
unsigned sp_columns(const char *text);

/* Writes the first `max` columns of text; ".." at the end marks a cut. Returns the columns
 * written. */
unsigned sp_clip(struct sp_out *o, const char *text, unsigned max);
/* Writes the program's name and arguments in `max` columns. Arguments are cut, the name is not. */
void sp_text_command(struct sp_out *o, const struct sp_model *m, unsigned max);
void sp_left(struct sp_out *o, const char *text, unsigned width);	/* clipped */
void sp_right(struct sp_out *o, const char *text, unsigned width);	/* never clipped */

void sp_out_duration(struct sp_out *o, uint64_t ns);

/* Writes sentences, broken between words. `start` precedes the first line; the other lines are
 * indented by `indent` columns. */
void sp_paragraph(struct sp_out *o, const char *start, unsigned indent, const char *text);

/* Returns whether the event counts time: a kernel clock, or cycles. */
bool sp_event_is_time(const struct sp_model *m, uint32_t event);

/* Returns the event that decides the order of rows, their shares and colours: the one named by
 * --sort, else the first clock or cycles counted, else the first event that is not 0, else the
 * first event. columns: [n_events] the candidates. n_events if there is no such event. */
uint32_t sp_leading_event(const struct sp_selection *s, const bool *columns);

/* Formats a count for people. Returns its columns. */
unsigned sp_value_text(char buf[48], enum sp_data_type type, int64_t v);
/* The same with the unit if it can be scaled ("46.70 ms"), and with M or G from 8 digits on. */
/* Writes the command that shows more: ": sspapi report --OPTION FILE" of this run; without a store
 * of it, ": --OPTION" of the current verb (a level), or nothing (all). */
void sp_text_shown_by(struct sp_out *o, const struct sp_selection *s, const char *option);
unsigned sp_short_text(char buf[48], const struct sp_model *m, uint32_t event, int64_t v);
/* Returns the unit that a gauge's values have; NULL: none, or its name has the unit. */
const char *sp_gauge_unit(const struct sp_model *m, uint32_t event);

/* Formats a gauge's value with its unit: "71.00 W", "34 °C", "1,980 MHz". type: of v. */
unsigned sp_gauge_text(char buf[48], const struct sp_model *m, uint32_t event,
		       enum sp_data_type type, int64_t v);
int64_t sp_round_to_type(enum sp_data_type type, double d);	/* the nearest value of the type */

/* Returns the proven share of the total, 0 to 1; below 1 if any count is unproven; -1 if there is
 * nothing to prove. */
double sp_proven_share(enum sp_data_type type, int64_t total, int64_t exact);
/* Returns whether 0.1 % or more of the total is unproven, so that its row gets the mark ~. */
bool sp_is_unproven(enum sp_data_type type, int64_t total, int64_t exact);
/* rounded down: "100 %" means all */
const char *sp_percent(char buf[48], double part, double whole);
const char *sp_share(char buf[48], double part, double whole);		/* to the nearest: "95 %" */

/* "CPU 4 (core 2)", "CPU 9 (not in the topology)", "no known CPU"; "package 0", "L3 1". */
void sp_text_cpu(struct sp_out *o, const struct sp_model *m, int32_t cpu, int32_t component);
void sp_text_component(struct sp_out *o, const struct sp_model *m, uint32_t component);

/* Writes an event's name, without its prefix if the rest is unique, and with its unit unless the
 * values have it. Control characters are escaped. */
const char *sp_text_event(const struct sp_model *m, uint32_t event, char text[256]);

/* Writes which events several observers saw over the same time: one line per number of observers,
 * from event *next on (0 before the first). False: no further line. */
bool sp_text_observers(const struct sp_model *m, uint32_t *next, char text[512]);

/* Returns whether a counted event has this name, without its prefix. */
bool sp_text_is_event(const struct sp_model *m, const char *name);

/* Facts about the functions of the model's call sites, needed by all names; NULL: out of memory.
 * Close it before the model. */
struct sp_site_texts;
struct sp_site_texts *sp_site_texts_new(const struct sp_model *m);
void sp_sites_forget(struct sp_site_texts *t);

enum sp_pair_detail {
	SP_PAIR_FUNCTIONS,
	SP_PAIR_LINES,			/* with both lines: main:12 → 18 */
	SP_PAIR_ALL			/* all frames with lines and addresses */
};

/* Writes the name of the code between two call sites (to 0: unknown call sites) in at most `width`
 * columns (format-text-sites.c). */
void sp_text_pair(struct sp_out *o, struct sp_site_texts *t, uint32_t from, uint32_t to,
		  enum sp_pair_detail detail, unsigned width);
/* Writes all frames of a call site, innermost first; nothing if it is unknown. */
void sp_text_path(struct sp_out *o, struct sp_site_texts *t, uint32_t id);
/* Returns a number that distinguishes pairs in one function by their lines; 0: the pair is in two
 * functions. */
uint64_t sp_pair_lines(struct sp_site_texts *t, uint32_t from, uint32_t to);

/* Writes the next sentence about the row's overflow handlers: event, number of hits, place. *next
 * is 0 before the first (format-text-overflows.c). */
bool sp_text_overflow(const struct sp_model *m, const struct sp_row *row, uint32_t *next,
		      char text[1024]);
