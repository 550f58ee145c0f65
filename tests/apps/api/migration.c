/*
 * migration: sys-sage's example of a thread that changes its CPU while it counts: each CPU has the
 * counts made there, in the totals and in the entries.
 */
#include "own.h"

int main(void)
{
	int first, second;
	struct own *o;

	papi_up();
	o = own_new(5000);
	prefault();
	first = pin(0);
	own_start(o);
	touch(&o->c->arena, 1000);
	own_reading(o, "sspapi_read", sspapi_read(o->rel, NULL, false, NULL), first);
	second = pin(1);
	touch(&o->c->arena, 3000);
	own_reading(o, "sspapi_read", sspapi_read(o->rel, NULL, false, NULL), second);
	pin(0);
	touch(&o->c->arena, 500);
	own_reading(o, "sspapi_stop", sspapi_stop(o->rel, NULL, false, NULL), first);
	if (first != second) {
		expect(o, "the first CPU's entry", sspapi_get_metric(o->rel, o->code, first, 0),
		       1500);
		expect(o, "the second CPU's entry", sspapi_get_metric(o->rel, o->code, second, 0),
		       3000);
	}
	return own_end(o, "");
}
