/* percpu-internal.h: the state of struct sp_percpu, for the files of this folder. */
#ifndef SP_PERCPU_INTERNAL_H
#define SP_PERCPU_INTERNAL_H

#include "../../core/store/layout.h"
#include "clock.h"
#include "percpu-fast.h"
#include "window.h"

/* Software events never compete for a counter, so they are grouped separately. */
enum sp_group { SP_SOFTWARE, SP_HARDWARE, SP_GROUPS };

/* The times of one CPU at a scan, in ns. */
struct sp_cpu_times {
	/* of the clock, before and after the counters were read; equal if the thread did not run
	 * here */
	uint64_t low, high;
	uint64_t ran[SP_GROUPS];
	/* time that the thread ran anywhere since the events were opened */
	uint64_t enabled[SP_GROUPS];
};

struct sp_percpu_cpu {
	int cpu;
	/* the CPU has no such events: PAPI's counters do not count here either */
	bool has_no_events[SP_GROUPS];
	/* the kernel refused a shadow counter, but PAPI's may count here */
	bool is_refused;
	int *fd;			/* [natives]; -1: closed */
	struct sp_cpu_times prev, now;	/* at the scan before the last, and at the last */
	int64_t *prev_value, *value;	/* [k] of the shadow counters then */
	uint64_t last_seen;		/* ticks of the last scan that found the thread here */
	uint64_t attributed_ns;		/* the clock's time when time was attributed last */
	int64_t *attributed_value;	/* [k] and the shadow counters */
};

/* The sums of one scan. */
struct sp_scan {
	struct sp_clock_sum sum;	/* clock time on no watched CPU (clock.h) */
	/* of another thread: ns that it had run anywhere, by the event of sum.at */
	uint64_t enabled;
	/* how many times the program had switched the thread's events on again */
	uint32_t n_reenabled;
	uint64_t moves;			/* of the thread so far, if counted */
	uint64_t ticks, duration;	/* its end, and how long it took */
	/* ns of the caller's CPU time, if the caller runs on a watched CPU */
	uint64_t caller_ns;
	uint32_t proof;			/* sp_proof_now() at its beginning */
	/* since the previous scan the thread was only on the CPU of sum.at: the others were not
	 * read */
	bool is_unmoved;
	bool caller_stayed;		/* the caller did not move during the scan */
};

/* The thread that the set counts. Never changes. */
struct sp_percpu_target {
	int tid;
	uint32_t thread;		/* that opened PAPI's counters for itself (perf-fds.h) */
	bool is_own, inherits;
	/* another thread opened PAPI's counters: a prctl that switches those off leaves ours on */
	bool is_foreign;
};

/* The shadow counters that are open, and which of them are on. */
struct sp_percpu_shadow {
	/* the CPUs that the thread could run on when these were opened */
	struct sp_cpus allowed;
	uint64_t digest;		/* of the set's perf fds then (perf-fds.h) */
	/* it has hardware counters, which are on while the set runs */
	bool has_hardware;
	bool is_displaced;		/* another set's are on instead */
	uint8_t group[SP_MAX_NATIVES];	/* enum sp_group */
	int leader[SP_GROUPS];		/* the first native of each group; -1: none is open */
	uint32_t size[SP_GROUPS];
	/* its hardware counters were tested for running together with PAPI's */
	bool is_probed;
	uint32_t starved_windows;	/* windows in a row in which none of them ran */
};

/* Other threads that read the set, and its target if that is not the caller. */
struct sp_percpu_sharing {
	bool is_shared;			/* another thread reads it */
	bool was_read_elsewhere;	/* and has read it since its owner started it */
	/* the thread that scanned before it called PAPI, if none has scanned since; 0: none */
	int read_by_tid;
	int last_index;			/* index of the CPU where another thread ran last */
	int cpu;			/* that thread's CPU by the scans; SP_NO_CPU: unknown */
	/* the current call has scanned, so that `cpu` is up to date */
	bool is_cpu_known;
	uint32_t n_scans;
};

/* Readings without a scan, for lack of budget or inside another call. */
struct sp_percpu_skips {
	/* ns of the budget that are reserved for the scan that ends the period; 0: none */
	uint64_t reserved_ns;
	bool this_call;			/* there is no budget for the scan of this call */
	/* a previous reading was skipped, which the next scan may prove */
	bool reading;
	/* the scan that begins the period was skipped: windows are proven only while the thread
	 * stays */
	bool period;
	bool missed_value;		/* readings happened that the windows do not include */
	bool missed_reset;		/* so did a reset */
	/* [k] skipped since the last scan, if the thread was read only at home */
	int64_t *counts;
};

