/* switches.h: when a thread left and took up each CPU, as the kernel recorded it.
 *
 * A software event of the thread (PERF_COUNT_SW_DUMMY with context_switch) writes a
 * record into a ring that we share with the kernel whenever the thread is switched out or
 * in.  Looking costs no system call: one load if nothing happened, and the clock.  The
 * event lives as long as the ring is mapped, so no descriptor is kept: the application
 * finds none, and cannot close it.  A child of fork does not get the mapping.
 *
 * All functions are for the ring's own thread; none but open and close makes a system
 * call, and a signal handler may look on top of a look (it learns nothing then).
 */
#ifndef SP_SWITCHES_H
#define SP_SWITCHES_H

#include <linux/perf_event.h>

#include "../../core/store/split.h"

#define SP_MOVES_KEPT	4096u		/* moves of one window; a power of two */

/* Where the thread was at a moment. */
struct sp_look {
	uint64_t on_ns;			/* time that it has run so far, on all CPUs */
	uint32_t moves;			/* to another CPU so far */
	uint32_t lost;			/* times that records are missing; two looks that differ prove nothing */
	uint32_t serial;		/* 0: this look saw nothing */
	int cpu;
};

struct sp_move {
	uint64_t on_ns;
	int cpu;			/* taken up then */
};

struct sp_switches {
	struct perf_event_mmap_page *page;
	const char *data;
	uint64_t bytes;			/* of the ring; a power of two */
	uint64_t tail;
	uint64_t on_ns, in_ns;		/* run before it was switched in last; when that was */
	uint32_t moves, lost, serial;
	bool off;			/* looks see nothing */
	uintptr_t looking;		/* the frame of the look under way */
	int cpu;
	struct sp_move move[SP_MOVES_KEPT];	/* the n-th stands at n % SP_MOVES_KEPT */
};

/* Opens one event of the calling thread and maps `pages` pages of ring (a power of two), touched.
 * cpu >= 0: only what happens on that CPU, with a signal to this thread (trigger, see moves.h).
 * NULL: *error is why, positive. */
struct perf_event_mmap_page *sp_switches_map(int cpu, unsigned pages, int trigger, int *error);
void sp_switches_unmap(struct perf_event_mmap_page *page, unsigned pages);

/* 0 or -errno.  EACCES: not allowed; EPERM: not allowed, or too little locked memory. */
int sp_switches_open(struct sp_switches *s, unsigned pages);
void sp_switches_close(struct sp_switches *s);

void sp_switches_look(struct sp_switches *s, struct sp_look *look);

/* Once in a process, before any look: the clock of the records. */
void sp_switches_clock(void);

/* The application has turned the thread's records off, or on: what was in between is not known. */
void sp_switches_off(struct sp_switches *s, bool off);

/* Time on each CPU between two looks, that of the later look last.  How many; 0: not
 * known, or more than there is room for. */
int sp_switches_parts(const struct sp_switches *s, const struct sp_look *from, const struct sp_look *to,
		      struct sp_part *parts, int room);

/* Time that the thread has run since the last move before this look. */
uint64_t sp_switches_since_move(const struct sp_switches *s, const struct sp_look *look);

#endif
