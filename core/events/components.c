/* components.c: the table of PAPI components; see components.h. */
#include <string.h>

#include "../store/writer.h"
#include "components.h"

static const struct sp_component_fact facts[] = {
	{ "perf_event", SP_SCOPE_THREAD, SP_COUNTER, 0, NULL },
	{ "perf_event_uncore", SP_SCOPE_PACKAGE, SP_COUNTER, 0, NULL },
	{ "rapl", SP_SCOPE_PACKAGE, SP_COUNTER, SP_KEEPS_ON_RESET,
	  "THERMAL_SPEC|MINIMUM_POWER|MAXIMUM_POWER|MAXIMUM_TIME_WINDOW" },
	{ "powercap_ppc", SP_SCOPE_PACKAGE, SP_GAUGE, SP_KEEPS_ON_RESET, NULL },
	{ "powercap*", SP_SCOPE_PACKAGE, SP_COUNTER, SP_KEEPS_ON_RESET,
	  ":MAX_|:POWER_LIMIT|:TIME_WINDOW|:ENABLED|:NAME" },
	{ "coretemp*", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET, NULL },
	{ "lmsensors", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET, "energy" },
	{ "emon", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET, NULL },
	{ "sensors_ppc", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET, NULL },
	{ "micpower", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET, NULL },
	{ "host_micpower", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET, NULL },
	{ "nvml", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET,
	  "energy_consumption|ecc_errors" },
	{ "rocm_smi", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET,
	  "energy_count|ecc_count" },
	{ "amd_smi", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET,
	  "energy_co|energy_socket|correctable|deferred" },
	{ "cuda", SP_SCOPE_DEVICE, SP_COUNTER, 0,
	  ".pct|.ratio|.avg|.min|.max|.per_second|stat=avg|stat=min|stat=max|stat=pct|stat=ratio|_"
	  "utilization|_efficiency|_throughput" },
	{ "rocm", SP_SCOPE_DEVICE, SP_COUNTER, 0, NULL },
	{ "rocp_sdk", SP_SCOPE_DEVICE, SP_COUNTER, 0, NULL },
	{ "intel_gpu", SP_SCOPE_DEVICE, SP_COUNTER, 0, NULL },
	{ "gaudi2", SP_SCOPE_DEVICE, SP_COUNTER, SP_KEEPS_ON_RESET, NULL },
	{ "net", SP_SCOPE_HOST, SP_COUNTER, SP_KEEPS_ON_RESET | SP_REFRESHES, NULL },
	{ "infiniband*", SP_SCOPE_HOST, SP_COUNTER, SP_KEEPS_ON_RESET, "lifespan" },
	{ "lustre", SP_SCOPE_HOST, SP_COUNTER, 0, NULL },
	{ "mx", SP_SCOPE_HOST, SP_COUNTER, 0, NULL },
	{ "io", SP_SCOPE_PROCESS, SP_COUNTER, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET, NULL },
	{ "appio", SP_SCOPE_THREAD, SP_COUNTER, SP_KEEPS_ON_RESET,
	  "_BLOCK_SIZE|STRIDE_SIZE|OPEN_FDS" },
	{ "stealtime", SP_SCOPE_HOST, SP_COUNTER, 0, NULL },
	{ "topdown", SP_SCOPE_THREAD, SP_GAUGE, SP_KEEPS_ON_RESET, NULL },
	{ "sde", SP_SCOPE_PROCESS, SP_COUNTER, 0, NULL }, /* libsde has data on each event: sde.h */
	{ "pcp", SP_SCOPE_HOST, SP_COUNTER, SP_KEEPS_ON_RESET, NULL },
	{ "libmsr", SP_SCOPE_PACKAGE, SP_COUNTER, 0, "WATTS|POWER_LIMIT|PKG_ELAPSED|DELTA_ENERGY" },
	{ "vmware", SP_SCOPE_HOST, SP_COUNTER, SP_KEEPS_ON_RESET,
	  "_LIMIT|_RESERVATION|_SHARES|:MEM_|HOST_CPU" },
};

const struct sp_component_fact *sp_component_fact(const char *name)
{
	for (unsigned i = 0; i < SP_COUNT(facts); i++) {
		size_t n = strlen(facts[i].name);

		if (facts[i].name[n - 1] == '*' ? strncmp(name, facts[i].name, n - 1) == 0 :
						  strcmp(name, facts[i].name) == 0)
			return &facts[i];
	}
	return NULL;
}
