/* stat.h: what the parts of `sspapi stat` share: a program counted from outside, by CPU and by
 * thread.
 *
 * Nothing of ours runs in the program, but for the last resort below.  The command forks; for every
 * CPU k that the child may run on it opens every event with pid = child, cpu = k, inherited and
 * enabled by exec; then the child execs.  So the kernel counts all threads and processes that come
 * of the child, per CPU.  How long they ran on each CPU a software event counts beside its count;
 * one more is opened only where none is counted.  Where the machine has CPUs that are not watched,
 * one more inherited clock, on all CPUs, is the proof: time on a CPU that is not watched is in that
 * clock alone.  Rows by thread come from the records that the kernel writes when a thread ends
 * (inherit_stat, PERF_RECORD_READ), if a trial at the start shows that it does; if not, a small
 * library in the program tells of each thread that begins, and the thread gets counters of its own.
 *
 *	cmd-stat.c	the command line, and what is shown
 *	stat-names.c	which events
 *	stat-run.c	the child: its start, its signals, its end
 *	stat-count.c	the counters
 *	stat-rounds.c	which of them fit beside each other
 *	stat-ring.c	what the kernel writes into
 *	stat-rows.c	and what it writes there of threads and processes
 *	stat-threads.c	threads that a library in the program tells of
 *	stat-thread-counters.c	threads' own counters
 *	stat-long-lived.c	for those that last, on many CPUs
 *	stat-attach-common.h	programs that run already, and control groups
 *	stat-store.c	the store of it
 *	../probe/	what PAPI and hwloc are asked
 */
#pragma once

#include "../../base/run-root.h"
#include "../../model/model.h"
#include "../probe/probe.h"
#include "../../store/compact.h"
#include "../tool/buffer.h"
#include "../tool/key-index.h"

/* Fills the plan, which is in memory that is shared with children.  events: E,E as asked for, or
 * NULL; metrics: M,M of -m, or NULL; neither: the usual ones.  False: p->wrong says what cannot be
 * counted and why. */
bool sp_stat_plan(struct sp_stat_plan *p, const char *events, const char *metrics);

/* ---- rings --------------------------------------------------------------------- */

/* Of so many pages, which the counter of fd writes into (fd < 0: NULL); NULL: there are no locked
 * pages left. */
void *sp_ring_map(int fd, uint32_t pages);
void sp_ring_unmap(void *ring, uint32_t pages);
size_t sp_ring_bytes(uint32_t pages);	/* of memory */

/* Each record that has come (body: behind its head, until the next), and gives its place back.
 * ring NULL: none.  False: it was full, or what stands there is none: some may be lost, which no
 * record tells yet. */
typedef void (*sp_ring_take)(void *arg, const struct perf_event_header *h, const void *body);
bool sp_ring_each(void *ring, uint32_t pages, sp_ring_take take, void *arg);

/* ---- counting ----------------------------------------------------------------- */

/* Rings are emptied every few ms: those of events hold some 1,000 threads that ended, those that
 * tell who begins and ends some 900 threads of one CPU; a thread takes 20 us at least to begin and
 * end. */
#define SP_STAT_RING_PAGES 8u
#define SP_STAT_TASK_RING_PAGES 32u
#define SP_STAT_TASK_RING_PAGES_FEW 4u		/* where threads have no rows */
#define SP_STAT_ROWS_MOST 256u		/* CPUs times events up to which threads have rows
					 * unasked */
#define SP_STAT_CPUS_MOST 16u		/* CPUs up to which threads have rows unasked however short
					 * they live */
#define SP_STAT_LONG_LIVED_MS 20		/* and what they must live for on more */

