/* output.h: names and writes dump files, and never overwrites another run's or user's file.
 *
 * Symbolic links of other users are not followed (core/base/safe-open.h). A dump is written
 * completely to a temporary file in the same folder. That file then takes the name by link(2), or,
 * on file systems without it, by O_EXCL: two processes cannot take the same name. An existing file
 * is replaced only if this process wrote it, or if it is older than the topmost living ancestor
 * that has libsspapi loaded. Otherwise .HOST.PID, .HOST.PID.2 ... is inserted before the extension.
 *
 * Async-signal-safe, no malloc. Errors: -errno.
 */
#pragma once

#include "conf.h"
#include "format.h"

struct sp_output_vars {				/* values of the letters of a template */
	const char *host, *program, *job, *step, *dir;	/* dir: folder of relative names */
	long rank;			/* -1: not a rank */
	int pid;
};

/* Expand the template to an absolute path; 0 or -ENAMETOOLONG. */
int sp_output_expand(char *path, size_t room, const char *template,
		     const struct sp_output_vars *vars);

#define SP_OUTPUT_FILES 8

struct sp_output {
	char path[SP_CONF_PATH];	/* last file written, for messages */
	uint64_t own_start_ns;		/* start of this process */
	struct {			/* files written by this process */
		uint64_t dev, ino;
	} own_files[SP_OUTPUT_FILES];
	unsigned n_own_files;
};

/* Write s in one format to the absolute path; 0 or -errno. o->path is the name that was used. */
int sp_output_write(struct sp_output *o, const char *path, const struct sp_output_vars *vars,
		    const struct sp_format_writer *writer, const struct sp_selection *s);

/* Write s to an open descriptor with a time limit (sp_out_shared). own: an empty file that only
 * this process writes. */
int sp_output_write_fd(int fd, bool own, const struct sp_format_writer *writer,
		       const struct sp_selection *s);

/* Candidate i for the name: path itself, then with .HOST.PID, .HOST.PID.2 ... before the
 * extension. */
int sp_output_candidate(char *to, size_t room, const char *path, const struct sp_output_vars *vars,
			unsigned i);

/* Rename temp to name unless name exists. Both are in the folder `dir` (core/base/safe-open.h);
 * folders in the arguments are ignored. 0, -EEXIST or another -errno. */
int sp_output_take(int dir, const char *temp, const char *name);

/* Returns whether the process wrote the file at or after since_ns. False if the file system does
 * not keep the times. */
bool sp_output_is_by(const char *path, const struct sp_output_vars *vars, uint64_t pid_ns,
		     uint64_t since_ns);

/* Returns whether path is a device, FIFO or symbolic link, which is written to but never
 * replaced. */
bool sp_output_is_special(const char *path);

/* Replace the known extension of path, if it has one, by that of the writer. */
int sp_output_name_for(char *to, size_t room, const char *path,
		       const struct sp_format_writer *writer);
