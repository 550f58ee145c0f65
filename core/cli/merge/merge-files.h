/* merge-files.h: opens several stores as one. */
#pragma once

#include "../files/file.h"
#include "merge.h"

/* Opens the result of this job, which exists in memory only. 0 or -errno, as sp_merge_files. */
int sp_merge_open(struct sp_file *f, struct sp_merge *job);

/* Merges the files in memory if there are several, or if only some events (E,E; NULL: all) are
 * wanted. A process in several files counts once. Status as sp_file_open. *n_bad: bad files,
 * which are left out with a message. again: the files were opened before, *n_bad of them bad; no
 * message. */
int sp_files_open(struct sp_file *f, const char *verb, char *const *path, unsigned n,
		  const char *events, bool again, unsigned *n_bad);
