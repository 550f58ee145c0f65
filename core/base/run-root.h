/* run-root.h: finds the run to which this process belongs.
 *
 * A run is the tree of processes below the topmost living ancestor that has libsspapi loaded. Files
 * older than that ancestor are from an earlier run.
 */
#pragma once

#include "base.h"

struct sp_run {
	/* start of that ancestor since the epoch, at most SP_START_KNOWN_TO too early */
	uint64_t start_ns;
	/* of that ancestor; this process's if no ancestor has the library */
	int pid;
	/* identifies the run on this machine since its boot; 0: unknown */
	uint64_t id;
};
/* ns: the kernel reports a process's start in ticks */
#define SP_START_KNOWN_TO	10000000u

/* Reads /proc in about 10 us per ancestor; async-signal-safe. Without such an ancestor the start is
 * own_ns. */
struct sp_run sp_run_find(uint64_t own_ns);

/* Read /proc/PID/stat; false if there is no such process. pid 0 is this process. */
struct sp_process_stat {
	int ppid, processor;
	char state;			/* 'R', 'S', 'Z' ... of the task */
	/* of the process, including those that ended but were not reaped */
	int threads;
	unsigned flags;			/* the kernel's PF_* */
	uint64_t user, system;		/* ticks in user mode and in the kernel */
	uint64_t start_ticks;
};
bool sp_process_stat(int pid, int tid, struct sp_process_stat *s);

/* Returns whether the process has ended, including zombies. In a container whose first process does
 * not reap, a zombie stays as long as that process. */
static inline bool sp_process_is_over(const struct sp_process_stat *s)
{
	return (s->state == 'Z' || s->state == 'X') && s->threads <= 1;
}
