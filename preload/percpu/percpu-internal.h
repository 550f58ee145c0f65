/* percpu-internal.h: a set's split, for the files of this folder. */
#ifndef SP_PERCPU_INTERNAL_H
#define SP_PERCPU_INTERNAL_H

#include "../../core/store/layout.h"
#include "clock.h"
#include "percpu-fast.h"
#include "window.h"

/* Software events never lack a counter: they stand in groups of their own. */
enum sp_group { SP_SOFTWARE, SP_HARDWARE, SP_GROUPS };

/* The times of one CPU at a scan. */
struct sp_cpu_times {
	uint64_t low, high;		/* the clock's ns, before and after the counters were read;
					 * equal where the thread was not */
	uint64_t ran[SP_GROUPS];	/* ns */
	uint64_t enabled[SP_GROUPS];	/* ns that the thread ran anywhere since they were opened */
};

struct sp_percpu_cpu {
	int cpu;
	bool has_no_events[SP_GROUPS];		/* it has no such events: PAPI's counters do not
						 * count here either */
	bool is_refused; /* the kernel refused a counter here that PAPI's may have */
	int *fd;			/* [natives] -1: none */
	struct sp_cpu_times prev, now; /* at the scan before, at the last one */
	int64_t *prev_value, *value; /* [k] of the copies then */
	uint64_t last_seen; /* ticks when the thread was last known to have been
					 * there */
	uint64_t attributed_ns; /* the clock's ns, */
	int64_t *attributed_value; /* [k] and the copies, when times were told last */
};

/* All CPUs at a scan. */
struct sp_scan {
	struct sp_clock_sum sum;	/* the times of all CPUs beside the thread's own
					 * (clock.h) */
	uint64_t enabled;		/* of another thread: by the event of sum.at it had run that
					 * long anywhere */
	uint32_t n_reenabled; /* how often the program had switched the thread's events on
					 * again */
	uint64_t moves;			/* of the thread so far, where they are counted */
	uint64_t ticks, duration; /* at its end; ticks */
	uint64_t caller_ns;			/* ns of the caller's own time, where it runs on one
						 * of our CPUs */
	uint32_t proof;			/* sp_proof_now() at its end */
	bool is_unmoved; /* since the scan before, the thread was on the CPU of
					 * sum.at alone: only that one was read */
	bool caller_stayed; /* the caller stayed on one CPU all the time */
};

/* Whose counts they are.  Never changes. */
struct sp_percpu_target {
	int tid;
	uint32_t thread;		/* that opened PAPI's for itself (perf-fds.h) */
	bool is_own, inherits;
	bool is_foreign; /* another thread opened PAPI's counters: what switches them
					 * off leaves ours on */
};

/* What was opened, and which of it is on. */
struct sp_percpu_shadow {
	struct sp_cpus allowed; /* the CPUs that the thread could run on when it was made */
	uint64_t digest;		/* of what PAPI had open when these were opened
					 * (perf-fds.h) */
	bool has_hardware; /* its hardware counters are to be on while it runs */
	bool is_displaced;			/* another set's are on in their place */
	uint8_t group[SP_MAX_NATIVES]; /* enum sp_group */
	int leader[SP_GROUPS];		/* the first native of each; -1: none is there */
	uint32_t size[SP_GROUPS];
	bool is_probed; /* did hardware counters of ours find a place beside
					 * PAPI's? */
	uint32_t starved_windows; /* windows one after another in which none of them ran */
};

/* What other threads do with it: those that read it, and the counted one where that is not the
 * caller. */
struct sp_percpu_sharing {
	bool is_shared; /* another thread reads it, */
	bool was_read_elsewhere; /* and did since its owner started it */
	int read_by_tid;			/* the thread that scanned before it called PAPI,
						 * and nobody since; 0: none */
	int last_index; /* index of a CPU where another thread ran last */
	int cpu; /* another thread's CPU, if the scans tell; SP_NO_CPU */
	bool is_cpu_known; /* the call under way has scanned, so that `where` is of
					 * now */
	uint32_t n_scans;
};

/* What was not read, for lack of time or inside another call. */
struct sp_percpu_skips {
	uint64_t reserved_ns;			/* ns of the budget that are kept for the scan that
						 * ends the segment; 0: none */
	bool this_call; /* there is no time for the scan of this call, */
	bool reading; /* nor was there for that of a value before it, which the
					 * next one may prove */
	bool segment; /* nor was there when the segment began: windows are proven
					 * where the thread stayed alone */
	bool missed_value; /* values were booked that the windows have not seen */
	bool missed_reset; /* a zeroing, too */
	int64_t *counts; /* [k] skipped so since the last scan, if the thread was
					 * read at home alone */
};

