/* metrics.h: -m of report: a file of definitions, or names of installed metrics. */
#pragma once

#include "../../formats/format-writer.h"
#include "../../metric/metric.h"

/* Adds the value of a -m: "default", a file, or names separated by commas. False: a second value
 * of another kind. */
struct sp_metrics_request {
	const char *file;		/* NULL: names or default */
	char names[1024];		/* separated by commas */
	bool any;
};
bool sp_metrics_request(struct sp_metrics_request *w, const char *value);

/* Reads the metrics, binds them to s->m and sets them in s; reports names that cannot be
 * computed, or that none can. Exit status: 0, 1 for wrong definitions or an unreadable file, 2
 * for an unknown name, after a message (verb NULL: silent). Call sp_metrics_forget before
 * closing the model. */
int sp_metrics_show(const struct sp_metrics_request *w, const char *verb, struct sp_selection *s);
void sp_metrics_forget(void);

/* Version for text tables: by default shows IPC, if possible, which users compute from two
 * columns. */
int sp_metrics_show_text(struct sp_metrics_request *w, const char *verb, struct sp_selection *s);

/* Reports metrics that not all event sets contribute to, if the format has no notes. */
void sp_metrics_report(const char *verb, const struct sp_selection *s);


/* Reads the installed metrics, unbound, until sp_metrics_forget; NULL: not found. */
struct sp_metrics *sp_metrics_load_installed(void);
