/*
 * options: shows which CPU counts after PAPI_GRANUL and PAPI_CPU_ATTACH in all orders. Options are
 * set on the first CPU; pages are touched there and on the second. The oracle's cpu is the one that
 * the kernel counts on.
 *	sys		all that runs on the CPU of that call: the first
 *	sys-cpu		the same, then attached to the second: that one
 *	cpu-sys		in reverse order: the first
 *	sys-thr		of a thread again, but still on the first only
 *	sys-late	set when the counters were open: this thread, on any CPU
 *	sys-again the same, and opened again by PAPI_start since another set was used: the first
 *	sys-restart	the same, not for the first time: it ran as before in between
 *	cpu-late	attached to the second when the counters were open: PAPI_start opens them
 *	again
 * usage: options MODE needs hw2sw without hardware counters, and the permission to count a CPU
 */
#include "handed.h"

static const char *mode;
static int first, second;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

static void granularity(int set, int value)
{
	PAPI_option_t o = {.granularity = {.eventset = set, .granularity = value}};

	must("PAPI_GRANUL", PAPI_set_opt(PAPI_GRANUL, &o));
}

static void cpu(int set, int number)
{
	PAPI_option_t o = {.cpu = {.eventset = set, .cpu_num = number}};

	may("PAPI_CPU_ATTACH", PAPI_set_opt(PAPI_CPU_ATTACH, &o));
}

static void before(int set)
{
	if (is("cpu-sys"))
		cpu(set, second);
	if (is("sys") || is("sys-cpu") || is("cpu-sys") || is("sys-thr"))
		granularity(set, PAPI_GRN_SYS);
	if (is("sys-cpu"))
		cpu(set, second);
	if (is("sys-thr"))
		granularity(set, PAPI_GRN_THR);
}

static void after(int set)
{
	long long value;

	if (is("cpu-late"))
		cpu(set, second);
	if (is("sys-late") || is("sys-again") || is("sys-restart"))
		granularity(set, PAPI_GRN_SYS);
	if (is("sys-restart")) {
		must("PAPI_start", PAPI_start(set));
		must("PAPI_stop", PAPI_stop(set, &value));
	}
	if (is("sys-again") || is("sys-restart"))
		migrations_once();
}

static long long said;

static void take(long long value, int cpu_of_thread)
{
	int at = is("sys-late") ? cpu_of_thread : is("sys-cpu") || is("cpu-late") ? second : first;

	printf("handed cpu=%d event=%s value=%lld\n", at, "perf::PAGE-FAULTS", value - said);
	said = value;
}

int main(int argc, char **argv)
{
	struct counted *c;
	long long value;

	mode = argc > 1 ? argv[1] : "sys";
	papi_up();
	c = counted_new(0, NULL, 100000);
	second = pin(1);
	first = pin(0);
	c->id = core_set();
	before(c->id);
	pin(1);
	may("PAPI_add_named_event", PAPI_add_named_event(c->id, c->name[0]));
	pin(0);
	after(c->id);
	prefault();
	may("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 1000);
	must("PAPI_read", PAPI_read(c->id, &value));
	take(value, first);
	pin(1);
	touch(&c->arena, 3000);
	must("PAPI_stop", PAPI_stop(c->id, &value));
	take(value, second);
	return 0;
}
