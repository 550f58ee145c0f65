/* top-run.h: finds and reads the processes that `sspapi top` shows as one run. */
#pragma once

#include "../../base/conf.h"
#include "../files/runs.h"
#include "../merge/merge-files.h"

struct sp_top_process {
	struct sp_rank rank;		/* its name is owned */
	char *path;			/* of the live file; owned */
	bool member;			/* belongs to the run */
};

struct sp_top_run {
	const char *verb;		/* for messages on files; NULL: none */
	unsigned launcher;		/* show the descendants of this PID */
	char **file;			/* show these; owned. Without either: the newest run */
	uint32_t n_files, file_room;

	uint32_t n_running;		/* processes that ran at the last read, including those that
					 * write their dumps */
	uint32_t n_ended, n_killed;	/* that were shown, and have ended since; of these killed */
	char output[SP_CONF_PATH];	/* path of the dump of one of the processes */
	uint32_t n_bad;			/* files that could not be read at the last read */

	struct sp_top_process *at, first;	/* private from here on; first: identifies the
						 * newest run */
	uint32_t n, room;
	char **shown;			/* paths at the last read */
	uint32_t n_shown, shown_room;
};

/* Returns whether the process may have made this open file. Anyone can put a file with its pid into
 * /dev/shm, and root can read it. */
bool sp_top_is_file_of(int fd, unsigned pid);

/* Returns whether the process of this header runs on this host, or writes its dump. */
bool sp_top_is_running(const struct sp_header *h);

/* Finds the processes that run now: those of the run that the first call chose. Returns their
 * number. */
uint32_t sp_top_run_find(struct sp_top_run *r);

/* Finds the processes and opens their live files, as they are now, as one store. One that ends
 * meanwhile is left out. 0 or -errno: -ENOENT no process is left. */
int sp_top_run_open(struct sp_top_run *r, struct sp_file *f);