/* The last two scans. */
struct sp_percpu_scans {
	enum sp_why failure;		/* why the last scan failed; SP_WHY_NONE: it did not */
	bool has_baseline;		/* `last` is valid */
	struct sp_scan prev, last;
};

/* PAPI's counters at the last scan, and the shadow counters of the caller's CPU around that
 * read. */
struct sp_percpu_papi {
	bool is_read;			/* the last scan read PAPI's counters, too */
	/* [k] right after the shadow counters of the caller's CPU were read */
	int64_t *value;
	/* [k] limits of those shadow counters then: read before and after PAPI's */
	int64_t *shadow_low, *shadow_high;
};

/* The thread since PAPI last reset the set. */
struct sp_percpu_period {
	enum sp_why distrust_why;	/* why the shadow counters are not trusted in this period */
	/* index of the CPU of an own set's thread at the last scan; -1: not watched */
	int home;
	/* from the previous reading to the last scan it was on one CPU, by the clock */
	bool is_unmoved;
	int prev_home;			/* `home` at the scan before */
	/* at the last scan: all counts since the previous reading were counted at home */
	bool is_home_proven;
	/* why the thread may have been on unwatched CPUs in this period; SP_WHY_NONE: it was not */
	enum sp_why gap_why;
	bool ran[SP_GROUPS];		/* the shadow counters ran wherever the thread was */
	enum sp_why idle_why;		/* why they did not */
	enum sp_why unproven_why;	/* why counts of earlier windows are still unproven */
	bool was_unwatched;		/* the thread was on a CPU that is not watched */
};

/* The scan at which time was attributed last. */
struct sp_percpu_attributed {
	int home;			/* index of the thread's CPU */
	uint64_t ticks, moves;
};

/* Home's hardware counters while they are off (home-off.h). */
struct sp_percpu_home_off {
	bool is_possible, is_disabled;	/* allowed for this set; forbidden from now on */
	int index;			/* of the CPU whose counters are off; -1: none */
	uint64_t since;			/* ticks of the last change */
};

/* Buffers for the parts of the last window. Row n stands for all CPUs that are not watched. */
struct sp_percpu_parts {
	int32_t *cpus;			/* [n] */
	int64_t *counts, *proven;	/* [n + 1][k] */
	uint64_t *ns;			/* [n + 1] */
	double *weight;			/* [n] */
	int64_t *low, *high, *grown;	/* [n] */
	int64_t *total, *share;		/* [n + 1] of one event */
	int64_t *elsewhere;		/* [k] attributed to unwatched CPUs so far */
	/* the row, plus 1, with counts of the last window that no shadow counter had; 0: none */
	uint32_t unwatched_row;
};

struct sp_percpu {
	struct sp_percpu_fast fast;
	struct sp_percpu *next;		/* in the clock's list */
	struct sp_clock *clock;		/* NULL: closed */
	uint64_t bytes;			/* of this mapping */
	/* tid of the thread that scans or closes it, and SP_DROPPED; 0: none */
	uint32_t taken_by;
	uintptr_t frame;		/* of the function that took it; 0: not set yet */
	enum sp_attribution kind;
	enum sp_why why;		/* why `kind` is less than SP_BY_EXACT */
	uint32_t k, natives, n, room;	/* events, natives, watched CPUs, and room for CPUs */
	/* `times` are those of its software shadow counters; otherwise the clock's */
	bool has_times;
	struct sp_residency times;
	struct sp_percpu_target target;
	struct sp_percpu_shadow shadow;
	struct sp_percpu_sharing sharing;
	struct sp_percpu_skips skips;
	struct sp_percpu_scans scan;
	struct sp_percpu_papi papi;
	struct sp_percpu_period period;
	struct sp_percpu_attributed attributed;
	struct sp_percpu_home_off home_off;
	struct sp_percpu_parts parts;
	/* Each event as a sum of natives. */
	struct {
		uint32_t n;
		uint8_t native[SP_MAX_TERMS];
		double factor[SP_MAX_TERMS];
		/* error margin: counts that a move may attribute to the neighbor */
		uint64_t margin;
		/* PERF_COUNT_SW_CPU_CLOCK, which differs from PAPI's at each move */
		bool is_cpu_clock;
		bool can_fall;		/* a difference of natives */
		bool has_clock;		/* some native is a clock */
		bool has_hardware;	/* some native is a hardware event */
	} *sum;				/* [k] */
	struct sp_window *window;	/* [k] */
	struct sp_percpu_cpu *cpu;	/* [n] */
};

_Static_assert(offsetof(struct sp_percpu, fast) == 0 && sizeof(struct sp_percpu_fast) <= 64,
	       "each start and stop reads one cache line");

/* software and hardware events of this kernel use the same clock */
extern bool sp_has_one_clock;

#endif
