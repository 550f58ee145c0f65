/* stat-long-lived.c: rows for long-lived threads, on many CPUs. A counter for each event and CPU
 * would make each thread start slower by a microsecond. So each event has one inherited counter
 * for all CPUs. A thread gets counters per CPU (stat-thread-counters.c) when it has lived for a
 * while, the first thread at its start. The remainder of the total has no CPU. */
#include <dirent.h>

#include "../tool/cmd.h"
#include "stat.h"

#define SCAN_MS 20u			/* shortest time between two scans of /proc */
#define SCAN_SHARE 100u			/* a scan may use 1 / SCAN_SHARE of the time */

struct scan {
	struct sp_stat_counters *c;
	struct sp_stat_who *w;
	uint64_t at_ns;			/* CLOCK_BOOTTIME, as /proc/PID/stat */
};

static void read_names(struct sp_stat_row *row)
{
	char *args = NULL;
	uint32_t bytes = row->pid == row->tid ? sp_proc_args(row->pid, &args) : 0;

	sp_proc_name(row->pid, row->tid, row->name);
	if (!bytes)			/* a process that has just ended has none */
		return;
	free(row->args);
	row->args = args;
	row->args_bytes = bytes;
}

static void scan_thread(const struct scan *l, int pid, int tid)
{
	struct sp_stat_row *row = sp_stat_find_row(l->w, pid, tid);
	struct sp_process_stat p;
	uint64_t age;

	if (row && row->fd) {
		row->seen_ns = l->at_ns;
		if (pid == tid)		/* an exec may have changed them */
			read_names(row);
	}
	if ((row && row->fd) || l->c->fds_exhausted || !sp_proc_thread(pid, tid, &p))
		return;
	age = l->at_ns - p.start_ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	if ((int64_t)age < SP_STAT_LONG_LIVED_MS * 1000000)
		return;
	row = sp_stat_add_row(l->c, l->w, pid, tid);
	l->c->fds_exhausted = !sp_thread_counters_open(l->c, l->w, row);
	row->seen_ns = l->at_ns;
	row->start_ns = sp_now_ns() - age;
	row->end_ns = 0;
	read_names(row);
}

/* Scan the threads and children of one process. */
static void scan_process(const struct scan *l, int pid)
{
	int child[SP_STAT_CHILDREN_MOST];
	char path[80];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		int tid = atoi(e->d_name);
		uint32_t n;

		if (tid <= 0)
			continue;
		scan_thread(l, pid, tid);
		n = sp_proc_children(pid, tid, child);
		for (uint32_t i = 0; i < n; i++)
			scan_process(l, child[i]);
	}
	if (d)
		closedir(d);
}

/* Return whether the thread still runs and its number was not reused. */
static bool is_still_there(const struct sp_stat_row *row)
{
	const uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	struct sp_process_stat p;
	uint64_t start;

	if (!row->start_ns || !sp_proc_thread(row->pid, row->tid, &p))
		return false;
	start = sp_now_ns() - (sp_boot_ns() - p.start_ticks * tick);
	return start - row->start_ns + 2 * tick < 4 * tick;
}

static void end_row(struct sp_stat_counters *c, struct sp_stat_who *w, struct sp_stat_row *row)
{
	sp_thread_counters_ended(c, w, row);
	row->end_ns = sp_now_ns();
}

/* Opens the first thread's counters, which show the events that each CPU has. */
void sp_long_lived_begin(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	struct sp_stat_row *row = sp_stat_add_row(c, w, c->child, c->child);

	c->scan_ms = SCAN_MS;
	(void)sp_thread_counters_open(c, w, row);
	c->fds_exhausted = !row->fd;
	c->has_event = sp_check_alloc(calloc((size_t)c->n_cpus * c->n, sizeof(*c->has_event)));
	for (uint32_t v = 0; v < c->n_cpus * c->n; v++)
		c->has_event[v] = c->fds_exhausted || row->fd[v] >= 0 || c->fd[v] >= 0;
}

void sp_long_lived_scan(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	struct scan l = { c, w, sp_boot_ns() };

	scan_process(&l, c->child);
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].fd && w->row[i].seen_ns != l.at_ns && is_still_there(&w->row[i]))
			/* its parent has ended, or has more children than fit */
			scan_process(&l, w->row[i].pid);
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].fd && w->row[i].seen_ns != l.at_ns)
			end_row(c, w, &w->row[i]);
	c->scan_ms = (uint32_t)sp_max(SCAN_MS, (sp_boot_ns() - l.at_ns) * SCAN_SHARE / 1000000);
}

void sp_long_lived_end(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->row[i].fd)
			end_row(c, w, &w->row[i]);
}
