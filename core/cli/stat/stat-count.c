/* stat-count.c: opens and reads the counters: one inherited perf event of the child per event
 * and CPU. */
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../base/cpu-list.h"
#include "../../base/perf.h"
#include "../probe/kernel-events.h"
#include "../tool/cmd.h"
#include "stat.h"

#define CPUS_MOST 65536u
#define SLACK_NS 100000u		/* context switches of many threads */
#define OWN_SLACK_NS 5000u		/* context switches of one thread */

static const struct perf_event_attr task_clock = { .type = PERF_TYPE_SOFTWARE,
						   .config = PERF_COUNT_SW_TASK_CLOCK };

void sp_stat_cpus(struct sp_stat_counters *c)
{
	size_t bytes = CPUS_MOST / 8;
	cpu_set_t *set = sp_check_alloc(calloc(1, bytes));

	if (sp_sys(SYS_sched_getaffinity, 0, bytes, set) < 0)
		for (long k = 0; k < sysconf(_SC_NPROCESSORS_ONLN); k++)
			CPU_SET_S((size_t)k, bytes, set);
	c->cpu = sp_check_alloc(calloc(CPUS_MOST, sizeof(*c->cpu)));
	for (size_t k = 0; k < CPUS_MOST; k++)
		if (CPU_ISSET_S(k, bytes, set))
			c->cpu[c->n_cpus++] = (int)k;
	free(set);
}

/* List the "online" or "possible" CPUs, ascending. Returns their number, or 0 if the system does
 * not list them. */
static uint32_t list_cpus(const char *which, int cpu[CPUS_MOST])
{
	char text[4096], path[64];
	const char *at = text;
	uint64_t from, to;
	uint32_t n = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", which);
	if (sp_read_file(path, text, sizeof(text)) <= 0)
		*text = 0;
	while (at && (at = sp_cpu_range(at, &from, &to)))
		for (uint64_t k = from; k <= to && n < CPUS_MOST; k++)
			cpu[n++] = (int)k;
	return n;
}

void sp_stat_online(struct sp_stat_counters *c)
{
	int *cpu = sp_check_alloc(calloc(CPUS_MOST, sizeof(*cpu)));
	uint32_t n = list_cpus("online", cpu);

	free(n ? c->cpu : cpu);
	c->cpu = n ? cpu : c->cpu;
	c->n_cpus = n ? n : c->n_cpus;
}

/* Return whether all CPUs that may come online are counted. */
static bool watches_all(const struct sp_stat_counters *c)
{
	int *cpu = sp_check_alloc(calloc(CPUS_MOST, sizeof(*cpu)));
	uint32_t n = list_cpus("possible", cpu), at = 0;

	for (uint32_t k = 0; k < c->n_cpus && at < n; k++)
		at += c->cpu[k] == cpu[at];
	free(cpu);
	return n && at == n;
}

/* ---- opening ------------------------------------------------------------ */

/* Derive the attributes of an inherited counter. A software event always runs while its thread
 * does, so only the time that it ran is read. */
static struct perf_event_attr inherited(const struct perf_event_attr *from, bool stat, bool running)
{
	struct perf_event_attr a = *from;
	bool soft = a.type == PERF_TYPE_SOFTWARE;

	a.size = sizeof(a);
	a.disabled = a.inherit = 1;
	a.enable_on_exec = !running;
	/* never pinned: the program's own counters come first */
	a.pinned = a.exclusive = a.freq = 0;
	a.sample_period = a.sample_type = 0;
	a.read_format =
		PERF_FORMAT_TOTAL_TIME_RUNNING | (soft ? 0 : PERF_FORMAT_TOTAL_TIME_ENABLED);
	a.inherit_stat = stat;
	return a;
}

static long open_of(const struct sp_stat_counters *c, struct perf_event_attr *a, pid_t child,
		    int cpu)
{
	if (!c->is_cgroup)
		return sp_perf_open(a, child, cpu, -1, 0);
	a->inherit = 0;			/* one CPU is the target, not a thread */
	return sp_perf_open(a, child, cpu, -1, PERF_FLAG_PID_CGROUP);
}

