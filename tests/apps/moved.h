/*
 * moved.h: records pages that a thread touches on several CPUs, and what PAPI returned for them,
 * for check-moves.pl.
 */
#ifndef MOVED_H
#define MOVED_H

#include "handed.h"

static long on[1024];
static long long total;

static inline void work_in(struct arena *a, int which, long pages)
{
	int cpu = pin(which);

	touch(a, pages);
	on[cpu] += pages;
}

/* Before the first window. */
static inline void nothing_yet(void)
{
	look_at((char *)on, (char *)(on + 1024), 4096);
	memset(on, 0, sizeof(on));
	total = 0;
}

static inline void print_moved(void)
{
	for (int i = 0; i < 1024; i++)
		if (on[i])
			printf("touched cpu=%d pages=%ld\n", i, on[i]);
	printf("handed sum=%lld\n", total);
}

#endif
