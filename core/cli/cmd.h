/* cmd.h: what each verb of the sspapi command is made of.
 *
 * Exit status: 0 success, 1 something was wrong with the data or a file could not
 * be read, 2 wrong usage.  Messages go to standard error: "sspapi VERB: which: what".
 */
#ifndef SP_CMD_H
#define SP_CMD_H

#include <stdio.h>

#include "../view/model.h"
#include "../view/view.h"

int sp_cmd_run(int argc, char **argv);
int sp_cmd_stat(int argc, char **argv);
int sp_cmd_list(int argc, char **argv);
int sp_cmd_report(int argc, char **argv);
int sp_cmd_merge(int argc, char **argv);
int sp_cmd_diff(int argc, char **argv);
int sp_cmd_recover(int argc, char **argv);
int sp_cmd_top(int argc, char **argv);
int sp_cmd_env(int argc, char **argv);
int sp_cmd_doctor(int argc, char **argv);	/* in preload/doctor/: it knows PAPI */

/* The next option as getopt_long gives it, -1 behind the last; '?': a line of what is wrong is out,
 * with `are` (what the options are).  --help and --version do their work and end the command.
 * Options may stand behind other arguments unless letters begin with "+".  at: as getopt_long's. */
struct option;
int sp_option(int argc, char **argv, const char *letters, const struct option *longs, int *at, const char *are);

/* run's option for a variable of the table: readings-max of SSPAPI_READINGS_MAX. */
const char *sp_option_of(const char *variable, char name[32]);

/* What `sspapi VERB --help` or --version prints, and `sspapi --help`; the exit status. */
int sp_about(const char *verb, bool help);
void sp_help_all(FILE *to);
void sp_help_metrics(void);

/* A full disk behind standard output is a failure, too: the status, or what it is then. */
int sp_closed(int status);

/* Says why execvp did not start it, whose error may be of what the program needs to be started by; 126 or 127. */
int sp_not_started(const char *verb, const char *name, int error);

/* A store's file, read whole (never mapped: somebody may truncate it meanwhile) and
 * opened.  0, or a message is out and 1. */
struct sp_file {
	struct sp_image image;
	struct sp_model model;
	unsigned char *bytes;
	uint64_t mapped;		/* bytes is a mapping of that many; 0: of malloc */
	uint64_t dev, ino;		/* of what was read, whatever stands there by now */
	unsigned uid, mode;
};
int sp_file_open(struct sp_file *f, const char *verb, const char *path);
int sp_file_load(struct sp_file *f, const char *path);	/* without a message: 0 or -errno, as sp_file_why tells it */

/* What -errno of opening path means, for a person; until the next call. */
const char *sp_file_why(int error, const char *path);

/* Of an open file that a stranger may have made: -EINVAL if it is longer than any store, or if nearly
 * all of it is holes; 0. */
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

/* Several as one run: merged, in memory, if they are more than one or only some events
 * (E,E; NULL: all) are wanted.  A process that several hold counts once (tell: a line for each file that
 * is left).  The same status; *n_bad: files that were named and left out. */
int sp_files_open(struct sp_file *f, const char *verb, char *const *path, unsigned n, const char *events,
		  bool tell, unsigned *n_bad);
void sp_file_close(struct sp_file *f);

/* The path of a library of ours: beside the command in a build, else as installed, there
 * or not.  Static memory, until the next call. */
const char *sp_cli_library(const char *name);
const char *sp_cli_data(const char *name);	/* the same of other files */

/* A library's path for LD_PRELOAD, where the loader of no other C library finds it (and ends the program over it); path itself where
 * there is no such name.  Until the next call.  In preload/doctor/: it knows the loader. */
const char *sp_glibc_name(const char *path);

/* May the process of this header, whose texts are the image's, still run on this host? */
bool sp_may_run(const struct sp_header *h, const struct sp_image *image);

/* "sspapi VERB: subject: text" (subject NULL: none), and status back. */
int sp_complain(int status, const char *verb, const char *text, const char *subject);

/* A line on standard error behind "sspapi VERB: ", by sp_out_f's format; texts as sp_plain has them. */
void sp_message(const char *verb, const char *format, ...) SP_PRINTF(2, 3);

/* What comes from a store, or is a name that a stranger chose: control characters, and those that turn
 * the writing direction, as \xHH.  sp_plain: to be freed. */
char *sp_plain(const char *text);
void sp_put_plain(FILE *to, const char *text);

/* p, or a message and the end of the command if it is NULL: there was no memory. */
void *sp_need(void *p);

/* The array, grown if n of `each` bytes do not fit into it; what is new is zero.  room: how many fit. */
void *sp_room(void *array, uint32_t *room, uint32_t n, size_t each);

#endif
