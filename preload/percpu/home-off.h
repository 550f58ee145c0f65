/* home-off.h: hardware counters of the CPU where a thread stays are off.
 *
 * While a thread stays, its CPU's shadow counters tell nothing: that CPU is home, whose part is
 * what the others leave (window.h).  So they rest, and the processor counts each event once.  A
 * scan that finds that the thread has moved switches them on again; where it is then can be home in
 * their place.
 *
 * The caller has the split (percpu-lifetime.h).  None of this is done while the fast path is taken.
 */
#ifndef SP_HOME_OFF_H
#define SP_HOME_OFF_H

#include "percpu-internal.h"

/* The CPU that event e leaves out, an index: its counters rest, and it is home; -1: there is
 * none. */
int sp_home_off_index(const struct sp_percpu *p, uint32_t e);

/* Do counters of event e rest somewhere else? */
bool sp_home_off_hides(const struct sp_percpu *p, uint32_t e);

/* A segment begins, and the thread, the caller, is at home or was at the last scan. The counters
 * there rest from now on, if they may.  soon: even if others have rested a moment ago. */
void sp_home_off_begin(struct sp_percpu *p, bool soon);

/* After a window in a segment: the counters at home rest, if all counts but a thousandth are proven
 * and the thread, the caller, has stayed there from PAPI's call to the scan after it; those that
 * must not rest any more count. */
void sp_home_off_window(struct sp_percpu *p, bool stayed);

/* Those that rest count from now on, unless the program has switched all events of the thread off;
 * those of another thread only while it runs.  True: they do. */
bool sp_home_off_switch_on(struct sp_percpu *p);

#endif
