/* stat-attach.c: opens counters for running threads: each thread gets its own, which its later
 * children inherit.
 *
 * The counters are opened one after the other, disabled, while threads start and end. New
 * threads are found in /proc and by the records of their parents; stat-fork-track.c has the rule
 * by which no thread is counted twice. All counters are enabled when no new thread is found, and
 * no thread is inside a fork that began before it had its counters.
 *
 * A counter's number must show which tasks inherited it: those whose counters have larger
 * numbers. So nothing else may get a number while the counter is opened: the next counter must
 * have the next number. If not, a thread started meanwhile, or another process of the machine
 * opened a counter. The counter is then opened again, unless the thread did not fork.
 *
 * A fork is visible only when it is complete, after 20 us, or up to a second for a process with
 * many pages. A thread is not inside a fork if it sleeps interruptibly, which fork does not do.
 * Nor is it if it has since run in user mode, or completed a fork since: the next one began
 * after that.
 */
#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "../../base/perf.h"
#include "../program/program.h"
#include "../tool/cmd.h"
#include "stat-interval.h"
#include "stat-attach-common.h"

#define TRIES 20u			/* for each counter */
#define WAIT_NS 5000000000u		/* for forks in progress */
/* after this, no fork is in progress that began before counting did */
#define LATE_NS 1000000000u
#define PAUSE_NS 100000
#define AGAIN 5u			/* attempts after lost records */
#define FILES_LEFT 64u

struct attach {
	struct sp_stat_run *r;
	const struct sp_stat_targets *targets;
	const char *verb;
	struct sp_fork_track b;
	int *cpu;			/* online */
	uint32_t n_cpus;
	bool *wanted;			/* [b.n_own] */
	/* the thread that was refused; id: its number on the command line */
	int pid, id;
};

/* Return the number of counters of a thread without the clock on all CPUs and the task events,
 * which follow in this order. */
static uint32_t n_counters(const struct attach *a)
{
	return a->r->c.n_cpus * a->r->c.n;
}

static long open_own(struct attach *a, uint32_t v, pid_t tid)
{
	struct sp_stat_counters *c = &a->r->c;
	uint32_t n = n_counters(a);

	if (v == n)
		return sp_stat_open_all_cpus_clock(c, tid);
	return v < n ? sp_stat_open_native(c, v % c->n, tid, c->cpu[v / c->n])
		     : sp_stat_open_task_events(c, tid, a->cpu[v - n - 1]);
}

/* Set the rings of counters, which also applies to those that were inherited meanwhile. */
static int set_outputs(struct attach *a, const struct sp_task *t, const uint32_t *which, uint32_t n)
{
	const struct sp_stat_counters *c = &a->r->c;
	uint32_t counters = n_counters(a);

	for (uint32_t i = 0; i < n && c->carrier; i++) {
		uint32_t v = which[i], at = v < counters ? v / c->n * (c->n + 1) + v % c->n
							 : (v - counters - 1) * (c->n + 1) + c->n;

		if (v != counters && c->carrier[at] >= 0 &&
		    ioctl(t->fd[v], PERF_EVENT_IOC_SET_OUTPUT, c->carrier[at]) < 0)
			return -errno;
	}
	return 0;
}

/* Read all rings. Must be called often: they fill while threads start. */
static void drain(struct attach *a)
{
	sp_fork_track_drain(&a->b);
	if (a->r->c.has_rows)
		sp_stat_drain(&a->r->c, &a->r->who);
}

/* Return the number that the kernel gives to the next counter. */
static uint64_t next_counter_number(void)
{
	struct perf_event_attr a = sp_perf_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd = sp_perf_open(&a, 0, -1, -1, 0);
	uint64_t number = sp_perf_number(fd);

	sp_close(fd);
	return number;
}

/* Return whether the thread has not forked since its gates were opened. The record of a fork is
 * written before the thread can sleep interruptibly. */
static bool had_no_child(struct attach *a, const struct sp_task *t)
{
	struct sp_process_stat p;
	bool is_alive = sp_proc_thread(t->pid, t->tid, &p);

	drain(a);
	return (!is_alive || p.state == 'S' || p.state == 'T' || p.state == 't') && !t->had_child;
}

/* Open counters with as little time between them as possible, and one more to get the next
 * number. Returns 0 or -errno. */
