/* report.h: tables per level, in addition to the formats.
 *
 * cmd-report.c parses the command line into a struct sp_report; report-*.c write. Derived metrics,
 * computed from each row's sums, are columns after the events, lines without `exact` in CSV, and
 * "derived_metrics" in JSON's rows.
 */
#pragma once

#include "../../formats/level.h"
#include "../../formats/format-writer.h"
#include "../tool/metrics.h"

#define SP_REPORT_LEVELS 16

struct sp_report {
	const char *verb;
	struct sp_selection show;
	const struct sp_level *level[SP_REPORT_LEVELS];	/* in the order of the command line */
	unsigned n_levels;
	bool crossed;			/* the last two levels together, as one table */
	bool no_symbols;		/* do not read the files that the store names */
	bool all_symbols;		/* also read those of other users */
	struct sp_metrics_request metrics;	/* -m */
	/* text per level: the text format's headline and notes enclose the tables */
	bool framed;
	bool readings;			/* show permanent readings instead */
	/* JSON: whether row number `row` of this level (its index in `level`) is shown; NULL: all
	 * rows. */
	bool (*has_row)(const void *of, unsigned level, uint32_t row);
	const void *of;
};

/* Adds the level of an option ("per-core", also perf stat's names). Two levels are crossed, more
 * are tables of their own. False: no such level, or too many levels. */
bool sp_report_level(struct sp_report *r, const char *option);

/* Sets show.again, so that suggested commands repeat -m, --events and --sort. */
void sp_report_repeat_options(struct sp_report *r);

/* Returns whether the model has counts of an event with this name. */
bool sp_report_has(const struct sp_model *m, const char *name, size_t n);

/* Finds the first name in the list (E,E; NULL: any event) that none of the n files has, perhaps
 * cut; "" in a list without names. */
#define SP_REPORT_NAME 256
struct sp_file;
bool sp_report_lacks(const char *events, const struct sp_file *f, unsigned n,
		     char name[SP_REPORT_NAME]);

/* Returns the list with complete names, if each is the end of one event's name only in the n files.
 * The caller frees it. */
char *sp_report_whole(const char *events, const struct sp_file *f, unsigned n);

/* Writes everything to fd, per level if one is set. Returns 0 or -errno. */
int sp_report_show(const struct sp_report *r, const struct sp_format_writer *writer, int fd);

/* Writes the permanent readings as CSV. */
void sp_report_readings(const struct sp_report *r, struct sp_out *o, struct sp_model *m);

/* Reports "what; there are EV_A, EV_B" with the events that m has counted, and other (NULL:
 * none). */
void sp_report_there_are(const char *what, const struct sp_model *m, const struct sp_model *other,
			 char *text, size_t room);

/* Return 0 or -ENOMEM. */
int sp_report_text(const struct sp_report *r, struct sp_out *o);
int sp_report_csv(const struct sp_report *r, struct sp_out *o);
/* Writes `, "levels": [...]`, and "crossed" for two, to follow the last key of the JSON dump. */
int sp_report_json(const struct sp_report *r, struct sp_out *o);
