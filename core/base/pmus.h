/* pmus.h: lists the PMUs of a machine's cores, one for each kind of core.
 *
 * Intel hybrid processors have cpu_core and cpu_atom; on Arm a PMU has the core's name.
 * /sys/bus/event_source/devices/NAME/cpus lists the PMU's CPUs. Other PMUs (software, memory
 * controllers) have no such file.
 */
#pragma once

#include "base.h"

#define SP_PMUS_DIR	"/sys/bus/event_source/devices"
#define SP_PMUS_MOST	8u		/* kinds of cores; further ones are ignored */

struct sp_core_pmu {
	char name[64];
	uint32_t type;			/* perf_event_attr.type of its events */
	char cpus[960];			/* for example "0-15" */
};

/* Returns the number of PMUs that it stored, or -errno if the folder cannot be read. */
int sp_core_pmus(const char *dir, struct sp_core_pmu pmu[SP_PMUS_MOST]);
