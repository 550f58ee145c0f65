/* stat-attach-common.h: interface between the parts of `sspapi stat -p`, `-t` and `--cgroup`,
 * which count running programs.
 *
 *	stat-targets.c	the processes and threads to count, and their end
 *	stat-proc.c	readers of /proc
 *	stat-fork-track.c	forks during the start, and inherited counters
 *	stat-attach.c	counters of running threads
 *	stat-attach-rows.c	rows of running threads
 *	stat-group.c	a control group
 */
#pragma once

#include <limits.h>

#include "../tool/key-index.h"
#include "stat.h"

/* ---- targets ------------------------------------------------------------ */

struct sp_stat_targets {
	uint32_t n;
	struct sp_stat_target {
		int pid, tid;		/* tid 0: all threads of the process */
		int pidfd;		/* readable after the end; -1: not available */
	} *one;
	char *args;			/* of the first target's process, as in /proc/PID/cmdline */
	char **argv;
};

/* Add PID,PID of -p or TID,TID of -t. Returns 0, or 125 after a message. */
int sp_targets_add(struct sp_stat_targets *a, const char *verb, const char *list, bool threads);
/* Read the command line of the first target and open the pidfds. Returns 0, or 125 after a
 * message. */
int sp_targets_begin(struct sp_stat_targets *a, const char *verb);

/* Wait for the end of the run's child, or without a child for the end of all targets (a NULL:
 * for ever) or a signal that ends the command. Meanwhile the rings are read and the rows of -I
 * written. */
void sp_targets_wait(const struct sp_stat_targets *a, struct sp_stat_run *r);

/* ---- forks during the start --------------------------------------------- */

struct sp_task {
	int pid, tid;
	int parent;			/* the thread that forked it; 0: unknown */
	/* number of one of its inherited counters; 0: none seen */
	uint64_t first_counter;
	bool first;			/* seen before any counter was opened */
	bool ended, is_counted;
	bool had_child;			/* it forked after its counters were opened */
	bool cleared;			/* no fork that began before its counters is in progress */
	uint64_t user;			/* its user ticks when its counters were opened */
	/* [n_own] counters that were opened for it, -1: none; NULL: none at all */
	int *fd;
	uint64_t *number;		/* [n_own] the kernel's numbers of the counters */
	int *gate;			/* [n_cpus] */
	int64_t *at;			/* final values of the counters in fd */
	/* args: the process's command line, in its first task only */
	char name[16], *args;
	uint32_t args_bytes;
	int ppid;
};

struct sp_fork_track {
	uint32_t n_cpus, n_own;
	const int *cpu;
	int *carrier;			/* [n_cpus] descriptors of the rings */
	void **ring;
	uint32_t pages;
	struct sp_names tids;		/* tids of `task`, in the same order */
	struct sp_task **task;
	uint32_t n, room;
	uint64_t lost;			/* lost records: any result may be wrong */
};

/* Returns false if no locked pages are left. */
bool sp_fork_track_begin(struct sp_fork_track *b, uint32_t n_cpus, const int *cpu, uint32_t n_own);
struct sp_task *sp_fork_track_add(struct sp_fork_track *b, int pid, int tid);	/* finds or adds */
/* Returns NULL if unknown. */
struct sp_task *sp_fork_track_find(const struct sp_fork_track *b, int tid);
/* Open the gates, before the thread's counters; 0 or -errno. */
int sp_fork_track_gates(struct sp_fork_track *b, struct sp_task *t);
void sp_fork_track_drain(struct sp_fork_track *b);
/* Return whether the task has the counter `own`, opened for it or inherited. */
bool sp_fork_track_has(const struct sp_fork_track *b, const struct sp_task *t, uint32_t own);
/* Return whether the task inherited any of the first n counters. */
bool sp_fork_track_inherited(const struct sp_fork_track *b, const struct sp_task *t, uint32_t n);
void sp_fork_track_close(struct sp_fork_track *b);	/* closes gates and rings */
void sp_fork_track_end(struct sp_fork_track *b);	/* also frees the tasks */

/* Return the kernel's number of a counter. Each new counter of the machine gets the next number. */
uint64_t sp_perf_number(int fd);

/* ---- counting ----------------------------------------------------------- */

/* Count the targets while argv runs, or until they end if argv is NULL. Returns 0, or 125 to 127
 * after a message. */
int sp_attach_count(struct sp_stat_run *r, const struct sp_stat_targets *targets, const char *verb,
		    char **argv);

/* A control group to count; fd -1: none. */
struct sp_stat_group {
	int fd;
	const char *given_name;		/* as on the command line */
	char point[PATH_MAX];		/* mount point */
	char path[PATH_MAX], verb[8];
	/* shown as the program: "cgroup" and the group's name, in verb and path */
	char *argv[3];
};
int sp_group_take(struct sp_stat_group *g, const char *verb, const char *name);
int sp_group_count(struct sp_stat_run *r, const struct sp_stat_group *g, const char *verb,
		   char **argv);

/* Compute the rows of threads for which counters were opened. from_ns: when these were enabled. */
void sp_attach_rows_compute(struct sp_stat_run *r, const struct sp_fork_track *b, uint64_t from_ns);
