/* stat-rows.c: makes rows of threads and processes from the records that the kernel writes while
 * the program runs.
 *
 * Each event has a ring per CPU; shared rings would lose records if threads end fast. Starts,
 * ends and names have task rings, with times by which they are sorted at the end.
 *
 * The kernel writes no counts for the first task, which has the counters that were opened. Its
 * row is the total minus the others, which is exact. Nor does it write counts of tasks that
 * still run; together with them, the first task is one row.
 */
#include "../tool/cmd.h"
#include "stat.h"

/* Time between exec and the end of the counters when an ordinary user executes a set-user-ID
 * file. The kernel writes an EXIT record, although the process continues. If /proc no longer has
 * the process, the time decides: no program ends within a few us of its exec. */
#define ESCAPE_NS 20000u
#define PF_EXITING 0x4			/* of the kernel: the thread is about to end */

/* A record of a task ring. */
struct sp_stat_task {
	uint64_t ns;
	uint32_t type;			/* PERF_RECORD_FORK, EXIT, COMM */
	uint32_t number;		/* order of reading, for equal times */
	int pid, tid, ppid, ptid;	/* ppid, ptid: of FORK */
	bool exec, is_alive;		/* is_alive: after its EXIT record */
	char name[16];
	char *args;			/* after exec, if the process still ran */
	uint32_t args_bytes;
};

/* ---- rows --------------------------------------------------------------- */

/* Key of a thread's row until sp_stat_gather(). */
struct id {
	int pid, tid;
};

struct sp_stat_row *sp_stat_add_row(const struct sp_stat_counters *c, struct sp_stat_who *w,
				    int pid, int tid)
{
	const struct id id = { pid, tid };
	uint32_t i = sp_names_number(&w->ids, &id, sizeof(id));

	if (i == w->n) {
		w->row = sp_grow_array(w->row, &w->room, ++w->n, sizeof(*w->row));
		w->row[i] = (struct sp_stat_row){ .pid = pid, .tid = tid };
		w->row[i].counts =
			sp_check_alloc(calloc((size_t)c->n_cpus * c->n, sizeof(int64_t)));
	}
	return &w->row[i];
}

struct sp_stat_row *sp_stat_find_row(const struct sp_stat_who *w, int pid, int tid)
{
	const struct id id = { pid, tid };
	uint32_t i = sp_names_find(&w->ids, &id, sizeof(id));

	return i == SP_NO_NAME ? NULL : &w->row[i];
}

/* ---- rings -------------------------------------------------------------- */

/* Add a record. FORK and EXIT are { u32 pid, ppid, tid, ptid; u64 time; }. COMM is { u32 pid,
 * tid; char comm[]; } with the time at the end. */
static void take_task(struct sp_stat_who *w, const struct perf_event_header *h, const void *body)
{
	const uint32_t *word = body;
	struct sp_stat_task *t;

	w->task = sp_grow_array(w->task, &w->task_room, w->n_tasks + 1, sizeof(*w->task));
	t = &w->task[w->n_tasks];
	*t = (struct sp_stat_task){ .type = h->type, .number = w->n_tasks, .pid = (int)word[0] };
	w->n_tasks++;
	memcpy(&t->ns, (const char *)body + h->size - sizeof(*h) - 8, 8);
	if (h->type == PERF_RECORD_COMM) {
		t->tid = (int)word[1];
		/* padded with zeros to 8 bytes, before the time */
		memcpy(t->name, word + 2, sizeof(t->name) - 1);
		t->exec = h->misc & PERF_RECORD_MISC_COMM_EXEC;
		return;
	}
	t->ppid = (int)word[1];
	t->tid = (int)word[2];
	t->ptid = (int)word[3];
}

static void read_task(const struct sp_stat_who *w, struct sp_stat_task *t)
{
	const struct sp_stat_row *row = sp_stat_find_row(w, t->pid, t->pid);
	struct sp_process_stat is;

	if (t->exec && !(row && row->n_reads))	/* otherwise it has ended */
		t->args_bytes = sp_proc_args(t->pid, &t->args);
	if (t->type == PERF_RECORD_EXIT && t->pid == t->tid && geteuid())
		t->is_alive = sp_proc_thread(t->pid, t->tid, &is) && !(is.flags & PF_EXITING);
}

