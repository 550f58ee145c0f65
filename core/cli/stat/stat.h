/* stat.h: interface between the parts of `sspapi stat`, which counts a program from outside, per
 * CPU and thread.
 *
 * The command forks. For every CPU k that the child may run on, it opens every event with pid =
 * child, cpu = k, inherited and enabled by exec; then the child execs. So the kernel counts all
 * threads and processes that descend from the child, per CPU. A software event also returns the
 * time that the threads ran on the CPU; a clock is opened only if no software event is counted.
 * If the machine has more CPUs, one more inherited clock, on all CPUs, proves that no time was
 * spent outside those that are counted.
 *
 * Rows per thread come from the records that the kernel writes when a thread ends (inherit_stat,
 * PERF_RECORD_READ), if a trial at the start shows that it does. Otherwise a small library in
 * the program reports each new thread, which then gets counters of its own. Nothing else of
 * sspapi runs in the program.
 *
 *	cmd-stat.c	the command line and the output
 *	stat-names.c	the choice of events
 *	stat-run.c	start, signals and end of the child
 *	stat-count.c	the perf events
 *	stat-rounds.c	the events that fit into the counters together
 *	stat-ring.c	the rings of the perf events
 *	stat-rows.c	rows of threads and processes, from the records in the rings
 *	stat-threads.c	threads that the library reports
 *	stat-thread-counters.c	counters of single threads
 *	stat-long-lived.c	rows for long-lived threads, on many CPUs
 *	stat-attach-common.h	running programs, and control groups
 *	stat-io.c	the io of processes
 *	stat-store.c	the store
 *	../probe/	queries to PAPI and hwloc
 */
#pragma once

#include "../../base/run-root.h"
#include "../../model/model.h"
#include "../probe/kernel-events.h"
#include "../probe/probe.h"
#include "../../store/compact.h"
#include "../tool/buffer.h"
#include "../tool/key-index.h"

/* Fill the plan, which is in memory shared with child processes. events: E,E of -e, or NULL;
 * metrics: M,M of -m, or NULL; if both are NULL: the default events. Returns false with the
 * reason in p->wrong. */
bool sp_stat_plan(struct sp_stat_plan *p, const char *events, const char *metrics);

/* ---- rings -------------------------------------------------------------- */

/* Map the ring of fd with this number of pages. Returns NULL if fd < 0 or if no locked pages are
 * left. */
void *sp_ring_map(int fd, uint32_t pages);
void sp_ring_unmap(void *ring, uint32_t pages);
size_t sp_ring_bytes(uint32_t pages);	/* of a mapped ring */

/* Pass each new record to `take` and free its space; body is the record behind its header. A
 * NULL ring is empty. Returns false if the ring was full or invalid: records may be lost that no
 * PERF_RECORD_LOST counts yet. */
typedef void (*sp_ring_take)(void *arg, const struct perf_event_header *h, const void *body);
bool sp_ring_each(void *ring, uint32_t pages, sp_ring_take take, void *arg);

/* ---- counting ----------------------------------------------------------- */

/* Pages of the rings, which are read every few ms. Those of events have room for some 1,000
 * ended threads, task rings for some 900 starts and ends per CPU. A thread takes 20 us at least
 * to start and end. */
#define SP_STAT_RING_PAGES 8u
#define SP_STAT_TASK_RING_PAGES 32u
#define SP_STAT_TASK_RING_PAGES_FEW 4u		/* if threads have no rows */
#define SP_STAT_ROWS_MOST 256u		/* most CPUs times events for rows per thread by default */
#define SP_STAT_CPUS_MOST 16u		/* most CPUs for rows of short-lived threads by default */
/* minimum life of a thread for a row on more CPUs */
#define SP_STAT_LONG_LIVED_MS 20

/* ---- io of processes ---------------------------------------------------- */

#define SP_STAT_IO_MS 100		/* at most, between two readings */

