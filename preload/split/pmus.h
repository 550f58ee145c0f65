/* pmus.h: on which CPUs an event of the processor can be counted, where a machine has cores of several kinds.
 *
 * Each kind of core has a PMU of its own (Intel's cpu_core and cpu_atom, Arm's by the core's name), with the CPUs that it
 * is on in /sys/bus/event_source/devices/NAME/cpus.  PAPI's counter of a thread counts on those alone; a counter of
 * ours on another CPU is refused, or, where the event is a general one (PERF_TYPE_HARDWARE), would be that CPU's own
 * PMU's, and count what PAPI's does not.
 *
 * Looked at once in a process; afterwards any thread may ask.
 */
#ifndef SP_PMUS_H
#define SP_PMUS_H

#include <linux/perf_event.h>

#include "../../core/base.h"

#define SP_PMUS_FOLDER	"/sys/bus/event_source/devices"

/* Nothing is known if the folder cannot be read: then all PMUs are on all CPUs. */
void sp_pmus_look(const char *folder);

/* A general event is the PMU's that Linux would give one for all CPUs.  False: which that is is not known. */
bool sp_pmu_choose(struct perf_event_attr *a);

/* Can the event be counted on this CPU?  (True where nothing is known.) */
bool sp_pmu_is_on(const struct perf_event_attr *a, int cpu);

#endif
