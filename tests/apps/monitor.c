/*
 * monitor: counts another process, as perf stat -p does. The child sits on
 * the second CPU and touches pages when told; the parent, on the first,
 * attaches an event set to it. The oracle's cpu is the child's.
 * usage: monitor [event...]	needs hw2sw where there are no hardware counters
 */
#include "calls.h"
#include "ordered.h"

/* handed() notes the reader's CPU: here it is the child's that matters. */
static void handed_child(struct counted *c, const char *by, const long long *values)
{
	handed(c, by, values);
	c->reading[c->readings - 1].cpu = nth_cpu(1);
}

static void count(struct counted *c, pid_t child)
{
	long long values[EVENTS];

	may("PAPI_attach", PAPI_attach(c->id, child));
	begin(c);
	order(c, 1000);
	must("PAPI_read", PAPI_read(c->id, values));
	handed_child(c, "PAPI_read", values);
	order(c, 500);
	must("PAPI_stop", PAPI_stop(c->id, values));
	handed_child(c, "PAPI_stop", values);
	must("PAPI_detach", PAPI_detach(c->id));
}

int main(int argc, char **argv)
{
	struct counted *c = counted_new(argc - 1, argv + 1, 2000);
	char who[32];
	pid_t child = start_child(c);

	pin(0);
	papi_up();
	make_set(c);
	count(c, child);
	end_child(child);
	snprintf(who, sizeof(who), " target=%d", child);
	return print_handed(c, who);
}
