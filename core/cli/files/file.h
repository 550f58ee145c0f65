/* file.h: a store's file, as the command reads it. */
#pragma once

#include "../../model/model.h"

/* A store's file, read whole (never mapped: somebody may truncate it meanwhile) and
 * opened.  0, or a message is out and 1. */
struct sp_file {
	struct sp_store_reader reader;
	struct sp_model model;
	unsigned char *bytes;
	uint64_t mapped;		/* bytes is a mapping of that many; 0: of malloc */
	uint64_t dev, ino;		/* of what was read, whatever stands there by now */
	unsigned uid, mode;
};
int sp_file_open(struct sp_file *f, const char *verb, const char *path);
int sp_file_load(struct sp_file *f, const char *path);	/* without a message: 0 or -errno, as
							 * sp_file_why tells it */

/* What -errno of opening path means, for a person; until the next call. */
const char *sp_file_why(int error, const char *path);

/* Of an open file that a stranger may have made: -EINVAL if it is longer than any store, or if
 * nearly all of it is holes; 0. */
struct stat;
int sp_file_is_filled(int fd, const struct stat *s);

/* n bytes from off, as many as there are, into memory that is zero: how many, or -errno.  Holes are
 * passed over, so that they take no memory. */
int64_t sp_file_read(int fd, void *to, uint64_t n, uint64_t off);

/* The first bytes of a file, opened with these flags, too: how many; -1: it cannot be read. */
long sp_file_first(const char *path, int flags, void *to, size_t n);

/* Of a model as it was opened (what is above does it): end_ns of a process that has not ended
 * by itself, and n_killed. */
void sp_unfinished(struct sp_model *m);
void sp_file_close(struct sp_file *f);

/* May the process of this header, whose texts are the image's, still run on this host? */
bool sp_may_run(const struct sp_header *h, const struct sp_store_reader *reader);
