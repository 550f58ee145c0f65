/* stat-thread-counters.c: counters of a single thread on each CPU, not inherited, until it ends:
 * for threads that the library reports (stat-threads.c), and for long-lived ones
 * (stat-long-lived.c). */
#include <sys/resource.h>

#include "../tool/cmd.h"
#include "stat.h"

#define FILES_LEFT 64			/* descriptors for other uses of the command */

static void close_counters(const struct sp_stat_counters *c, struct sp_stat_row *row)
{
	for (uint32_t v = 0; v < c->n_cpus * c->n; v++)
		sp_close(row->fd[v]);
	free(row->fd);
	row->fd = NULL;
}

/* Add the counts to the row, if all counters ran all the time; otherwise they remain part of the
 * remainder. */
void sp_thread_counters_ended(struct sp_stat_counters *c, struct sp_stat_who *w,
			      struct sp_stat_row *row)
{
	uint32_t values = c->n_cpus * c->n;
	int64_t *value = sp_check_alloc(calloc(values + 1, sizeof(*value)));
	bool *is_partial = sp_check_alloc(calloc(c->n + 1, sizeof(*is_partial))), whole = true;

	sp_stat_read_all(c, row->fd, true, value, is_partial);
	for (uint32_t i = 0; i < c->n; i++)
		whole = whole && !is_partial[i];
	for (uint32_t v = 0; whole && v < values; v++)
		row->counts[v] += value[v];
	row->has_read = row->has_read || whole;
	w->n_without_counters += !whole;
	close_counters(c, row);
	free(is_partial);
	free(value);
}

bool sp_thread_counters_open(struct sp_stat_counters *c, struct sp_stat_who *w,
			     struct sp_stat_row *row)
{
	uint32_t values = (c->n_cpus - c->long_lived) * c->n;
	struct rlimit files = { 0 };
	bool all = true;
	long fd = 0;

	getrlimit(RLIMIT_NOFILE, &files);
	row->fd = sp_check_alloc(malloc(c->n_cpus * c->n * sizeof(*row->fd) + 1));
	memset(row->fd, -1, c->n_cpus * c->n * sizeof(*row->fd));
	for (uint32_t v = 0; all && v < values; v++)
		if (c->fd[c->long_lived ? values + v % c->n : v] >= 0) {
			fd = sp_stat_open_for(c, v % c->n, row->tid, c->cpu[v / c->n]);
			row->fd[v] = (int)fd;
			all = fd >= 0 ? (rlim_t)fd + FILES_LEFT < files.rlim_cur
				      : c->long_lived && sp_stat_is_of_cpu(fd);
		}
	if (!all) {
		w->n_without_counters += fd != -ESRCH;	/* -ESRCH: it did not wait, and has ended */
		close_counters(c, row);
	}
	return all || (fd < 0 && fd != -EMFILE && fd != -ENFILE);
}

/* Reduce the largest of the values v, v + n ... below `end` of all rows until `over` is 0. */
static void trim_excess(const struct sp_stat_counters *c, struct sp_stat_who *w, uint32_t v,
			uint32_t end, int64_t over)
{
	while (over > 0) {
		int64_t *largest = &w->row[0].counts[v], part;

		for (uint32_t i = 0; i < w->n; i++)
			for (uint32_t u = v; u < end; u += c->n)
				largest = w->row[i].counts[u] > *largest ? &w->row[i].counts[u]
									 : largest;
		if (*largest <= 0)		/* the total itself is negative */
			break;
		part = (int64_t)sp_min((uint64_t)over, (uint64_t)*largest);
		*largest -= part;
		over -= part;
	}
}

/* Make the rows fit the totals. They can exceed them slightly, since the two hardware counters
 * of an event start and stop at different instructions. If the total has no CPU, move the rows'
 * counts from it to their CPUs. */
void sp_thread_counters_finish(const struct sp_stat_counters *c, struct sp_stat_who *w)
{
	uint32_t all = (c->n_cpus - 1) * c->n, totals = c->long_lived ? all : 0;

	for (uint32_t t = totals; t < c->n_cpus * c->n; t++) {
		uint32_t v = t - totals, end = c->long_lived ? all : v + 1;
		int64_t over = -c->value[t];

		for (uint32_t i = 0; i < w->n; i++)
			for (uint32_t u = v; u < end; u += c->n)
				over += w->row[i].counts[u];
		trim_excess(c, w, v, end, over);
	}
	for (uint32_t v = 0; v < totals; v++) {
		for (uint32_t i = 0; i < w->n; i++)
			c->value[v] += w->row[i].counts[v];
		c->value[all + v % c->n] -= c->value[v];
	}
}