/* End the other threads of a process that executed a program; the executing thread now has the
 * first thread's number. Returns whether others were running. */
static bool end_others(struct sp_stat_counters *c, struct sp_stat_who *w,
		       const struct sp_stat_task *t)
{
	bool any = false;

	for (uint32_t i = 0; i < w->n; i++) {
		struct sp_stat_row *row = &w->row[i];

		if (row->pid != t->pid || row->tid == t->tid || t->ns < row->seen_ns)
			continue;
		any = any || row->is_alive;
		row->seen_ns = t->ns;
		row->is_alive = false;
		if (row->fd)
			sp_thread_counters_ended(c, w, row);
	}
	return any;
}

/* Update a thread's state. Records that are older than its newest are ignored, since the rings
 * are read one after the other. Numbers can be reused. After the exec of one of several threads,
 * the first thread's EXIT may be in a ring that is read later; its counters must be closed
 * before. */
static void note_life(struct sp_stat_counters *c, struct sp_stat_who *w,
		      const struct sp_stat_task *t)
{
	struct sp_stat_row *row = sp_stat_add_row(c, w, t->pid, t->tid);
	bool several = t->exec && end_others(c, w, t);

	if (t->ns < row->seen_ns)
		return;
	row->seen_ns = t->ns;
	row->is_alive = t->type != PERF_RECORD_EXIT;
	if (row->fd && (t->type != PERF_RECORD_COMM || several))
		sp_thread_counters_ended(c, w, row);
}

struct ring_reader {
	struct sp_stat_counters *c;
	struct sp_stat_who *w;
	uint32_t cpu, event;
};

static void take(void *reader, const struct perf_event_header *h, const void *body)
{
	const struct ring_reader *t = reader;
	struct sp_stat_counters *c = t->c;
	struct sp_stat_who *w = t->w;
	const uint32_t *word = body;
	uint64_t value;

	if (h->type == PERF_RECORD_LOST) {
		memcpy(&value, (const char *)body + 8, 8);
		w->lost += value;
	} else if (h->type == PERF_RECORD_READ && t->event < c->n) {
		struct sp_stat_row *row = sp_stat_add_row(c, w, (int)word[0], (int)word[1]);

		memcpy(&value, word + 2, 8);
		row->counts[t->cpu * c->n + t->event] += (int64_t)value;
		memcpy(&value, word + 4, 8);
		if (t->event == c->time_source && t->event != c->clock)
			row->counts[t->cpu * c->n + c->clock] += (int64_t)value;
		row->n_reads++;
	} else if (h->type == PERF_RECORD_FORK || h->type == PERF_RECORD_EXIT ||
		   h->type == PERF_RECORD_COMM) {
		take_task(w, h, body);
		if (!c->system_wide_records)
			read_task(w, &w->task[w->n_tasks - 1]);
		if (c->from_library)
			note_life(c, w, &w->task[w->n_tasks - 1]);
	}
}

static void drain_ring(struct sp_stat_counters *c, struct sp_stat_who *w, uint32_t cpu,
		       uint32_t event)
{
	struct ring_reader t = { c, w, cpu, event };

	w->lost += !sp_ring_each(c->ring[cpu * (c->n + 1) + event],
				 event == c->n ? c->task_ring_pages : SP_STAT_RING_PAGES, take, &t);
}

static int by_time(const void *a, const void *b)
{
	const struct sp_stat_task *x = a, *y = b;

	return SP_COMPARE(x->ns, y->ns) ?: SP_COMPARE(x->number, y->number);
}

/* Return whether the record's process is counted: children of a counted process are. A reused
 * number may belong to another user's process. */
