/* diff.h: two sides of runs, one or repeats, and what they counted differently.
 *
 * Rows are matched by logical position (the fourth core of the second machine, the first thread of
 * rank 3 named "worker"): the machines may be others, and so may be their system's numbers.  Events
 * are matched by name.  The first position is the total of all rows.  Derived metrics stand behind
 * the events, by name, too.
 */
#pragma once

#include "../../formats/level.h"
#include "../../model/repeats.h"
#include "../tool/key-index.h"
#include "diff-metrics.h"

struct sp_diff {
	const char *events;		/* of these only, E,E; NULL: all */
	enum { SP_DIFF_TEXT, SP_DIFF_CSV, SP_DIFF_MARKDOWN } format;
	bool gate;			/* what has grown by more than so many percent fails; else
					 * what differs does */
	double fail_above;
	struct sp_diff_side {
		uint32_t n, room;
		struct sp_diff_run {	/* (its model is the levels') */
			struct sp_levels levels;
			struct sp_level_row total;
			int32_t first;		/* the number of its first process */
			uint32_t *place;	/* [row] its position */
			uint32_t *row;		/* [position]: row number + 1; 0: nothing there */
			uint32_t *event;	/* [event of both]: id + 1; 0: it has none */
			struct sp_diff_metrics metrics;
		} *run;
	} side[2];

	struct sp_names positions, names;	/* private to diff.c, as all below */
	struct sp_names metrics;
	struct sp_names in_modes;	/* events, of which the first n_in_modes are counted in
					 * several modes */
	uint32_t n_in_modes;
	struct sp_names event_names;		/* events by their own names, and in which mode a
						 * run counted them last */
	uint32_t *domain_of_event, n_domain_of_event;
	double limit[2];		/* of total lines, of others: what is less probable by
					 * chance differs */
	bool *event_differs, marks;
	bool all_totals;		/* also of events that differ nowhere */
};

/* The runs of a model that stays open (stat -r: several), by this level, on this side; with these
 * metrics, which are bound to it and may be forgotten then (NULL: none).  0 or -errno. */
int sp_diff_add(struct sp_diff *d, unsigned side, struct sp_model *m, const struct sp_level *level,
		struct sp_metrics *metrics);

/* To be called once, when all runs are there. */
void sp_diff_index(struct sp_diff *d);

/* The first event that one side has not counted, and which; NULL: both have all. */
const char *sp_diff_lacks(const struct sp_diff *d, unsigned *side);

/* What differs, to fd, and the total of each event: does anything differ, or has an event grown too
 * much (gate)?  Or -errno. */
int sp_diff_show(struct sp_diff *d, int fd, bool bold);
