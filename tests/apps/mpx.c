/*
 * mpx: four events in turns on one counter, by PAPI's own multiplexing with
 * SIGPROF. The counts are estimates; the lines have PAPI's estimates.
 * usage: mpx [event...]
 */
#define DEFAULT_EVENT "PAPI_TOT_CYC"
#include "calls.h"

static const char *const four[] = {"PAPI_TOT_CYC", "PAPI_TOT_INS", "PAPI_REF_CYC", "PAPI_L1_DCM"};

static void make_multiplexed(struct counted *c)
{
	PAPI_option_t option;

	may("PAPI_multiplex_init", PAPI_multiplex_init());
	c->id = core_set();
	memset(&option, 0, sizeof(option));
	option.multiplex.eventset = c->id;
	option.multiplex.flags = PAPI_MULTIPLEX_FORCE_SW;
	may("PAPI_set_opt(PAPI_MULTIPLEX)", PAPI_set_opt(PAPI_MULTIPLEX, &option));
	add_events(c);
}

/* SIGPROF follows CPU time: use it. */
static void work(struct counted *c, double seconds)
{
	clock_t end = clock() + seconds * CLOCKS_PER_SEC;

	while (clock() < end)
		if (c->arena.left)
			touch(&c->arena, 1);
}

static void count(struct counted *c)
{
	may("PAPI_start", PAPI_start(c->id));
	for (int i = 0; i < 3; i++) {
		work(c, 0.1);
		look(c);
	}
	work(c, 0.1);
	end(c);
}

int main(int argc, char **argv)
{
	struct counted *c;

	papi_up();
	c = argc > 1 ? counted_new(argc - 1, argv + 1, 100000)
		     : counted_new(4, (char **)four, 100000);
	make_multiplexed(c);
	pin(0);
	prefault();
	count(c);
	print_handed(c, "");
	return 0;
}
