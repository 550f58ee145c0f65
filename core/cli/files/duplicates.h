/* duplicates.h: finds files that hold the same process, so that it counts once: a snapshot beside
 * the dump, a copy, a live file whose process was killed before it could remove it.  The most
 * complete file counts. */
#pragma once

#include "../../model/model.h"
#include "../tool/key-index.h"

struct sp_once {
	struct sp_digest identity;		/* of host, boot, PID namespace, pid and start: exec
						 * begins another; 0: not known */
	uint64_t much[3];		/* calls and readings, how it ended, when: more is more
					 * complete */
};

struct sp_once sp_once_of(const struct sp_model *m);	/* whose process is one */

/* By process, the most complete first. */
int sp_once_compare(const struct sp_once *x, const struct sp_once *y);

bool sp_once_is_same(const struct sp_once *x, const struct sp_once *y);
