/*
 * detach: a set that is attached to a child and then detached. In each run 100 pages are
 * touched by the child and 30 by the program. Prints a line per run: the value that PAPI returned,
 * and the process that this number shows was counted.
 *	again	attached; detached, but the counters stay the child's
 *	other	the same, although another set is used: PAPI has this one under the child's name
 *	add attached; detached; an event is added, and the counters are opened again: the program's
 *	ended	attached; detached; the child ends: no process is counted
 * usage: detach MODE	needs hw2sw without hardware counters
 */
#include "ordered.h"

#include <signal.h>

static const char *mode;
static struct counted *c;
static int here, there;
static pid_t child;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

static void run(void)
{
	long long values[2], value;

	may("PAPI_start", PAPI_start(c->id));
	if (child)
		order(c, 100);
	touch(&c->arena, 30);
	must("PAPI_stop", PAPI_stop(c->id, values));
	value = values[0];
	printf("handed cpu=%d event=%s value=%lld of=%s\n", value == 30 ? here : there, c->name[0],
	       value,
	       value == 100  ? "child"
	       : value == 30 ? "self"
	       : value	     ? "both"
			     : "nobody");
}

int main(int argc, char **argv)
{
	mode = argc > 1 ? argv[1] : "again";
	c = counted_new(0, NULL, 10000);
	there = nth_cpu(1);
	here = pin(0);
	child = start_child(c);
	papi_up();
	c->id = core_set();
	may("PAPI_attach", PAPI_attach(c->id, (unsigned long)child));
	must("PAPI_add_named_event", PAPI_add_named_event(c->id, c->name[0]));
	prefault();
	order(c, 100);
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	run();
	must("PAPI_detach", PAPI_detach(c->id));
	if (is("other"))
		migrations_once();
	if (is("add"))
		must("PAPI_add_named_event", PAPI_add_named_event(c->id, "perf::CPU-MIGRATIONS"));
	if (is("ended")) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		child = 0;
	}
	run();
	run();
	return 0;
}
