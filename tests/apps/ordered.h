/* ordered.h: a child that is pinned to the second CPU and touches pages on request. */
#ifndef ORDERED_H
#define ORDERED_H

#include "handed.h"

static int to_child[2], to_parent[2];

static inline void serve(struct arena *arena)
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

static inline void order(struct counted *c, long pages)
{
	long done;

	if (write(to_child[1], &pages, sizeof(pages)) != sizeof(pages) ||
	    read(to_parent[0], &done, sizeof(done)) != sizeof(done))
		die("child");
	c->arena.touched += pages;
}

static inline pid_t start_child(struct counted *c)
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

static inline void end_child(pid_t child)
{
	close(to_child[1]);
	waitpid(child, NULL, 0);
}

#endif
