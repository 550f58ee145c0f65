/*
 * scene.h: what the programs on the scripted libpapi share. They need no
 * counters, and print `handed` lines like the programs in tests/apps.
 */
#ifndef SCENE_H
#define SCENE_H

#include "apps/calls.h"
#include "fake/fake.h"

static inline void up(void)
{
	int version = fake_version() << 16;

	if (PAPI_library_init(version) != version) {
		fprintf(stderr, "PAPI_library_init refuses\n");
		exit(1);
	}
}

static inline void up_threads(void)
{
	up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
}

/* A set of these events in the calling thread; the list ends with NULL. */
static inline struct counted *set_of(const char *const *names)
{
	int n = 0;

	while (names[n])
		n++;
	return counted_new(n, (char **)names, 1);
}

#define SET(...) made(set_of((const char *const[]){__VA_ARGS__, NULL}))

static inline struct counted *made(struct counted *c)
{
	make_set(c);
	return c;
}

static inline void drop(struct counted *c)
{
	drop_set(c->id);
}

#endif
