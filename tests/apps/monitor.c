/*
 * monitor: counts another process, as perf stat -p does. The child sits on
 * the second CPU and touches pages when told; the parent, on the first,
 * attaches an event set to it. The oracle's cpu is the child's.
 * usage: monitor [event...]	needs hw2sw where there are no hardware counters
 */
#include "handed.h"
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

static void order(struct counted *c, long pages)
{
	long done;

	if (write(to_child[1], &pages, sizeof(pages)) != sizeof(pages) ||
	    read(to_parent[0], &done, sizeof(done)) != sizeof(done))
		die("child");
	c->arena.touched += pages;
}

static pid_t start_child(struct counted *c)
{
	pid_t child;

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
	order(c, 10);
	order(c, 10);
	return child;
}

/* handed() notes the reader's CPU: here it is the child's that matters. */
static void handed_child(struct counted *c, const char *by, const long long *values)
{
	handed(c, by, values);
	c->reading[c->readings - 1].cpu = nth_cpu(1);
}

static void count(struct counted *c, pid_t child)
{
	long long values[EVENTS];
	int ret = PAPI_attach(c->id, child);

	if (ret != PAPI_OK)
		cannot("PAPI_attach", ret);
	must("PAPI_start", PAPI_start(c->id));
	zeroed(c);
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
	close(to_child[1]);
	waitpid(child, NULL, 0);
	snprintf(who, sizeof(who), " target=%d", child);
	return print_handed(c, who);
}
