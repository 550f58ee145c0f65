/* event-cpus.h: on which CPUs an event of the processor can be counted, on a machine with cores of
 * several kinds (core/base/pmus.h).
 *
 * PAPI's counter of a thread counts on the CPUs of its PMU alone; a counter of ours on another CPU
 * is refused, or, where the event is a general one (PERF_TYPE_HARDWARE), would be that CPU's own
 * PMU's, and count what PAPI's does not.
 *
 * Looked at once in a process; afterwards any thread may ask.
 */
#ifndef SP_EVENT_CPUS_H
#define SP_EVENT_CPUS_H

#include <linux/perf_event.h>

#include "../../core/base/pmus.h"

/* A counter of the calling thread on all CPUs, in the group of `leader` (-1: a group of its own): a
 * descriptor, or -errno. */
typedef int sp_pmu_open_fn(const struct perf_event_attr *attr, int leader);

/* If the folder cannot be read all PMUs are on all CPUs, as far as is known; what another CPU's PMU
 * would count in its place, a general event, is nobody's then. */
void sp_pmus_read(const char *dir, sp_pmu_open_fn *open);

/* Whose a counter of the event on all CPUs is: is that known?  Of a general one Linux is asked, by
 * opening. */
bool sp_pmu_is_known(const struct perf_event_attr *a);

/* Can a counter of the event on all CPUs count on this one?  (True where nothing is known.) */
bool sp_pmu_is_on(const struct perf_event_attr *a, int cpu);

/* Are there cores of several kinds? */
bool sp_pmus_differ(void);

/* The PMU of one kind of cores whose the event is; NULL: of none, or cores are of one kind. */
const char *sp_pmu_name(const struct perf_event_attr *a);

#endif
