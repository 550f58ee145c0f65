/* event-cpus.h: finds the CPUs on which a processor event can be counted, if cores are of several
 * kinds (core/base/pmus.h).
 *
 * PAPI's counter of a thread counts only on the CPUs of its PMU. On another CPU the kernel refuses
 * a shadow counter. A generic event (PERF_TYPE_HARDWARE) would use that CPU's PMU there, and count
 * more than PAPI's counter does.
 *
 * Read once per process; afterwards any thread may call these.
 */
#ifndef SP_EVENT_CPUS_H
#define SP_EVENT_CPUS_H

#include <linux/perf_event.h>

#include "../../core/base/pmus.h"

/* Opens a counter of the calling thread on all CPUs, in the group of `leader` (-1: a new one).
 * Returns a descriptor, or -errno. */
typedef int sp_pmu_open_fn(const struct perf_event_attr *attr, int leader);

/* Reads the PMUs. If the folder cannot be read, all PMUs are assumed to be on all CPUs, and generic
 * events to have no known PMU. */
void sp_pmus_read(const char *dir, sp_pmu_open_fn *open);

/* Is the PMU known that counts the event on all CPUs? For a generic event it is found by
 * opening. */
bool sp_pmu_is_known(const struct perf_event_attr *a);

/* Can a counter of the event on all CPUs count on this one? True if unknown. */
bool sp_pmu_is_on(const struct perf_event_attr *a, int cpu);

/* Are there cores of several kinds? */
bool sp_pmus_differ(void);

/* The event's PMU of one kind of cores; NULL: none, or all cores are of one kind. */
const char *sp_pmu_name(const struct perf_event_attr *a);

#endif
