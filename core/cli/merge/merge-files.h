/* merge-files.h: several stores' files, opened as one. */
#pragma once

#include "../files/file.h"

/* Several as one run: merged, in memory, if they are more than one or only some events (E,E; NULL:
 * all) are wanted.  A process that several hold counts once.  A status as sp_file_open's; *n_bad:
 * bad files, which were left out, with a message unless these files were opened before (again),
 * when *n_bad of them were bad. */
int sp_files_open(struct sp_file *f, const char *verb, char *const *path, unsigned n,
		  const char *events, bool again, unsigned *n_bad);