static int open_some(struct attach *a, struct sp_task *t, const uint32_t *which, uint32_t n,
		     uint64_t *after)
{
	long fd;

	for (uint32_t i = 0; i < n; i++) {
		fd = open_own(a, which[i], t->tid);
		if (fd < 0)
			return (int)fd;
		t->fd[which[i]] = (int)fd;
	}
	*after = next_counter_number();
	for (uint32_t i = 0; i < n; i++)
		t->number[which[i]] = sp_perf_number(t->fd[which[i]]);
	return set_outputs(a, t, which, n);
}

/* Open the counters that the task lacks; 0 or -errno. */
static int open_missing(struct attach *a, struct sp_task *t)
{
	uint32_t *todo = sp_check_alloc(calloc(a->b.n_own, sizeof(*todo))), n = 0;
	uint64_t after = 0;
	int e = 0;

	for (uint32_t v = 0; v < a->b.n_own; v++)
		if (a->wanted[v] && !sp_fork_track_has(&a->b, t, v))
			todo[n++] = v;
	for (uint32_t tries = 0; e == 0 && n; tries++) {
		uint32_t again = 0;

		e = open_some(a, t, todo, n, &after);
		if (e || had_no_child(a, t))
			break;
		for (uint32_t i = 0; i < n; i++) {
			if ((i + 1 < n ? t->number[todo[i + 1]] : after) == t->number[todo[i]] + 1)
				continue;
			if (tries == TRIES) {
				a->r->attached.unproven++;
				continue;
			}
			todo[again++] = todo[i];
		}
		for (uint32_t i = 0; i < again; i++) {
			sp_close(t->fd[todo[i]]);
			t->fd[todo[i]] = -1;
		}
		n = again;
	}
	free(todo);
	return e;
}

static int open_for(struct attach *a, struct sp_task *t)
{
	struct sp_process_stat p = { 0 };
	int e;

	t->number = sp_check_alloc(calloc(a->b.n_own, sizeof(*t->number)));
	t->fd = sp_check_alloc(malloc(a->b.n_own * sizeof(*t->fd)));
	memset(t->fd, -1, a->b.n_own * sizeof(*t->fd));
	sp_proc_name(t->pid, t->tid, t->name);
	if (sp_proc_thread(t->pid, t->pid, &p) || sp_proc_thread(t->pid, t->tid, &p)) {
		t->ppid = p.ppid;
		t->args_bytes = sp_proc_args(t->pid, &t->args);
	}
	e = sp_fork_track_gates(&a->b, t);
	e = e ? e : open_missing(a, t);
	t->is_counted = true;
	/* a fork recorded so far may have begun before the counters existed */
	drain(a);
	t->had_child = false;
	if (sp_proc_thread(t->pid, t->tid, &p))
		t->user = p.user;
	else
		t->ended = true;
	return e;
}

/* ---- finding threads ---------------------------------------------------- */

static void scan_tasks(struct attach *a, bool first)
{
	for (uint32_t i = 0; i < a->targets->n; i++) {
		const struct sp_stat_target *one = &a->targets->one[i];
		char path[64];
		struct dirent *e;
		DIR *d;

		if (one->tid) {
			sp_fork_track_add(&a->b, one->pid, one->tid)->first |= first;
			continue;
		}
		snprintf(path, sizeof(path), "/proc/%d/task", one->pid);
		d = opendir(path);
		while (d && (e = readdir(d)))
			if (*e->d_name != '.')
				sp_fork_track_add(&a->b, one->pid, atoi(e->d_name))->first |= first;
		if (d)
			closedir(d);
	}
}

enum task_state { DONE, NEW, WAITS };

/* Decide whether a new task inherited counters; WAITS if it has not run yet. */
static enum task_state check_inherited(struct attach *a, struct sp_task *t)
{
	struct sp_process_stat p;

	if (t->first_counter && t->parent)
		return DONE;
	if (!t->first_counter) {
		if (!sp_proc_thread(t->pid, t->tid, &p)) {
			t->ended = true;
			return DONE;
		}
		if (p.state == 'R' && !p.user && !p.system)
			return WAITS;
	}
	/* Read its first records. Its parent's FORK record was written before them. */
	drain(a);
	return t->first_counter && t->parent ? DONE : NEW;
}

