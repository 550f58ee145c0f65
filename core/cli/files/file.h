/* file.h: reads a store's file into memory for the command. */
#pragma once

#include "../../model/model.h"

/* A store's file, read whole and opened. It is not mapped, since it may be truncated meanwhile.
 * 0, or 1 after a message. */
struct sp_file {
	struct sp_store_reader reader;
	struct sp_model model;
	unsigned char *bytes;
	uint64_t mapped;		/* size, if `bytes` is a mapping; 0: malloc */
	uint64_t dev, ino;		/* of the file that was read, whatever the path names now */
	unsigned uid, mode;
};
int sp_file_open(struct sp_file *f, const char *verb, const char *path);
int sp_file_load(struct sp_file *f, const char *path);	/* without a message: 0 or -errno
							 * (sp_file_why) */

/* Explains the -errno of opening path; valid until the next call. */
const char *sp_file_why(int error, const char *path);

/* Checks an open file of unknown origin: -EINVAL if it is longer than any store or almost all
 * holes; else 0. */
struct stat;
int sp_file_is_filled(int fd, const struct stat *s);

/* Reads up to n bytes from off into zeroed memory: their number, or -errno. Skips holes, so that
 * they take no memory. */
int64_t sp_file_read(int fd, void *to, uint64_t n, uint64_t off);

/* Reads the first bytes of a file, opened with extra flags: their number; -1: unreadable. */
long sp_file_first(const char *path, int flags, void *to, size_t n);

/* Sets end_ns of processes that did not end themselves, and n_killed, in a newly opened model.
 * sp_file_open does it. */
void sp_set_unfinished_end(struct sp_model *m);
void sp_file_close(struct sp_file *f);

/* May the process of this header still run on this host? Its texts are in the reader's store. */
bool sp_may_run(const struct sp_header *h, const struct sp_store_reader *reader);
