/* runs.h: finds the files that a command line means: those named, of a folder, or of the newest
 * run. */
#pragma once

#include "../../store/layout.h"

struct sp_runs {
	char **path;			/* owned, including the names */
	uint32_t n, room;
	char *shown;			/* how a command line names them all; "": without names */
};

/* Takes arguments as they are, and for a folder all stores (*.sspapi) in it, sorted by name with
 * numbers as numbers. n 0: the newest store of the working directory and those of its run, or
 * the newest folder sspapi.* of ranks. 0, or after a message the exit status. */
int sp_runs_find(struct sp_runs *r, const char *verb, char *const *arg, unsigned n);

/* Returns whether both processes descend from one process with libsspapi. */
bool sp_is_same_run(const struct sp_header *a, const struct sp_header *b);

/* A process that may be a rank. */
struct sp_rank {
	struct sp_header h;
	const char *name;		/* path of its dump */
	char job[64];			/* number of the batch job; "": none */
};

/* Returns whether both are ranks of one job, and the names of their dumps differ by the rank only.
 * Does not compare times. */
bool sp_is_other_rank(const struct sp_rank *a, const struct sp_rank *b);

/* Reads a text to which a header refers; "" if it is missing or does not fit. */
void sp_run_text(char *text, size_t room, const char *path, sp_off at);