static bool is_counted(struct sp_stat_who *w, const struct sp_stat_task *t)
{
	bool is_fork = t->type == PERF_RECORD_FORK;
	uint32_t is = sp_names_find(&w->pids, &t->pid, sizeof(t->pid)),
		 of = is_fork ? sp_names_find(&w->pids, &t->ppid, sizeof(t->ppid)) : is;
	bool counted = of != SP_NO_NAME && w->counted[of];

	if (!is_fork || (is == SP_NO_NAME && !counted))
		return counted;
	is = sp_names_number(&w->pids, &t->pid, sizeof(t->pid));
	w->counted = sp_grow_array(w->counted, &w->counted_room, w->pids.n, sizeof(*w->counted));
	w->counted[is] = counted;
	return counted;
}

/* Drop records of processes that are not counted, if the task rings are system-wide. The FORK
 * record of each process with a record before `until`, the start of reading, has been read.
 * Later records wait for the next call, since their FORK record may be unread. */
static void keep_counted(const struct sp_stat_counters *c, struct sp_stat_who *w, uint64_t until)
{
	uint32_t i = w->n_kept;

	if (!c->system_wide_records || i == w->n_tasks)
		return;
	if (!w->pids.n) {
		sp_names_number(&w->pids, &c->child, sizeof(c->child));
		w->counted = sp_grow_array(w->counted, &w->counted_room, 1, sizeof(*w->counted));
		*w->counted = true;
	}
	qsort(w->task + i, w->n_tasks - i, sizeof(*w->task), by_time);
	for (; i < w->n_tasks && w->task[i].ns < until; i++) {
		if (!is_counted(w, &w->task[i]))
			continue;
		read_task(w, &w->task[i]);
		w->task[w->n_kept++] = w->task[i];
	}
	memmove(w->task + w->n_kept, w->task + i, (w->n_tasks - i) * sizeof(*w->task));
	w->n_tasks -= i - w->n_kept;
}

void sp_stat_drain(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	uint64_t from_ns = sp_now_ns();

	for (uint32_t k = 0; k < c->n_rings; k++)
		for (uint32_t i = 0; i < c->n; i++)
			drain_ring(c, w, k, i);
	/* Read the task rings last, so that most ended threads already have their counts. */
	for (uint32_t k = 0; k < c->n_rings; k++)
		drain_ring(c, w, k, c->n);
	keep_counted(c, w, from_ns);
}

/* ---- at the end --------------------------------------------------------- */

static int by_pid(const void *a, const void *b)
{
	const struct sp_stat_row *x = a, *y = b;

	return SP_COMPARE(x->pid, y->pid) ?: SP_COMPARE(x->tid, y->tid);
}

static int by_number(const void *a, const void *b)
{
	const struct sp_stat_process *x = a, *y = b;

	return SP_COMPARE(x->pid, y->pid);
}

/* Sort the rows by process, and list the processes. */
void sp_stat_gather(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	for (uint32_t i = 0; i < w->n_tasks; i++)
		sp_stat_add_row(c, w, w->task[i].pid, w->task[i].tid);
	qsort(w->row, w->n, sizeof(*w->row), by_pid);
	sp_names_free(&w->ids);
	w->process = sp_check_alloc(calloc(w->n + 1, sizeof(*w->process)));
	for (uint32_t i = 0; i < w->n; i++) {
		if (!w->n_processes || w->process[w->n_processes - 1].pid != w->row[i].pid)
			w->process[w->n_processes++] =
				(struct sp_stat_process){ .pid = w->row[i].pid, .first = i };
		w->process[w->n_processes - 1].rows++;
	}
}

struct sp_stat_row *sp_stat_find_gathered(struct sp_stat_who *w, int pid, int tid)
{
	const struct sp_stat_row key = { .pid = pid, .tid = tid };

	return w->n ? bsearch(&key, w->row, w->n, sizeof(key), by_pid) : NULL;
}

struct sp_stat_process *sp_stat_process(struct sp_stat_who *w, int pid)
{
	const struct sp_stat_process key = { .pid = pid };

	return w->n_processes ? bsearch(&key, w->process, w->n_processes, sizeof(key), by_number)
			      : NULL;
}

