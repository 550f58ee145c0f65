/* stat-own.c: counters of a thread's own, not inherited, on each CPU, until it has ended: where it is told of. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../sys.h"
#include "cmd.h"
#include "stat.h"

#define FILES_LEFT 64			/* descriptors for all else that the command does */

static void close_counters(const struct sp_stat_counters *c, struct sp_stat_row *row)
{
	for (uint32_t v = 0; v < c->n_cpus * c->n; v++)
		sp_close(row->fd[v]);
	free(row->fd);
	row->fd = NULL;
}

/* What it counted is its row's.  Where a counter did not run all the time, others had it: what it missed is in the rest,
 * and so is all that it has. */
void sp_own_ended(struct sp_stat_counters *c, struct sp_stat_who *w, struct sp_stat_row *row)
{
	uint32_t values = c->n_cpus * c->n;
	int64_t *value = sp_need(calloc(values + 1, sizeof(*value)));
	bool *short_of = sp_need(calloc(c->n + 1, sizeof(*short_of))), whole = true;

	sp_stat_read_all(c, row->fd, value, short_of);
	for (uint32_t i = 0; i < c->n; i++)
		whole = whole && !short_of[i];
	for (uint32_t v = 0; whole && v < values; v++)
		row->at[v] += value[v];
	row->has_read = row->has_read || whole;
	w->untold += !whole;
	close_counters(c, row);
	free(short_of);
	free(value);
}

void sp_own_open(struct sp_stat_counters *c, struct sp_stat_who *w, struct sp_stat_row *row)
{
	uint32_t values = c->n_cpus * c->n;
	struct rlimit files = { 0 };
	bool all = true;

	getrlimit(RLIMIT_NOFILE, &files);
	row->fd = sp_need(malloc(values * sizeof(*row->fd) + 1));
	memset(row->fd, -1, values * sizeof(*row->fd));
	for (uint32_t v = 0; all && v < values; v++)
		if (c->fd[v] >= 0) {
			row->fd[v] = (int)sp_stat_open_for(c, v % c->n, row->tid, c->cpu[v / c->n]);
			all = row->fd[v] >= 0 && (rlim_t)row->fd[v] + FILES_LEFT < files.rlim_cur;
		}
	if (!all) {
		w->untold++;
		close_counters(c, row);
	}
}

/* Rows may have a little more than the total, of counters of the processor: the two of an event begin and stop an
 * instruction apart. The largest gives it back. */
void sp_own_settle(const struct sp_stat_counters *c, struct sp_stat_who *w)
{
	for (uint32_t v = 0; v < c->n_cpus * c->n; v++) {
		struct sp_stat_row *largest = NULL;
		int64_t rest = c->value[v];

		for (uint32_t i = 0; i < w->n; i++) {
			rest -= w->row[i].at[v];
			largest = !largest || w->row[i].at[v] > largest->at[v] ? &w->row[i] : largest;
		}
		if (rest < 0)
			largest->at[v] += rest;
	}
}