struct sp_stat_io {
	uint32_t n;			/* processes or threads; 0: no event of io is wanted */
	bool is_of_threads;
	struct sp_stat_io_of {
		int fd;
		int64_t before[SP_IO_EVENTS], now[SP_IO_EVENTS];
		uint64_t read_ns;	/* CLOCK_BOOTTIME of the last reading */
		uint64_t missed_ns;	/* from then to the first failed one after the end */
	} *of;
	uint32_t n_unread;		/* of n: not readable when counting began */
	const char *wrong;		/* why the last of these is not */
	/* children that the processes had when counting began: all of their io is included once
	 * they have been waited for */
	struct sp_stat_io_child {
		int pid;
		uint64_t start_ticks;
	} *child;
	uint32_t n_children, child_room;
	uint32_t n_gone;		/* of these, at the end */
	uint64_t missed_ns;		/* the longest of them; 0: all were read */
};

struct sp_stat_counters {
	struct sp_stat_plan *plan;
	struct sp_stat_io io;
	uint32_t round;			/* current round */
	uint32_t n_cpus, n;		/* n: native events, and the clock (CPU time) */
	uint32_t clock;			/* index of the clock: n - 1 */
	/* index of the event that returns that time: a software event, or the clock */
	uint32_t time_source;
	int *cpu;			/* [n_cpus] numbers of the system, ascending */
	int *fd;			/* [n_cpus][n]; -1: no such event on this CPU */
	/* [n_attached_fd] as fd, for threads that were already running; fd is unused then */
	int **attached_fd;
	uint32_t n_attached_fd;
	/* [n_cpus] events whose rings contain FORK, EXIT and COMM records; has_rows only */
	int *task_fd;
	/* task rings contain the records of the whole machine, so that no new thread inherits
	 * such an event */
	bool system_wide_records;
	pid_t child;			/* first process; 0: not started by the command */
	/* CPUs that have rings: n_cpus, unless counts have no CPU */
	uint32_t n_rings;
	void **ring;			/* [n_rings][n + 1], the task ring last; has_rows only */
	/* [n_rings][n + 1] events that own the rings; NULL: the counters own them */
	int *carrier;
	/* fd of the clock on all CPUs; -1: all CPUs are counted */
	int all_cpus_clock;
	/* allowed difference between that clock and the sum of the CPUs' clocks, which start one
	 * after the other */
	uint64_t slack_ns;
	bool is_attached;		/* the program was already running */
	/* CLOCK_BOOTTIME until which a fork may end that began before the counters were enabled */
	uint64_t forks_until_ns;
	bool started;			/* the program has been released to exec */
	/* only long-lived threads have counters per CPU; the others share cpu[n_cpus - 1]
	 * (SP_NO_CPU) */
	bool long_lived;
	uint32_t scan_ms;		/* ms between scans for long-lived threads */
	bool fds_exhausted;		/* no descriptors are left for more of them */
	bool is_cgroup;			/* counts a control group, given by its descriptor */
	/* starts and ends of threads are read; so are their counts, if one of the next two is
	 * set */
	bool has_rows;
	uint32_t task_ring_pages;
	/* the kernel writes the counts of ended threads; has_rows only */
	bool has_reads;
	/* the library in the program reports threads, instead of the kernel */
	bool from_library;
	/* memory shared with the library; from_library only, like all fields below */
	struct sp_stat_shm *shm;
	int shm_fd;
	uint32_t last_bell;		/* value of the bell at the last check */
	bool user_only;			/* the kernel refused to count kernel code */
	bool refused[SP_STAT_NATIVES];	/* not permitted: would count 0 */
	/* [n_cpus][n] as fd, also after these are closed: the CPU has the event */
	bool *has_event;
	int64_t *value;			/* [n_cpus][n], after the read */
	bool *is_partial;		/* [n] the counter did not run all the time */
	uint64_t all_cpus_ns;		/* time of the clock on all CPUs */
};

/* Plan the event if it is one of io; false: it is not. */
bool sp_stat_plan_io(struct sp_stat_plan *p, const char *name);

/* Begin with a process (tid 0) or thread, if the plan has events of io. waits: it is the command's
 * child, which waits for its release. */
void sp_stat_io_begin(struct sp_stat_counters *c, int pid, int tid, bool waits);

/* Read them. The last values of one that can no longer be read remain. */
void sp_stat_io_read(struct sp_stat_counters *c);

/* Read them for the last time. */
void sp_stat_io_end(struct sp_stat_counters *c);