static void note_refused(struct attach *a, const struct sp_task *t)
{
	a->pid = t->pid;
	a->id = t->tid;
	for (uint32_t i = 0; i < a->targets->n; i++)
		if (a->targets->one[i].pid == t->pid && !a->targets->one[i].tid)
			a->id = t->pid;
}

static int attach_task(struct attach *a, struct sp_task *t, enum task_state *is)
{
	bool all = true;
	int e;

	*is = DONE;
	if (t->is_counted || t->ended)
		return 0;
	if (!t->first)
		*is = check_inherited(a, t);
	if (t->ended || *is == WAITS)
		return 0;
	for (uint32_t v = 0; all && v < a->b.n_own; v++)
		all = !a->wanted[v] || sp_fork_track_has(&a->b, t, v);
	t->is_counted = all;
	*is = all ? DONE : NEW;
	if (all)
		return 0;
	e = open_for(a, t);
	if (e && t->first)
		note_refused(a, t);
	if (e == -ESRCH) {
		t->ended = true;
		e = 0;
	} else if ((e == -EACCES || e == -EPERM) && !t->first) {
		a->r->attached.refused++;
		e = 0;
	}
	return e;
}

/* Return the number of threads that may be inside a fork that began before they had their
 * counters. */
static uint32_t count_unclear(struct attach *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->b.n; i++) {
		struct sp_task *t = a->b.task[i];
		struct sp_process_stat p;

		if (!t->fd || t->cleared)
			continue;
		t->cleared = t->ended || t->had_child || !sp_proc_thread(t->pid, t->tid, &p) ||
			     p.state == 'S' || p.state == 'T' || p.state == 't' || p.user > t->user;
		n += !t->cleared;
	}
	return n;
}

/* Open all counters. Returns 0 or -errno, -EAGAIN if records were lost. */
static int open_all(struct attach *a)
{
	uint64_t until = sp_boot_ns() + WAIT_NS;
	uint32_t busy = 0, news = 1, waits = 0;
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	for (bool first = true; first || busy || news || waits; first = false) {
		bool late = sp_boot_ns() > until;

		if (!first && !news)
			nanosleep(&pause, NULL);
		drain(a);
		/* before scan_tasks(), which then finds their children */
		busy = count_unclear(a);
		scan_tasks(a, first);
		drain(a);
		news = waits = 0;
		for (uint32_t i = 0; i < a->b.n; i++) {
			enum task_state is;
			int e = attach_task(a, a->b.task[i], &is);

			if (e)
				return e;
			news += is == NEW;
			waits += is == WAITS;
		}
		if (a->b.lost)
			return -EAGAIN;
		if (late && !news) {
			a->r->attached.unclear = busy + waits;
			break;
		}
	}
	return 0;
}

/* ---- enabling and reading ----------------------------------------------- */

static void close_all(struct attach *a)
{
	for (uint32_t i = 0; i < a->b.n; i++)
		for (uint32_t v = 0; a->b.task[i]->fd && v < a->b.n_own; v++)
			sp_close(a->b.task[i]->fd[v]);
	sp_fork_track_end(&a->b);
	free(a->r->c.attached_fd);
	a->r->c.attached_fd = NULL;
	a->r->c.n_attached_fd = 0;
	free(a->wanted);
	a->wanted = NULL;
	sp_stat_close(&a->r->c);
}

/* Enable all counters of the command. A second time, since a child of a thread that started
 * meanwhile may read its parent's disabled state, and enter the list after the kernel has passed
 * it. */
static void turn_on(struct attach *a)
{
	uint64_t from = sp_boot_ns();

	for (int i = 0; i < 2; i++)
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
	a->r->c.forks_until_ns = sp_boot_ns() + LATE_NS;
	a->r->c.slack_ns = 1000 + a->n_cpus * (sp_boot_ns() - from);
	sp_fork_track_close(&a->b);
}

static void list_each(struct attach *a)
{
	struct sp_stat_counters *c = &a->r->c;

	c->attached_fd = sp_check_alloc(calloc(a->b.n + 1, sizeof(*c->attached_fd)));
	for (uint32_t i = 0; i < a->b.n; i++)
		if (a->b.task[i]->fd)
			c->attached_fd[c->n_attached_fd++] = a->b.task[i]->fd;
}

