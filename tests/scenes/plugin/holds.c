/*
 * holds: a shared object that has libpapi in itself, as python-papi's wheel has (libholds.so), or
 * links it (liblinks.so); for plugin-pair. Calls of PAPI in which libpapi calls itself are among
 * its own.
 */
#include "../scene.h"

int count(int n);

int count(int n)
{
	long long sum[EVENTS] = {0};
	struct counted *c;

	setenv("PAPI_EVENTS", "EV_A", 1);
	up();
	c = SET("EV_A", "EV_B");
	c->readings = 0;
	begin(c);
	fake_count("EV_A", n);
	look(c);
	fake_count("EV_B", 2);
	must("PAPI_accum", PAPI_accum(c->id, sum));
	fake_count("EV_A", n);
	must("PAPI_reset", PAPI_reset(c->id));
	fake_count("EV_A", 3);
	must("PAPI_stop", PAPI_stop(c->id, sum));
	drop(c);
	must("PAPI_hl_region_begin", PAPI_hl_region_begin("part"));
	fake_count("EV_A", 100 * n);
	must("PAPI_hl_region_end", PAPI_hl_region_end("part"));
	must("PAPI_hl_stop", PAPI_hl_stop());
	return 0;
}
