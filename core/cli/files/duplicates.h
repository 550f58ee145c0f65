/* duplicates.h: finds files of the same process, so that it counts once.
 *
 * These are a snapshot beside the dump, a copy, or the live file of a process that was killed
 * before removing it. The most complete file counts.
 */
#pragma once

#include "../../model/model.h"
#include "../tool/key-index.h"

struct sp_once {
	struct sp_digest identity;		/* of host, boot, PID namespace, pid and start
						 * (exec begins another); 0: unknown */
	uint64_t much[3];		/* calls and readings, how it ended, when: the larger the
					 * more complete */
};

struct sp_once sp_once_of(const struct sp_model *m);	/* for a model of one process */

/* Orders by process, the most complete first. */
int sp_once_compare(const struct sp_once *x, const struct sp_once *y);

bool sp_once_is_same(const struct sp_once *x, const struct sp_once *y);
