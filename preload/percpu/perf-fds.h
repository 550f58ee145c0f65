/* perf-fds.h: records the perf fds that PAPI has open for an event set.
 *
 * libpapi calls perf_event_open by libc's syscall(), and close(). Its GOT entries for these two are
 * set to functions of perf-fds.c, which pass all calls on and record those of event sets. No other
 * library's calls are affected. An event that is opened during a PAPI call for a set belongs to
 * this set, in PAPI's order of its native events. An event that libpapi closes is removed.
 *
 * Called by threads inside PAPI. Two that build one set at once race in PAPI itself. If two start a
 * set at once, the thread whose call gets a record writes; the other only sets `has_missed`.
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
	/* sp_thread_state.id of the thread that opened it for itself, also by PAPI_attach; 0: it
	 * counts another thread. */
	uint32_t thread;
	/* leads a group, perhaps of itself alone, which PAPI switches on and off */
	bool is_leader;
};

struct sp_perf_fds {
	struct sp_native *at;		/* [room]; NULL: none */
	uint32_t n, room;
	uint32_t changes;		/* grows with every event that is opened or closed */
	uint32_t unlisted;		/* open events for which there is no room here */
	/* number of all events when PAPI had last opened all of them */
	uint32_t complete;
	/* the same before PAPI_start closed the first one; 0: it has not */
	uint32_t to_reopen;
	/* PAPI_start is reopening this many events in `at`, of which n are open again; 0: it is
	 * not. */
	uint32_t reopening;
	uint32_t unclosed;		/* how many of those are not closed yet */
	uint32_t prev_changes;		/* `changes` before that */
	int opener;			/* tid of the thread that opened the last one */
	/* sp_seccomp_filters() when PAPI last opened an event that it had not had open right
	 * before. */
	uint32_t seccomp_filters;
	/* the thread that PAPI named for the last event in `at`; 0: itself */
	int named_tid;
	/* an unlisted event counts another thread than the last event in `at` */
	bool is_mixed;
	/* events were removed, so that PAPI's order is not that of opening */
	bool is_reordered;
	/* an event was opened or closed that could not be recorded */
	bool has_missed;
};

/* Callbacks for the thread that starts the set, inside PAPI. They preserve errno.
 *
 * lock_fds, unlock_fds: only this thread writes the record in between; `was` is for unlock_fds.
 * False: another thread owns the set now.
 *
 * reopened: PAPI_start has closed the set's events and opened as many again, none of which counts
 * yet. is_exclusive: no other thread has called PAPI for the set. reopened_same: the events are the
 * same as before; false if something else requires `reopened`.
 */
struct sp_perf_fds_hooks {
	bool (*lock_fds)(struct sp_perf_fds *o, uint32_t *was);
	void (*unlock_fds)(struct sp_perf_fds *o, uint32_t was);
	void (*reopened)(struct sp_perf_fds *o);
	bool (*is_exclusive)(struct sp_perf_fds *o);
	bool (*reopened_same)(struct sp_perf_fds *o);
};

/* Redirects the entries of the current libpapi; one compare if that is done. False: the entries
 * were not found or are not writable, so nothing is recorded. */
bool sp_perf_fds_watch(const struct sp_perf_fds_hooks *from);

void sp_perf_fds_child(void);		/* in a child of fork: frees the lock */

/* The event set for which this thread is inside PAPI, so that perf_event_open calls can be
 * assigned to it: the address of its perf fds, plus SP_IS_REOPENING in PAPI_start; 0: no set. */
#define SP_IS_REOPENING ((uintptr_t)1)
extern __thread uintptr_t sp_opening_set __attribute__((tls_model("initial-exec")));

static inline uint32_t sp_perf_fds_all(const struct sp_perf_fds *o)
{
	return o->n + o->unlisted;
}

/* How many events PAPI_start switches on one by one. */
uint32_t sp_perf_fds_leaders(const struct sp_perf_fds *o);

/* Empties the record, for a new set. */
void sp_perf_fds_forget(struct sp_perf_fds *o);

#endif
