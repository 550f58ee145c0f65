/*
 * cpuattach: a set that is attached to the second CPU. The program touches 100
 * pages on the first and 200 on the second, and reads from the first; then it alternates between
 * both, and reads, starts and stops on both from one call site each. By default PAPI counts this
 * thread while it is on that CPU: 200 at first; with -s (and the permission) all that runs on that
 * CPU: at least that.
 * usage: cpuattach [-s] [event...]	needs hw2sw without hardware counters
 */
#include "handed.h"

static void set_option(int which, PAPI_option_t *option, const char *what)
{
	may(what, PAPI_set_opt(which, option));
}

static void bind(struct counted *c, int cpu, int system_wide)
{
	PAPI_option_t option;

	c->id = core_set();
	memset(&option, 0, sizeof(option));
	if (system_wide) {
		option.granularity.eventset = c->id;
		option.granularity.granularity = PAPI_GRN_SYS;
		set_option(PAPI_GRANUL, &option, "PAPI_GRANUL");
		memset(&option, 0, sizeof(option));
	}
	option.cpu.eventset = c->id;
	option.cpu.cpu_num = cpu;
	set_option(PAPI_CPU_ATTACH, &option, "PAPI_CPU_ATTACH");
	add_events(c);
}

/*
 * Reads from the first CPU: the counts still belong to the second. The number for a whole CPU is
 * unknown (pages -1).
 */
static void take(struct counted *c, const char *by, const long long *values, int cpu, long pages)
{
	c->arena.touched = c->last_touched + (pages < 0 ? values[0] - c->last[0] : pages);
	handed(c, by, values);
	c->reading[c->readings - 1].cpu = cpu;
}

/* Touches ten pages on each CPU in turn: the second's count. */
static void go_around(struct counted *c, int cpu, int system_wide)
{
	long long values[EVENTS];

	for (int i = 0; i < 20; i++) {
		pin(i % 2);
		touch(&c->arena, 10);
		must("PAPI_read", PAPI_read(c->id, values));
		take(c, "PAPI_read", values, cpu, system_wide ? -1 : i % 2 * 10);
	}
	for (int i = 0; i < 20; i++) {
		must("PAPI_stop", PAPI_stop(c->id, values));
		take(c, "PAPI_stop", values, cpu, system_wide ? -1 : i ? i % 2 * 10 : 0);
		must("PAPI_start", PAPI_start(c->id));
		zeroed(c);
		pin(!(i % 2));
		touch(&c->arena, 10);
	}
}

int main(int argc, char **argv)
{
	int system_wide = argc > 1 && !strcmp(argv[1], "-s"), cpu;
	struct counted *c;
	long long values[EVENTS];

	papi_up();
	c = counted_new(argc - 1 - system_wide, argv + 1 + system_wide, 1000);
	cpu = pin(1);
	bind(c, cpu, system_wide);
	prefault();
	may("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 200);
	pin(0);
	touch(&c->arena, 100);
	must("PAPI_read", PAPI_read(c->id, values));
	take(c, "PAPI_read", values, cpu, system_wide ? -1 : 200);
	pin(1);
	touch(&c->arena, 50);
	pin(0);
	must("PAPI_read", PAPI_read(c->id, values));
	take(c, "PAPI_read", values, cpu, system_wide ? -1 : 50);
	if (values[0] < 250)
		return 1;
	go_around(c, cpu, system_wide);
	must("PAPI_stop", PAPI_stop(c->id, values));
	take(c, "PAPI_stop", values, cpu, system_wide ? -1 : 0);
	return print_handed(c, "");
}