static void read_all(struct attach *a)
{
	struct sp_stat_counters *c = &a->r->c;
	uint32_t n = n_counters(a);

	c->value = sp_check_alloc(calloc(n + 1, sizeof(*c->value)));
	c->is_partial = sp_check_alloc(calloc(c->n, sizeof(*c->is_partial)));
	for (uint32_t i = 0; i < a->b.n; i++) {
		struct sp_task *t = a->b.task[i];
		uint64_t whole[2];

		if (!t->fd)
			continue;
		t->at = sp_check_alloc(calloc(n, sizeof(*t->at)));
		sp_stat_read_all(c, t->fd, false, t->at, c->is_partial);
		for (uint32_t v = 0; v < n; v++)
			c->value[v] += t->at[v];
		if (t->fd[n] >= 0 && read(t->fd[n], whole, sizeof(whole)) == sizeof(whole))
			c->all_cpus_ns += whole[0];
	}
}

/* ---- fewer counters if descriptors are short ---------------------------- */

static int report_refusal(struct attach *a, int e)
{
	char text[400], name[16], path[64];
	struct stat s = { 0 };

	snprintf(name, sizeof(name), "%d", a->id);
	snprintf(path, sizeof(path), "/proc/%d", a->pid);
	if (e == -ESRCH)
		snprintf(text, sizeof(text), "it has ended");
	else if ((e == -EACCES || e == -EPERM) && stat(path, &s) == 0 && s.st_uid != geteuid())
		snprintf(text, sizeof(text),
			 "not permitted: it belongs to user %u, or is protected from its own "
			 "user (set-user-ID, not dumpable); run as root or with CAP_PERFMON (and "
			 "CAP_SYS_PTRACE)",
			 (unsigned)s.st_uid);
	else if (e == -EACCES || e == -EPERM)
		snprintf(text, sizeof(text),
			 "not permitted (%s): perf_event_paranoid, Yama or another security "
			 "module forbids it; see sspapi doctor",
			 strerror(-e));
	else if (e == -EMFILE || e == -ENFILE)
		snprintf(text, sizeof(text),
			 "too few descriptors (ulimit -Hn): each of its threads takes %u, even "
			 "without rows per CPU and thread; raise the limit, or name fewer events",
			 a->n_cpus + a->r->c.n + 1);
	else if (e == -EAGAIN)
		snprintf(text, sizeof(text),
			 "threads are created so fast that records of them were lost, %u times: "
			 "nothing was counted; try again",
			 AGAIN);
	else if (e == -ENOMEM)
		snprintf(text, sizeof(text),
			 "no locked pages are left to follow new threads (other processes of "
			 "this user have them; raise RLIMIT_MEMLOCK)");
	else
		snprintf(text, sizeof(text), "the kernel refuses the counter (%s)", strerror(-e));
	return sp_complain(125, a->verb, text, name);
}

/* Reduce the number of descriptors. how: 0 per CPU and thread, 1 without CPUs, 2 also without
 * threads. */
static void reduce_counters(struct attach *a, int how)
{
	struct sp_stat_counters *c = &a->r->c;

	if (how && !a->r->why_no_cpus) {
		a->r->why_no_cpus = "no counts per CPU: each thread needs a descriptor per CPU "
				    "and event; raise the limit (ulimit -Hn)";
		c->n_cpus = 1;
		c->cpu = sp_check_alloc(calloc(1, sizeof(*c->cpu)));
		*c->cpu = SP_NO_CPU;
		c->has_reads = false;
	}
	if (how == 2 && c->has_rows) {
		a->r->why_no_rows = "no per-thread rows: they need more descriptors; raise the "
				    "limit (ulimit -Hn)";
		c->has_rows = c->has_reads = false;
	}
}

static int try_once(struct attach *a)
{
	struct sp_stat_counters *c = &a->r->c;
	uint32_t n;
	int e;

	a->r->attached = (struct sp_stat_attached){ 0 };
	n = n_counters(a);
	if (c->has_rows && !sp_stat_open_rings(c, a->n_cpus, a->cpu)) {
		sp_stat_close(c);
		a->r->why_no_rows = "no per-thread rows: no locked pages or descriptors are left "
				    "(other processes of this user have them; raise "
				    "RLIMIT_MEMLOCK)";
		c->has_rows = c->has_reads = false;
	}
	if (!sp_fork_track_begin(&a->b, a->n_cpus, a->cpu, n + 1 + (c->has_rows ? a->n_cpus : 0)))
		return next_counter_number() ? -ENOMEM : -EMFILE;
	a->wanted = sp_check_alloc(calloc(a->b.n_own, sizeof(*a->wanted)));
	for (uint32_t v = 0; v < a->b.n_own; v++)
		a->wanted[v] = v >= n || c->has_event[v];
	e = open_all(a);
	if (e)
		close_all(a);
	return e;
}

