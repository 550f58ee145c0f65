/* format-text-levels.h: the text format's tables of a level's rows: CPUs, threads, ranks, call
 * sites ... */
#pragma once

#include "level.h"
#include "format-writer.h"

/* Writes all rows of the level in its order, with all events, in as many tables as needed. `below`:
 * other text precedes. Returns 0 or -ENOMEM. */
int sp_text_level(struct sp_out *o, const struct sp_selection *s, struct sp_levels *levels,
		  bool below);

/* Returns the heading for the level's rows: without ranks these are processes, and the only row
 * per call site in a store of stat is the total. */
const char *sp_text_level_heading(const struct sp_levels *levels);

/* Writes the row's label (sp_level_label), with the host if the run has several machines; the row
 * of a machine is its host. */
void sp_text_row_label(struct sp_out *o, const struct sp_levels *levels,
		       const struct sp_level_row *row, unsigned width);

/* Writes the largest ranks, threads or pairs of call sites of a dump, with the events that fit.
 * Ranks and threads also get minimum, mean and maximum (unless there is one row only). */
void sp_text_heaviest(struct sp_out *o, const struct sp_selection *s, const char *level);

bool sp_text_have_ranks(const struct sp_model *m);	/* each process has a rank */
uint32_t sp_text_n_ranks(const struct sp_model *m);	/* a process without a rank counts as one */
