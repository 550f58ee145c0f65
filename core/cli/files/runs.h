/* runs.h: finds the files that a command line means: those named, of a folder, or of the newest
 * run. */
#pragma once

#include <stdint.h>

struct sp_runs {
	char **path;			/* owned, including the names */
	uint32_t n, room;
	char *shown;			/* how a command line names them all; "": without names */
};

/* Takes arguments as they are, and for a folder all stores (*.sspapi) in it, sorted by name with
 * numbers as numbers. n 0: the newest store of the working directory and those of its run, or
 * the newest folder sspapi.* of ranks. 0, or after a message the exit status. */
int sp_runs_find(struct sp_runs *r, const char *verb, char *const *arg, unsigned n);