static int attach_all(struct attach *a)
{
	struct sp_stat_counters *c = &a->r->c;
	pid_t one = a->targets->one[0].tid ? a->targets->one[0].tid : a->targets->one[0].pid;
	uint32_t again = 0;
	struct rlimit files = { .rlim_cur = 1024 };
	int e;

	getrlimit(RLIMIT_NOFILE, &files);
	for (int how = 0; how <= 2; how++) {
		reduce_counters(a, how);
		sp_stat_find_clock(c);
		if (how < 2 && c->n_cpus * c->n + FILES_LEFT > files.rlim_cur)
			continue;
		e = (int)sp_stat_open_native(c, c->clock, one, c->cpu[0]);
		if (e < 0)
			return report_refusal(a, e);
		sp_close(e);
		e = sp_stat_try(c, a->verb, one);
		if (e)
			return e;
		do
			e = try_once(a);
		while (e == -EAGAIN && again++ < AGAIN);
		if (e != -EMFILE && e != -ENFILE)
			break;
	}
	for (uint32_t i = 0; e == 0 && i < a->b.n; i++)
		a->r->attached.born += !a->b.task[i]->first;
	for (uint32_t i = 0; e == 0 && i < a->b.n; i++)
		a->r->attached.n += a->b.task[i]->is_counted && !a->b.task[i]->ended;
	if (e == 0 && !a->r->attached.n) {
		close_all(a);
		e = -ESRCH;
	}
	return e ? report_refusal(a, e) : 0;
}

/* Return whether it is a thread of a process that is a target itself. */
static bool is_in_process(const struct sp_stat_targets *targets, const struct sp_stat_target *one)
{
	for (uint32_t i = 0; i < targets->n && one->tid; i++)
		if (!targets->one[i].tid && targets->one[i].pid == one->pid)
			return true;
	return false;
}

int sp_attach_count(struct sp_stat_run *r, const struct sp_stat_targets *targets, const char *verb,
		    char **argv)
{
	struct attach a = { .r = r,
			    .targets = targets,
			    .verb = verb,
			    .pid = targets->one[0].pid,
			    .id = targets->one[0].tid ? targets->one[0].tid : targets->one[0].pid };
	struct sp_stat_child *child = &r->child;
	uint64_t from_ns;
	int e;

	r->c.is_attached = true;
	sp_stat_online(&r->c);
	a.cpu = r->c.cpu;
	a.n_cpus = r->c.n_cpus;
	e = sp_stat_fork(child, &r->c, verb, argv);
	e = e ? e : attach_all(&a);
	if (e) {
		sp_stat_abandon(child);
		return e;
	}
	sp_machine_events_request(&r->machine_events, 's');
	for (uint32_t i = 0; i < targets->n; i++)
		if (!is_in_process(targets, &targets->one[i]))
			sp_stat_io_begin(&r->c, targets->one[i].pid, targets->one[i].tid, false);
	from_ns = sp_now_ns();
	turn_on(&a);
	list_each(&a);
	child->start_ns = sp_now_ns();
	sp_message(verb, "counting %u thread%s of %s%s", r->attached.n, SP_MANY(r->attached.n),
		   targets->argv[0], child->pid ? "" : "; Ctrl-C ends it");
	sp_targets_wait(targets, r);
	sp_stat_io_end(&r->c);
	child->end_ns = sp_now_ns();
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	r->c.slack_ns += a.n_cpus * (sp_now_ns() - child->end_ns);
	sp_machine_events_request(&r->machine_events, 'e');
	if (r->c.has_rows)
		sp_stat_drain(&r->c, &r->who);
	read_all(&a);
	sp_stat_interval_sample(r->interval, &r->c, true);
	sp_attach_rows_compute(r, &a.b, from_ns);
	close_all(&a);
	if (a.cpu != r->c.cpu)
		free(a.cpu);
	e = child->error ? sp_not_started(verb, argv[0], child->error) : 0;
	child->pid = targets->one[0].pid;
	child->signal = 0;		/* the end of argv is not the program's */
	return e;
}
