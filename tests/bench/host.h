/* host.h: how fast is this CPU now, and what does a call take while it is undisturbed?
 *
 * A virtual CPU is often one of two threads of a core.  While its neighbour runs, which the
 * guest cannot see, everything that is bound by how many instructions a cycle takes is half
 * as fast again: seen here, a loop of additions alone 0.88 or 1.35 ns, PAPI_read
 * 14.9 or 24.9, in the same process, at the same moments; a chain of multiplications 3.3
 * always.  So what is measured is cut into slices with such a loop before and behind, and
 * slices beside a slow one are left out.  The floor, the fastest loop of the process, is
 * printed, for scripts/bench to tell whole processes that had a busy neighbour.
 */
#ifndef HOST_H
#define HOST_H

#include <papi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOST_SLICES	100
#define HOST_SLOW	1.12		/* times the floor */

static double host_floor = 1e9;

static double host_clock(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns for a round of a loop that the core's width limits. */
static double host_probe(void)
{
	unsigned long a = 1, b = 2, c = 3, d = 4;
	double t = host_clock(CLOCK_MONOTONIC);

	for (int i = 0; i < 4000; i++) {
		a += 1;
		b += 1;
		c += 1;
		d += 1;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
		a += 3;
		b += 3;
		c += 3;
		d += 3;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	}
	t = (host_clock(CLOCK_MONOTONIC) - t) / 4000;
	if (t < host_floor)
		host_floor = t;
	return t;
}

struct host_slices {
	int n;
	double took[HOST_SLICES], probe[HOST_SLICES + 1];
};

/* The mean of slices beside which nothing was slow; of all, where those are too few. */
static double host_mean(const struct host_slices *s, double each)
{
	double all = 0, quiet = 0;
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		all += s->took[i];
		if (s->probe[i] <= HOST_SLOW * host_floor && s->probe[i + 1] <= HOST_SLOW * host_floor) {
			quiet += s->took[i];
			n++;
		}
	}
	return (n * 10 >= s->n ? quiet / n : all / s->n) / each;
}

/* CPU time: on a busy machine others' turns are not the call's cost. */
#define HOST_MEASURE(rounds, call) ({ \
	struct host_slices s_; \
	long n_ = (rounds), each_ = n_ / HOST_SLICES > 0 ? n_ / HOST_SLICES : 1; \
	s_.probe[0] = host_probe(); \
	for (s_.n = 0; s_.n < HOST_SLICES && s_.n * each_ < n_; s_.n++) { \
		double t_ = host_clock(CLOCK_THREAD_CPUTIME_ID); \
		for (long i_ = 0; i_ < each_; i_++) \
			call; \
		s_.took[s_.n] = host_clock(CLOCK_THREAD_CPUTIME_ID) - t_; \
		s_.probe[s_.n + 1] = host_probe(); \
	} \
	host_mean(&s_, (double)each_); })

static inline void must(int rc, const char *what)
{
	if (rc >= PAPI_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, PAPI_strerror(rc));
	exit(77);
}

static inline void host_print(void)
{
	printf("host_floor %.4f\n", host_floor);
}

#endif
