/* clock.h: on which CPUs a thread runs, and how long: its clock.
 *
 * One event for each CPU that the thread may run on, whose running time the kernel keeps, and where it may be had one that
 * counts moves.  A thread's own sets share its clock; a set that counts another
 * thread, or inherits, has one of its own.
 *
 * And what a process may spend on all this (SSPAPI_ATTRIBUTION=auto): a fixed time, and from then on a
 * hundredth of the time that it has run.
 */
#ifndef SP_CLOCK_H
#define SP_CLOCK_H

#include "near.h"

#define SP_OPENING_NS	6000u		/* what one counter takes to open and to close, about */

struct sp_split;

struct sp_clock {
	struct sp_clock *next;
	/* hold.h's: */
	struct sp_split *splits;	/* that go by it; their list */
	struct sp_split *counting;	/* whose hardware counters are on; NULL: nobody's */
	uint64_t bytes;			/* of this mapping */
	int tid;
	bool own;			/* of a thread of this process, and its own */
	bool stale;			/* its thread may run elsewhere, too, by now */
	int moves;			/* descriptor of what counts moves; < 0: they are not counted */
	int off;			/* an event that is switched off: the program's prctl switches all on (sp_clock_switched) */
	uint32_t switched;		/* how often it did */
	void *page;			/* of witness.h, which goes with the thread; NULL: none */
	int page_fd;			/* its event */
	uint32_t n;
	uint32_t generation;
	struct sp_cpus may;		/* the CPUs that the thread could run on */
	struct sp_near near;		/* where it was, if that are more than are watched */
	uint64_t slack;			/* ns that two looks at the clock may be apart: a visit to any CPU takes longer */
	struct {
		int cpu, fd;
		int64_t low, high;	/* ns that this event's time lags behind the first one's, at least and at most */
	} at[];				/* [n] the nearest first */
};

/* One event of the clock. */
struct sp_clock_look {
	uint64_t value;
	uint64_t enabled;		/* ns that the thread ran anywhere since the event was opened */
	uint64_t ran;			/* ns that it ran there */
};

/* The time of the thread's own that was on none of the clock's CPUs, in ns from some beginning of the clock's: by one scan
 * of the thread itself. */
struct sp_clock_sum {
	bool known;
	int at;				/* the CPU by whose event, an index */
	int64_t time;			/* by that event */
	bool bounded;			/* by that event, too: */
	int64_t least, most;		/* at the scan's beginning at least, at its end at most */
};

void sp_clock_begin(void);		/* when the process starts */

/* The CPUs for a thread's clock, which sets of so many natives are to go by: those that the thread may run on now, and those
 * of the clock that it had before (NULL: none); and, while that leaves most of the budget, those that the process could run
 * on at its start: a thread that binds itself to one CPU after the other is found there.  <= 0: why not. */
long sp_clock_cpus(int tid, const struct sp_clock *before, uint32_t natives, struct sp_cpus *m);

/* How many of them can be watched, at least one: what descriptors and time (SSPAPI_ATTRIBUTION=auto) are left is shared with
 * threads that will come; `begun` have theirs. */
uint32_t sp_clock_most(const struct sp_cpus *m, uint32_t natives, uint32_t begun);

/* With so many of them, those near to CPU `near`, where the thread is (-1: not known).  NULL: *error is why (-EDQUOT, -EMFILE ...). */
struct sp_clock *sp_clock_make(int tid, bool inherits, const struct sp_cpus *m, uint32_t most, int near, int *error);
void sp_clock_close(struct sp_clock *c);

/* False: the descriptor is not ours any more.  fd < 0, a CPU that is offline: no time. */
bool sp_clock_look(int fd, struct sp_clock_look *l);

/* The thread, which is the caller, was on CPU `at` alone while all events were looked at: `here` of that CPU, `others` the
 * sum of what the rest ran. */
struct sp_clock_sum sp_clock_sum(const struct sp_clock_look *here, int at, uint64_t others);

/* How often the program has switched the thread's events on again (PR_TASK_PERF_EVENTS_ENABLE): in between ours stood still, but
 * PAPI's did not if PAPI_start came.  By the thread itself. */
uint32_t sp_clock_switched(struct sp_clock *c);

/* Was the thread on the clock's CPUs only from the one to the other?  (The one and only place where looks at two events of
 * one clock are compared: they are some hundred ns apart, which no visit to a CPU is shorter than.) */
bool sp_clock_closes(const struct sp_clock *c, const struct sp_clock_sum *from, const struct sp_clock_sum *to);

/* Was it elsewhere, too, for sure? */
bool sp_clock_was_away(const struct sp_clock *c, const struct sp_clock_sum *from, const struct sp_clock_sum *to);

/* The time of a scan or of an opening is spent; is there any left for more? */
uint64_t sp_clock_ns(void);		/* CLOCK_MONOTONIC */
uint64_t sp_clock_own_ns(void);		/* of the calling thread on CPUs */
void sp_clock_spent(uint64_t ns);
bool sp_clock_may_spend(uint64_t ns);

#endif
