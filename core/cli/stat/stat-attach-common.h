/* stat-attach-common.h: what the parts of `sspapi stat -p`, `-t` and `--cgroup` share: counting
 * what runs already.
 *
 *	stat-targets.c	which they are, and when they have ended
 *	stat-proc.c	what /proc says of them
 *	stat-fork-track.c	who is born of whom meanwhile, and with which counters
 *	stat-attach.c	their counters
 *	stat-attach-rows.c	their rows
 *	stat-group.c	a control group
 */
#pragma once

#include <limits.h>

#include "../tool/key-index.h"
#include "stat.h"

/* ---- who -------------------------------------------------------------------------- */

struct sp_stat_targets {
	uint32_t n;
	struct sp_stat_target {
		int pid, tid;		/* tid 0: all threads of the process */
		int pidfd;		/* a descriptor that is readable when it has ended; -1:
					 * there is none such */
	} *one;
	char *args;			/* of the first one's process, as /proc/PID/cmdline has
					 * them */
	char **argv;
};

/* PID,PID of -p, or TID,TID of -t.  0; or 125, and a message is out. */
int sp_targets_add(struct sp_stat_targets *a, const char *verb, const char *list, bool threads);
/* its command line, and how its end is told: as above */
int sp_targets_begin(struct sp_stat_targets *a, const char *verb);

/* Until the child of the run has ended; where there is none until all of `a` have (NULL: never), or
 * a signal comes that would end the command.  The rings are emptied meanwhile, and rows of -I
 * made. */
void sp_targets_wait(const struct sp_stat_targets *a, struct sp_stat_run *r);

/* ---- births ------------------------------------------------------------------------- */

struct sp_task {
	int pid, tid;
	int parent;			/* the thread it was born of; 0: not told */
	uint64_t first_counter;			/* number of a counter that it was born with; 0:
						 * none has shown itself */
	bool first;			/* there before any counter was opened */
	bool ended, is_counted;
	bool had_child;			/* had a child after its counters were opened */
	bool cleared;			/* is in the middle of no birth that began before its
					 * counters */
	uint64_t user;			/* its ticks when they were opened */
	int *fd;			/* [births.n_own] counters that were opened for it, -1: that
					 * one was not; NULL: none were */
	uint64_t *number;		/* of each, the kernel's */
	int *gate;			/* [n_cpus] */
	int64_t *at;			/* what those of `fd` counted, at the end */
	char name[16], *args;		/* its process's command line, where it is the first one of
					 * it here */
	uint32_t args_bytes;
	int ppid;
};

struct sp_fork_track {
	uint32_t n_cpus, n_own;
	const int *cpu;
	int *carrier;			/* [n_cpus] descriptors of rings */
	void **ring;
	uint32_t pages;
	struct sp_names tids;		/* of `task`, by which a thread is found */
	struct sp_task **task;
	uint32_t n, room;
	uint64_t lost;			/* records: then nothing is sure */
};

/* false: no locked pages */
bool sp_fork_track_begin(struct sp_fork_track *b, uint32_t n_cpus, const int *cpu, uint32_t n_own);
struct sp_task *sp_fork_track_add(struct sp_fork_track *b, int pid, int tid);	/* known or new */
/* NULL: it is not */
struct sp_task *sp_fork_track_find(const struct sp_fork_track *b, int tid);
/* before its counters; 0 or -errno */
int sp_fork_track_gates(struct sp_fork_track *b, struct sp_task *t);
void sp_fork_track_drain(struct sp_fork_track *b);
/* opened for it, or inherited */
bool sp_fork_track_has(const struct sp_fork_track *b, const struct sp_task *t, uint32_t own);
/* any of the first n */
bool sp_fork_track_inherited(const struct sp_fork_track *b, const struct sp_task *t, uint32_t n);
void sp_fork_track_close(struct sp_fork_track *b);	/* gates and rings */
void sp_fork_track_end(struct sp_fork_track *b);	/* and all else, but for what was opened for
							 * threads */

uint64_t sp_perf_number(int fd);	/* the kernel's, of a counter: they grow by one with each
					 * that is made */

/* ---- counting ------------------------------------------------------------------------- */

/* Counts the threads that were asked for while argv runs (argv NULL: until they end).  0, or 125 to
 * 127 and a message is out. */
int sp_attach_count(struct sp_stat_run *r, const struct sp_stat_targets *targets, const char *verb,
		    char **argv);

/* A control group: as it was asked for, and counting it as above.  fd -1: none was asked for. */
struct sp_stat_group {
	int fd;
	const char *given_name;		/* as on the command line */
	char point[PATH_MAX];		/* where it is mounted */
	char path[PATH_MAX], verb[8];
	char *argv[3];			/* what is shown as the program: "cgroup", its name; into
					 * the two before */
};
int sp_group_take(struct sp_stat_group *g, const char *verb, const char *name);
int sp_group_count(struct sp_stat_run *r, const struct sp_stat_group *g, const char *verb,
		   char **argv);

/* The rows of threads that had counters opened for them.  from_ns: when these were turned on. */
void sp_attach_rows_compute(struct sp_stat_run *r, const struct sp_fork_track *b, uint64_t from_ns);
