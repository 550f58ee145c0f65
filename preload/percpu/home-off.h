/* home-off.h: keeps hardware shadow counters off on a thread's home CPU.
 *
 * While a thread stays on its CPU (home), the shadow counters there prove nothing: home's part is
 * the rest of the set's counts (window.h). They are off, so that the processor counts each event
 * once. A scan that finds that the thread has moved switches them on; its new CPU can then become
 * home.
 *
 * The caller has taken the set (percpu-lifetime.h). The fast path does none of this.
 */
#ifndef SP_HOME_OFF_H
#define SP_HOME_OFF_H

#include "percpu-internal.h"

/* Index of the home CPU at which event e's counters are off; -1: none. */
int sp_home_off_index(const struct sp_percpu *p, uint32_t e);

/* Are counters of event e off elsewhere than at home? */
bool sp_home_off_hides(const struct sp_percpu *p, uint32_t e);

/* At the beginning of a period, for the caller's own set: switches home's counters off, if allowed.
 * soon: even if others were off a moment ago. */
void sp_home_off_begin(struct sp_percpu *p, bool soon);

/* After a window: switches home's counters off if all counts but a thousandth are proven. The
 * caller must have stayed there from PAPI's call to the scan after it (`stayed`). Otherwise
 * switches counters on that must not be off. */
void sp_home_off_window(struct sp_percpu *p, bool stayed);

/* Switches them on, unless the program has switched all events of the thread off; those of another
 * thread only while it runs. True: done. */
bool sp_home_off_switch_on(struct sp_percpu *p);

#endif
