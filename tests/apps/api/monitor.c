/*
 * monitor: sys-sage's example of another process that is counted: the child is pinned to the second
 * CPU and touches pages on request, the parent reads on the first.  Needs hw2sw without hardware
 * counters.
 */
#include "own.h"
#include "../ordered.h"

int main(void)
{
	struct counted *c = counted_new(0, NULL, 2000);
	pid_t child = start_child(c);
	struct own *o;
	char who[32];

	pin(0);
	papi_up();
	o = own_new(1);
	may("PAPI_attach", PAPI_attach(o->c->id, child));
	own_start(o);
	order(o->c, 1000);
	own_reading(o, "sspapi_read", sspapi_read(o->rel, NULL, true, NULL), nth_cpu(1));
	order(o->c, 500);
	own_reading(o, "sspapi_stop", sspapi_stop(o->rel, NULL, true, NULL), nth_cpu(1));
	end_child(child);
	snprintf(who, sizeof(who), " target=%d", child);
	return own_end(o, who);
}