void sp_stat_set_args(struct sp_stat_process *p, const char *args, uint32_t bytes)
{
	free(p->args);
	p->args = bytes ? sp_check_alloc(malloc(bytes + 1ull)) : NULL;
	p->args_bytes = bytes;
	if (bytes) {
		memcpy(p->args, args, bytes);
		p->args[bytes] = 0;
	}
}

/* Handle a number that is used again: one row has the counts of both threads, and those of their
 * children are found by that number. They may be in the counters of two parents. */
static void note_reuse(struct sp_stat_who *w, const struct sp_stat_task *t,
		       struct sp_stat_row *row, struct sp_stat_row *parent)
{
	struct sp_stat_row *before =
		row->was_running ? row
				 : sp_stat_find_gathered(w, row->parent_pid, row->parent_tid);

	if (row->was_running ? t->ns <= row->start_ns : !row->start_ns && !row->end_ns)
		return;
	if (!before || !parent)
		w->has_unclear_parent = true;
	else if (before != parent)
		before->shares_child = parent->shares_child = true;
}

/* Start a thread. A child process has its parent's name and command line until it executes a
 * program. */
static void note_fork(struct sp_stat_who *w, const struct sp_stat_task *t)
{
	struct sp_stat_process *p = sp_stat_process(w, t->pid), *of = sp_stat_process(w, t->ppid);
	struct sp_stat_row *row = sp_stat_find_gathered(w, t->pid, t->tid),
			   *parent = sp_stat_find_gathered(w, t->ppid, t->ptid);

	note_reuse(w, t, row, parent);
	row->start_ns = t->ns;
	row->parent_pid = t->ppid;
	row->parent_tid = t->ptid;
	row->end_ns = 0;		/* a reused number shares the row */
	if (parent)
		memcpy(row->name, parent->name, sizeof(row->name));
	if (t->pid != t->tid)
		return;
	p->ppid = t->ppid;
	p->start_ns = t->ns;
	p->end_ns = 0;
	if (of && of->args)
		sp_stat_set_args(p, of->args, of->args_bytes);
}

static void note_comm(struct sp_stat_who *w, const struct sp_stat_task *t, bool *first)
{
	struct sp_stat_process *p = sp_stat_process(w, t->pid);

	memcpy(sp_stat_find_gathered(w, t->pid, t->tid)->name, t->name, sizeof(t->name));
	if (!t->exec)
		return;
	/* A thread that executes a program continues under its process's number. It has no EXIT
	 * record, and its counts are in that number's records. */
	for (uint32_t i = 0; i < p->rows; i++) {
		struct sp_stat_row *row = &w->row[p->first + i];

		if (row->tid != t->pid && row->start_ns && !row->end_ns) {
			row->end_ns = t->ns;
			row->has_read = true;
		}
	}
	if (t->args)
		sp_stat_set_args(p, t->args, t->args_bytes);
	/* /proc no longer has it; the first process has the command's argv */
	else if (!*first)
		sp_stat_set_args(p, t->name, (uint32_t)strlen(t->name) + 1);
	*first = false;
	p->exec_ns = t->ns;
	/* the first thread's end does not matter if another one executed the program */
	p->escaped = false;
}

static void note_exit(struct sp_stat_who *w, const struct sp_stat_task *t)
{
	struct sp_stat_process *p = sp_stat_process(w, t->pid);

	sp_stat_find_gathered(w, t->pid, t->tid)->end_ns = t->ns;
	p->end_ns = sp_max(p->end_ns, t->ns);
	p->escaped = p->escaped ||
		     (geteuid() && p->exec_ns && (t->is_alive || t->ns - p->exec_ns < ESCAPE_NS));
}

void sp_stat_note_threads(struct sp_stat_who *w, bool first)
{
	if (w->n_tasks)
		qsort(w->task, w->n_tasks, sizeof(*w->task), by_time);
	for (uint32_t i = 0; i < w->n_tasks; i++) {
		const struct sp_stat_task *t = &w->task[i];

		if (t->type == PERF_RECORD_FORK)
			note_fork(w, t);
		else if (t->type == PERF_RECORD_COMM)
			note_comm(w, t, &first);
		else
			note_exit(w, t);
		free(t->args);
	}
	free(w->task);
	w->task = NULL;
}

