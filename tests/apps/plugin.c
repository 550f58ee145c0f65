/*
 * plugin: a shared object that needs libpapi, for plugin-host, which does
 * not. count() is one measurement from PAPI's initialisation to its end.
 */
#include "handed.h"

int count(int pages);

int count(int pages)
{
	struct counted *c = counted_new(0, NULL, 2L * pages);
	long long values[EVENTS];

	papi_up();
	make_set(c);
	prefault();
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, pages);
	must("PAPI_read", PAPI_read(c->id, values));
	handed(c, "PAPI_read", values);
	touch(&c->arena, pages);
	must("PAPI_stop", PAPI_stop(c->id, values));
	handed(c, "PAPI_stop", values);
	must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(c->id));
	must("PAPI_destroy_eventset", PAPI_destroy_eventset(&c->id));
	return print_handed(c, " in=plugin");
}
