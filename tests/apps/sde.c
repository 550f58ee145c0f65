/*
 * sde: software-defined events: counters of the program's own that libsde hands to PAPI. libsde is opened, not
 * linked, so that this builds without it. 100 on the first CPU, 50 on the second.
 * usage: sde
 */
#include "calls.h"
#include <dlfcn.h>

typedef void *init_fn(const char *library);
typedef int register_fn(void *library, const char *event, int mode, int type, void *counter);

static long long hits;

static void register_counter(void)
{
	void *sde = dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL);
	init_fn *init = sde ? (init_fn *)dlsym(sde, "papi_sde_init") : NULL;
	register_fn *more = sde ? (register_fn *)dlsym(sde, "papi_sde_register_counter") : NULL;

	if (!init || !more) {
		fprintf(stderr, "cannot count here: no libsde\n");
		exit(SKIPPED);
	}
	more(init("LIB"), "HITS", 0 /* read only, delta */, 0 /* long long */, &hits);
}

int main(void)
{
	char *name = "sde:::LIB::HITS";
	struct counted *c;
	long long value;

	register_counter();
	papi_up();
	c = counted_new(1, &name, 1);
	c->id = new_event_set();
	if (PAPI_add_named_event(c->id, name) != PAPI_OK) {
		fprintf(stderr, "cannot count here: PAPI has no component sde\n");
		exit(SKIPPED);
	}
	hits = 7;			/* before the start: not counted */
	pin(0);
	begin(c);
	hits += 100;
	must("PAPI_read", PAPI_read(c->id, &value));
	handed(c, "PAPI_read", &value);
	pin(1);
	hits += 50;
	must("PAPI_stop", PAPI_stop(c->id, &value));
	handed(c, "PAPI_stop", &value);
	print_handed(c, "");
	return value != 150;
}
