/* window.h: which counts are proven, as a pure function: no system call, no pointer to the world.
 *
 * The rule: a count on CPU k is proven if CPU k's own counter had counted it before PAPI read its
 * own.
 *
 * P is PAPI's counter of an event, which counts wherever the thread runs.  Copy k is a counter of
 * ours of the same event and thread that counts only on CPU k: whatever copy k had when PAPI read
 * P, P has counted there, too.  So what a copy has grown from its anchor (what it had when the
 * segment began: a segment lasts from one zeroing of P to the next) to a look at it before PAPI's
 * call is a lower bound, whatever else went wrong: a copy that could not run all the time, a CPU
 * that has none, a move inside the call.
 *
 * A thread's own set is started without a look at the copies: those of other CPUs stand still, that
 * of the CPU where the thread is (home) has no anchor.  Home's bound is then what all others leave
 * at most of P, if the thread was on no CPU without a copy (`high`: the times of the copies say
 * so), and from then on home has an anchor, too.  So home's copy may be off until then: it need
 * only count once it has an anchor.  At a value where all counts are proven, the CPU where the
 * thread is can become home anew.
 *
 * A guard: if all copies together have grown by more than P, one of them counted something else.
 * Then `sound` is false, and all that they proved since P was zeroed is taken back.
 *
 * Where the thread stayed on one CPU from one value of PAPI's to the next (rseq, or a page of the
 * kernel's, says so) all that is new is that CPU's: proven without copies.
 *
 * One event of one set; counts may be sums of several counters'.  Bounds are of the relation's
 * whole life, so that what one window leaves open the next one may prove.  Of a difference of
 * counters, which may fall, they are of the moment: what a value does not prove anew is taken back.
 * The model of all this is the test beside it: tests/unit/t-window.c.
 */
#ifndef SP_WINDOW_H
#define SP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define SP_UNKNOWN	INT64_MIN

/* Counts are of the relation's life. */
struct sp_window_cpu {
	int64_t anchor;			/* the copy's count that the segment began with; SP_UNKNOWN:
					 * home's, as yet */
	int64_t after;			/* its count at most when P had `after` (below); SP_UNKNOWN:
					 * no value since the start */
	int64_t base;			/* `proven` then */
	int64_t proven;			/* counted here at least */
	int64_t stayed;			/* of it: before the segment, or without copies */
	int64_t total;			/* booked here */
	int64_t reported;			/* of it: said to be proven */
};

struct sp_window {
	uint32_t n;			/* CPUs that have a copy */
	bool can_fall; /* P may fall: a difference of counters */
	bool is_sound; /* the copies have counted nothing that P has not */
	int64_t value;			/* that PAPI handed out last in this segment, as far as was
					 * heard of */
	int64_t greatest;		/* and by which something may be proven */
	int64_t before;			/* P when the anchors were taken: it tells nothing of what
					 * was counted since */
	int64_t base_proven; /* and the sum of `proven` then */
	int64_t after;			/* a value that PAPI handed out in this segment */
	struct sp_window_cpu *cpu;	/* [n] */
};

/* A value that PAPI handed out.  What the copies had then: of a difference `low` is what its added
 * counters had before the call, less what the others had after it, and `high` and `now` the other
 * way round. */
struct sp_window_reading {
	int64_t value;
	const int64_t *low;		/* [n] at least: looked at before PAPI's call (SP_UNKNOWN:
					 * nothing is known of this one); NULL: nothing of any */
	const int64_t *high;		/* [n] at most: looked at after it; NULL: the thread may
					 * have been on a CPU without a copy */
	const int64_t *now;		/* [n] for home's anchor, as `high`, wherever the thread
					 * was; NULL: home stays without one */
	const int64_t *grown;		/* [n] what the copies have counted since the last value,
					 * which is booked there as far as it goes; NULL: nothing of
					 * it is known */
	const double *weight;		/* [n] of the rest; NULL, or all 0: it goes where the
					 * reading is booked */
	double away_weight; /* the weight of all CPUs without a copy, beside these: that
					 * part goes there, too */
	bool is_clock; /* a clock: its shadow counters may differ from P by some ns
					 * in a window */
	uint32_t at;			/* where the reading is booked; n: on a CPU without a
					 * copy */
};

/* Where what is new is booked, and what is newly proven, perhaps of what was booked before: [n +
 * 1], the last one for all CPUs without a copy.  Below 0: taken back. */
struct sp_window_shares {
	int64_t *total, *proven;
};

/* All CPUs and nothing proven. */
void sp_window_init(struct sp_window *w, struct sp_window_cpu *cpu, uint32_t n, bool falls);

/* P was zeroed, and had `before` right before the copies were looked at.  home: the CPU of an own
 * set whose copy was not looked at since; n: there is none. */
void sp_window_begin(struct sp_window *w, const int64_t *shadow, int64_t before, uint32_t home);

/* Are all counts since the anchors were taken proven, up to the last value?  A thousandth may be
 * open, and will not be proven then: what is counted between a look at a copy and PAPI's. */
bool sp_window_may_switch_off(const struct sp_window *w);

/* If so: CPU `home` is home from the last value on, and its copy may be off. The thread stayed
 * there since PAPI was called for that value; the others' copies had `shadow` [n] then. */
void sp_window_switch_off(struct sp_window *w, const int64_t *shadow, uint32_t home);

/* CPU n has a copy from now on, which has counted nothing yet; there is room for it in what
 * sp_window_init got. */
void sp_window_add(struct sp_window *w);

/* Reuses CPU i for another CPU, whose shadow counters begin at 0. Returns the unproven counts that
 * were attributed to the old one. */
int64_t sp_window_replace(struct sp_window *w, uint32_t i);

/* P had `papi` before the copies had `shadow` [n], and the thread has been on their CPUs only since
 * the segment began: home's has counted what the others have not, so that it has an anchor, too. */
void sp_window_anchor(struct sp_window *w, int64_t papi, const int64_t *shadow);

/* All that is new up to this value was counted on CPU i (n: one without a copy; not of a
 * difference), and is booked there as proven.  Not for a value below the last one (see
 * sp_window_miss), nor right after such a one. */
void sp_window_attribute_stayed(struct sp_window *w, int64_t value, uint32_t i);

/* All that is new up to this value is booked on CPU i (n: elsewhere), and nobody knows where it was
 * counted.  Not for a value below the last one, nor of a difference: there something has to be
 * taken back, which sp_window_attribute without copies does. */
void sp_window_miss(struct sp_window *w, int64_t value, uint32_t i);

/* The same of the latest value: what is new from here on may be proven again. */
void sp_window_skip(struct sp_window *w, int64_t value, uint32_t i);

/* So many counts that were skipped on CPU i were counted there: the thread has been nowhere else
 * since before they were. */
void sp_window_prove_skipped(struct sp_window *w, int64_t counts, uint32_t i);

/* The copies are not to be believed until P is zeroed again; what they proved in this segment the
 * next sp_window_attribute takes back. */
void sp_window_distrust(struct sp_window *w);

/* The thread may have moved, or is another one.  Values may come late, in any order, within their
 * segment. */
void sp_window_attribute(struct sp_window *w, const struct sp_window_reading *seen,
			 const struct sp_window_shares *to);

#endif
