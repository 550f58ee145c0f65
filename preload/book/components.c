/* components.c: the table; see components.h. */
#include <string.h>

#include "../../core/store/ledger.h"
#include "components.h"

static const struct sp_component_fact facts[] = {
	{ "perf_event", SP_SCOPE_THREAD, SP_COUNTER, 0 },
	{ "perf_event_uncore", SP_SCOPE_PACKAGE, SP_COUNTER, 0 },
	{ "rapl", SP_SCOPE_PACKAGE, SP_COUNTER, SP_KEEPS_ON_RESET },
	{ "powercap*", SP_SCOPE_PACKAGE, SP_COUNTER, SP_KEEPS_ON_RESET },
	{ "coretemp", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "lmsensors", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "emon", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "sensors_ppc", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "micpower", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "host_micpower", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "nvml", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "rocm_smi", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "amd_smi", SP_SCOPE_DEVICE, SP_GAUGE, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "cuda", SP_SCOPE_DEVICE, SP_COUNTER, 0 },
	{ "rocm", SP_SCOPE_DEVICE, SP_COUNTER, 0 },
	{ "rocp_sdk", SP_SCOPE_DEVICE, SP_COUNTER, 0 },
	{ "intel_gpu", SP_SCOPE_DEVICE, SP_COUNTER, 0 },
	{ "net", SP_SCOPE_HOST, SP_COUNTER, SP_KEEPS_ON_RESET },
	{ "infiniband*", SP_SCOPE_HOST, SP_COUNTER, SP_KEEPS_ON_RESET },
	{ "lustre", SP_SCOPE_HOST, SP_COUNTER, 0 },
	{ "mx", SP_SCOPE_HOST, SP_COUNTER, 0 },
	{ "io", SP_SCOPE_PROCESS, SP_COUNTER, SP_KEEPS_ON_START | SP_KEEPS_ON_RESET },
	{ "appio", SP_SCOPE_THREAD, SP_COUNTER, SP_KEEPS_ON_RESET },
	{ "stealtime", SP_SCOPE_HOST, SP_COUNTER, 0 },
	{ "topdown", SP_SCOPE_THREAD, SP_GAUGE, SP_KEEPS_ON_RESET },
	{ "sde", SP_SCOPE_THREAD, SP_COUNTER, 0 },
	{ "pcp", SP_SCOPE_HOST, SP_COUNTER, SP_KEEPS_ON_RESET },
	{ "libmsr", SP_SCOPE_PACKAGE, SP_COUNTER, 0 },
	{ "vmware", SP_SCOPE_HOST, SP_COUNTER, SP_KEEPS_ON_RESET },
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
