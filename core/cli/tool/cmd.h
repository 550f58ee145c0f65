/* cmd.h: functions and libc headers that all verbs of the sspapi command use.
 *
 * Exit status: 0 success, 1 bad data or an unreadable file, 2 wrong usage. Messages go to
 * standard error: "sspapi VERB: subject: text".
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

/* Returns the next option like getopt_long, -1 after the last; '?': after a message on a wrong
 * one. --help and --version print and exit. Options may follow other arguments unless letters
 * begins with "+". at: index as in getopt_long. */
struct option;
int sp_option(int argc, char **argv, const char *letters, const struct option *longs, int *at);

/* Fills the beginning of `longs` with --per-NAME options, at most SP_LEVEL_OPTIONS, and returns
 * their number. sp_option returns 'L' for all of them; distinct values keep getopt_long from
 * accepting an ambiguous abbreviation. */
#define SP_LEVEL_FIRST 256
#define SP_LEVEL_OPTIONS 20
unsigned sp_level_options(struct option *longs);

/* Print `sspapi VERB --help` or --version, and `sspapi --help`; return the exit status. */
int sp_about(const char *verb, bool help);
void sp_help_all(FILE *to);

/* Reports that no verb has this name, with suggestions; returns 2. */
int sp_report_no_verb(const char *name);

/* Closes standard output. A full disk is also a failure: returns status, or that failure's. */
int sp_close_stdout(int status);

/* Returns the path of a library of ours, whether it exists or not: beside the command in a
 * build, else as installed. Static memory, valid until the next call. */
const char *sp_cli_library(const char *name);
const char *sp_cli_data(const char *name);	/* the same for other files */

/* Prints "sspapi VERB: subject: text" (subject NULL: omitted) and returns status. */
int sp_complain(int status, const char *verb, const char *text, const char *subject);

/* Prints a line on standard error after "sspapi VERB: ", in sp_out_f's format, escaped like
 * sp_plain. */
void sp_message(const char *verb, const char *format, ...) SP_PRINTF(2, 3);

/* Escapes control characters, and those that change the writing direction, as \xHH in text from
 * a store or in names that a stranger chose. The caller frees sp_plain's result. */
char *sp_plain(const char *text);
void sp_print_plain(FILE *to, const char *text);

/* Prints sentences as sp_paragraph. */
void sp_print_paragraph(FILE *to, const char *start, unsigned indent, const char *text);

/* Returns p; if it is NULL, exits with a message: out of memory. */
void *sp_check_alloc(void *p);

/* Returns the array, grown if n elements of `each` bytes do not fit; new ones are zero. room:
 * elements that fit. */
void *sp_grow_array(void *array, uint32_t *room, uint32_t n, size_t each);
