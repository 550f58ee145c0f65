/* duplicates.h: finds files of the same process, so that it counts once.
 *
 * These are a snapshot beside the dump, a copy, or the live file of a process that was killed
 * before removing it. The most complete file counts.
 */
#pragma once

#include "../../model/model.h"
#include "../tool/key-index.h"

struct sp_process_key {
	struct sp_digest identity;		/* of host, boot, PID namespace, pid and start
						 * (exec begins another); 0: unknown */
	uint64_t completeness[3];		/* calls and readings, how it ended, when:
						 * the larger the more complete */
};

/* The model must have one process. */
struct sp_process_key sp_get_process_key(const struct sp_model *m);

/* Orders by process, the most complete first. */
int sp_process_key_compare(const struct sp_process_key *x, const struct sp_process_key *y);

bool sp_is_same_process(const struct sp_process_key *x, const struct sp_process_key *y);
