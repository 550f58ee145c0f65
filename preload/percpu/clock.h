/* clock.h: measures on which CPUs a thread runs, and how long.
 *
 * The kernel keeps for each perf event how long the thread ran on its CPU, and how long anywhere. A
 * set whose shadow counters always run uses their times. Any other set uses its thread's clock: one
 * event per watched CPU. A thread's own sets share its clock; a set that counts another thread, or
 * inherits, has its own clock.
 *
 * process/budget.h limits the cost (SSPAPI_ATTRIBUTION=auto).
 */
#ifndef SP_CLOCK_H
#define SP_CLOCK_H

#include "../../core/store/layout.h"
#include "cpu-select.h"

struct sp_percpu;

extern uint32_t sp_cpus_online;		/* when the program started */

/* Events whose running times are those of one thread, one per CPU. */
struct sp_residency {
	uint32_t n;
	/* Limit in ns of the difference between two reads of two compared clocks; less than a visit
	 * to a CPU takes. */
	uint64_t slack;
	struct sp_residency_at {
		int fd;			/* -1: none, as on an offline CPU */
		uint32_t words;		/* of a read: three, or a group's */
		bool is_compared;
		/* ns that its time is behind the first event's: limits, if compared */
		int64_t low, high;
	} *at;				/* [n]; a clock's: [room] */
};

struct sp_clock {
	struct sp_clock *next;
	/* percpu-lifetime.h manages these. */
	struct sp_percpu *percpu_sets;	/* list of the sets that use this clock */
	struct sp_percpu *counting;	/* the set whose hardware counters are on; NULL: none */
	uint64_t bytes;			/* of this mapping */
	int tid;
	bool is_own;			/* of a thread of this process, for its own sets */
	bool inherits;
	bool is_stale;			/* the thread may run on other CPUs by now */
	int moves_fd;			/* perf fd that counts moves; < 0: not counted */
	int moves_leader;		/* its group leader, a clock that is always on */
	/* an event that is off: the program's prctl switches all on (sp_clock_count_reenabled) */
	int disabled_fd;
	uint32_t n_reenabled;		/* number of times that it did */
	/* of page-proof.h, which belongs to the thread; NULL: none */
	void *page;
	uint32_t generation;
	struct sp_cpus allowed;		/* the CPUs that the thread could run on */
	/* of the thread's CPU then, if not all CPUs are watched */
	struct sp_cpu_neighbors neighbors;
	enum sp_why limit;		/* why not all CPUs are watched */
	bool has_times;			/* `times` are the clock's own events */
	struct sp_residency times;
	uint32_t n, room;		/* watched CPUs; room */
	int32_t *cpu;			/* [room], the nearest first */
};

/* One read of one event. */
struct sp_clock_sample {
	/* ns that the thread ran anywhere since the event was opened */
	uint64_t enabled;
	uint64_t ran;			/* ns that it ran on the event's CPU */
};

/* The thread's time on no watched CPU, in ns from some origin, by one scan. */
struct sp_clock_sum {
	bool is_known;
	int at;				/* index of the CPU whose event measured it */
	int64_t time;
	bool is_limited;		/* `least` and `most` are set */
	int64_t least, most;		/* limits from the beginning to the end of the scan */
};

void sp_clock_begin(void);		/* when the program starts */
void sp_clock_budget(void);		/* in each process */

/* Finds the CPUs to watch for a thread's sets. These are the CPUs that the thread may run on now,
 * and those of its previous clock (NULL: none). If most of the budget remains, the process's CPUs
 * at its start are added. A thread that pins itself to one CPU after another needs them. Result <=
 * 0: -errno. */
long sp_clock_find_cpus(int tid, const struct sp_clock *before, uint32_t fds_per_cpu,
			struct sp_cpus *m);

/* Returns how many of the CPUs *m can be watched; 0: no budget for any. The remaining descriptors
 * and time (SSPAPI_ATTRIBUTION=auto) are shared with future threads; `begun` threads have theirs.
 * *limit: why not all can be watched. */
uint32_t sp_clock_max_cpus(const struct sp_cpus *m, uint32_t fds_per_cpu, uint32_t begun,
			   enum sp_why *limit);

/* Makes a clock that watches `most` of the CPUs *m, the nearest to CPU `neighbors` first (the
 * thread's; -1: unknown). Moves are counted if `limit` is SP_WHY_UNWATCHED. NULL: *error is the
 * reason (-EDQUOT, -EMFILE ...). */
struct sp_clock *sp_clock_make(int tid, bool inherits, const struct sp_cpus *m, uint32_t most,
			       int neighbors, enum sp_why limit, int *error);
void sp_clock_close(struct sp_clock *c);

/* Opens the clock's own events. 0, or -errno: it has none. */
int sp_clock_open_times(struct sp_clock *c);

/* Adds a CPU to which the thread moves, if there is room. Returns its index, or -errno. */
#define SP_EXTRA_CPUS 8u
int sp_clock_add_cpu(struct sp_clock *c, int cpu);

/* Reads how many times the thread has moved; 0: not counted. False: the program has closed the
 * descriptor. */
bool sp_clock_read_moves(const struct sp_clock *c, uint64_t *moves);

/* Does the thread run right now, with its first event counting? False if the clock does not count
 * moves. */
bool sp_clock_is_counting(const struct sp_clock *c);

/* False: the program has closed the descriptor. An event that is not open has no time. */
bool sp_residency_read(const struct sp_residency_at *t, struct sp_clock_sample *l);

/* Forgets the comparisons of the events, which are repeated when needed. */
void sp_residency_forget(struct sp_residency *t);

/* Computes the sum for the calling thread, which was only on CPU `at` during the scan. `sample` is
 * that CPU's read, `others` the running times of all others. */
struct sp_clock_sum sp_clock_sum(const struct sp_clock_sample *here, int at, uint64_t others);

/* Returns how many times the program has switched the thread's events on again
 * (PR_TASK_PERF_EVENTS_ENABLE). Ours did not count before that, but PAPI's did after a PAPI_start.
 * Only for the calling thread. */
uint32_t sp_clock_count_reenabled(struct sp_clock *c);

/* Was the thread only on watched CPUs between two scans? Reads of different events are within some
 * hundred ns, which is less than any visit to a CPU takes. */
bool sp_clock_adds_up(struct sp_residency *t, const struct sp_clock_sum *from,
		      const struct sp_clock_sum *to);

/* Was it certainly on an unwatched CPU, too? */
bool sp_clock_was_away(struct sp_residency *t, const struct sp_clock_sum *from,
		       const struct sp_clock_sum *to);

/* For how many ns at most? 0: unknown. */
uint64_t sp_clock_time_away(struct sp_residency *t, const struct sp_clock_sum *from,
			    const struct sp_clock_sum *to);

uint64_t sp_clock_ns(void);		/* CLOCK_MONOTONIC */
uint64_t sp_clock_own_ns(void);		/* CPU time of the calling thread */
bool sp_clock_can_afford(uint64_t ns);	/* under SSPAPI_ATTRIBUTION=auto */
bool sp_clock_may_scan(uint32_t cpus);	/* always true otherwise */
bool sp_clock_may_follow(uint32_t fds);	/* always true otherwise */

#endif
