/* stat-group.c: counters of a control group: one per event and CPU, which runs while a thread of
 * the group or of its subgroups does. Nothing is inherited and no thread is missed, but the
 * kernel does not report which thread it was. */
#include <mntent.h>
#include <sys/prctl.h>

#include "../../base/perf.h"
#include "../program/program.h"
#include "../tool/cmd.h"
#include "stat-interval.h"
#include "stat-attach-common.h"

/* Find the mount point of groups that can be counted: v1's perf_event hierarchy, else v2. */
static bool find_mount(char point[PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool v1 = false;

	*point = 0;
	while (mounts && !v1 && (m = getmntent(mounts)) != NULL) {
		v1 = strcmp(m->mnt_type, "cgroup") == 0 && hasmntopt(m, "perf_event");
		if (v1 || (!*point && strcmp(m->mnt_type, "cgroup2") == 0))
			snprintf(point, PATH_MAX, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return *point;
}

/* Open a group by its path below the mount point, as perf -G does, or by a path of the file
 * system. */
static int open_group(const struct sp_stat_group *g, const char *name)
{
	char path[2 * PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", g->point, name);
	fd = sp_open(path, O_RDONLY | O_DIRECTORY, 0);
	return fd < 0 && *name == '/' ? sp_open(name, O_RDONLY | O_DIRECTORY, 0) : fd;
}

static int report_missing(const struct sp_stat_group *g, const char *verb, const char *name, int e)
{
	char text[PATH_MAX + 300];

	if (e == -ENOENT || e == -ENOTDIR)
		snprintf(text, sizeof(text),
			 "no such control group in %s (for the group of a process see "
			 "/proc/PID/cgroup)",
			 g->point);
	else
		snprintf(text, sizeof(text), "the control group cannot be opened (%s)",
			 strerror(-e));
	return sp_complain(125, verb, text, name);
}

int sp_group_take(struct sp_stat_group *g, const char *verb, const char *name)
{
	bool mounted;
	size_t n;
	int fd;

	if (g->fd >= 0)
		return sp_complain(125, verb, "--cgroup takes one control group", name);
	g->given_name = name;
	if (!*name)
		return sp_complain(125, verb, "--cgroup takes the name of a control group", NULL);
	mounted = find_mount(g->point);
	n = strlen(g->point);
	if (!mounted)
		return sp_complain(125, verb,
				   "no control groups that can be counted are mounted: mount -t "
				   "cgroup2 none /sys/fs/cgroup (root)",
				   name);
	if (strncmp(name, g->point, n) == 0 && (!name[n] || name[n] == '/'))
		name += n;
	fd = open_group(g, name);
	if (fd < 0)
		return report_missing(g, verb, g->given_name, fd);
	g->fd = fd;
	n = (size_t)snprintf(g->path, sizeof(g->path), "/%s", name + strspn(name, "/"));
	/* Remove slashes that a shell appends to a folder. */
	for (n = sp_min(n, sizeof(g->path) - 1); n > 1 && g->path[n - 1] == '/'; n--)
		g->path[n - 1] = 0;
	g->argv[0] = strcpy(g->verb, "cgroup");
	g->argv[1] = g->path + (g->path[1] != 0);
	return 0;
}

/* Try a dummy event: an error is due to the group, not to an event. */
static int try_group(const struct sp_stat_run *r, const struct sp_stat_group *g, const char *verb)
{
	struct perf_event_attr a = sp_perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd = sp_perf_open(&a, g->fd, r->c.cpu[0], -1, PERF_FLAG_PID_CGROUP);
	char text[PATH_MAX + 300];

	if (fd >= 0) {
		sp_close(fd);
		return 0;
	}
	if (fd == -EACCES || fd == -EPERM)
		snprintf(text, sizeof(text),
			 "not permitted for a control group: run as root or with CAP_PERFMON, or "
			 "set kernel.perf_event_paranoid to 0");
	else if (fd == -EBADF || fd == -ENOENT)
		snprintf(text, sizeof(text),
			 "not a control group that can be counted: those are in %s", g->point);
	else if (fd == -EINVAL)
		snprintf(text, sizeof(text),
			 "this kernel counts no control groups (it was built without "
			 "CONFIG_CGROUP_PERF)");
	else
		snprintf(text, sizeof(text), "the kernel refuses the counter (%s)",
			 strerror((int)-fd));
	return sp_complain(125, verb, text, g->given_name);
}

static void report_start(const struct sp_stat_run *r, const struct sp_stat_group *g,
			 const char *verb, char **argv)
{
	uint32_t n = r->c.n_cpus;

	sp_message(verb, "counting control group %s on %u CPU%s%s%s%s", g->argv[1], n,
		   n == 1 ? "" : "s", argv ? " until " : "; Ctrl-C ends it", argv ? argv[0] : "",
		   argv ? " ends" : "");
}

/* Add one row with all counts, of no process. */
static void add_total_row(struct sp_stat_run *r, const struct sp_stat_group *g)
{
	struct sp_stat_counters *c = &r->c;
	struct sp_stat_row *row = sp_stat_add_row(c, &r->who, 0, 0);
	struct sp_stat_process *p;
	char args[PATH_MAX + 16];

	row->start_ns = r->child.start_ns;
	row->end_ns = r->child.end_ns;
	row->has_read = true;
	strcpy(row->name, "all of cgroup");
	memcpy(row->counts, c->value, (size_t)c->n_cpus * c->n * sizeof(*row->counts));
	sp_stat_gather(c, &r->who);
	p = sp_stat_process(&r->who, 0);
	p->start_ns = r->child.start_ns;
	p->end_ns = r->child.end_ns;
	sp_stat_set_args(p, args,
			 (uint32_t)snprintf(args, sizeof(args), "%s%c%s", g->argv[0], 0,
					    g->argv[1]) +
				 1);
}

/* Limit the time on each CPU to the elapsed time. The kernel's time of the root group's events
 * begins long before they do (Linux 6.18: 200 s after 1 ms). */
static void limit_times(struct sp_stat_counters *c, uint64_t elapsed)
{
	for (uint32_t k = 0; k < c->n_cpus; k++) {
		int64_t *time = &c->value[k * c->n + c->clock];

		*time = (int64_t)sp_min((uint64_t)*time, elapsed);
	}
}

static void count_group(struct sp_stat_run *r, const struct sp_stat_group *g, const char *verb,
			char **argv)
{
	struct sp_stat_child *child = &r->child;

	sp_machine_events_request(&r->machine_events, 's');
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	child->start_ns = sp_now_ns();
	report_start(r, g, verb, argv);
	sp_targets_wait(NULL, r);
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	child->end_ns = sp_now_ns();
	sp_machine_events_request(&r->machine_events, 'e');
	sp_stat_read(&r->c);
	limit_times(&r->c, child->end_ns - child->start_ns);
	sp_stat_interval_sample(r->interval, &r->c, true);
	add_total_row(r, g);
}

int sp_group_count(struct sp_stat_run *r, const struct sp_stat_group *g, const char *verb,
		   char **argv)
{
	struct sp_stat_child *child = &r->child;
	int e;

	r->c.is_attached = r->c.is_cgroup = true;
	r->why_no_rows = "no per-thread rows: the kernel counts a control group per CPU; use -p "
			 "to count a process per thread";
	sp_stat_online(&r->c);
	e = sp_stat_fork(child, &r->c, verb, argv);
	e = e ? e : try_group(r, g, verb);
	e = e ? e : sp_stat_open(&r->c, verb, g->fd);
	if (e) {
		sp_stat_abandon(child);
		return e;
	}
	count_group(r, g, verb, argv);
	sp_stat_close(&r->c);
	e = child->error ? sp_not_started(verb, argv[0], child->error) : 0;
	child->pid = 0;
	child->signal = 0;		/* the end of argv is not the group's */
	return e;
}
