/*
 * creates: makes sets while another counts page faults, and prints the faults. usage: creates
 * [SETS]
 */
#include "handed.h"

int main(int argc, char **argv)
{
	int sets = argc > 1 ? atoi(argv[1]) : 300, id;
	long long before, after;

	papi_up();
	id = set_with("perf::PAGE-FAULTS");
	must("PAPI_start", PAPI_start(id));
	must("PAPI_read", PAPI_read(id, &before));
	must("PAPI_read", PAPI_read(id, &before));
	for (int i = 0; i < sets; i++)
		new_event_set();
	must("PAPI_read", PAPI_read(id, &after));
	printf("%lld\n", after - before);
	must("PAPI_stop", PAPI_stop(id, &after));
	return 0;
}
