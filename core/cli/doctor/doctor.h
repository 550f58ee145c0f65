/* doctor.h: what would keep counts away: the parts of `sspapi doctor`.
 *
 * Each part looks at one thing and says what it found, a line a finding: good, worth knowing, in
 * the way, or plain (off, and seldom missed); behind it stands what to do.  Linked into the command
 * only.  What loads other people's libraries runs in a child (sp_doctor_run_in_child), so that one
 * that crashes or hangs is a finding, too.
 */
#pragma once


#include "../program/program.h"

enum sp_finding { SP_GOOD, SP_WORTH, SP_BLOCKING, SP_PLAIN };

struct sp_doctor {
	const char *verb;
	bool colour;
	int to;				/* in a child: the pipe that findings go into; else -1 */
	unsigned worth, n_blocking;	/* how many were said */
	const struct sp_program *program;	/* that was asked about; NULL: none */
	const char *name;		/* as it was asked for */
	bool software;			/* PAPI has counted one of the kernel's software events
					 * here */
	char papi[PATH_MAX];		/* the libpapi to be asked; "": none was found */
};

/* findings.c. */
void sp_doctor_head(struct sp_doctor *d, const char *title);
void sp_doctor_report(struct sp_doctor *d, enum sp_finding f, const char *format, ...)
	SP_PRINTF(3, 4);
void sp_doctor_fix(struct sp_doctor *d, const char *format, ...) SP_PRINTF(2, 3);

/* In a child: says d->software to its parent. */
void sp_doctor_software(struct sp_doctor *d);

/* part(d, arg) in a child that may take some seconds; its findings are said here.  what:
 * whose death it would be, for a finding. */
void sp_doctor_run_in_child(struct sp_doctor *d, const char *what,
			    void (*part)(struct sp_doctor *, void *), void *arg);

/* A small file's first line, without its newline; "" where there is none. */
const char *sp_doctor_line(const char *path, char *text, size_t room);

/* The parts, a file each. */
void sp_doctor_kernel(struct sp_doctor *d);	/* perf_event_open, who may use it, the machine
						 * around it */
void sp_doctor_limits(struct sp_doctor *d);	/* /dev/shm */
void sp_doctor_program(struct sp_doctor *d);	/* the program's file; finds d->papi */
void sp_doctor_papi(struct sp_doctor *d);	/* d->papi: version, linking, components */
void sp_doctor_sspapi(struct sp_doctor *d);	/* libsspapi, its topology library and hwloc; and of
						 * it: */
void sp_doctor_variables(struct sp_doctor *d);	/* the variables that are set; and of them: */
struct sp_conf;
/* can the dump be written? */
void sp_doctor_output(struct sp_doctor *d, const struct sp_conf *conf);
