/* runs.h: which files a command line means: the stores of a folder, or the newest run here. */
#pragma once

#include <stdint.h>

struct sp_runs {
	char **path;			/* owned, as the names in it */
	uint32_t n, room;
	char *shown;			/* how a command line names them all; "": by naming none */
};

/* Arguments as they stand, a folder as all stores (*.sspapi) in it, in the order of their names
 * with numbers as numbers.  n 0: the newest store of the working directory with those of the same
 * run, or the newest folder sspapi.* of ranks.  0, or a message is out and the command's status. */
int sp_runs_find(struct sp_runs *r, const char *verb, char *const *arg, unsigned n);
