/* merge.h: merges many stores into one.
 *
 * The files are read twice: to collect events, calls, machines and processes, and to write them
 * in a canonical order. So the result does not depend on the order and grouping of the files. If
 * files have the same process, the first pass is repeated without the one left out. Only one
 * process at a time is in memory, and about 100 bytes for each other.
 */
#pragma once

#include "../../base/base.h"
#include "../tool/key-index.h"

struct sp_merge {
	const char *verb;		/* for messages */
	char *const *file;
	unsigned n_files;
	const char *events;		/* E,E: only these; NULL: all */
	bool quiet;			/* no messages on bad files, which had some before */

	unsigned n_bad;			/* files left out, with a message */
	const char *changed;		/* -ESTALE: the file that changed */
	struct sp_merge_file {		/* private to merge.c: [n_files] */
		struct sp_digest digest;	/* its processes' bytes at the first read */
		bool bad;
	} *read;
	struct sp_merge_left {		/* private to merge.c: processes that other files have */
		uint32_t file;
		uint64_t at;
	} *left;
	uint32_t n_left, left_room;
};

/* Writes the merged store to fd, a seekable file at its start. 0 or -errno: -ENODATA no file is
 * usable, -ESTALE one changed meanwhile, else from reading or writing. Bad files are no error. */
int sp_merge_files(struct sp_merge *m, int fd);