/* Return why no io at all could be read when counting began, or NULL. */
const char *sp_stat_io_wrong(const struct sp_stat_counters *c);

/* Return the event's count up to the last reading. */
int64_t sp_stat_io_value(const struct sp_stat_counters *c, const struct sp_stat_event *e);

/* List the CPUs of the command's affinity; exits if out of memory. sp_stat_online() replaces
 * them by all online CPUs, if the system lists these. */
void sp_stat_cpus(struct sp_stat_counters *c);
void sp_stat_online(struct sp_stat_counters *c);

/* Assign each event to a round. Events whose native events fit into the counters together,
 * per_cpu times each, are in the same round. Returns the number of rounds. */
uint32_t sp_stat_rounds(struct sp_stat_plan *p, uint32_t per_cpu);

/* Open all events for the child. Returns 0, or an exit status after a message. */
int sp_stat_open(struct sp_stat_counters *c, const char *verb, pid_t child);

/* Set the indices of the clock and of its time source; c->n is valid afterwards. */
void sp_stat_find_clock(struct sp_stat_counters *c);

/* Find the events that each CPU has (c->has_event), by a trial on a thread. Returns 0, or an
 * exit status after a message. */
int sp_stat_try(struct sp_stat_counters *c, const char *verb, pid_t thread);

/* Open one event as sp_stat_open() does; returns a descriptor or -errno. A native event includes
 * kernel code if that is permitted, unless its name chooses. */
long sp_stat_open_native(struct sp_stat_counters *c, uint32_t i, pid_t child, int cpu);
/* only this CPU lacks the event, as one of two kinds of cores does */
bool sp_stat_is_of_cpu(long error);
long sp_stat_open_task_events(const struct sp_stat_counters *c, pid_t child, int cpu);
long sp_stat_open_all_cpus_clock(const struct sp_stat_counters *c, pid_t child);

/* Open the rings that separately opened counters write into, with their own events in
 * c->carrier. Returns false if no locked pages are left. */
bool sp_stat_open_rings(struct sp_stat_counters *c, uint32_t n_cpus, const int *cpu);

/* Open an event for one thread, not inherited, enabled at once or by its exec. Returns a
 * descriptor or -errno. */
long sp_stat_open_for(struct sp_stat_counters *c, uint32_t i, pid_t thread, int cpu);

/* Read the counters fd into value, both [n_cpus][n]; set is_partial for counters that did not
 * run all the time. own: the counters belong to one thread and are not inherited. */
void sp_stat_read_all(const struct sp_stat_counters *c, const int *fd, bool own, int64_t *value,
		      bool *is_partial);
void sp_stat_read(struct sp_stat_counters *c);

/* Compare the time that a counter ran with the clock on the same CPU: did it run all the time?
 * own: it counts a single thread. */
bool sp_stat_ran_enough(uint64_t running, uint64_t clock, bool own);
void sp_stat_close(struct sp_stat_counters *c);

/* Return whether the program finds as many locked pages as without rows. */
bool sp_stat_leaves_pages(const struct sp_stat_counters *c);

/* Return whether this kernel writes the counts of a single thread when it ends. Found by a
 * trial, since kernel versions do not show it. */
bool sp_stat_probe_inherited_reads(int cpu);

/* ---- rows --------------------------------------------------------------- */

struct sp_stat_row {
	int pid, tid;
	int parent_pid, parent_tid;	/* the thread that forked it; 0: unknown */
	uint64_t start_ns, end_ns;	/* start 0: unknown; end 0: still running */
	/* it ran before sspapi, and has counters that its children inherit */
	bool was_running;
	bool ended_before;		/* it ended before counting began */
	/* a child's number was also that of another thread's child */
	bool shares_child;
	uint32_t n_reads;		/* PERF_RECORD_READ records */
	/* its counts are complete; otherwise they are part of the remainder */
	bool has_read;
	/* by the kernel's newest record, at seen_ns; from_library only */
	bool is_alive;
	uint64_t seen_ns;
	/* [n_cpus][n] its own counters while it runs, or NULL; from_library and long_lived only */
	int *fd;
	char name[16];
	char *args;			/* of its process; long_lived only */
	uint32_t args_bytes;
	int64_t *counts;		/* [n_cpus][n] */
};

