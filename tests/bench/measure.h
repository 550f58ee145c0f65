/* measure.h: what a call takes: CPU time, since on a busy machine others' turns are not its cost,
 * and the median of slices. */
#ifndef MEASURE_H
#define MEASURE_H

#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLICES	31

static inline double clock_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double median(double *of, int n)
{
	qsort(of, (size_t)n, sizeof(*of), by_size);
	return of[n / 2];
}

#define MEASURE(rounds, call) ({ \
	double took_[SLICES]; \
	long each_ = (rounds) / SLICES + 1; \
	for (int s_ = 0; s_ < SLICES; s_++) { \
		took_[s_] = clock_ns(CLOCK_THREAD_CPUTIME_ID); \
		for (long i_ = 0; i_ < each_; i_++) \
			call; \
		took_[s_] = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - took_[s_]) / (double)each_; \
	} \
	median(took_, SLICES); })

static inline void must(int rc, const char *what)
{
	if (rc >= PAPI_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, PAPI_strerror(rc));
	exit(77);
}

#endif
