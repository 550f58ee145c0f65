/* perf-fds.h: which kernel counters PAPI has open for an event set.
 *
 * PAPI tells nobody what it opens.  libpapi calls perf_event_open by libc's syscall(), and
 * closes by close(): its own entries for these two (GOT) are pointed at functions of ours, which
 * pass everything on to what stood there and write down what concerns a set.  Nobody else's calls
 * are touched.  What is opened while PAPI is called for a set is that set's, in PAPI's order of
 * its native events; what libpapi closes is dropped.
 *
 * By the threads that call PAPI; two that build one set at once race in PAPI itself.  If two start
 * one at once, the thread whose call gets a record writes; of the other one only `missed` is kept.
 */
#ifndef SP_PERF_FDS_H
#define SP_PERF_FDS_H

#include <linux/perf_event.h>

#include "../../core/base/base.h"

#define SP_MAX_NATIVES 24u /* of one set; a set with more is not split */

struct sp_native {
	struct perf_event_attr attr;	/* as PAPI passed it */
	int fd;				/* PAPI's */
	int cpu;			/* -1: any */
	int tid;			/* whose counts they are; -1: of all that run on the CPU */
	uint32_t thread;		/* the thread that opened it for itself
					 * (sp_thread_state.id), by PAPI_attach, too; 0: it is
					 * another one's */
	bool is_leader; /* a group, perhaps of itself alone: what PAPI switches on
					 * and off */
};

struct sp_perf_fds {
	struct sp_native *at;		/* [room]; NULL: none */
	uint32_t n, room;
	uint32_t changes;		/* grows whenever an event comes or goes */
	uint32_t unlisted; /* that are open, too, and for which there is no room */
	uint32_t complete; /* how many of both there were when PAPI had last opened all
					 * of them */
	uint32_t to_reopen; /* and before PAPI_start closed the first one; 0: it has
					 * not */
	uint32_t reopening; /* PAPI_start closes and opens again what it had open, and
					 * so many stand at `at`, of which n are open again; 0: it
					 * does not */
	uint32_t unclosed; /* of those: not closed yet */
	uint32_t prev_changes; /* `changes` then */
	int opener;			/* the thread that opened the last one */
	uint32_t seccomp_filters;		/* sp_seccomp_filters() when PAPI last opened one
						 * that it had not had open right before */
	int named_tid;			/* the thread that PAPI named for the last one kept; 0:
					 * itself */
	bool is_mixed; /* one of those more is another thread's than the one kept
					 * last */
	bool is_reordered; /* events were removed: PAPI fills the gaps in an order of
					 * its own */
	bool has_missed; /* something came or went that could not be written here */
};

/* Asked by the thread that starts the set, inside PAPI.  errno is given back. hold, let: in between
 * what stands here is this thread's to write; was: for let.  False: the set is another thread's
 * now. again: PAPI_start has closed what the set had open and has opened as many again, before any
 * of them counts. alone: no other thread has called PAPI for the set so far. same: they are opened
 * again as they were.  False: something else matters, as for `again`. */
struct sp_perf_fds_hooks {
	bool (*lock_fds)(struct sp_perf_fds *o, uint32_t *was);
	void (*unlock_fds)(struct sp_perf_fds *o, uint32_t was);
	void (*reopened)(struct sp_perf_fds *o);
	bool (*is_exclusive)(struct sp_perf_fds *o);
	bool (*reopened_same)(struct sp_perf_fds *o);
};

/* Puts us in front of the libpapi that is observed now; once more costs a compare.  False: its
 * entries were not found, or cannot be written: nothing will be seen. */
bool sp_perf_fds_watch(const struct sp_perf_fds_hooks *from);

void sp_perf_fds_child(void);		/* in a child of fork: the lock is free */

/* The event set for which this thread is inside PAPI, so that perf_event_open calls can be assigned
 * to it: the address of its perf fds, plus SP_IS_REOPENING in PAPI_start; 0: no set. */
#define SP_IS_REOPENING ((uintptr_t)1)
extern __thread uintptr_t sp_opening_set __attribute__((tls_model("initial-exec")));

static inline uint32_t sp_perf_fds_all(const struct sp_perf_fds *o)
{
	return o->n + o->unlisted;
}

/* How many of them PAPI_start switches on, one by one. */
uint32_t sp_perf_fds_leaders(const struct sp_perf_fds *o);

/* A new set with a record that another one had. */
void sp_perf_fds_forget(struct sp_perf_fds *o);

#endif
