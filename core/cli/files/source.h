/* source.h: reads the processes of a store's file one at a time, with memory for only one.
 *
 * A plain store has one process and is read whole. The events of a merged store stay in memory;
 * each process is read in its turn.
 */
#pragma once

#include "../tool/cmd.h"
#include "../tool/key-index.h"
#include "file.h"

struct sp_source {
	struct sp_model model;		/* current process: n_processes is 1 */
	sp_off at;			/* its offset in the file; 0 in a plain store */
	uint32_t machine;		/* its number in the file; 0 in a plain store */
	struct sp_header h;		/* the file's header */
	struct sp_digest digest;	/* of all bytes that the current process was read from */

	int fd;				/* private to source.c from here on; -1: not open */
	uint64_t bytes;			/* file size */
	struct sp_store_reader reader;
	struct sp_digest front_digest;
	unsigned char *front, *part;
	uint64_t front_room, part_room;
	sp_off next;
	bool is_open, plain_given;
};

/* Opens a file; buffers stay between files. Zero the struct once, free it at the end. 0 or
 * -errno: -EINVAL not a store, damaged or truncated, -ENODATA empty, -EPROTO newer version,
 * -EPROTONOSUPPORT older version, -EBUSY live file whose process may run, -ESTALE changed
 * meanwhile. */
int sp_source_open(struct sp_source *s, const char *path);
void sp_source_close(struct sp_source *s);
void sp_source_free(struct sp_source *s);

/* Reads the next process into s->model, in the order of the file, and drops the last one. 1, 0
 * after the last, or -errno. In a merged store the model has no topology. */
int sp_source_next(struct sp_source *s);

/* Makes the process at offset `at` the next one (0: the first). */
void sp_source_seek(struct sp_source *s, sp_off at);

/* Reads bytes of the file: their number, or -errno. */
long sp_source_read(const struct sp_source *s, void *to, uint64_t bytes, uint64_t off);
