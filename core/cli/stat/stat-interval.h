/* stat-interval.h: counts per CPU at intervals: rows on standard error, and readings in the
 * store.
 *
 * A row has the counts since the row before, so that the rows of a CPU add up to its count; a row
 * of a gauge has its value. An event that is found not to be counted has no further rows: not
 * permitted, a shared counter, a gauge that can no longer be read.
 *
 * The command does not wait for a slow terminal or pipe while the program runs. Rows wait in
 * memory; those that do not fit are dropped and counted.
 */
#pragma once

#include "stat.h"

struct sp_stat_interval {
	uint32_t ms;			/* 0: no rows */
	bool csv, quiet;
	int fd;				/* for the rows; -1: not yet opened */
	uint64_t most;			/* readings that are kept per CPU (SSPAPI_READINGS_MAX) */
	/* start: CLOCK_REALTIME, as in the store; next: CLOCK_BOOTTIME */
	uint64_t start_ns, next_ns;
	int64_t *before;		/* [n_cpus][n] last values */
	struct sp_machine_events *machine_events;
	int64_t machine_before[SP_STAT_EVENTS];
	/* CLOCK_REALTIME of the first row without a gauge that could not be read to the end; 0 */
	uint64_t ended_ns[SP_STAT_EVENTS];
	bool *is_partial;		/* [n] the counter did not run all the time */
	struct sp_stat_tick {
		uint64_t ns;		/* CLOCK_REALTIME */
		/* index into cpu[] of the counters; n_cpus: machine-wide events */
		uint32_t cpu;
		uint32_t at;		/* index of the first of n_events values */
	} *tick;
	uint32_t n, room;
	int64_t *value;			/* [n_values], of the plan's events */
	uint32_t n_values, value_room;
	uint64_t *kept;			/* [n_cpus + 1] number of readings; of the machine last */
	/* CLOCK_REALTIME of the last of these, and of the last sample; 0: none */
	uint64_t *kept_ns, sampled_ns;
	uint64_t refused;		/* readings beyond `most` */
	char *text;			/* waiting rows */
	size_t used;
	uint64_t unshown;		/* dropped rows */
};

/* Do nothing if i is NULL, like the functions below. */
void sp_stat_interval_begin(struct sp_stat_interval *i, const struct sp_stat_counters *c,
			    uint64_t start_ns);

/* Limit a timeout of `ms` (-1: none) to the next sample. */
int sp_stat_interval_wait(const struct sp_stat_interval *i, int ms);

/* Make the rows that are due. ended: the last rows, from the final counts. */
void sp_stat_interval_sample(struct sp_stat_interval *i, const struct sp_stat_counters *c,
			     bool ended);

/* Write the waiting rows that the reader takes at once; wait: all. */
void sp_stat_interval_put(struct sp_stat_interval *i, bool wait);