/* Prevent the kernel from mixing up the counts of siblings.
 *
 * At a switch between siblings the kernel swaps their lists of counters and, with inherit_stat,
 * assigns the counts by the positions in the lists. If the program has inherited events of its
 * own, wrong events get the counts (a PAPI_INHERIT program without migrations showed 601
 * CPU-MIGRATIONS). The kernel does not swap lists that contain an inherited event with
 * PERF_SAMPLE_READ. Kernels before 6.13 refuse this combination.
 */
static void separate_siblings(struct perf_event_attr *a)
{
	a->sample_type = a->inherit_stat ? PERF_SAMPLE_READ | PERF_SAMPLE_TID : 0;
}

long sp_stat_open_native(struct sp_stat_counters *c, uint32_t i, pid_t child, int cpu)
{
	const struct sp_stat_native *n = i < c->plan->n_natives ? &c->plan->native[i] : NULL;
	struct perf_event_attr a =
		inherited(n ? &n->attr : &task_clock, c->has_reads, c->is_attached);
	long fd;

	if (i == c->time_source && cpu == c->cpu[0])
		separate_siblings(&a);
	if (n && n->as_named)
		return open_of(c, &a, child, cpu);
	a.exclude_kernel = a.exclude_hv = c->user_only;
	fd = open_of(c, &a, child, cpu);
	if ((fd == -EACCES || fd == -EPERM) && !c->user_only) {
		a.exclude_kernel = a.exclude_hv = 1;
		fd = open_of(c, &a, child, cpu);
		c->user_only = fd >= 0;
	}
	return fd;
}

long sp_stat_open_for(struct sp_stat_counters *c, uint32_t i, pid_t thread, int cpu)
{
	const struct sp_stat_native *n = i < c->plan->n_natives ? &c->plan->native[i] : NULL;
	struct perf_event_attr a = inherited(n ? &n->attr : &task_clock, false, false);

	a.disabled = a.enable_on_exec = !c->started;
	a.inherit = 0;
	if (!n || !n->as_named)
		a.exclude_kernel = a.exclude_hv = c->user_only;
	return sp_perf_open(&a, thread, cpu, -1, 0);
}

static int report_refusal(const struct sp_stat_counters *c, const char *verb, long error,
			  const char *what)
{
	uint32_t n = c->n - (c->time_source != c->clock);
	char text[300];

	if (error == -EMFILE || error == -ENFILE)
		snprintf(text, sizeof(text),
			 "%u descriptors are needed, one for each of %u CPUs and %u events: "
			 "raise the limit (ulimit -Hn)%s or name fewer events",
			 c->n_cpus * (n + (c->has_rows ? 1 : 0)) + (c->is_cgroup  ? 0
								    : c->has_rows ? 2
										  : 1),
			 c->n_cpus, n,
			 c->is_cgroup ? "" : ", pin the program to fewer CPUs (taskset),");
	else if (error == -EACCES || error == -EPERM)
		snprintf(text, sizeof(text),
			 "the kernel does not permit counting (%s): see sspapi doctor",
			 strerror((int)-error));
	else
		snprintf(text, sizeof(text), "the kernel refuses the counter (%s)",
			 strerror((int)-error));
	return sp_complain(125, verb, text, what);
}

bool sp_stat_is_of_cpu(long error)
{
	return error == -ENOENT || error == -ENODEV || error == -ENXIO || error == -EINVAL ||
	       error == -EOPNOTSUPP;
}

/* Open an event on every CPU that  supports it. */
static int open_event(struct sp_stat_counters *c, const char *verb, uint32_t i, pid_t child)
{
	const char *name = i < c->plan->n_natives ? c->plan->native[i].name : "perf::TASK-CLOCK";
	long fd, why = -ENODEV;
	bool any = false;

	if (i == c->clock ? c->time_source != i : !sp_stat_is_in_round(c->plan, i, c->round))
		return 0;
	for (uint32_t k = c->long_lived ? c->n_cpus - 1 : 0; k < c->n_cpus; k++) {
		fd = sp_stat_open_native(c, i, child, c->cpu[k]);
		c->fd[k * c->n + i] = fd >= 0 ? (int)fd : -1;
		any = any || fd >= 0;
		if (fd < 0 && !sp_stat_is_of_cpu(fd))
			return report_refusal(c, verb, fd, name);
		why = fd < 0 && (why == -ENODEV || why == -ENOENT) ? fd : why;
	}
	if (i < c->plan->n_natives && c->user_only && !c->plan->native[i].as_named &&
	    sp_kernel_event_is_kernel_only(c->plan->native[i].attr.type,
					   c->plan->native[i].attr.config))
		c->refused[i] = true;
	return any ? 0 : report_refusal(c, verb, why, name);
}

