/* percpu.h: the counts of a window, split by CPU by the kernel.
 *
 * Beside PAPI's own counters of an event set stand counters of ours (copies): the same events, for
 * the same thread, but each on one CPU only, for the CPUs that are watched (cpu-select.h).  Their
 * running times are the times of the thread there, or those of its clock are (clock.h).  The kernel
 * keeps them; nothing happens at a move, and while a thread stays (rseq-proof.h) nothing is read.
 *
 * A window is what lies between two values that PAPI handed out (or a zeroing and a value).  What
 * is proven of it, and where it is booked, window.h says; here it is found out what window.h is to
 * know: the copies are read before PAPI is called (sp_percpu_read_before), or after it, where
 * PAPI's counters count on and say how far they are.
 *
 * A set's counts are its opener's or its target's, perhaps another thread's than the caller's, or
 * are read by several threads: then the copies are read before each call.
 *
 * Not from handlers on top of a scan: those find it taken, and their window is not split.
 */
#ifndef SP_PERCPU_H
#define SP_PERCPU_H

#include "../../core/store/layout.h"
#include "percpu-fast.h"
#include "percpu-lifetime.h"
#include "shadow-open.h"

/* Stops trusting the shadow counters until the set is prepared again. */
void sp_percpu_distrust(struct sp_percpu *p);

/* Before PAPI starts the set: its counters run, no other set's of the thread in their place.
 * started: PAPI has started it already, and may have counted on any CPU since. */
void sp_percpu_before_start(struct sp_percpu *p, const struct sp_perf_fds *perf_fds, bool started);

/* PAPI has zeroed or started it, with these counters: a segment begins, with a scan.  `open`:
 * sp_proof_now() from right before PAPI was called. */
void sp_percpu_after_reset(struct sp_percpu *p, uint32_t open, const struct sp_perf_fds *perf_fds);

/* Before PAPI is called: the copies are read, where what they have now proves what PAPI will hand
 * out.  `last`: [k] what it handed out last.  ends: the call ends the segment (PAPI_stop,
 * PAPI_accum), so that the copies tell nothing after it. */
void sp_percpu_read_before(struct sp_percpu *p, bool ends, const int64_t *last,
			   const struct sp_perf_fds *perf_fds);

/* Before the calling thread pins itself to other CPUs (sched_setaffinity) while its own set runs:
 * attributes the counts up to now and opens shadow counters on those CPUs.  `last` as above. */
void sp_percpu_before_affinity(struct sp_percpu *p, const struct sp_cpus *to, const int64_t *last,
			       const struct sp_perf_fds *perf_fds);
/* Adds these CPUs to those on which the thread may run.  False: it already could run on all of
 * them. */
bool sp_percpu_add_allowed(struct sp_percpu *p, const struct sp_cpus *to);

/* It is read by another thread than its owner, from now until the owner starts it anew.  True: it
 * was not before. */
bool sp_percpu_share(struct sp_percpu *p);
bool sp_percpu_is_shared(const struct sp_percpu *p);

/* The CPU where a thread without a mark (rseq-proof.h) has been alone since the last scan, and
 * where all was counted since the last value, by the time of one event of ours: two system calls.
 * SP_NO_CPU: not so, or it has a mark.  (While the program has that event switched off PAPI's are
 * off, too, until PAPI_start comes, which scans.  A guest, shared-tls.h, is to be ruled out by the
 * caller.) */
int sp_percpu_stayed_cpu(struct sp_percpu *p);

/* PAPI's return. */
struct sp_percpu_reading {
	const int64_t *last, *value;	/* [k] the value before, and this one */
	bool keeps_counting; /* PAPI's counters count on from the value */
	const struct sp_perf_fds *perf_fds;
	uint32_t proof; /* as above */
	int cpu;			/* where the counted thread runs, or ran last, where it is
					 * not the caller; SP_NO_CPU */
};

/* The parts of a window that ends with a reading. */
struct sp_shares {
	uint32_t n;			/* CPUs beside the last one */
	const int32_t *cpu;		/* [n] */
	const int64_t *counts; /* [n][k] */
	const int64_t *proven;		/* [n + 1][k] newly proven, the last CPU's last; perhaps of
					 * what was booked before */
	const uint64_t *ns;		/* [n + 1] time there, the last CPU's last */
	int32_t last;			/* the CPU of the reading, which gets the rest */
	uint64_t moves;			/* in the window */
	enum sp_attribution how;
	enum sp_why why;		/* of what is not proven; none: all of it is */
	int unwatched_cpu; /* the CPU that got counts which no counter of ours had, as
					 * it or another one is not watched; SP_NO_CPU: none */
};

/* False: it cannot be told, and shares->why says why.  Else *shares holds until sp_percpu_end_window. */
bool sp_percpu_window(struct sp_percpu *p, const struct sp_percpu_reading *answer,
		      struct sp_shares *shares);
void sp_percpu_end_window(struct sp_percpu *p);

/* Are its windows split by time (for now)?  Then those that are proven without a scan must be told,
 * too (sp_percpu_take_time): the time of a window on several CPUs begins after them.  Not while another
 * thread reads the set: each of its windows is scanned, and would prove once more what was proven
 * without. */
bool sp_percpu_needs_time(const struct sp_percpu *p);

/* The CPU on which the counted thread ran last, another one than the caller, as the scan of this
 * call tells; SP_NO_CPU: it does not.  Then /proc does: */
int sp_percpu_target_cpu(const struct sp_percpu *p);
void sp_percpu_set_target_cpu(struct sp_percpu *p, int cpu);

/* A value was booked that the windows do not see: a handler's, inside a call of PAPI. */
void sp_percpu_note_missed(struct sp_percpu *p);

/* A zeroing, or what PAPI_write does. */
void sp_percpu_note_missed_reset(struct sp_percpu *p);

#endif
