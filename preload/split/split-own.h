/* split-own.h: a set's split, for the files of this folder. */
#ifndef SP_SPLIT_OWN_H
#define SP_SPLIT_OWN_H

#include "../../core/store/format.h"
#include "clock.h"
#include "gate.h"

/* Software events never lack a counter: they stand in groups of their own. */
enum sp_group { SP_SOFTWARE, SP_HARDWARE, SP_GROUPS };

/* What was there on one CPU when it was looked at. */
struct sp_seen_at {
	uint64_t low, high;		/* the clock's ns, before and after all else was read; equal where the thread was not */
	uint64_t ran[SP_GROUPS];	/* ns */
	uint64_t enabled;		/* ns of the hardware group: all that the thread ran anywhere since it was opened */
};

struct sp_split_cpu {
	int cpu;
	int dummy;			/* the clock's descriptor */
	int fd[SP_NATIVES_MOST];	/* by native; -1: none */
	struct sp_seen_at mark, now;	/* at the window's beginning; at the scan under way */
	uint64_t before;		/* the clock's ns before PAPI was called (sp_split_ask) */
	int64_t *mark_value, *value;	/* [k] of the events then */
};

struct sp_split {
	struct sp_gate gate;
	struct sp_split *next;		/* of the clock's list */
	struct sp_clock *clock;		/* NULL: closed */
	uint64_t bytes;			/* of this mapping */
	uint32_t taken;			/* by a scan, or by who closes it: the thread's number, and SP_DROPPED */
	uintptr_t frame;		/* of who took it; 0: not said yet */
	uint64_t digest;		/* of what PAPI had open when these were opened (opened.h) */
	enum sp_attribution kind;
	enum sp_why why;		/* it is less than exact */
	enum sp_why trouble;		/* the last scan failed */
	int tid;
	bool own, inherits;
	bool counts;			/* its hardware counters are to be on while it runs */
	uint32_t k, natives, n;		/* events, natives, CPUs */
	uint8_t group[SP_NATIVES_MOST];	/* enum sp_group */
	int leader[SP_GROUPS];		/* the first native of each; -1: none is there */
	uint32_t size[SP_GROUPS];
	bool marked;			/* the marks hold */
	bool disturbed;			/* they do, but not all that was handed out is known here: since the last scan began, */
	bool was_disturbed;		/* and before */
	bool still, still_mark;		/* the clock stood still while the thread ran (PR_TASK_PERF_EVENTS_DISABLE) */
	bool unclear;			/* another thread ran while the marks were taken: `home` had counted more than they say */
	int asked;			/* the thread that took the times before it called PAPI; 0: none */
	bool plain;			/* it has events without an edge */
	int early;			/* the CPU where the caller read these before it called PAPI, an index; -1: none */
	uint32_t early_proof;		/* if `scanned` is this, the caller stayed there since */
	int64_t early_value[SP_SPLIT_EVENTS];
	uint32_t others;		/* CPUs where it, or a child, ran during the scan, beside the caller's own */
	int home;			/* index of the CPU where the window begins; -1: it is none of ours */
	uint64_t scan_ticks;		/* what the last scan took */
	uint64_t answer_ticks, read_ticks;	/* of a window's end: when it was asked for, when the counters were read */
	uint32_t answer_proof;		/* if `scanned` is this, the thread ran all the time between */
	uint32_t scanned;		/* sp_proof_now() at the end of a scan */
	uint64_t mark_ticks;		/* when they were taken */
	uint64_t total_mark, total_now;	/* the clock's, of all CPUs */
	uint64_t moves_mark, moves_now;
	bool probed;			/* did they find a place beside PAPI's? */
	uint32_t starving;		/* windows one after another in which no hardware counter of ours ran */
	/* Where the last window's parts are told: */
	int32_t *cpus;			/* [n] */
	int64_t *at;			/* [n][k] */
	uint64_t *ns;			/* [n + 1] */
	double *weight;			/* [n] */
	int64_t since[SP_SPLIT_EVENTS];	/* what was counted from PAPI's return to the scan, on the CPU of the scan */
	bool unsure[SP_SPLIT_EVENTS];	/* that, or what was counted elsewhere meanwhile, is not known */
	bool unmarked[SP_SPLIT_EVENTS];	/* the marks do not tell where all was counted before them */
	int64_t rest[SP_SPLIT_EVENTS];	/* what the CPU of the scan was given */
	bool exact[SP_SPLIT_EVENTS];
	/* Events as sums of natives. */
	struct {
		uint32_t n;
		uint8_t native[SP_TERMS_MOST];
		double factor[SP_TERMS_MOST];
		uint64_t edge;		/* what the edges of a window may put on a neighbour */
		double clocks;		/* ns of a clock's, times this, are in it */
	} *sum;				/* [k] */
	struct sp_split_cpu *cpu;	/* [n] */
};

extern bool sp_one_clock;		/* this kernel's times of software and hardware events are one clock's */

#endif