void sp_stat_find_clock(struct sp_stat_counters *c)
{
	const struct sp_stat_plan *p = c->plan;

	c->time_source = 0;
	while (c->time_source < p->n_natives &&
	       (p->native[c->time_source].attr.type != PERF_TYPE_SOFTWARE ||
		!sp_stat_is_in_round(p, c->time_source, c->round)))
		c->time_source++;
	c->clock = p->n_natives;
	c->n = c->clock + 1;
}

/* Open a dummy event for FORK, EXIT and COMM records, with times as in the store. */
long sp_stat_open_task_events(const struct sp_stat_counters *c, pid_t child, int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = !c->is_attached && !c->system_wide_records,
		.enable_on_exec = !c->is_attached && !c->system_wide_records,
		.inherit = !c->system_wide_records,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.use_clockid = 1,
		.clockid = CLOCK_REALTIME,
	};

	return sp_perf_open(&a, c->system_wide_records ? -1 : child, cpu, -1, 0);
}

/* Return whether this user may count the whole machine: root, CAP_PERFMON, or
 * kernel.perf_event_paranoid below 1. */
static bool sees_all(struct sp_stat_counters *c)
{
	long fd;

	c->system_wide_records = true;
	fd = sp_stat_open_task_events(c, -1, c->cpu[0]);
	c->system_wide_records = false;
	sp_close((int)fd);
	return fd >= 0;
}

long sp_stat_open_all_cpus_clock(const struct sp_stat_counters *c, pid_t child)
{
	struct perf_event_attr a = inherited(&task_clock, false, c->is_attached);

	a.exclude_kernel = a.exclude_hv = c->user_only;
	return sp_perf_open(&a, child, -1, -1, 0);
}

/* Rings use a pool of locked pages that all processes of an ordinary user share. A process that
 * finds the pool empty locks pages of its own, up to RLIMIT_MEMLOCK. The program finds enough
 * pages if the rings use no more than that limit. */
bool sp_stat_leaves_pages(const struct sp_stat_counters *c)
{
	struct rlimit r;

	uint64_t rings = c->has_reads ? c->plan->n_natives + 1 : 0;

	return !geteuid() || getrlimit(RLIMIT_MEMLOCK, &r) < 0 ||
	       c->n_cpus * (rings * sp_ring_bytes(SP_STAT_RING_PAGES) +
			    sp_ring_bytes(c->task_ring_pages)) <=
		       r.rlim_cur;
}

/* Returns false if no locked pages are left. */
static bool open_rings(struct sp_stat_counters *c, pid_t child)
{
	uint32_t of = c->n + 1;

	c->system_wide_records = c->has_reads && sees_all(c);
	for (uint32_t k = 0; k < c->n_cpus; k++) {
		c->task_fd[k] = (int)sp_stat_open_task_events(c, child, c->cpu[k]);
		c->ring[k * of + c->n] = sp_ring_map(c->task_fd[k], c->task_ring_pages);
		if (!c->ring[k * of + c->n])
			return false;
		for (uint32_t i = 0; c->has_reads && i < c->n; i++) {
			c->ring[k * of + i] = sp_ring_map(c->fd[k * c->n + i], SP_STAT_RING_PAGES);
			if (!c->ring[k * of + i] && c->fd[k * c->n + i] >= 0)
				return false;
		}
	}
	return true;
}

static void close_all(struct sp_stat_counters *c)
{
	for (uint32_t i = 0; c->ring && i < c->n_rings * (c->n + 1); i++) {
		sp_ring_unmap(c->ring[i],
			      i % (c->n + 1) == c->n ? c->task_ring_pages : SP_STAT_RING_PAGES);
		sp_close(c->carrier ? c->carrier[i] : -1);
	}
	for (uint32_t i = 0; c->task_fd && i < c->n_cpus; i++)
		sp_close(c->task_fd[i]);
	for (uint32_t i = 0; c->fd && i < c->n_cpus * c->n; i++)
		sp_close(c->fd[i]);
	free(c->ring);
	free(c->carrier);
	free(c->task_fd);
	free(c->fd);
	c->ring = NULL;
	c->carrier = c->task_fd = c->fd = NULL;
}

