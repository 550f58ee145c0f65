/* perf-fds.h: records the perf fds that PAPI has open for an event set.
 *
 * libpapi calls perf_event_open by libc's syscall(), and close(). Its GOT entries for these two are
 * set to functions of perf-fds.c, which pass all calls on and record those of event sets. No other
 * library's calls are affected. An event that is opened during a PAPI call for a set belongs to
 * this set, in PAPI's order of its native events. An event that libpapi closes is removed.
 *
 * Called by threads inside PAPI. If two start a set at once, the thread whose call gets a record
 * writes; the other only sets `has_missed`.
 */
#ifndef SP_PERF_FDS_H
#define SP_PERF_FDS_H

#include <linux/perf_event.h>

#include "../../core/base/base.h"

#define SP_MAX_NATIVES 24u		/* per set; a set with more has no shadow counters */

struct sp_native {
	struct perf_event_attr attr;	/* as PAPI passed it */
	int fd;				/* PAPI's */
	int cpu;			/* -1: any */
	int tid;			/* the thread it counts; -1: all that run on the CPU */
	uint32_t thread;		/* sp_thread_state.id that opened it for itself; 0: none */
	bool is_leader;			/* a group's first, which PAPI switches on and off */
};

struct sp_perf_fds {
	struct sp_native *at;		/* [room]; NULL: none */
	uint32_t n, room;
	uint32_t changes;		/* grows with every event that is opened or closed */
	uint32_t unlisted;		/* open events for which there is no room here */
	uint32_t complete;		/* all events when PAPI had last opened them */
	uint32_t to_reopen;		/* and before PAPI_start closed one; 0: it has not */
	uint32_t reopening;		/* events in `at` that PAPI_start reopens; n are open */
	uint32_t unclosed;		/* how many of those are not closed yet */
	uint32_t prev_changes;		/* `changes` before that */
	int opener;			/* tid of the thread that opened the last one */
	uint32_t seccomp_filters;	/* count when PAPI last opened a new event */
	int named_tid;			/* PAPI's tid for the last event in `at`; 0: itself */
	bool is_mixed;			/* an unlisted event has another target than `at`'s */
	bool is_reordered;		/* removals have changed PAPI's order of events */
	bool has_missed;		/* some event could not be recorded */
};

/* Callbacks for the thread that starts the set, inside PAPI. They preserve errno.
 *
 * lock_fds: only this thread writes the record until unlock_fds(prev_state). False: another thread
 * owns the set.
 *
 * reopened: PAPI_start has reopened the set's events, none of which counts yet. is_exclusive: no
 * other thread has called PAPI for the set. reopened_same: the same events; false: needs
 * `reopened`.
 */
struct sp_perf_fds_hooks {
	bool (*lock_fds)(struct sp_perf_fds *o, uint32_t *prev_state);
	void (*unlock_fds)(struct sp_perf_fds *o, uint32_t prev_state);
	void (*reopened)(struct sp_perf_fds *o);
	bool (*is_exclusive)(struct sp_perf_fds *o);
	bool (*reopened_same)(struct sp_perf_fds *o);
};

/* Redirects libpapi's entries; one compare if that is done. False: not found or not writable. */
bool sp_perf_fds_watch(const struct sp_perf_fds_hooks *from);

void sp_perf_fds_child(void);		/* in a child of fork: frees the lock */

/* The event set for which this thread is inside PAPI, so that perf_event_open calls can be assigned
 * to it: the address of its perf fds, plus SP_IS_REOPENING in PAPI_start; 0: no set. */
#define SP_IS_REOPENING ((uintptr_t)1)
extern __thread uintptr_t sp_opening_set __attribute__((tls_model("initial-exec")));

static inline uint32_t sp_perf_fds_all(const struct sp_perf_fds *o)
{
	return o->n + o->unlisted;
}

uint32_t sp_perf_fds_leaders(const struct sp_perf_fds *o);	/* that PAPI_start switches on */

void sp_perf_fds_forget(struct sp_perf_fds *o);	/* for a new set */

#endif
