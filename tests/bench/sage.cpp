/* sage.cpp: PAPI_start, PAPI_read and PAPI_stop of tests/bench/errors by sys-sage's wrappers, and what sys-sage booked on each CPU:
 * `make errors SYS_SAGE=...`. */
#include "sys-sage.hpp"
#include <cstdio>
#include <cstdlib>

static sys_sage::Node *node;
static sys_sage::Relation *relation;

extern "C" int sage_start(int event_set)
{
	const char *machine = getenv("SAGE_TOPOLOGY");

	node = new sys_sage::Node;
	if (!machine || sys_sage::parseHwlocOutput(node, machine) != 0)
		return PAPI_ESYS;
	return sys_sage::SS_PAPI_start(event_set, &relation);
}

extern "C" int sage_read(int, long long *)
{
	return sys_sage::SS_PAPI_read(relation, node);
}

extern "C" int sage_stop(int event_set, long long *)
{
	int code, n = 1, result = sys_sage::SS_PAPI_stop(relation, node);

	if (result != PAPI_OK || PAPI_list_events(event_set, &code, &n) != PAPI_OK)
		return result;
	for (auto *cpu : node->FindDescendantsByType(sys_sage::ComponentType::Thread))
		printf("booked %d %lld\n", cpu->GetId(), relation->GetPAPImetric(code, cpu->GetId()));
	return result;
}