struct sp_stat_process {
	int pid, ppid;
	uint64_t start_ns, end_ns, exec_ns;
	bool escaped;			/* it changed its user, and the kernel stopped counting */
	/* as in /proc/PID/cmdline, args_bytes long; NULL: unknown */
	char *args;
	uint32_t args_bytes;
	uint32_t rows, first;		/* index into the sorted rows */
};

struct sp_stat_who {
	struct sp_names ids;		/* pid and tid of each row, until sp_stat_gather() */
	struct sp_stat_row *row;
	uint32_t n, room;
	struct sp_stat_task *task;	/* records of the task rings, evaluated at the end */
	uint32_t n_tasks, task_room;
	/* the first of them, of processes that are counted; system_wide_records only, like the
	 * next two */
	uint32_t n_kept;
	struct sp_names pids;
	bool *counted;			/* [pids] */
	uint32_t counted_room;
	struct sp_stat_process *process;
	uint32_t n_processes;
	uint64_t lost;			/* records that a full ring dropped */
	/* a row of a number that was used again, of which a parent is unknown */
	bool has_unclear_parent;
	uint32_t running;		/* threads that had not ended */
	uint32_t rest;			/* threads without a row of their own */
	uint32_t late;			/* threads that gave up waiting for their counters */
	/* threads without a row for lack of descriptors or counters */
	uint32_t n_without_counters;
};

void sp_stat_drain(struct sp_stat_counters *c, struct sp_stat_who *w);

/* Find the row of a thread before sp_stat_gather(); NULL: none. */
struct sp_stat_row *sp_stat_find_row(const struct sp_stat_who *w, int pid, int tid);

/* Make the rows at the end, in this order: add a row per thread, sort the rows by process,
 * evaluate the records of the task rings by time, check which rows are complete, and compute the
 * remainder. first: the first exec is the one of the command's own child. */
struct sp_stat_row *sp_stat_add_row(const struct sp_stat_counters *c, struct sp_stat_who *w,
				    int pid, int tid);
void sp_stat_gather(struct sp_stat_counters *c, struct sp_stat_who *w);
struct sp_stat_row *sp_stat_find_gathered(struct sp_stat_who *w, int pid, int tid);
struct sp_stat_process *sp_stat_process(struct sp_stat_who *w, int pid);
void sp_stat_set_args(struct sp_stat_process *p, const char *args, uint32_t bytes);
void sp_stat_note_threads(struct sp_stat_who *w, bool first);
void sp_stat_check_rows(const struct sp_stat_counters *c, struct sp_stat_who *w);
void sp_stat_add_remainder(struct sp_stat_counters *c, struct sp_stat_who *w);

/* Read a thread's state; false if it has ended. */
bool sp_proc_thread(int pid, int tid, struct sp_process_stat *p);

/* Read a thread's name, "" if unavailable. */
void sp_proc_name(int pid, int tid, char name[16]);

/* Return the number behind a name ("\nTgid:") in /proc/ID/status, or 0. */
uint64_t sp_proc_status(int id, const char *name, int base);

/* Read the current command line of one process: NUL-terminated words, to be freed. Returns the
 * number of bytes; 0 and NULL if it has none. */
#define SP_STAT_ARGS_MOST 4096u		/* longest command line that is kept */
uint32_t sp_proc_args(int pid, char **args);

/* Read the processes that a thread has started and not waited for. Returns their number, at most
 * SP_STAT_CHILDREN_MOST. */
#define SP_STAT_CHILDREN_MOST 2048u
uint32_t sp_proc_children(int pid, int tid, int child[SP_STAT_CHILDREN_MOST]);

/* Finish the rows after the last record. child: the first process, which ran from start_ns to
 * end_ns. */
void sp_stat_finish_rows(struct sp_stat_counters *c, struct sp_stat_who *w, pid_t child,
			 char *const *argv, uint64_t start_ns, uint64_t end_ns);

/* ---- threads that the library reports ----------------------------------- */

