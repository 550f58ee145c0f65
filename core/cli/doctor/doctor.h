/* doctor.h: the parts of `sspapi doctor`, which find what would prevent counts.
 *
 * Each part checks one thing and reports findings, one per line: good, worth knowing, blocking,
 * or plain (off, but rarely needed), with what to do. Foreign libraries are loaded in a child
 * (sp_doctor_run_in_child), so that a crash or hang is also a finding.
 */
#pragma once


#include "../program/program.h"

enum sp_finding { SP_GOOD, SP_WORTH, SP_BLOCKING, SP_PLAIN };

struct sp_doctor {
	const char *verb;
	bool colour;
	int to;				/* in a child: the pipe for findings; else -1 */
	unsigned worth, n_blocking;	/* number reported of each */
	const struct sp_program *program;	/* the program given; NULL: none */
	const char *name;		/* its name as given */
	bool software;			/* PAPI has counted a software event of the kernel here */
	bool only_hardware;		/* only hardware events cannot be counted */
	char papi[PATH_MAX];		/* path of libpapi; "": not found */
};

/* findings.c. */
void sp_doctor_head(struct sp_doctor *d, const char *title);
void sp_doctor_report(struct sp_doctor *d, enum sp_finding f, const char *format, ...)
	SP_PRINTF(3, 4);
void sp_doctor_fix(struct sp_doctor *d, const char *format, ...) SP_PRINTF(2, 3);

/* In a child: sets d->software in the parent. */
void sp_doctor_software(struct sp_doctor *d);

/* Has this process CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace? */
bool sp_doctor_is_privileged(void);

/* Runs part(d, arg) in a child for a few seconds at most, and reports its findings. what: names
 * the child if it crashes. */
void sp_doctor_run_in_child(struct sp_doctor *d, const char *what,
			    void (*part)(struct sp_doctor *, void *), void *arg);

/* Returns the first line of a small file, without the newline; or "". */
const char *sp_doctor_line(const char *path, char *text, size_t room);

/* Parts, each in a file. */
void sp_doctor_kernel(struct sp_doctor *d);	/* perf_event_open, permissions, virtual machine */
void sp_doctor_limits(struct sp_doctor *d);	/* /dev/shm */
void sp_doctor_program(struct sp_doctor *d);	/* program's file; sets d->papi */
void sp_doctor_papi(struct sp_doctor *d);	/* d->papi: version, linking, components */
void sp_doctor_sspapi(struct sp_doctor *d);	/* libsspapi, its topology library, hwloc; calls: */
void sp_doctor_variables(struct sp_doctor *d);	/* variables that are set; calls: */
struct sp_conf;
/* can the dump be written? */
void sp_doctor_output(struct sp_doctor *d, const struct sp_conf *conf);
