/* clock.h: on which CPUs a thread runs, and how long.
 *
 * The kernel keeps of each event of ours how long the thread ran on its CPU, and how long anywhere.
 * The copies of a set (percpu.h) tell that of themselves; a set that has none which always run goes
 * by its thread's clock: one event for each CPU that is watched.  A thread's own sets share its
 * clock; a set that counts another thread, or inherits, has one of its own.
 *
 * What a process may spend on all this (SSPAPI_ATTRIBUTION=auto) is in process/budget.h.
 */
#ifndef SP_CLOCK_H
#define SP_CLOCK_H

#include "../../core/store/layout.h"
#include "cpu-select.h"

struct sp_percpu;

extern uint32_t sp_cpus_online;	/* when the program started */

/* Events whose running times are one thread's, on a CPU each. */
struct sp_residency {
	uint32_t n;
	uint64_t slack;			/* ns by which two reads of two clocks may differ, where
					 * they were compared; less than a visit to a CPU takes */
	struct sp_residency_at {
		int fd;			/* -1: none, as of a CPU that is offline */
		uint32_t words;		/* that it has to read: three, or a group's */
		bool is_compared;
		int64_t low, high;	/* then: ns that its time lags behind the first one's, at
					 * least and at most */
	} *at;				/* [n]; a clock's: [room] */
};

struct sp_clock {
	struct sp_clock *next;
	/* percpu-lifetime.h's: */
	struct sp_percpu *percpu_sets;	/* that go by it; their list */
	struct sp_percpu *counting;	/* whose hardware counters are on; NULL: nobody's */
	uint64_t bytes;			/* of this mapping */
	int tid;
	bool is_own; /* of a thread of this process, and its own */
	bool inherits;
	bool is_stale; /* its thread may run elsewhere, too, by now */
	int moves_fd; /* descriptor of what counts moves; < 0: they are not
					 * counted */
	int moves_leader;		/* its group's leader, a clock that is always on */
	int disabled_fd; /* an event that is switched off: the program's prctl
					 * switches all on (sp_clock_count_reenabled) */
	uint32_t n_reenabled; /* how often it did */
	void *page;			/* of page-proof.h, which goes with the thread; NULL:
					 * none */
	uint32_t generation;
	struct sp_cpus allowed; /* the CPUs that the thread could run on */
	struct sp_cpu_neighbors neighbors;		/* where it was, if that are more than are
							 * watched */
	enum sp_why limit;		/* why others are not watched */
	bool has_times; /* it has its own events, */
	struct sp_residency times;		/* these */
	uint32_t n, room;		/* CPUs that are watched; that may be */
	int32_t *cpu;			/* [room], the nearest first */
};

/* One of them. */
struct sp_clock_sample {
	uint64_t enabled;		/* ns that the thread ran anywhere since the event was
					 * opened */
	uint64_t ran;			/* ns that it ran there */
};

/* The time of the thread's own that was on none of their CPUs, in ns from some beginning: by one
 * scan of the thread itself. */
struct sp_clock_sum {
	bool is_known;
	int at;				/* the CPU by whose event, an index */
	int64_t time;			/* by that event */
	bool is_limited;			/* by that event, too: */
	int64_t least, most;		/* at the scan's beginning at least, at its end at most */
};

void sp_clock_begin(void);		/* when the program starts, */
void sp_clock_budget(void);		/* and in each process of it */

/* The CPUs to watch for a thread's sets, each of which takes so many descriptors a CPU: those that
 * the thread may run on now, and those of the clock that it had before (NULL: none); and, while
 * that leaves most of the budget, those that the process could run on at its start: a thread that
 * binds itself to one CPU after the other is found there.  <= 0: why not. */
long sp_clock_find_cpus(int tid, const struct sp_clock *before, uint32_t each, struct sp_cpus *m);

/* How many of them can be watched: what descriptors and time (SSPAPI_ATTRIBUTION=auto) are left is
 * shared with threads that will come; `begun` have theirs. 0: there is no time for one. *limit: why
 * others are not watched. */
uint32_t sp_clock_max_cpus(const struct sp_cpus *m, uint32_t each, uint32_t begun,
			   enum sp_why *limit);

/* With so many of them, those near to CPU `neighbors`, where the thread is (-1: not known); moves
 * are counted where nothing limits them. NULL: *error is why (-EDQUOT, -EMFILE ...). */
struct sp_clock *sp_clock_make(int tid, bool inherits, const struct sp_cpus *m, uint32_t most,
			       int neighbors, enum sp_why limit, int *error);
void sp_clock_close(struct sp_clock *c);

/* With events of its own from now on; 0, or -errno: it has none. */
int sp_clock_open_times(struct sp_clock *c);

/* One CPU more, if there is room: its thread goes there.  Its index, or -errno. */
#define SP_EXTRA_CPUS 8u
int sp_clock_add_cpu(struct sp_clock *c, int cpu);

/* How often the thread has moved; 0 where that is not counted.  False: the descriptor is not ours
 * any more. */
bool sp_clock_read_moves(const struct sp_clock *c, uint64_t *moves);

/* Does the thread run right now, and does the first of its events count? (Not by a clock that does
 * not count moves.) */
bool sp_clock_is_counting(const struct sp_clock *c);

/* False: the descriptor is not ours any more.  Of a CPU that has none: no time. */
bool sp_residency_read(const struct sp_residency_at *t, struct sp_clock_sample *l);

/* How far they lag behind that one will be found out (anew), of each when it is needed. */
void sp_residency_forget(struct sp_residency *t);

/* The thread, which is the caller, was on CPU `at` alone while all events were looked at: `here` of
 * that CPU, `others` the sum of what the rest ran. */
struct sp_clock_sum sp_clock_sum(const struct sp_clock_sample *here, int at, uint64_t others);

/* How often the program has switched the thread's events on again (PR_TASK_PERF_EVENTS_ENABLE): in
 * between ours stood still, but PAPI's did not if PAPI_start came.  By the thread itself. */
uint32_t sp_clock_count_reenabled(struct sp_clock *c);

/* Was the thread on their CPUs only from the one to the other?  (The one and only place where looks
 * at two events are compared: they are some hundred ns apart, which no visit to a CPU is shorter
 * than.) */
bool sp_clock_adds_up(struct sp_residency *t, const struct sp_clock_sum *from,
		      const struct sp_clock_sum *to);

/* Was it elsewhere, too, for sure? */
bool sp_clock_was_away(struct sp_residency *t, const struct sp_clock_sum *from,
		       const struct sp_clock_sum *to);

/* How many ns, at most?  0: not known. */
uint64_t sp_clock_time_away(struct sp_residency *t, const struct sp_clock_sum *from,
			    const struct sp_clock_sum *to);

uint64_t sp_clock_ns(void);		/* CLOCK_MONOTONIC */
uint64_t sp_clock_own_ns(void);		/* of the calling thread on CPUs */
bool sp_clock_can_afford(uint64_t ns);	/* under SSPAPI_ATTRIBUTION=auto */
bool sp_clock_may_scan(uint32_t cpus);	/* otherwise always */
bool sp_clock_may_follow(uint32_t fds);	/* the same */

#endif