struct sp_stat_counters {
	struct sp_stat_plan *plan;
	uint32_t round;			/* of the plan's events */
	uint32_t n_cpus, n;		/* n: natives, and the clock: the time that was spent on a
					 * CPU */
	uint32_t clock;			/* its number: n - 1 */
	uint32_t time_source;			/* whose counters tell that time: a software event's, or the
					 * clock's own */
	int *cpu;			/* [n_cpus] as the system numbers them, ascending */
	int *fd;			/* [n_cpus][n]; -1: this CPU has no such event */
	int **attached_fd;			/* [n_attached_fd] as fd: of threads that ran already, which have
					 * none above */
	uint32_t n_attached_fd;
	int *task_fd;			/* [n_cpus] of the rings that tell who begins and ends; rows
					 * only */
	bool system_wide_records;		/* of whoever begins and ends on the machine: then
						 * no thread that is born gets one */
	pid_t child;			/* the first process that is counted; 0: the command did not
					 * start it */
	uint32_t n_rings;		/* CPUs that have rings: n_cpus, unless counts have no
					 * CPU */
	void **ring;			/* [n_rings][n + 1], the last the side's; rows only */
	int *carrier;			/* [n_rings][n + 1] what holds them where they are no
					 * counters' own; else NULL */
	int all_cpus_clock;			/* the clock on all CPUs; -1: all are watched */
	uint64_t slack_ns;		/* by which that may differ from the CPUs' clocks: they were
					 * not started at once */
	bool is_attached;			/* the program ran already */
	uint64_t forks_until_ns;		/* until when (CLOCK_BOOTTIME) threads may be born whose
					 * birth had begun before counting did */
	bool started;			/* the program, by its exec */
	bool long_lived;			/* threads that last have counters per CPU, others
						 * one for all, cpu[n_cpus - 1] (SP_NO_CPU) */
	uint32_t scan_ms;		/* until such threads are searched for again */
	bool fds_exhausted;			/* no descriptors are left for more of them */
	bool is_cgroup;			/* of a control group: what is counted is given by its
					 * descriptor, not by a pid */
	bool has_rows;			/* who begins and ends is told, and with one of the next two
					 * what each counted */
	uint32_t task_ring_pages;
	bool has_reads;			/* the kernel writes what threads counted; rows only */
	bool from_library;			/* they come from a library in the program, not from
						 * the kernel */
	struct sp_stat_shm *shm;		/* by which it tells; told only, as all below */
	int shm_fd;
	uint32_t last_bell;			/* the bell, when it was last looked at */
	bool user_only;			/* the kernel's part was refused */
	bool refused[SP_STAT_NATIVES];	/* not permitted: would count 0 */
	bool *has_event;			/* [n_cpus][n] as fd, also when they are closed: the CPU has
					 * such an event */
	int64_t *value;			/* [n_cpus][n], once read */
	bool *is_partial;			/* [n] its counter did not run all the time */
	uint64_t all_cpus_ns;		/* of the clock on all CPUs */
};

/* The CPUs of our own affinity; no memory: the end.  And all that are online in their place, where
 * the system tells them. */
void sp_stat_cpus(struct sp_stat_counters *c);
void sp_stat_online(struct sp_stat_counters *c);

/* Gives each event a turn: those that the counters take together, so many times each, have the
 * same.  How many turns there are. */
uint32_t sp_stat_rounds(struct sp_stat_plan *p, uint32_t per_cpu);

/* Opens all for the child.  0; or a status of the command, and a message is out. */
int sp_stat_open(struct sp_stat_counters *c, const char *verb, pid_t child);

/* Puts the clock behind the natives, and finds what tells it: c->n is known then. */
void sp_stat_find_clock(struct sp_stat_counters *c);

/* Which events each CPU has (c->has_event), by a trial on a thread.  0; or a status of the command, and a
 * message is out. */
int sp_stat_try(struct sp_stat_counters *c, const char *verb, pid_t thread);

/* One counter each, as sp_stat_open has them: a descriptor, or -errno.  Of an event: as much as
 * this user may see, unless its name says how much: the kernel's part, too, if that is
 * permitted. */
long sp_stat_open_native(struct sp_stat_counters *c, uint32_t i, pid_t child, int cpu);
bool sp_stat_is_of_cpu(long error);	/* this CPU has no such event: of two kinds of cores, each
					 * has its own */
long sp_stat_open_task_events(const struct sp_stat_counters *c, pid_t child, int cpu);
long sp_stat_open_all_cpus_clock(const struct sp_stat_counters *c, pid_t child);

/* Rings that counters opened one by one are to write into, by c->carrier.  False: there are no
 * locked pages left. */
bool sp_stat_open_rings(struct sp_stat_counters *c, uint32_t n_cpus, const int *cpu);

/* Opens an event of its own for a thread, on at once or by its exec: a descriptor, or -errno. */
long sp_stat_open_for(struct sp_stat_counters *c, uint32_t i, pid_t thread, int cpu);

/* Reads those of fd, [n_cpus][n], into value; where a counter did not run all the time, is_partial is
 * set.  own: they are one thread's, not inherited. */
void sp_stat_read_all(const struct sp_stat_counters *c, const int *fd, bool own, int64_t *value,
		      bool *is_partial);
void sp_stat_read(struct sp_stat_counters *c);
void sp_stat_close(struct sp_stat_counters *c);

/* Would the program find as many locked pages as without rows? */
bool sp_stat_leaves_pages(const struct sp_stat_counters *c);

