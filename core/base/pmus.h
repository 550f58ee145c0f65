/* pmus.h: the PMUs of a machine's cores: one, or one for each kind of core.
 *
 * Each kind of core has a PMU of its own (Intel's cpu_core and cpu_atom, Arm's by the core's name),
 * with the CPUs that it is on in /sys/bus/event_source/devices/NAME/cpus.  Other PMUs (software,
 * memory controllers) have no such list.
 */
#pragma once

#include "base.h"

#define SP_PMUS_DIR	"/sys/bus/event_source/devices"
#define SP_PMUS_MOST	8u		/* kinds of cores; more are not told apart */

struct sp_core_pmu {
	char name[64];
	uint32_t type;			/* of its events: perf_event_attr.type */
	char cpus[960];			/* as "0-15" */
};

/* How many there are, and all of them; -errno: the folder cannot be read. */
int sp_core_pmus(const char *dir, struct sp_core_pmu pmu[SP_PMUS_MOST]);
