/* run-root.h: finds the run that this process belongs to.
 *
 * A run is the tree of processes below the topmost living ancestor that has
 * libsspapi loaded; files older than it are from an earlier run.
 */
#pragma once

#include "base.h"

struct sp_run {
	uint64_t start_ns;		/* of that ancestor, since the epoch, or up to
					 * SP_START_KNOWN_TO before it */
	int pid;			/* its own; this process's, if no other has the library */
	uint64_t id;			/* the same number in all processes of a run on one machine
					 * since its boot; 0: not known */
};
#define SP_START_KNOWN_TO	10000000u	/* ns: the kernel tells a process's start in
						 * ticks */

/* Reads /proc, some 10 us for each ancestor; async-signal-safe.  Where there is none, own_ns is the
 * start. */
struct sp_run sp_run_find(uint64_t own_ns);

/* Fields of /proc/PID/stat; 0 if there is no such process.  pid 0: this one. */
struct sp_process_stat {
	int ppid, processor;
	char state;			/* 'R', 'S', 'Z' ... of the task */
	int threads;			/* of the process, with those that have ended and are waited
					 * for */
	unsigned flags;			/* the kernel's PF_* */
	uint64_t user, system;		/* ticks that it ran in user mode and in the kernel */
	uint64_t start_ticks;
};
bool sp_process_stat(int pid, int tid, struct sp_process_stat *s);

/* Has the process ended?  One that nobody has waited for is still there (killed in a container
 * whose first process waits for none: for as long as that lives). */
static inline bool sp_process_is_over(const struct sp_process_stat *s)
{
	return (s->state == 'Z' || s->state == 'X') && s->threads <= 1;
}