/* Does this kernel write what a thread counted when it ends, apart from what others count?  By
 * trial: versions do not tell. */
bool sp_stat_probe_inherited_reads(int cpu);

/* ---- who was counted ------------------------------------------------------------ */

struct sp_stat_row {			/* a thread */
	int pid, tid;
	int parent_pid, parent_tid;		/* the thread that it was born of; 0: not known */
	uint64_t start_ns, end_ns;	/* 0: not known; it has not ended */
	bool was_running;			/* it ran already: it has counters of its own, that those
					 * born of it inherit */
	bool ended_before;			/* it had ended before counting began */
	uint32_t n_reads;			/* records of it that came */
	bool has_read;			/* what it counted is known; else it is in what all others
					 * leave of the total */
	bool is_alive;			/* by the newest that the kernel wrote of it, at seen_ns;
					 * told only */
	uint64_t seen_ns;
	int *fd;			/* [n_cpus][n] its own counters, while it is counted; NULL;
					 * told and lasting only */
	char name[16];
	char *args;			/* of its process; lasting only */
	uint32_t args_bytes;
	int64_t *counts;			/* [n_cpus][n] */
};

struct sp_stat_process {
	int pid, ppid;
	uint64_t start_ns, end_ns, exec_ns;
	bool escaped;			/* the kernel let nobody count it any more: it became
					 * another user's */
	char *args;			/* as /proc/PID/cmdline has them, args_bytes long; NULL: not
					 * known */
	uint32_t args_bytes;
	uint32_t rows, first;		/* into the order of the rows */
};

struct sp_stat_who {
	struct sp_names ids;		/* pid and tid of each row, until they are gathered */
	struct sp_stat_row *row;
	uint32_t n, room;
	struct sp_stat_task *task;	/* what the side rings told, for the end */
	uint32_t n_tasks, task_room;
	uint32_t n_kept;		/* the first of them, which are known to be of counted
					 * processes; system_wide_records only, as the next two */
	struct sp_names pids;
	bool *counted;			/* [pids] */
	uint32_t counted_room;
	struct sp_stat_process *process;
	uint32_t n_processes;
	uint64_t lost;			/* records that a full ring did not take */
	uint32_t running;		/* threads that had not ended */
	uint32_t rest;			/* threads whose counts are known together only */
	uint32_t late;			/* threads that did not wait for their counters any
					 * longer */
	uint32_t n_without_counters;		/* of them, threads for which there were no
						 * descriptors or counters */
};

void sp_stat_drain(struct sp_stat_counters *c, struct sp_stat_who *w);

/* The row of a thread that the kernel wrote of; NULL: it did not. */
struct sp_stat_row *sp_stat_find_row(const struct sp_stat_who *w, int pid, int tid);

/* What the parts of stat-rows.c do at the end, in this order: rows for all that was written of, by
 * process; the row and process of a number; what the side rings told, by time (first: the first
 * exec is the command's own child's); which rows are whole; what is left. */
struct sp_stat_row *sp_stat_add_row(const struct sp_stat_counters *c, struct sp_stat_who *w,
				    int pid, int tid);
void sp_stat_gather(struct sp_stat_counters *c, struct sp_stat_who *w);
struct sp_stat_row *sp_stat_find_gathered(struct sp_stat_who *w, int pid, int tid);
struct sp_stat_process *sp_stat_process(struct sp_stat_who *w, int pid);
void sp_stat_set_args(struct sp_stat_process *p, const char *args, uint32_t bytes);
void sp_stat_note_threads(struct sp_stat_who *w, bool first);
void sp_stat_check_rows(const struct sp_stat_counters *c, struct sp_stat_who *w);
void sp_stat_add_remainder(struct sp_stat_counters *c, struct sp_stat_who *w);

/* False: the thread has ended. */
bool sp_proc_thread(int pid, int tid, struct sp_process_stat *p);

/* Its name, as far as it is there. */
void sp_proc_name(int pid, int tid, char name[16]);

/* The number behind a line's name ("\nTgid:") in /proc/ID/status; 0: it is not there. */
uint64_t sp_proc_status(int id, const char *name, int base);

/* A process's command line as it is now, to be freed, its words each closed by a NUL: how many
 * bytes; 0 and NULL: it has none. */
#define SP_STAT_ARGS_MOST 4096u		/* bytes that are kept */
uint32_t sp_proc_args(int pid, char **args);

/* Nothing more comes: puts it in order.  child: the first process, which ran from start_ns to
 * end_ns. */
void sp_stat_finish_rows(struct sp_stat_counters *c, struct sp_stat_who *w, pid_t child,
			 char *const *argv, uint64_t start_ns, uint64_t end_ns);

