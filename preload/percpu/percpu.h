/* percpu.h: attributes the counts of an event set's windows to CPUs.
 *
 * Shadow counters stand next to PAPI's counters: the same events of the same thread, each on one
 * watched CPU (cpu-select.h). Their running times, or those of the thread's clock (clock.h), are
 * the thread's times on that CPU. The kernel keeps them: a move costs nothing, and while a thread
 * stays on its CPU (rseq-proof.h) nothing is read.
 *
 * window.h decides which counts are proven. This part supplies its input: a scan of the shadow
 * counters before PAPI is called (sp_percpu_read_before), or after it if PAPI's counters keep
 * counting.
 *
 * A set may count another thread than the caller, or several threads may read it. Its shadow
 * counters are then read before each call.
 *
 * A handler that interrupts a scan finds the set taken: its window is not attributed per CPU.
 */
#ifndef SP_PERCPU_H
#define SP_PERCPU_H

#include "../../core/store/layout.h"
#include "percpu-fast.h"
#include "percpu-lifetime.h"
#include "shadow-open.h"

/* Stops trusting the shadow counters until the set is prepared again. */
void sp_percpu_distrust(struct sp_percpu *p);

/* Before PAPI starts the set: switches its shadow counters on and those of the thread's other sets
 * off. started: PAPI has started the set already, and may have counted on any CPU since. */
void sp_percpu_before_start(struct sp_percpu *p, const struct sp_perf_fds *perf_fds, bool started);

/* After PAPI has reset or started the set, whose counters are *perf_fds: begins a period with a
 * scan. proof: sp_proof_now() from right before the PAPI call. */
void sp_percpu_after_reset(struct sp_percpu *p, uint32_t proof, const struct sp_perf_fds *perf_fds);

/* Before PAPI is called: reads the shadow counters if their values can prove the counts that PAPI
 * will return. ends: the call ends the period (PAPI_stop, PAPI_accum), so that a later scan proves
 * nothing. last: [k] the values that PAPI returned last. */
void sp_percpu_read_before(struct sp_percpu *p, bool ends, const int64_t *last,
			   const struct sp_perf_fds *perf_fds);

/* Before the calling thread pins itself to other CPUs (sched_setaffinity) while its own set runs:
 * attributes the counts up to now and opens shadow counters on those CPUs. `last` as above. */
void sp_percpu_before_affinity(struct sp_percpu *p, const struct sp_cpus *to, const int64_t *last,
			       const struct sp_perf_fds *perf_fds);
/* Adds CPUs to those on which the thread may run. False: none of them is new. */
bool sp_percpu_add_allowed(struct sp_percpu *p, const struct sp_cpus *to);

/* Notes that another thread than its owner reads the set, until the owner starts it again. True:
 * this is new. */
bool sp_percpu_share(struct sp_percpu *p);
bool sp_percpu_is_shared(const struct sp_percpu *p);

/* The CPU that counted everything since the last reading, if the thread has no mark (rseq-proof.h)
 * and one shadow counter's time proves it. SP_NO_CPU: not proven, or it has a mark. Two system
 * calls. The caller excludes guests (shared-tls.h). If the program has switched this event off,
 * PAPI's are also off until PAPI_start, which scans. */
int sp_percpu_stayed_cpu(struct sp_percpu *p);

/* The values that PAPI returned. */
struct sp_percpu_reading {
	const int64_t *last, *value;	/* [k] the previous values, and these */
	bool keeps_counting;		/* PAPI's counters run on after the reading */
	const struct sp_perf_fds *perf_fds;
	uint32_t proof;			/* sp_proof_now() from right before the PAPI call */
	/* the target's current or last CPU if the target is not the caller; SP_NO_CPU */
	int cpu;
};

/* The parts of a window that ends with a reading. */
struct sp_shares {
	uint32_t n;			/* number of CPUs, without `last` */
	const int32_t *cpu;
	const int64_t *counts;		/* [n][k] attributed to cpu[i] */
	/* [n + 1][k] newly proven, also of earlier windows; [n] is that of `last` */
	const int64_t *proven;
	const uint64_t *ns;		/* [n + 1] time there; [n] is that of `last` */
	int32_t last;			/* the CPU of the reading, which gets the rest */
	uint64_t moves;			/* of the thread in the window */
	enum sp_attribution how;
	enum sp_why why;		/* why counts are not proven; SP_WHY_NONE: all are */
	/* got counts that no shadow counter had, since some CPU is not watched; SP_NO_CPU: none */
	int unwatched_cpu;
};

/* Attributes the window that ends with a reading. False: impossible for the reason shares->why.
 * Otherwise *shares is valid until sp_percpu_end_window(). */
bool sp_percpu_window(struct sp_percpu *p, const struct sp_percpu_reading *reading,
		      struct sp_shares *shares);
void sp_percpu_end_window(struct sp_percpu *p);

/* Are windows attributed by time, for now? If so, sp_percpu_take_time() must account for those
 * proven without a scan, since a later window's time begins after them. False while another thread
 * reads the set: each window is scanned then, and would prove that time again. */
bool sp_percpu_needs_time(const struct sp_percpu *p);

/* The CPU on which the target, another thread than the caller, ran last according to this call's
 * scan. SP_NO_CPU: unknown; the caller reads it from /proc and sets it. */
int sp_percpu_target_cpu(const struct sp_percpu *p);
void sp_percpu_set_target_cpu(struct sp_percpu *p, int cpu);

/* Notes a reading that the windows do not include: a handler's, inside another PAPI call. */
void sp_percpu_note_missed(struct sp_percpu *p);

/* Notes a reset, or a PAPI_write, that the windows do not include. */
void sp_percpu_note_missed_reset(struct sp_percpu *p);

#endif
