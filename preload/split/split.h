/* split.h: the counts of a window, split by CPU by the kernel.
 *
 * Beside PAPI's own counters of an event set stand counters of ours: the same events, for the same
 * thread, but each on one CPU only.  And for each thread that is split a clock: an event that counts
 * nothing, once for each CPU that the thread may run on, whose running time is the time of the thread
 * there, and once for all CPUs.  The kernel keeps them; nothing happens at a move, and while a thread
 * stays (proof.h) nothing is read.
 *
 * A window is what lies between two values that PAPI handed out (or a zeroing and a value).  Where the
 * thread may have moved in it, the clock tells on which CPUs it was, and the counters there how much
 * was counted.  What PAPI handed out is the sum, always: the CPU where the window began gets what the
 * others leave of it, so that what a look of ours costs moves no count.  The kernel vouches for the
 * split if on each of these CPUs our counters ran all the time that the thread was there, and these
 * times add up to all the time that it ran: else counts are split by the times, and not called exact.
 *
 * A set's counts are its opener's or its target's, perhaps another thread's than the caller's: then
 * nothing is known without a look, and the CPU where that thread runs during the look gets the rest.
 *
 * Not from handlers on top of a look: those find it taken, and their window is not split.
 */
#ifndef SP_SPLIT_H
#define SP_SPLIT_H

#include "../../core/store/format.h"
#include "opened.h"

#define SP_TERMS_MOST	12u		/* natives of one event (PAPI_MAX_INFO_TERMS) */
#define SP_SPLIT_EVENTS	64u		/* of a set; one with more is not split */

/* An event as a sum of natives: factor[i] times the native event of code native[i]. */
struct sp_terms {
	uint32_t n;			/* 0: it is none, or not known */
	uint32_t native[SP_TERMS_MOST];
	double factor[SP_TERMS_MOST];
};

/* What is to be split. */
struct sp_split_want {
	const struct sp_opened *opened;
	int tid;			/* whose counts they are */
	bool own;			/* the calling thread's */
	bool inherits, overflows, multiplexed;
	uint32_t k;
	const struct sp_terms *const *terms;	/* [k] */
};

/* The first words of a split, which every start and stop looks at. */
struct sp_gate {
	uint32_t ready;			/* a window of the calling thread's own may begin without a look; 0: not so */
	uint32_t proof;			/* if sp_proof_look() is still this */
	uint32_t changes;		/* of what PAPI had open when it was made (opened.h) */
	uint64_t begun;			/* sp_ticks() from which on its time is not told yet */
};

struct sp_split;

static inline bool sp_split_is_ready(const struct sp_split *p, uint32_t proof)
{
	const struct sp_gate *g = (const struct sp_gate *)p;

	return sp_get(&g->ready) & (g->proof == proof);
}

/* PAPI has opened and closed nothing since. */
static inline bool sp_split_is_for(const struct sp_split *p, const struct sp_opened *opened)
{
	return ((const struct sp_gate *)p)->changes == opened->changes;
}

/* The processor's time, of any CPU: no system call, a few ns. */
static inline uint64_t sp_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	return 0;
#endif
}

extern uint64_t sp_tick_ns;		/* of a tick, in 2^-32 ns */
static inline uint64_t sp_ticks_ns(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * sp_tick_ns >> 32);
}

/* Once in a process, before anything counts; and in a child of fork. */
void sp_split_begin(void);
void sp_split_child(void);

/* Counters of ours for what is wanted, before PAPI starts it: those of *p where they still fit, else
 * others.  *why: why it is less than the setting asks for.  How it will be split. */
enum sp_attribution sp_split_prepare(struct sp_split **p, const struct sp_split_want *want, enum sp_why *why);

/* Are they still those for what PAPI has open?  (The same events, opened again, are.)  By the set's user. */
bool sp_split_holds(struct sp_split *p, const struct sp_opened *opened);

/* PAPI is expected to open them again: then whose counts they are shows. */
void sp_split_expects(struct sp_split *p);

/* They are not: until it is prepared anew nothing is known but that a thread stayed. */
void sp_split_unseen(struct sp_split *p);

/* They are not needed any more; NULL is none. */
void sp_split_drop(struct sp_split **p);

/* Before PAPI starts the set: its counters run, no other set's of the thread in their place. */
void sp_split_starts(struct sp_split *p);

/* PAPI has zeroed or started it, with these counters (NULL: is about to): the window begins, with a look.
 * `open`: sp_proof_look() from right before PAPI was called. */
void sp_split_zeroed(struct sp_split *p, uint32_t open, const struct sp_opened *started);

static inline void sp_split_begun(struct sp_split *p)
{
	((struct sp_gate *)p)->begun = sp_ticks();
}

/* The time since it began that is not told yet, all of it on one CPU, where all windows were proven. */
static inline uint64_t sp_split_ran(struct sp_split *p)
{
	struct sp_gate *g = (struct sp_gate *)p;
	uint64_t now = sp_ticks(), ran = now - g->begun;

	g->begun = now;
	return sp_ticks_ns(ran);
}


/* The parts of a window that ends with a reading, which PAPI answered by `delta` more than the one before. */
struct sp_shares {
	uint32_t n;			/* CPUs beside the last one */
	const int32_t *cpu;		/* [n] */
	const int64_t *at;		/* [n][k] */
	const bool *exact;		/* [k] */
	const uint64_t *ns;		/* [n + 1] time there, the last CPU's last */
	int32_t last;			/* the CPU of the reading, which gets the rest */
	uint64_t moves;			/* in the window */
	enum sp_attribution how;
	enum sp_why why;		/* not all is exact */
};

/* Before PAPI is asked for a set.  Of another thread's counts: where that one runs meanwhile.  Of the caller's own, which
 * may have moved (the gate is not ready), if PAPI's counters do not count on from the answer (`ends`: PAPI_stop,
 * PAPI_accum): what ours have here, so that what is counted while PAPI is at it is not taken for part of the answer. */
void sp_split_ask(struct sp_split *p, bool ends);

/* PAPI's answer: by how much more than the one before. */
struct sp_answer {
	const int64_t *delta;		/* [k] */
	const long long *counts;	/* [k] that its counters had then, and count on from; NULL: they do not */
	const struct sp_opened *opened;
	uint32_t open;			/* as in hooks.h */
};

/* False: it cannot be told, and shares->why says why.  Else *shares holds until sp_split_done. */
bool sp_split_window(struct sp_split *p, const struct sp_answer *answer, struct sp_shares *shares);
void sp_split_done(struct sp_split *p);

/* Are its windows split by time (for now)?  Then those that are proven without a look must be told, too (sp_split_ran):
 * the time of a window on several CPUs begins after them. */
bool sp_split_needs_time(const struct sp_split *p);

/* What was handed out meanwhile was not seen by it: the window that is under way is not exact. */
void sp_split_disturbed(struct sp_split *p);

/* By event, what the edges of a window on several CPUs may put on a neighbour. */
void sp_split_edges(const struct sp_split *p, uint64_t *edge);
bool sp_split_counts_moves(const struct sp_split *p);

/* CPUs that the thread could run on when they were opened, as "0-3,8". */
void sp_split_allowed(const struct sp_split *p, char *text, size_t n);

#endif
