/*
 * monitor: sys-sage's example of another process that is counted: the child sits on the second
 * CPU and touches pages when told, the parent reads on the first.  Needs hw2sw where there are no
 * hardware counters.
 */
#include "own.h"
#include <sys/wait.h>

static int to_child[2], to_parent[2];

static void serve(struct arena *arena)
{
	long pages;

	pin(1);
	prefault();
	while (read(to_child[0], &pages, sizeof(pages)) == sizeof(pages)) {
		touch(arena, pages);
		if (write(to_parent[1], &pages, sizeof(pages)) != sizeof(pages))
			break;
	}
	_exit(0);
}

static void order(struct own *o, long pages)
{
	long done;

	if (write(to_child[1], &pages, sizeof(pages)) != sizeof(pages) ||
	    read(to_parent[0], &done, sizeof(done)) != sizeof(done))
		die("child");
	o->c->arena.touched += pages;
}

int main(void)
{
	struct counted *c = counted_new(0, NULL, 2000);
	struct own *o;
	pid_t child;
	char who[32];
	int ret;

	if (pipe(to_child) || pipe(to_parent))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		close(to_child[1]);
		serve(&c->arena);
	}
	close(to_child[0]);
	pin(0);
	papi_up();
	o = own_new(1);
	order(o, 10);
	order(o, 10);
	ret = PAPI_attach(o->c->id, child);
	if (ret != PAPI_OK)
		cannot("PAPI_attach", ret);
	own_start(o);
	order(o, 1000);
	own_reading(o, "sspapi_read", sspapi_read(o->rel, NULL, true, NULL), nth_cpu(1));
	order(o, 500);
	own_reading(o, "sspapi_stop", sspapi_stop(o->rel, NULL, true, NULL), nth_cpu(1));
	close(to_child[1]);
	waitpid(child, NULL, 0);
	snprintf(who, sizeof(who), " target=%d", child);
	return own_end(o, who);
}
