/* clock.h: the time, for those who ask often.
 *
 * The kernel's own clock takes 30 ns to ask; where it counts by the CPU's
 * time-stamp counter, asking that takes half of it.  A clock looks at the kernel's
 * every 10 ms and goes on from there by the counter, at the pace of the 10 ms
 * before; what NTP and an operator do to the time is followed so.  Where the kernel
 * does not trust the counter, each look is one at the kernel's clock.
 *
 * A clock is its owner's alone.  Times may go back by what the system's do: who
 * needs them to grow sees to it.
 */
#ifndef SP_CLOCK_H
#define SP_CLOCK_H

#include "../base/base.h"

struct sp_clock {
	uint64_t ticks, ns;		/* the last look at the kernel's clock */
	uint64_t pace;			/* ns for a tick, 32 bits behind the point */
	uint64_t span;			/* ticks for which it holds; 0: look at the kernel's now */
};

/* Does the kernel count by the time-stamp counter?  Asked once, before anything counts. */
void sp_clock_set_up(void);

uint64_t sp_clock_read(struct sp_clock *c);

static inline uint64_t sp_clock_now(struct sp_clock *c)	/* ns since the epoch */
{
#if defined(__x86_64__)
	uint64_t ticks = __builtin_ia32_rdtsc(), since = ticks - c->ticks;

	if (SP_LIKELY(since < c->span))
		return c->ns + (since * c->pace >> 32);
	return sp_clock_read(c);
#else
	return sp_clock_read(c);
#endif
}

#endif
