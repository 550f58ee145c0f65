/* conf.h: every SSPAPI_* variable, in one table; and the few of others' that
 * name a rank, a batch job or its step.
 *
 * The environment is copied when the process starts (sp_conf_capture: no
 * allocation, a few microseconds), since the application may wipe or change it,
 * and read when the process first calls PAPI (sp_conf_read).  Nothing here
 * changes the environment.
 */
#pragma once

#include "base.h"

#define SP_CONF_PATH 1024

struct sp_conf {
	char output[SP_CONF_PATH];	/* the template */
	char format[128];		/* "" : by the template's extension */
	char topology[SP_CONF_PATH];	/* "" : discover */
	char live[SP_CONF_PATH];	/* "0", "1" or a folder */
	char signal[16];
	int signal_number;		/* 0: off */
	char color_by[128];
	long readings, attribution;	/* enum sp_readings, enum sp_attribution */
	long readings_max, callsites, verbose, disable;
	long descriptors;		/* -1: as sspapi thinks fit */
	bool output_set;		/* by the user, not the default */
	char ranks[256];		/* which are counted, as a list of CPUs is written; "" :
					 * all */
};

struct sp_conf_row {
	const char *name;
	const char *values;		/* for people */
	const char *fallback;		/* the default, as text */
	const char *help;
	enum { SP_CONF_TEXT, SP_CONF_NUMBER, SP_CONF_WORD } kind;
	size_t at, room;		/* in struct sp_conf */
	long least, most;		/* of a number */
	const char *words[5];		/* of a word, by value */
	bool privileged;		/* used where sp_conf_privileged(), too */
};

extern const struct sp_conf_row sp_conf_rows[];
extern const unsigned sp_conf_n_rows;
extern const char sp_conf_rank_output[];	/* SSPAPI_OUTPUT where a rank has none */

void sp_conf_capture(char **environment);

/* Has the process rights that who started it has not (AT_SECURE: set-user-ID, set-group-ID, file
 * capabilities)?  Its environment is then that of a stranger: only rows marked so are captured, and
 * there is no live file. */
bool sp_conf_privileged(void);

/* The value of a captured variable, or NULL. */
const char *sp_conf_env(const char *name);

/* What `sspapi run` leaves in the environment of the process that it becomes, if a line has
 * promised a file of counts: its pid.  No setting: nobody else writes it. */
#define SP_PROMISED "_SSPAPI_PROMISED="

/* Fills *c; calls say(line, arg) for each value that cannot be used (the line
 * says what, and what is used instead; no newline), and for each name that is no variable's. */
void sp_conf_read(struct sp_conf *c, void (*report_line)(const char *line, void *arg), void *arg);

/* Letters to put in, take out, change or swap with the next one to make one of the other, whatever
 * their case; of longer names the first `most` count, SP_CONF_EDITS at most. */
#define SP_CONF_EDITS 64u
unsigned sp_conf_edits(const char *a, const char *b, unsigned most);

/* The first of the known variables that is set: MPI rank (-1: none), job id, step of the job (NULL:
 * none). */
long sp_conf_rank(void);
long sp_conf_local_ranks(void);	/* on this node, itself one of them; 1: it is no rank; 0: not
				 * known */
const char *sp_conf_job(void);
const char *sp_conf_step(void);
