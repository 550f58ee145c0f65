/*
 * reinit: sets that are removed and made again. A set cleaned up and filled again, one
 * destroyed and made again, and PAPI shut down and started anew, when the
 * ids begin at 0 again. usage: reinit [event...]
 */
#include "calls.h"

static void count(struct counted *c, long pages)
{
	prefault();
	begin(c);
	touch(&c->arena, pages);
	end(c);
}

static void clean(struct counted *c)
{
	must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(c->id));
}

static void one_life(struct counted *c, long pages)
{
	papi_up();
	make_set(c);
	printf("life: the first set has the id %d\n", c->id);
	count(c, pages);
	clean(c);
	add_events(c);
	count(c, pages + 1);
	clean(c);
	must("PAPI_destroy_eventset", PAPI_destroy_eventset(&c->id));
	make_set(c);
	count(c, pages + 2);
	PAPI_shutdown();
	printf("life: over, PAPI_is_initialized() %d\n", PAPI_is_initialized());
}

int main(int argc, char **argv)
{
	struct counted *c = counted_new(argc - 1, argv + 1, 4000);

	pin(0);
	one_life(c, 100);
	pin(1);
	one_life(c, 1000);
	return print_handed(c, "");
}