static int open_counters(struct sp_stat_counters *c, const char *verb, pid_t child)
{
	int r = 0;

	c->fd = sp_check_alloc(calloc((size_t)c->n_cpus * c->n, sizeof(*c->fd)));
	memset(c->fd, -1, (size_t)c->n_cpus * c->n * sizeof(*c->fd));
	for (uint32_t i = 0; r == 0 && i < c->n; i++)
		r = open_event(c, verb, i, child);
	return r;
}

int sp_stat_open(struct sp_stat_counters *c, const char *verb, pid_t child)
{
	int r;

	c->n_rings = c->n_cpus;
	c->child = child;
	c->slack_ns = 1000;		/* a microsecond is no visit to another CPU */
	sp_stat_find_clock(c);
	r = open_counters(c, verb, child);
	if (r == 0 && c->has_rows) {
		c->task_fd = sp_check_alloc(calloc(c->n_cpus, sizeof(*c->task_fd)));
		memset(c->task_fd, -1, c->n_cpus * sizeof(*c->task_fd));
		c->ring = sp_check_alloc(calloc((size_t)c->n_cpus * (c->n + 1), sizeof(*c->ring)));
		if (!open_rings(c, child)) {
			close_all(c);
			c->has_rows = c->from_library = c->has_reads = false;
			r = open_counters(c, verb, child);
		}
	}
	/* Counters of a control group need no such clock: each has one CPU. */
	if (r == 0 && !c->is_cgroup && !c->long_lived && !watches_all(c))
		c->all_cpus_clock = (int)sp_stat_open_all_cpus_clock(c, child);
	if (c->all_cpus_clock < -1)
		r = report_refusal(c, verb, c->all_cpus_clock, "perf::TASK-CLOCK");
	if (r)
		sp_stat_close(c);
	return r;
}

static void list_events(struct sp_stat_counters *c)
{
	c->has_event = sp_check_alloc(calloc((size_t)c->n_cpus * c->n + 1, sizeof(*c->has_event)));
	for (uint32_t v = 0; v < c->n_cpus * c->n; v++)
		c->has_event[v] = c->fd[v] >= 0;
}

/* Sets has_event and leaves nothing open. */
int sp_stat_try(struct sp_stat_counters *c, const char *verb, pid_t thread)
{
	int r = open_counters(c, verb, thread);

	free(c->has_event);
	list_events(c);
	close_all(c);
	return r;
}

/* Open rings that the counters of many threads share. A dummy event of the command owns each
 * ring. */
bool sp_stat_open_rings(struct sp_stat_counters *c, uint32_t n_cpus, const int *cpu)
{
	struct perf_event_attr a = sp_perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	uint32_t of = c->n + 1;

	c->n_rings = n_cpus;
	c->ring = sp_check_alloc(calloc((size_t)n_cpus * of, sizeof(*c->ring)));
	c->carrier = sp_check_alloc(calloc((size_t)n_cpus * of, sizeof(*c->carrier)));
	memset(c->carrier, -1, (size_t)n_cpus * of * sizeof(*c->carrier));
	for (uint32_t i = 0; i < n_cpus * of; i++) {
		bool side = i % of == c->n;

		if (!side && (!c->has_reads || !c->has_event[i / of * c->n + i % of]))
			continue;
		a.use_clockid = side;
		a.clockid = side ? CLOCK_REALTIME : 0;
		c->carrier[i] = sp_perf_open(&a, 0, cpu[i / of], -1, 0);
		c->ring[i] =
			sp_ring_map(c->carrier[i], side ? c->task_ring_pages : SP_STAT_RING_PAGES);
		if (!c->ring[i])
			return false;
	}
	return true;
}

/* ---- reading ------------------------------------------------------------ */

/* The slack is for context switches. A single thread's counter that never ran counted nothing: in
 * a short life the slack would hide this. */
