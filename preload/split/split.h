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
 * others leave of it, so that what a scan of ours costs moves no count.  The kernel vouches for the
 * split if on each of these CPUs our counters ran all the time that the thread was there, and these
 * times add up to all the time that it ran: else counts are split by the times, and not called exact.
 *
 * A set's counts are its opener's or its target's, perhaps another thread's than the caller's: then
 * nothing is known without a scan, and the CPU where that thread runs during the scan gets the rest.
 *
 * Not from handlers on top of a scan: those find it taken, and their window is not split.
 */
#ifndef SP_SPLIT_H
#define SP_SPLIT_H

#include "../../core/store/format.h"
#include "gate.h"
#include "hold.h"
#include "plan.h"

/* They are not: until it is prepared anew nothing is known but that a thread stayed. */
void sp_split_unseen(struct sp_split *p);

/* Before PAPI starts the set: its counters run, no other set's of the thread in their place. */
void sp_split_starts(struct sp_split *p);

/* PAPI has zeroed or started it, with these counters (NULL: is about to): the window begins, with a scan.
 * `open`: sp_proof_now() from right before PAPI was called. */
void sp_split_zeroed(struct sp_split *p, uint32_t open, const struct sp_opened *started);

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

/* Before PAPI is called for a set.  Of another thread's counts: where that one runs meanwhile.  Of the caller's own, which
 * may have moved (the gate is not ready), if PAPI's counters do not count on from the answer (`ends`: PAPI_stop,
 * PAPI_accum): what ours have here, so that what is counted while PAPI is at it is not taken for part of the answer. */
void sp_split_ask(struct sp_split *p, bool ends);

/* PAPI's return: by how much more than the one before. */
struct sp_answer {
	const int64_t *delta;		/* [k] */
	const long long *counts;	/* [k] that its counters had then, and count on from; NULL: they do not */
	const struct sp_opened *opened;
	uint32_t open;			/* as in hooks.h */
};

/* False: it cannot be told, and shares->why says why.  Else *shares holds until sp_split_done. */
bool sp_split_window(struct sp_split *p, const struct sp_answer *answer, struct sp_shares *shares);
void sp_split_done(struct sp_split *p);

/* Are its windows split by time (for now)?  Then those that are proven without a scan must be told, too (sp_split_ran):
 * the time of a window on several CPUs begins after them. */
bool sp_split_needs_time(const struct sp_split *p);

/* What was handed out meanwhile was not seen by it: the window that is under way is not exact. */
void sp_split_disturbed(struct sp_split *p);

#endif
