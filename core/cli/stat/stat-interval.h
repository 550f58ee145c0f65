/* stat-interval.h: what each CPU counted every so many ms while it counts: rows on standard error,
 * and readings that the store keeps.
 *
 * A row is what came since the row before, so that the rows of a CPU add up to its count.  A
 * terminal or a pipe that takes no more is not waited for while the program runs: rows wait in
 * memory, and where they are too many they are left out, and counted.
 */
#pragma once

#include "stat.h"

struct sp_stat_interval {
	uint32_t ms;			/* 0: nobody wants rows */
	bool csv, quiet;
	int fd;				/* that rows go to; -1: none have begun */
	uint64_t most;			/* readings of a CPU that are kept (SSPAPI_READINGS_MAX) */
	uint64_t start_ns, next_ns;	/* CLOCK_REALTIME, as the store has it; CLOCK_MONOTONIC */
	int64_t *before;		/* [n_cpus][n] of the counters */
	struct sp_stat_tick {
		uint64_t ns;		/* CLOCK_REALTIME */
		uint32_t cpu;		/* its number among the counters' */
		uint32_t at;		/* the first of its n_events values */
	} *tick;
	uint32_t n, room;
	int64_t *value;			/* of the plan's events */
	uint32_t n_values, value_room;
	uint64_t *kept;			/* [n_cpus] readings */
	uint64_t refused;		/* readings past `most` */
	char *text;			/* rows that wait */
	size_t used;
	uint64_t unshown;		/* rows that were left out */
};

/* Of no interval (NULL) these do nothing. */
void sp_stat_interval_begin(struct sp_stat_interval *i, const struct sp_stat_counters *c,
			    uint64_t start_ns);

/* How many ms may be waited for something else, which alone would be `ms` (-1: for ever). */
int sp_stat_interval_wait(const struct sp_stat_interval *i, int ms);

/* Makes the rows that are due.  ended: the last ones, from what the counters had at the end. */
void sp_stat_interval_sample(struct sp_stat_interval *i, const struct sp_stat_counters *c,
			     bool ended);

/* Puts out rows that wait, as far as somebody takes them at once; wait: all of them. */
void sp_stat_interval_put(struct sp_stat_interval *i, bool wait);