/* Accept rows that have a record of each event and CPU, or a multiple if the number was reused.
 * The counts of others are part of the remainder. */
void sp_stat_check_rows(const struct sp_stat_counters *c, struct sp_stat_who *w)
{
	uint32_t values = c->n_cpus * c->n, each = 0;

	for (uint32_t v = 0; v < values; v++)
		each += c->has_event[v];
	for (uint32_t i = 0; i < w->n; i++) {
		struct sp_stat_row *row = &w->row[i];

		if (row->n_reads && c->has_reads && row->n_reads % each == 0)
			row->has_read = true;
		else if (row->n_reads)
			memset(row->counts, 0, values * sizeof(*row->counts));
	}
}

/* Give the total minus the other rows to the one thread without counts. */
void sp_stat_add_remainder(struct sp_stat_counters *c, struct sp_stat_who *w)
{
	struct sp_stat_row *one = NULL;

	for (uint32_t i = 0; i < w->n; i++) {
		w->running += !w->row[i].end_ns;
		if (!w->row[i].has_read && !w->row[i].ended_before) {
			w->rest++;
			one = &w->row[i];
		}
	}
	if (w->rest != 1 || c->from_library || c->long_lived || w->lost)
		return;
	w->rest = 0;
	one->has_read = true;
	for (uint32_t v = 0; v < c->n_cpus * c->n; v++) {
		int64_t rest = c->value[v];

		for (uint32_t i = 0; i < w->n; i++)
			rest -= w->row[i].counts[v];
		one->counts[v] += rest;
	}
}

static void set_command_line(struct sp_stat_process *p, char *const *argv)
{
	struct sp_bytes b = { 0 };

	for (; *argv && b.used < SP_STAT_ARGS_MOST; argv++)
		sp_bytes_add(&b, *argv, strlen(*argv) + 1);
	sp_stat_set_args(p, (char *)b.at, (uint32_t)b.used);
	sp_bytes_free(&b);
}

static void add_long_lived(struct sp_stat_who *w, const struct sp_stat_row *row, pid_t child)
{
	struct sp_stat_process *p = sp_stat_process(w, row->pid);

	/* args may be older than the exec */
	if (row->pid != child && row->args_bytes && !p->exec_ns)
		sp_stat_set_args(p, row->args, row->args_bytes);
	p->start_ns = p->start_ns ? sp_min(p->start_ns, row->start_ns) : row->start_ns;
	p->end_ns = sp_max(p->end_ns, row->end_ns);
}

void sp_stat_finish_rows(struct sp_stat_counters *c, struct sp_stat_who *w, pid_t child,
			 char *const *argv, uint64_t start_ns, uint64_t end_ns)
{
	struct sp_stat_process *p;
	struct sp_stat_row *row;

	keep_counted(c, w, UINT64_MAX);
	sp_stat_add_row(c, w, child, child);
	sp_stat_gather(c, w);
	p = sp_stat_process(w, child);
	row = sp_stat_find_gathered(w, child, child);
	p->ppid = getpid();
	p->start_ns = row->start_ns = start_ns;
	set_command_line(p, argv);
	snprintf(row->name, sizeof(row->name), "%s",
		 strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0]);
	sp_stat_note_threads(w, true);
	/* The EXIT record may be lost or not requested. */
	row->end_ns = row->end_ns ? row->end_ns : end_ns;
	p->end_ns = p->end_ns ? p->end_ns : end_ns;
	for (uint32_t i = 0; c->long_lived && i < w->n; i++)
		add_long_lived(w, &w->row[i], child);
	if (c->from_library || c->long_lived) {
		sp_thread_counters_finish(c, w);
	} else {
		sp_stat_check_rows(c, w);
		/* records of its number belong to another thread, which executed a program */
		row->has_read = false;
	}
	sp_stat_add_remainder(c, w);
}
