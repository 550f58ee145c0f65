/* format-text-levels.h: the text form's tables of what a level has: CPUs, threads, ranks, call
 * sites ... */
#pragma once

#include "level.h"
#include "format-writer.h"

/* All of the level's rows in its order, all events, as many tables below each other as that takes;
 * `below`: something stands above them.  0 or -ENOMEM. */
int sp_text_level(struct sp_out *o, const struct sp_selection *s, struct sp_levels *levels,
		  bool below);

/* The heaviest ranks, threads, or pairs of call sites of a dump, by the events that fit; of ranks
 * and threads the least, mean and most, too (nothing where there is one). */
void sp_text_heaviest(struct sp_out *o, const struct sp_selection *s, const char *level);

bool sp_text_have_ranks(const struct sp_model *m);	/* each process one */
uint32_t sp_text_n_ranks(const struct sp_model *m);	/* a process without a rank counts as one */