bool sp_stat_ran_enough(uint64_t running, uint64_t clock, bool own)
{
	return running + (own ? OWN_SLACK_NS : SLACK_NS) + clock / 100 >= clock &&
	       (running || !clock || !own);
}

/* Read an event on all CPUs; false: the counter did not run all the time.
 *
 * The kernel's own times show that for a single thread: the counter ran on all CPUs for less
 * than the thread did. The clock alone would be wrong on an emulated aarch64, whose context
 * switches are slow. The times also differ if the thread ran on a CPU that is not counted; then
 * the clock decides, as it does for inherited counters. Kernels from 5.13 to 6.14 drop the
 * enabled time of inherited counters that were not running when their thread ended.
 */
static bool read_event(const struct sp_stat_counters *c, const int *fds, uint32_t i, bool own,
		       int64_t *value)
{
	/* on: of the first CPU's counter, before the thread runs on */
	uint64_t is[3], ran = 0, on = UINT64_MAX;
	bool enough = true;

	for (uint32_t k = 0; k < c->n_cpus; k++) {
		int fd = fds[k * c->n + i];
		ssize_t got = fd < 0 ? 0 : read(fd, is, sizeof(is));

		if (got < (ssize_t)sizeof(is[0]))
			continue;
		value[k * c->n + i] = (int64_t)is[0];
		if (i == c->time_source)
			value[k * c->n + c->clock] = (int64_t)is[1];
		if (got < (ssize_t)sizeof(is))
			continue;
		ran += is[2];
		on = is[1] < on ? is[1] : on;
		enough = enough &&
			 sp_stat_ran_enough(is[2], (uint64_t)value[k * c->n + c->clock], own);
	}
	return enough || (own && ran && ran >= on);
}

void sp_stat_read_all(const struct sp_stat_counters *c, const int *fds, bool own, int64_t *value,
		      bool *is_partial)
{
	/* The time source comes first: others are compared with it. */
	read_event(c, fds, c->time_source, own, value);
	for (uint32_t i = 0; i < c->n; i++)
		if (i != c->time_source && !read_event(c, fds, i, own, value))
			is_partial[i] = true;
}

void sp_stat_read(struct sp_stat_counters *c)
{
	uint64_t is[2];

	c->value = sp_check_alloc(calloc((size_t)c->n_cpus * c->n + 1, sizeof(*c->value)));
	c->is_partial = sp_check_alloc(calloc(c->n, sizeof(*c->is_partial)));
	if (!c->has_event)
		list_events(c);
	if (c->all_cpus_clock >= 0 && read(c->all_cpus_clock, is, sizeof(is)) == sizeof(is))
		c->all_cpus_ns = is[0];
	sp_stat_read_all(c, c->fd, false, c->value, c->is_partial);
}

void sp_stat_close(struct sp_stat_counters *c)
{
	close_all(c);
	sp_close(c->all_cpus_clock);
	c->all_cpus_clock = -1;
}

/* ---- does the kernel write counts of threads? --------------------------- */

/* Fork a child that forks a child, which ends. */
static pid_t fork_twice(int go[2])
{
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	close(go[1]);
	if (read(go[0], &byte, 1) == 1) {
		pid = fork();
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static void note_read(void *any, const struct perf_event_header *h, const void *body)
{
	(void)body;
	*(bool *)any = *(bool *)any || h->type == PERF_RECORD_READ;
}

bool sp_stat_probe_inherited_reads(int cpu)
{
	struct perf_event_attr a = inherited(&task_clock, true, true);
	bool is_started = false, any = false;
	int go[2], fd;
	void *ring;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return false;
	a.disabled = 0;
	a.exclude_kernel = a.exclude_hv = 1;
	separate_siblings(&a);
	pid = fork_twice(go);
	close(go[0]);
	fd = pid < 0 ? -1 : sp_perf_open(&a, pid, cpu, -1, 0);
	ring = sp_ring_map(fd, SP_STAT_RING_PAGES);
	is_started = ring && write(go[1], "g", 1) == 1;
	close(go[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	sp_ring_each(ring, SP_STAT_RING_PAGES, note_read, &any);
	sp_ring_unmap(ring, SP_STAT_RING_PAGES);
	sp_close(fd);
	return is_started && any;
}
