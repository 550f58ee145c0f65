/*
 * mpx: four events in turns on one counter, by PAPI's own multiplexing with
 * SIGPROF. The counts are estimates; the lines say what PAPI estimated.
 * usage: mpx [event...]
 */
#define DEFAULT_EVENT "PAPI_TOT_CYC"
#include "handed.h"
#include <time.h>

static const char *const four[] = {"PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_REF_CYC", "PAPI_L1_DCM"};

static void make_multiplexed(struct counted *c)
{
	PAPI_option_t option;
	int ret = PAPI_multiplex_init();

	if (ret != PAPI_OK)
		cannot("PAPI_multiplex_init", ret);
	c->id = PAPI_NULL;
	must("PAPI_create_eventset", PAPI_create_eventset(&c->id));
	must("PAPI_assign_eventset_component", PAPI_assign_eventset_component(c->id, 0));
	memset(&option, 0, sizeof(option));
	option.multiplex.eventset = c->id;
	option.multiplex.flags = PAPI_MULTIPLEX_FORCE_SW;
	ret = PAPI_set_opt(PAPI_MULTIPLEX, &option);
	if (ret != PAPI_OK)
		cannot("PAPI_set_opt(PAPI_MULTIPLEX)", ret);
	add_events(c);
}

/* SIGPROF's clock is the processor time: it must be used up. */
static void work(struct counted *c, double seconds)
{
	clock_t end = clock() + seconds * CLOCKS_PER_SEC;

	while (clock() < end)
		if (c->arena.left)
			touch(&c->arena, 1);
}

static void count(struct counted *c)
{
	long long values[EVENTS];
	int ret = PAPI_start(c->id);

	if (ret != PAPI_OK)
		cannot("PAPI_start", ret);
	for (int i = 0; i < 3; i++) {
		work(c, 0.1);
		must("PAPI_read", PAPI_read(c->id, values));
		handed(c, "PAPI_read", values);
	}
	work(c, 0.1);
	must("PAPI_stop", PAPI_stop(c->id, values));
	handed(c, "PAPI_stop", values);
}

int main(int argc, char **argv)
{
	struct counted *c;

	papi_up();
	c = argc > 1 ? counted_new(argc - 1, argv + 1, 100000) : counted_new(4, (char **)four, 100000);
	make_multiplexed(c);
	pin(0);
	prefault();
	count(c);
	print_handed(c, "");
	return 0;
}