/* The last two looks at the shadow counters. */
struct sp_percpu_scans {
	enum sp_why failure; /* the last scan failed */
	bool has_baseline; /* there was a scan */
	struct sp_scan prev, last; /* the scan before the last one, and that one */
};

/* What PAPI's counters had at the last scan, and the shadow counters of the caller's CPU around
 * it. */
struct sp_percpu_papi {
	bool is_read; /* the last scan looked at PAPI's counters, too: */
	int64_t *value; /* [k] what they had right after the copies of the caller's
					 * CPU were read, */
	int64_t *shadow_low, *shadow_high; /* [k] and those copies at that moment: they were read
					 * before it and after */
};

/* What is known of the thread since PAPI last zeroed the set. */
struct sp_percpu_segment {
	enum sp_why distrust_why; /* why the segment's copies are not believed */
	int home;			/* index of the CPU where an own set's thread was at the
					 * last scan; -1: it is none of ours */
	bool is_unmoved; /* from the value before to the last scan it was on one CPU,
					 * by the clock */
	int prev_home; /* home at the scan before */
	bool is_home_proven;			/* at the last scan: what was counted since the
						 * value before was counted at home */
	enum sp_why gap_why; /* why it is not known that since the segment began the
					 * thread was only where it is watched */
	bool ran[SP_GROUPS];		/* since it began the copies ran wherever the thread was */
	enum sp_why idle_why; /* why not */
	enum sp_why unproven_why; /* why what is open was not proven when it was booked */
	bool was_unwatched; /* the thread was on a CPU that is none of ours */
};

/* When times were told last. */
struct sp_percpu_attributed {
	int home;			/* where the thread was, */
	uint64_t ticks, moves;		/* when that was, and its moves until then */
};

/* Home's hardware counters while they rest (home-off.h). */
struct sp_percpu_home_off {
	bool is_possible, is_disabled; /* they may be off; not any more */
	int index; /* index of the CPU where they are off; -1: nowhere */
	uint64_t since;			/* ticks when that changed last */
};

/* Where the last window's parts are told. */
struct sp_percpu_parts {
	int32_t *cpus;			/* [n] */
	int64_t *counts, *proven; /* [n + 1][k], the last row for a CPU that is none of
					 * ours */
	uint64_t *ns;			/* [n + 1] */
	double *weight;			/* [n] */
	int64_t *low, *high, *grown;	/* [n] */
	int64_t *total, *share;		/* [n + 1] of one event */
	int64_t *elsewhere;		/* [k] booked on such CPUs so far */
	uint32_t unwatched_row; /* the row, plus 1, that got counts of the last window for a
					 * CPU that is not watched; 0: none */
};

struct sp_percpu {
	struct sp_percpu_fast fast;
	struct sp_percpu *next;		/* of the clock's list */
	struct sp_clock *clock;		/* NULL: closed */
	uint64_t bytes;			/* of this mapping */
	uint32_t taken_by; /* by a scan, or by who closes it: the thread's number, and
					 * SP_DROPPED */
	uintptr_t frame;		/* of who took it; 0: not said yet */
	enum sp_attribution kind;
	enum sp_why why;		/* it is less than exact */
	uint32_t k, natives, n, room;	/* events, natives, CPUs, at most */
	bool has_times;			/* its software copies tell the times, */
	struct sp_residency times;		/* these; or they are the clock's */
	struct sp_percpu_target target;
	struct sp_percpu_shadow shadow;
	struct sp_percpu_sharing sharing;
	struct sp_percpu_skips skips;
	struct sp_percpu_scans scan;
	struct sp_percpu_papi papi;
	struct sp_percpu_segment segment;
	struct sp_percpu_attributed attributed;
	struct sp_percpu_home_off home_off;
	struct sp_percpu_parts parts;
	/* Events as sums of natives. */
	struct {
		uint32_t n;
		uint8_t native[SP_MAX_TERMS];
		double factor[SP_MAX_TERMS];
		uint64_t margin; /* what a move may put on a neighbour */
		bool is_cpu_clock; /* counts by CPU differ from PAPI's at each move */
		bool can_fall; /* a difference of natives */
		bool has_clock; /* some is a clock */
		bool has_hardware; /* some are counted by hardware counters */
	} *sum;				/* [k] */
	struct sp_window *window;	/* [k] */
	struct sp_percpu_cpu *cpu;	/* [n] */
};

_Static_assert(offsetof(struct sp_percpu, fast) == 0 && sizeof(struct sp_percpu_fast) <= 64,
	       "what every start and stop looks at is in one line of cache");

extern bool sp_has_one_clock; /* this kernel's times of software and hardware events are
					 * one clock's */

#endif