const char *sp_threads_library(void);	/* its path; NULL: it cannot be preloaded */
/* Prepare the shared memory before the fork; on failure there are no rows. */
void sp_threads_begin(struct sp_stat_counters *c);
/* Set the environment in the child, before its exec. */
void sp_threads_enter(const struct sp_stat_counters *c, pid_t command);
/* Wait for a report of a thread, at most `ms`. */
void sp_threads_wait(struct sp_stat_counters *c, int ms);
void sp_threads_answer(struct sp_stat_counters *c, struct sp_stat_who *w);
/* Stop accepting reports, right after the end of the program. */
void sp_threads_stop(struct sp_stat_counters *c, struct sp_stat_who *w);
void sp_threads_end(struct sp_stat_counters *c, struct sp_stat_who *w);

/* Open counters of a thread's own, and close them when it has ended or is no longer counted.
 * Opening returns false if no descriptors are left. */
bool sp_thread_counters_open(struct sp_stat_counters *c, struct sp_stat_who *w,
			     struct sp_stat_row *row);
void sp_thread_counters_ended(struct sp_stat_counters *c, struct sp_stat_who *w,
			      struct sp_stat_row *row);
void sp_thread_counters_finish(const struct sp_stat_counters *c, struct sp_stat_who *w);

/* Count long-lived threads: open counters of the first one before its exec; find new and ended
 * ones; finish. */
void sp_long_lived_begin(struct sp_stat_counters *c, struct sp_stat_who *w);
void sp_long_lived_scan(struct sp_stat_counters *c, struct sp_stat_who *w);
void sp_long_lived_end(struct sp_stat_counters *c, struct sp_stat_who *w);

/* ---- the child ---------------------------------------------------------- */

struct sp_stat_child {
	pid_t pid;
	int go, failed, signals;
	uint64_t start_ns, end_ns;
	int status;			/* as of a shell: 0 to 255 */
	int signal;			/* that ended it; 0: none */
	bool interrupted;		/* received a signal to end */
	int error;			/* errno of a failed start */
};

/* Restore the default effect of signals on the command; pending ones are dropped. */
void sp_stat_release(void);

/* Return whether a signal that ends the command was received. */
bool sp_stat_interrupted(int signals);

/* Fork a child that waits to be released; argv NULL: none. From now on the signals that would
 * end the command are read from c->signals, and it may open as many descriptors as permitted.
 * Returns 0, or an exit status after a message. */
int sp_stat_fork(struct sp_stat_child *c, const struct sp_stat_counters *n, const char *verb,
		 char **argv);

/* Return the ms until sp_stat_service() is due, -1: never. It must be called every few ms. */
int sp_stat_wait_ms(const struct sp_stat_counters *n);
void sp_stat_service(struct sp_stat_counters *n, struct sp_stat_who *w);

struct sp_stat_interval;
void sp_stat_wait(struct sp_stat_child *c, struct sp_stat_counters *n, struct sp_stat_who *w,
		  struct sp_stat_interval *i);
void sp_stat_abandon(struct sp_stat_child *c);	/* ends a child that was not released */

/* ---- the store ---------------------------------------------------------- */

struct sp_stat_attached {
	uint32_t n;
	/* threads that may have been inside a fork when they got their counters */
	uint32_t unclear;
	uint32_t unproven;		/* counters that could not be opened between two forks */
	uint32_t refused;		/* threads that changed their user meanwhile */
	uint32_t born;			/* threads that started while counters were opened */
};

struct sp_stat_run {
	struct sp_stat_counters c;
	struct sp_stat_who who;
	struct sp_stat_child child;
	struct sp_machine_events machine_events;
	struct sp_stat_interval *interval;	/* rows of -I (stat-interval.h); NULL: none */
	const char *why_no_rows;	/* NULL: there are rows */
	const char *why_no_cpus;	/* NULL: counts have a CPU */
	struct sp_stat_attached attached;	/* c.is_attached only */
};

struct sp_stat_all {
	struct sp_stat_plan *plan;
	struct sp_stat_topo topo;
	char **argv;
	/* number of runs; each event is counted in `repeats` of them, or if the first turns were
	 * interrupted, at most in one */
	uint32_t n;
	uint32_t repeats;
	uint32_t n_begun;		/* n, and those of interrupted turns, which are left out */
	struct sp_stat_run *run;
};

/* Write the store of all runs into memory. */
void sp_stat_store(struct sp_out *o, struct sp_stat_all *a);
