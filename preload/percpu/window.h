/* window.h: decides which counts are proven: pure functions, no system calls.
 *
 * The rule: a count is proven for CPU k if CPU k's shadow counter had counted it before PAPI read
 * its own counter.
 *
 * P is PAPI's counter of an event, which counts wherever the thread runs. Shadow counter k counts
 * the same event of the same thread on CPU k only, so P includes what k has counted. A period lasts
 * from one reset of P to the next; k's anchor is its value at the beginning. Its growth from the
 * anchor to a read before PAPI's call is a lower limit. That is true even if k could not run all
 * the time, some CPU has no shadow counter, or the thread moves during the call.
 *
 * A thread's own set starts without a scan. The shadow counters of other CPUs do not change
 * meanwhile, but that of the thread's CPU (home) has no anchor. Home's lower limit is P minus the
 * upper limits of all others, if the times show that the thread was only on watched CPUs (`high`).
 * From then on home also has an anchor. Its shadow counter may be off until then. When all counts
 * are proven, the thread's CPU can become home.
 *
 * If all shadow counters together have grown by more than P, one of them counted something else.
 * `is_sound` is then false, and all that they proved since the reset is taken back.
 *
 * If the thread stayed on one CPU from one reading to the next, by rseq or an mmap page, all new
 * counts are that CPU's. No shadow counter is needed.
 *
 * struct sp_window is one event of one set; its counts may be sums of several counters. Limits
 * apply to the relation's whole life, so that a later window may prove earlier counts. A difference
 * of counters may fall: its limits apply to one moment, and each reading takes back counts that it
 * does not prove. tests/unit/t-window.c has the model.
 */
#ifndef SP_WINDOW_H
#define SP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define SP_UNKNOWN	INT64_MIN

/* Counts of one CPU over the relation's life. */
struct sp_window_cpu {
	/* The shadow counter at the beginning of the period. SP_UNKNOWN: home's, so far. */
	int64_t anchor;
	/* Upper limit when P had sp_window.after. SP_UNKNOWN: no reading since the reset. */
	int64_t after;
	int64_t base;			/* `proven` when the anchor was set */
	int64_t proven;			/* lower limit of the counts here */
	/* part of `proven` from earlier periods, or without shadow counters */
	int64_t stayed;
	int64_t total;			/* attributed here */
	int64_t reported;		/* part of `total` that was reported as proven */
};

struct sp_window {
	uint32_t n;			/* watched CPUs */
	bool can_fall;			/* P may fall: a difference of counters */
	bool is_sound;			/* the shadow counters have counted no more than P */
	/* PAPI's last value in this period, as far as readings are known */
	int64_t value;
	/* PAPI's greatest value in this period that a scan may prove */
	int64_t greatest;
	/* P when the anchors were set; later counts prove nothing about it */
	int64_t before;
	int64_t base_proven;		/* the sum of `proven` then */
	int64_t after;			/* a value of P in this period */
	struct sp_window_cpu *cpu;	/* [n] */
};

/* A value that PAPI returned, and the limits of the shadow counters then. The lower limit of a
 * difference is that of its added counters minus the upper limit of the others; `high` and `now`
 * are the other way round. */
struct sp_window_reading {
	int64_t value;
	/* [n] lower limits, read before PAPI's call; SP_UNKNOWN: none for this CPU. NULL: none at
	 * all. */
	const int64_t *low;
	/* [n] upper limits, read after it. NULL: the thread may have been on an unwatched CPU. */
	const int64_t *high;
	/* [n] upper limits for home's anchor, wherever the thread was. NULL: home gets none. */
	const int64_t *now;
	/* [n] growth of the shadow counters since the last reading, which gets new counts first.
	 * NULL: unknown. */
	const int64_t *grown;
	/* [n] weights for the rest. NULL or all 0: the rest goes to `at`. */
	const double *weight;
	/* the weight of all unwatched CPUs, whose part also goes to `at` */
	double away_weight;
	/* the event is a clock: its shadow counters may differ from P by some ns per window */
	bool is_clock;
	uint32_t at;			/* the CPU of the reading; n: unwatched */
};

/* Output: new counts per CPU, and those newly proven, also of earlier windows. [n + 1]; the last
 * one stands for all unwatched CPUs. Negative: taken back. */
struct sp_window_shares {
	int64_t *total, *proven;
};

/* No counts, nothing proven. */
void sp_window_init(struct sp_window *w, struct sp_window_cpu *cpu, uint32_t n, bool can_fall);

/* Begins a period: P was reset, and had `before` right before the shadow counters had `shadow`.
 * home: the CPU of an own set, whose shadow counter was not read since; n: none. */
void sp_window_begin(struct sp_window *w, const int64_t *shadow, int64_t before, uint32_t home);

/* Are all counts since the anchors were set proven, up to the last value? A thousandth may be
 * unproven, and stays so: counts between two reads, of PAPI's counter and a shadow counter. */
bool sp_window_may_switch_off(const struct sp_window *w);

/* If so: makes CPU `home` home from the last value on, so that its shadow counter may be off. The
 * thread has stayed there since PAPI was called for that value; the others had `shadow` [n]
 * then. */
void sp_window_switch_off(struct sp_window *w, const int64_t *shadow, uint32_t home);

/* Adds CPU n, whose shadow counter begins at 0. The array of sp_window_init() must have room for
 * it. */
void sp_window_add(struct sp_window *w);

/* Reuses CPU i for another CPU, whose shadow counter begins at 0. Returns the unproven counts that
 * were attributed to the old one. */
int64_t sp_window_replace(struct sp_window *w, uint32_t i);

/* Gives home an anchor. P had `papi` before the shadow counters had `shadow` [n], and the thread
 * was only on watched CPUs in this period: home has counted the rest. */
void sp_window_anchor(struct sp_window *w, int64_t papi, const int64_t *shadow);

/* Attributes all new counts up to this value to CPU i as proven (n: unwatched). Not for
 * differences, nor for a value below the last one (sp_window_miss) or right after such a value. */
void sp_window_attribute_stayed(struct sp_window *w, int64_t value, uint32_t i);

/* Attributes all new counts up to this value to CPU i (n: unwatched) as unproven. Not for
 * differences, nor for a value below the last one: counts must then be taken back, by
 * sp_window_attribute() without shadow counters. */
void sp_window_miss(struct sp_window *w, int64_t value, uint32_t i);

/* The same for PAPI's latest value: later counts may be proven again. */
void sp_window_skip(struct sp_window *w, int64_t value, uint32_t i);

/* Proves `counts` that were skipped on CPU i: the thread has been nowhere else since before
 * them. */
void sp_window_prove_skipped(struct sp_window *w, int64_t counts, uint32_t i);

/* Stops trusting the shadow counters until P is reset. The next sp_window_attribute() takes back
 * their proofs of this period. */
void sp_window_distrust(struct sp_window *w);

/* Attributes the new counts of a reading if the thread may have moved, or is another one. Within a
 * period, values may come late and in any order. */
void sp_window_attribute(struct sp_window *w, const struct sp_window_reading *reading,
			 const struct sp_window_shares *to);

#endif
