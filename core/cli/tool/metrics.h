/* metrics.h: -m of report: a file of definitions, or names of the installed ones. */
#pragma once

#include "../../formats/format-writer.h"
#include "../../metric/metric.h"

/* Keeps the value of a -m: "default", a file, or names joined by commas.  False: a second
 * one of another kind. */
struct sp_metrics_wish {
	const char *file;		/* NULL: by names or default */
	char names[1024];		/* joined by commas */
	bool any;
};
bool sp_metrics_wish(struct sp_metrics_wish *w, const char *value);

/* Reads what is wished for, binds it to s->m and puts it into s; for names that cannot be computed,
 * and where nothing can, a line says why.  The exit status: 0, 1 for wrong definitions or what
 * cannot be read, 2 for a name that is not there, which a line has named (verb NULL: none is said).
 * Forget it before the model is closed. */
int sp_metrics_show(const struct sp_metrics_wish *w, const char *verb, struct sp_selection *s);
void sp_metrics_forget(void);

/* The same for tables that people read: without a wish IPC, where it can be had, as everybody
 * computes it from two columns. */
int sp_metrics_show_text(struct sp_metrics_wish *w, const char *verb, struct sp_selection *s);

/* Lines of those that are not made of all event sets, where the form has no notes. */
void sp_metrics_report(const char *verb, const struct sp_selection *s);


/* The installed ones, read and not bound, to be forgotten; NULL: they are not there. */
struct sp_metrics *sp_metrics_usual(void);
