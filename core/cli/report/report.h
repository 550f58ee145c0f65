/* report.h: what report shows of a model, beside the views: tables by level.
 *
 * cmd-report.c reads the command line into a struct sp_report; report-*.c write.
 * Derived metrics, computed from each row's sums, are columns behind
 * those of the events, lines without `exact` in CSV, "derived_metrics" in JSON's rows.
 */
#pragma once

#include "../../formats/level.h"
#include "../../formats/format-writer.h"
#include "../tool/metrics.h"

#define SP_REPORT_LEVELS 16

struct sp_report {
	const char *verb;
	struct sp_selection show;
	const struct sp_level *level[SP_REPORT_LEVELS];	/* as asked for */
	unsigned n_levels;
	bool no_symbols;		/* files that the store names are left alone */
	bool all_symbols;		/* those of other users are not, either */
	struct sp_metrics_request metrics;	/* -m */
	bool framed;			/* text by level: the text form's first lines stand above
					 * the tables, its notes below */
	bool readings;			/* the permanent readings instead */
	/* JSON: is row number `row` of this level (its place in `level`) shown?  NULL: all are. */
	bool (*has_row)(const void *of, unsigned level, uint32_t row);
	const void *of;
};

/* Keeps the level of an option ("per-core", by perf stat's names, too); false: it is none, or
 * there is no more room. */
bool sp_report_level(struct sp_report *r, const char *option);

/* Has the model counted an event of this name? */
bool sp_report_has(const struct sp_model *m, const char *name, size_t n);

/* Is there a name in this list (E,E; NULL: none) that none of the n files has?  The first one,
 * perhaps cut. */
#define SP_REPORT_NAME 256
struct sp_file;
bool sp_report_lacks(const char *events, const struct sp_file *f, unsigned n,
		     char name[SP_REPORT_NAME]);

/* The list with whole names, where its names are the ends of just one event's that the n files have
 * counted; to be freed. */
char *sp_report_whole(const char *events, const struct sp_file *f, unsigned n);

/* All of it to fd, by level if one is named; 0 or -errno. */
int sp_report_show(const struct sp_report *r, const struct sp_format_writer *writer, int fd);

/* The permanent readings, as CSV. */
void sp_report_readings(const struct sp_report *r, struct sp_out *o, struct sp_model *m);

/* "what; there are EV_A, EV_B": the events that m has counted, and other (NULL: none). */
void sp_report_there_are(const char *what, const struct sp_model *m, const struct sp_model *other,
			 char *text, size_t room);

/* Each 0 or -ENOMEM. */
int sp_report_text(const struct sp_report *r, struct sp_out *o);
int sp_report_csv(const struct sp_report *r, struct sp_out *o);
/* `, "levels": [...]`: to go behind the last key of the JSON dump. */
int sp_report_json(const struct sp_report *r, struct sp_out *o);
