/* diff.h: compares the counts of two sides, each one run or repeats.
 *
 * Rows are matched by logical position, such as the fourth core of the second machine or the first
 * thread of rank 3 named "worker". So machines and their system's numbers may differ. Events and
 * derived metrics, which follow the events, are matched by name. Position 0 is the total.
 */
#pragma once

#include "../../formats/level.h"
#include "../../model/repeats.h"
#include "../tool/key-index.h"
#include "diff-metrics.h"

struct sp_diff {
	const char *events;		/* only these events, E,E; NULL: all */
	enum { SP_DIFF_TEXT, SP_DIFF_CSV, SP_DIFF_MARKDOWN } format;
	bool gate;			/* the result is growth by more than fail_above, not any
					 * difference */
	double fail_above;		/* in percent */
	bool only_sites;		/* leave out rows of the level of call sites without one */
	struct sp_diff_side {
		uint32_t n, room;
		struct sp_diff_run {	/* the model is the levels' */
			struct sp_levels levels;
			struct sp_level_row total;
			uint32_t repeat;	/* stat -r: its number, from 1; 0: the only run */
			/* [process] its number among those of its rank, which may be on several
			 * machines */
			uint32_t *nth;
			uint32_t *place;	/* [row] its position */
			uint32_t *row;		/* [position] row number + 1; 0: no row */
			/* [event of both sides] id + 1; 0: the run lacks it */
			uint32_t *event;
			struct sp_diff_metrics metrics;
		} *run;
	} side[2];

	/* a run has several processes, or machines: the positions of all runs name them; private to
	 * diff.c, as all below */
	bool any_job, any_machines;
	struct sp_names positions, names;
	struct sp_names metrics;
	/* events with counts in several modes */
	struct sp_names in_modes;
	/* events by name, with the mode in which a run counted them last */
	struct sp_names event_names;
	uint32_t *domain_of_event, n_domain_of_event;
	/* CSV: pairs of call sites by their paths, with the last pair of each, and by calls and
	 * paths */
	struct sp_names paths, pairs, paths_of_several;
	uint32_t *pair_of_path, n_pair_of_path;
	/* of totals, of other rows: differences that are less probable by chance are shown */
	double limit[2];
	bool *event_differs, marks;
	bool all_totals;		/* also of events that do not differ */
};

/* Adds the runs of a model (stat -r: several) to a side. The model must stay open. metrics: bound
 * to the model, only used during the call; NULL: none. Returns 0 or -errno. */
int sp_diff_add(struct sp_diff *d, unsigned side, struct sp_model *m, const struct sp_level *level,
		struct sp_metrics *metrics);

/* Call it once, after all runs are added. */
void sp_diff_index(struct sp_diff *d);

/* Returns the first event that one side did not count, and the side; NULL: both have all events. */
const char *sp_diff_lacks(const struct sp_diff *d, unsigned *side);

/* Returns whether both sides counted an event. */
bool sp_diff_has_common(const struct sp_diff *d);

/* Writes the differences and the totals to fd. Returns whether anything differs, or with `gate`
 * whether an event has grown too much; or -errno. */
int sp_diff_show(struct sp_diff *d, int fd, bool bold);
