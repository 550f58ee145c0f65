/* source.h: the processes of a store's file, one at a time, for who needs no more
 * memory than one of them takes.
 *
 * A plain store has one and is read whole.  Of a merged store only the beginning (its
 * events) stays in memory, and each process is read when its turn comes.
 */
#pragma once

#include "../tool/cmd.h"
#include "../tool/key-index.h"
#include "file.h"

struct sp_source {
	struct sp_model model;		/* of the process at hand: n_processes is 1 */
	sp_off at;			/* where it stands in the file; 0: a plain store's */
	uint32_t machine;		/* its number in the file; 0 in a plain store */
	struct sp_header h;		/* the file's */
	struct sp_digest digest;	/* of all bytes that the process at hand was read from */

	int fd;				/* private to source.c, as all below; -1: not open */
	uint64_t bytes;			/* of the file */
	struct sp_store_reader reader;
	struct sp_digest front_digest;
	unsigned char *front, *part;
	uint64_t front_room, part_room;
	sp_off next;
	bool is_open, plain_given;
};

/* Buffers stay between files: zero the struct once, free it at the end.  0 or -errno: -EINVAL not a
 * store, damaged or cut off, -ENODATA empty, -EPROTO of a newer version, -EPROTONOSUPPORT of an
 * older one, -EBUSY a live file whose process may still run, -ESTALE it changed while it was
 * read. */
int sp_source_open(struct sp_source *s, const char *path);
void sp_source_close(struct sp_source *s);
void sp_source_free(struct sp_source *s);

/* The next process into s->model, in the order of the file; the last one is gone with
 * that.  1, 0 behind the last, or -errno.  Of a merged store the model has no topology. */
int sp_source_next(struct sp_source *s);

/* The next process will be the one that stood `at` (0: the first). */
void sp_source_seek(struct sp_source *s, sp_off at);

/* Bytes of the file, as many as there are: how many, or -errno. */
long sp_source_read(const struct sp_source *s, void *to, uint64_t bytes, uint64_t off);
