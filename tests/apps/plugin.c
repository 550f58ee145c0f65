/*
 * plugin: a shared object that needs libpapi, for plugin-host, which does
 * not. count() is one measurement from PAPI's initialisation to its end.
 */
#include "calls.h"

int count(int pages);

int count(int pages)
{
	struct counted *c = counted_new(0, NULL, 2L * pages);

	papi_up();
	make_set(c);
	prefault();
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, pages);
	look(c);
	touch(&c->arena, pages);
	end(c);
	drop_set(c->id);
	return print_handed(c, " in=plugin");
}
