/* output.h: where a dump goes: the name, the folder, and never somebody else's file.
 *
 * Links of other users are not followed, on the way either (core/base/safe-open.h).
 * A dump is written whole under a temporary name beside its place, then takes its
 * name by link(2), or where there is none as a new file: two processes that want the same name
 * cannot both have it.
 * A file of that name is replaced only if it is from an earlier run (older than
 * the topmost living ancestor that has libsspapi loaded), or our own from before;
 * otherwise .HOST.PID, .HOST.PID.2 ... go before the extension.
 *
 * Async-signal-safe, no malloc.  Errors: -errno.
 */
#pragma once

#include "conf.h"
#include "format.h"

struct sp_who {				/* what a template's letters stand for */
	const char *host, *program, *job, *step, *dir;	/* folder: of relative names */
	long rank;			/* -1: none */
	int pid;
};

/* The template's text, made absolute; -ENAMETOOLONG. */
int sp_output_expand(char *path, size_t room, const char *template, const struct sp_who *who);

#define SP_OUTPUT_FILES 8

struct sp_output {
	char path[SP_CONF_PATH];	/* of the last file written, for messages */
	uint64_t own_start_ns;		/* of this process */
	struct {			/* files that this process has written */
		uint64_t dev, ino;
	} mine[SP_OUTPUT_FILES];
	unsigned n_mine;
};

/* Writes one view of s to `path` (absolute).  0 or -errno; o->path says where. */
int sp_output_write(struct sp_output *o, const char *path, const struct sp_who *who,
		    const struct sp_format_writer *writer, const struct sp_selection *s);

/* The same to an open descriptor, without waiting for ever (sp_out_shared); own: an empty file that
 * is ours alone. */
int sp_output_write_fd(int fd, bool own, const struct sp_format_writer *writer,
		       const struct sp_selection *s);

/* Name number i to try for path: itself, then with .HOST.PID, .HOST.PID.2 ... before
 * the extension. */
int sp_output_candidate(char *to, size_t room, const char *path, const struct sp_who *who,
			unsigned i);

/* temp becomes name, over nothing, both in this folder (core/base/safe-open.h), whatever folder
 * their paths name: 0, -EEXIST, or another -errno. */
int sp_output_take(int dir, const char *temp, const char *name);

/* Did this process write the file, at this time or later?  (False, too, where the file system does
 * not tell.) */
bool sp_output_is_by(const char *path, const struct sp_who *who, uint64_t pid_ns,
		     uint64_t since_ns);

/* A device, a FIFO, a symbolic link: it is written to, whatever is written. */
bool sp_output_is_special(const char *path);

/* `path` with view's extension in place of one that is ours, or behind it. */
int sp_output_name_for(char *to, size_t room, const char *path,
		       const struct sp_format_writer *writer);
