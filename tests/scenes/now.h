/*
 * now.h: a measurement that is printed at once, with the process: for programs
 * that end in the middle.
 */
#ifndef NOW_H
#define NOW_H

#include "scene.h"

static inline void told_by(const char *by, long long value, long long nested)
{
	char line[160];
	int n = snprintf(line, sizeof(line),
			 "handed pid=%d cpu=%d event=EV_A value=%lld nested=%lld by=%s\n", getpid(),
			 sched_getcpu(), value, nested, by);

	if (write(1, line, n) != n) /* one piece: many threads print at once */
		abort();
}

static inline void told(const char *by, long long value)
{
	told_by(by, value, 0);
}

/* Up to so much of it only calls were handed that a handler made inside another one for the set. */
static inline void told_nested(long long value, long long nested)
{
	told_by("all", value, nested);
}

static inline int now_set(void)
{
	int set;

	pin(0);
	set = set_with("EV_A");
	return set;
}

/* Starts, and has read @n. */
static inline void now_begin(int set, int n)
{
	long long value;

	must("PAPI_start", PAPI_start(set));
	fake_count_set(set, "EV_A", n);
	must("PAPI_read", PAPI_read(set, &value));
	told("PAPI_read", value);
}

static inline void now_end(int set, int n)
{
	long long value = 0, before = 0;

	must("PAPI_read", PAPI_read(set, &before));
	fake_count_set(set, "EV_A", n);
	must("PAPI_stop", PAPI_stop(set, &value));
	told("PAPI_stop", value - before);
}

static inline void now(int n)
{
	int set = now_set();

	now_begin(set, n);
	now_end(set, 1);
	drop_set(set);
}

#endif
