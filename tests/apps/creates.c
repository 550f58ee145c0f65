/*
 * creates: while a set counts page faults, others are made: prints how many faults that took.
 * usage: creates [SETS]
 */
#include "handed.h"

int main(int argc, char **argv)
{
	int sets = argc > 1 ? atoi(argv[1]) : 300, ret, id = PAPI_NULL, other;
	long long before, after;

	ret = PAPI_library_init(PAPI_VER_CURRENT);
	if (ret != PAPI_VER_CURRENT)
		cannot("PAPI_library_init", ret);
	must("PAPI_create_eventset", PAPI_create_eventset(&id));
	ret = PAPI_add_named_event(id, "perf::PAGE-FAULTS");
	if (ret != PAPI_OK)
		cannot("perf::PAGE-FAULTS", ret);
	must("PAPI_start", PAPI_start(id));
	must("PAPI_read", PAPI_read(id, &before));
	must("PAPI_read", PAPI_read(id, &before));
	for (int i = 0; i < sets; i++) {
		other = PAPI_NULL;
		must("PAPI_create_eventset", PAPI_create_eventset(&other));
	}
	must("PAPI_read", PAPI_read(id, &after));
	printf("%lld\n", after - before);
	must("PAPI_stop", PAPI_stop(id, &after));
	return 0;
}
