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
	/* hold.h's: */
	struct sp_split *splits;	/* that go by it; their list */
	struct sp_split *counting;	/* whose hardware counters are on; NULL: nobody's */
	uint64_t bytes;			/* of this mapping */
	int tid;
	bool own;			/* of a thread of this process, and its own */
	bool stale;			/* its thread may run elsewhere, too, by now */
	bool migrations;		/* `total` counts moves */
	int total;			/* descriptors */
	void *page;			/* of witness.h, which goes with the thread; NULL: none */
	int page_fd;			/* its event, where that is not `total`; else -1 */
	uint32_t n;
	uint32_t generation;
	struct {
		int cpu, fd;
	} at[];				/* [n] ascending */
};

struct sp_clock_mask {
	unsigned long word[SP_CLOCK_CPUS / (8 * sizeof(long))];
};

void sp_clock_begin(void);		/* when the process starts */

/* The CPUs for a thread's clock, which sets of so many natives are to go by: those that the thread may run on now, and those
 * of the clock that it had before (NULL: none); and, while that leaves most of the budget, those that the process could run
 * on at its start: a thread that binds itself to one CPU after the other is found there.  <= 0: why not. */
long sp_clock_cpus(int tid, const struct sp_clock *before, uint32_t natives, struct sp_clock_mask *m);
uint32_t sp_clock_count(const struct sp_clock_mask *m);

/* NULL: *error is why (-EDQUOT, -EMFILE ...). */
struct sp_clock *sp_clock_make(int tid, bool inherits, const struct sp_clock_mask *m, int *error);
void sp_clock_close(struct sp_clock *c);

/* The time of a scan or of an opening is spent; is there any left for more? */
uint64_t sp_clock_ns(void);		/* CLOCK_MONOTONIC */
uint64_t sp_clock_own_ns(void);		/* of the calling thread on CPUs */
void sp_clock_spent(uint64_t ns);
bool sp_clock_may_spend(uint64_t ns);

#endif
