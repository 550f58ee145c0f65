/* cmd.h: what each verb of the sspapi command is made of, with the headers of libc that they use.
 *
 * Exit status: 0 success, 1 something was wrong with the data or a file could not
 * be read, 2 wrong usage.  Messages go to standard error: "sspapi VERB: which: what".
 */
#pragma once

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../base/sys.h"

int sp_cmd_run(int argc, char **argv);
int sp_cmd_stat(int argc, char **argv);
int sp_cmd_list(int argc, char **argv);
int sp_cmd_report(int argc, char **argv);
int sp_cmd_merge(int argc, char **argv);
int sp_cmd_diff(int argc, char **argv);
int sp_cmd_recover(int argc, char **argv);
int sp_cmd_top(int argc, char **argv);
int sp_cmd_env(int argc, char **argv);
int sp_cmd_doctor(int argc, char **argv);

/* The next option as getopt_long gives it, -1 behind the last; '?': a line of what is wrong is out.
 * --help and --version do their work and end the command.
 * Options may stand behind other arguments unless letters begin with "+".  at: as getopt_long's. */
struct option;
int sp_option(int argc, char **argv, const char *letters, const struct option *longs, int *at);

/* --per-NAME of each, without an argument, into the first of `longs`; how many, up to
 * SP_LEVEL_OPTIONS.  sp_option gives 'L' for each of them; their own values keep getopt_long from
 * taking the first of several that begin so. */
#define SP_LEVEL_FIRST 256
#define SP_LEVEL_OPTIONS 20
unsigned sp_level_options(struct option *longs);

/* What `sspapi VERB --help` or --version prints, and `sspapi --help`; the exit status. */
int sp_about(const char *verb, bool help);
void sp_help_all(FILE *to);

/* A line: no verb is called so, and which are nearly; 2. */
int sp_no_verb(const char *name);

/* A full disk behind standard output is a failure, too: the status, or what it is then. */
int sp_closed(int status);

/* The path of a library of ours: beside the command in a build, else as installed, there
 * or not.  Static memory, until the next call. */
const char *sp_cli_library(const char *name);
const char *sp_cli_data(const char *name);	/* the same of other files */

/* "sspapi VERB: subject: text" (subject NULL: none), and status back. */
int sp_complain(int status, const char *verb, const char *text, const char *subject);

/* A line on standard error behind "sspapi VERB: ", by sp_out_f's format; texts as sp_plain has
 * them. */
void sp_message(const char *verb, const char *format, ...) SP_PRINTF(2, 3);

/* What comes from a store, or is a name that a stranger chose: control characters, and those that
 * turn the writing direction, as \xHH.  sp_plain: to be freed. */
char *sp_plain(const char *text);
void sp_print_plain(FILE *to, const char *text);

/* p, or a message and the end of the command if it is NULL: there was no memory. */
void *sp_check_alloc(void *p);

/* The array, grown if n of `each` bytes do not fit into it; what is new is zero.  room: how many
 * fit. */
void *sp_grow_array(void *array, uint32_t *room, uint32_t n, size_t each);
