/* clock.h: on which CPUs a thread runs, and how long: its clock.
 *
 * One event that counts nothing for each CPU that the thread may run on, and one for all CPUs, whose
 * running times the kernel keeps.  A thread's own sets share its clock; a set that counts another
 * thread, or inherits, has one of its own.
 *
 * And what a process may spend on all this (SSPAPI_ATTRIBUTION=auto): a fixed time, and from then on a
 * hundredth of the time that it has run.
 */
#ifndef SP_CLOCK_H
#define SP_CLOCK_H

#include "../../core/base.h"

#define SP_CLOCK_CPUS	1024u

struct sp_split;

struct sp_clock {
	struct sp_clock *next;
	struct sp_split *splits;	/* that go by it; their list */
	struct sp_split *counting;	/* whose hardware counters are on; NULL: nobody's */
	uint64_t bytes;			/* of this mapping */
	int tid;
	bool own;			/* of a thread of this process, and its own */
	bool stale;			/* its thread may run elsewhere, too, by now */
	bool migrations;		/* `total` counts moves */
	int total;			/* descriptors */
	uint32_t n;
	uint32_t generation;
	struct {
		int cpu, fd;
	} at[];				/* [n] ascending */
};

/* The calling thread's own, made if need be; NULL: *error is why (-EDQUOT, -EMFILE ...).
 * On the CPUs that the thread may run on now, or could when its clock was made; and, while that leaves most of the
 * budget, on those that the process could at its start: a thread that binds itself to one CPU after the other
 * is found there.  For sets of so many natives. */
struct sp_clock *sp_clock_own(uint32_t natives, int *error);

/* How many these are. */
uint32_t sp_clock_cpus(int tid, uint32_t natives);

void sp_clock_begin(void);		/* when the process starts */

/* Another thread's, or with its children. */
struct sp_clock *sp_clock_of(int tid, bool inherits, uint32_t natives, int *error);
void sp_clock_drop(struct sp_clock *c);

/* Adds a split to the clock's list, takes it out.  (Threads that have ended are cleared away by others.) */
void sp_clock_add(struct sp_clock *c, struct sp_split *p);
void sp_clock_remove(struct sp_clock *c, struct sp_split *p);
void sp_clock_unlink(struct sp_clock *c, struct sp_split *p);	/* with the lock */

/* Other threads may drop what is in the list at any time, but not what is taken. */
uint32_t sp_clock_splits(struct sp_clock *c);
struct sp_split *sp_clock_take_oldest(struct sp_clock *c, const struct sp_split *but);	/* out of the list; NULL: none */
struct sp_split *sp_clock_counts(struct sp_clock *c, struct sp_split *p);	/* the one before, taken; or NULL */

/* Gives back what threads hold that have ended. */
void sp_clock_reap(void);
void sp_clock_child(void);		/* in a child of fork: there are none */

/* The time of a look or of an opening is spent; is there any left for more? */
uint64_t sp_clock_ns(void);		/* CLOCK_MONOTONIC */
uint64_t sp_clock_own_ns(void);		/* of the calling thread on CPUs */
void sp_clock_spent(uint64_t ns);
bool sp_clock_may_spend(uint64_t ns);

#endif
