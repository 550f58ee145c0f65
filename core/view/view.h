/* view.h: the forms in which a store is shown.  One row a form in view.c's
 * table; a new form is a new view-NAME.c and its row.
 */
#ifndef SP_VIEW_H
#define SP_VIEW_H

#include "model.h"
#include "../out.h"

struct sp_view {
	const char *name;		/* as in SSPAPI_FORMAT */
	const char *extension;		/* as in SSPAPI_OUTPUT, with its dot */
	void (*write)(struct sp_out *o, struct sp_model *m);
};

extern const struct sp_view sp_views[];
extern const unsigned sp_n_views;

/* The event whose counts colour the hwloc form; NULL: the first counted one. */
extern const char *sp_view_color_by;
bool sp_view_colors(const struct sp_model *m);	/* false: m has others, but not this one */

/* Metrics, bound to the model that is shown, which text, JSON and CSV show beside its
 * counts (core/metric/metric.h); NULL: none.  For the command: a process's own dump has none. */
struct sp_metrics;
extern struct sp_metrics *sp_view_metrics;

/* The text form: all rows, events and notes; what sspapi report is told to find what is
 * shown ("": nothing, it finds the run here; NULL: where to look further is not said). */
#define SP_VIEW_NO_STORE	"/"	/* (no file's name: none was written) */
extern bool sp_view_all;
extern const char *sp_view_file;

/* One more, which only the command makes: it sets this; or NULL. */
extern const struct sp_view *sp_view_also;

const struct sp_view *sp_view_by_name(const char *name, size_t length);
const struct sp_view *sp_view_by_extension(const char *path);	/* NULL: none of ours */

void sp_view_text(struct sp_out *o, struct sp_model *m);
void sp_view_json(struct sp_out *o, struct sp_model *m);
void sp_view_csv(struct sp_out *o, struct sp_model *m);
void sp_view_hwloc(struct sp_out *o, struct sp_model *m);
void sp_view_store(struct sp_out *o, struct sp_model *m);

#endif
