/* conf.h: the table of all SSPAPI_* variables, and the variables of launchers and batch systems for
 * the rank, the job and its step.
 *
 * sp_conf_capture saves the environment when the process starts, without allocation and in a few
 * microseconds, because the application may change it. sp_conf_read reads it at the first PAPI
 * call. The environment is never changed.
 */
#pragma once

#include "base.h"

#define SP_CONF_PATH 1024

struct sp_conf {
	char output[SP_CONF_PATH];	/* template of the path */
	char format[128];		/* "": by the template's extension */
	char topology[SP_CONF_PATH];	/* "": discover */
	char live[SP_CONF_PATH];	/* "0", "1" or a folder */
	char signal[16];
	int signal_number;		/* 0: off */
	char color_by[128];
	long readings, attribution;	/* enum sp_readings, enum sp_attribution */
	long readings_max, callsites, verbose, disable;
	long descriptors;		/* -1: the default */
	bool output_set;		/* by the user */
	char ranks[256];		/* the ranks that are counted, as a list; "": all */
};

struct sp_conf_row {
	const char *name;
	const char *values;		/* for the help */
	const char *fallback;		/* the default, as text */
	const char *help;
	enum { SP_CONF_TEXT, SP_CONF_NUMBER, SP_CONF_WORD } kind;
	size_t at, room;		/* in struct sp_conf */
	long least, most;		/* limits of a number */
	const char *words[5];		/* values of a word, by its number */
	bool privileged;		/* also used if sp_conf_privileged() */
};

extern const struct sp_conf_row sp_conf_rows[];
extern const unsigned sp_conf_n_rows;
extern const char sp_conf_rank_output[];	/* default of SSPAPI_OUTPUT in a rank */

void sp_conf_capture(char **environment);

/* Returns whether the process has privileges that its user lacks (AT_SECURE: set-user-ID,
 * set-group-ID, file capabilities). Its environment is then untrusted: only rows marked
 * `privileged` are captured, and there is no live file. */
bool sp_conf_privileged(void);

/* The value of a captured variable, or NULL. */
const char *sp_conf_env(const char *name);

/* Set by `sspapi run`, if a line announces a file of counts, to the pid of the process that it
 * becomes; and to :PATH if its children may also write that file. Not a setting for users. */
#define SP_PROMISED "_SSPAPI_PROMISED="

/* Fill *c. Calls report_line(line, arg) for each invalid value and each unknown name; the line,
 * without a newline, names the fault and the value that is used instead. */
void sp_conf_read(struct sp_conf *c, void (*report_line)(const char *line, void *arg), void *arg);

/* The edit distance of two names without regard to case: letters to insert, delete, change or swap
 * with the next one. Only the first `most` letters count, at most SP_CONF_EDITS. */
#define SP_CONF_EDITS 64u
unsigned sp_conf_edits(const char *a, const char *b, unsigned most);

/* Values of the first known variable that is set. The rank is -1 outside MPI; job and step are NULL
 * if unknown. */
long sp_conf_rank(void);
long sp_conf_ranks(void);		/* of the whole job; below 1: unknown */
long sp_conf_local_ranks(void);	/* ranks on this node; 1: not a rank; 0: unknown */
const char *sp_conf_job(void);
const char *sp_conf_step(void);
