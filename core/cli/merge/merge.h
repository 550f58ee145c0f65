/* merge.h: many stores as one.
 *
 * The files are read twice: to find out which events, calls, machines and processes there are, and
 * to write them in the order that follows from what they are.  So the result is the same however
 * the files are ordered and grouped (once more, where files hold the same process: what is left out
 * leaves no trace), and memory holds one process at a time and some 100 bytes for each of the
 * others.
 */
#pragma once

#include "../../base/base.h"
#include "../tool/key-index.h"

struct sp_merge {
	const char *verb;		/* for messages */
	char *const *file;
	unsigned n_files;
	const char *events;		/* E,E: no other; NULL: all */
	bool quiet;			/* of bad files: they have been told before */

	unsigned n_bad;			/* files that a message named, and that were left out */
	const char *changed;		/* -ESTALE: the file that did */
	struct sp_merge_file {		/* private to merge.c: [n_files] */
		struct sp_digest digest;	/* of its processes' bytes when it was first read */
		bool bad;
	} *read;
	struct sp_merge_left {		/* private to merge.c: the processes that others hold */
		uint32_t file;
		uint64_t at;
	} *left;
	uint32_t n_left, left_room;
};

/* Writes the merged store to fd, which must be at its start and can be seeked.  0 or
 * -errno: -ENODATA none of the files could be used, -ESTALE one changed while it was read; else
 * what writing or reading gave.  The bad files are not an error. */
int sp_merge_files(struct sp_merge *m, int fd);