/* ---- threads that are told of ----------------------------------------------------- */

const char *sp_threads_library(void);	/* its path; NULL: it cannot be preloaded */
void sp_threads_begin(struct sp_stat_counters *c);	/* before the fork; there are no rows if it
							 * cannot */
/* in the child, before its exec */
void sp_threads_enter(const struct sp_stat_counters *c, pid_t command);
/* until a thread is there, or for so long */
void sp_threads_wait(struct sp_stat_counters *c, int ms);
void sp_threads_answer(struct sp_stat_counters *c, struct sp_stat_who *w);
/* at once when the program has ended */
void sp_threads_stop(struct sp_stat_counters *c, struct sp_stat_who *w);
void sp_threads_end(struct sp_stat_counters *c, struct sp_stat_who *w);

/* Their own counters: a thread that tells of itself, and one that has ended, or is not counted any
 * longer. */
/* False: there are no more descriptors. */
bool sp_thread_counters_open(struct sp_stat_counters *c, struct sp_stat_who *w,
			     struct sp_stat_row *row);
void sp_thread_counters_ended(struct sp_stat_counters *c, struct sp_stat_who *w,
			      struct sp_stat_row *row);
void sp_thread_counters_finish(const struct sp_stat_counters *c, struct sp_stat_who *w);

/* Those that last: the first one before its exec; a look for others, and for those that have ended;
 * and at the end. */
void sp_long_lived_begin(struct sp_stat_counters *c, struct sp_stat_who *w);
void sp_long_lived_scan(struct sp_stat_counters *c, struct sp_stat_who *w);
void sp_long_lived_end(struct sp_stat_counters *c, struct sp_stat_who *w);

/* ---- the child ---------------------------------------------------------------------- */

struct sp_stat_child {
	pid_t pid;
	int go, failed, signals;	/* descriptors */
	uint64_t start_ns, end_ns;
	int status;			/* as a shell says it: 0 to 255 */
	int signal;			/* that ended it; 0 */
	bool interrupted;		/* somebody meant to end it */
	int error;			/* it could not be started: errno */
};

/* Nothing more is counted: they do to the command what they do, but for those that have come
 * already. */
void sp_stat_release(void);

/* Has one come on that descriptor? */
bool sp_stat_interrupted(int signals);

/* Forked, and waits (argv NULL: nobody is).  Signals that would end the command are read from
 * c->signals from now on, and it has all the descriptors that it may have.  0, or a message is
 * out. */
int sp_stat_fork(struct sp_stat_child *c, const struct sp_stat_counters *n, const char *verb,
		 char **argv);

/* Lets it go, with the library that tells of threads if `from_library`; passes signals on, empties
 * the rings, answers, and comes back when it has ended. */
/* How many ms may be waited for, -1: for ever; and what is to do every few ms. */
int sp_stat_wait_ms(const struct sp_stat_counters *n);
void sp_stat_service(struct sp_stat_counters *n, struct sp_stat_who *w);

struct sp_stat_interval;
void sp_stat_wait(struct sp_stat_child *c, struct sp_stat_counters *n, struct sp_stat_who *w,
		  struct sp_stat_interval *i);
void sp_stat_abandon(struct sp_stat_child *c);	/* ends a child that was not started; no-op without
						 * one */

/* ---- the store ---------------------------------------------------------------------- */

struct sp_stat_attached {		/* threads that ran already */
	uint32_t n;
	uint32_t unclear;		/* of which it is not known whether they were bearing a
					 * child just then */
	uint32_t unproven;		/* counters that could not be opened between two births */
	uint32_t refused;		/* threads that became another user's meanwhile */
	uint32_t born;			/* threads that were born while counters were opened */
};

struct sp_stat_run {
	struct sp_stat_counters c;
	struct sp_stat_who who;
	struct sp_stat_child child;
	struct sp_machine_events machine_events;
	struct sp_stat_interval *interval;	/* rows while it runs (stat-interval.h); NULL: there
						 * are none */
	const char *why_no_rows;	/* NULL: there are */
	const char *why_no_cpus;	/* counts have no CPU; NULL: they have */
	struct sp_stat_attached attached;	/* running only */
};

struct sp_stat_all {
	struct sp_stat_plan *plan;
	struct sp_stat_topo topo;
	char **argv;
	uint32_t n;			/* runs: each event in `repeats` of them */
	uint32_t repeats;
	struct sp_stat_run *run;
};

/* A store of them, into memory that grows. */
void sp_stat_store(struct sp_out *o, struct sp_stat_all *a);
