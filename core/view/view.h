/* view.h: the forms in which a store is shown.  One row a form in forms.c's table; a new form is a new
 * view-NAME.c and its row.
 */
#ifndef SP_VIEW_H
#define SP_VIEW_H

#include "../out.h"
#include "model.h"

/* What is shown, and how.  All but the model may be 0: as in a process's own dump. */
struct sp_show {
	struct sp_model *m;
	struct sp_metrics *metrics;	/* bound to m, which text, JSON and CSV show beside its counts (core/metric/compute.h); NULL: none */
	const char *events;		/* by level: of these only, E,E; NULL: all */
	const char *color_by;		/* hwloc: the event whose counts are the colours; NULL: the first counted one */
	/* text: all rows, events and notes; headings in bold; what sspapi report is told to find what is shown
	 * ("": nothing, it finds the run here; NULL: where to look further is not said). */
#define SP_VIEW_NO_STORE	"/"	/* (no file's name: none was written) */
	bool all, bold;
	unsigned columns;		/* of the terminal: tables take them where they are more than 80; 0: not known */
	const char *file;
	/* JSON: the lists of entries hold those that are kept, and intervals are left to the level of call sites: for
	 * the html form, which shows no more, and a run of 10,000 ranks. */
	bool brief;
};

struct sp_view {
	const char *name;		/* as in SSPAPI_FORMAT */
	const char *extension;		/* as in SSPAPI_OUTPUT, with its dot */
	void (*write)(struct sp_out *o, const struct sp_show *s);
};

extern const struct sp_view sp_views[];
extern const unsigned sp_n_views;

/* (One more, which only the command makes, is core/cli/page.h's; names of files are made of its extension, too.) */
#define SP_PAGE_EXTENSION ".html"

const struct sp_view *sp_view_by_name(const char *name, size_t length);
const struct sp_view *sp_view_by_extension(const char *path);	/* NULL: none of ours */
bool sp_has_extension(const char *path, const char *extension);

void sp_view_text(struct sp_out *o, const struct sp_show *s);
void sp_view_json(struct sp_out *o, const struct sp_show *s);
void sp_view_csv(struct sp_out *o, const struct sp_show *s);
void sp_view_hwloc(struct sp_out *o, const struct sp_show *s);
void sp_view_store(struct sp_out *o, const struct sp_show *s);

/* Is this event among those that are shown?  (Gauges are not: they have no sums; by its name alone it may be one.) */
bool sp_show_event(const struct sp_show *s, uint32_t event);
bool sp_show_named(const struct sp_show *s, uint32_t event);
bool sp_in_list(const char *list, const char *name);	/* E,E */

/* False: color_by is none of the events that were counted, but there are others. */
bool sp_view_colors(const struct sp_show *s);

#endif
