/*
 * turns: stands behind libsspapi, in front of libpapi, which it lets do one thing at a time, and
 * knows what libpapi has handed out of the set that is used first: between two zeroings the highest
 * value has all the others in it.
 */
#include "behind.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

extern int fake_count_set(int set, const char *event, long long n);
#pragma weak fake_count_set
long long turns_handed(void);

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static long long sum, most;
static int runs, first = -1, now;	/* the set that is used first, and that of the call in
					 * progress */
static unsigned calls;

static void begin(int set)
{
	if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 3)
		sched_yield();		/* the other thread comes in the middle of this call */
	pthread_mutex_lock(&turn);
	now = set;
	if (first == -1)
		first = set;
	if (runs && set == first)
		fake_count_set(set, "EV_A", 3);
}

static void end(int zeroes, int running, const long long *value)
{
	if (now == first) {
		if (value && runs && *value > most)
			most = *value;
		if (zeroes) {
			sum += most;
			most = 0;
		}
		if (running >= 0)
			runs = running;
	}
	pthread_mutex_unlock(&turn);
}

long long turns_handed(void)
{
	return sum + most;
}

BEHIND(PAPI_start, (int set), (set), begin(set), end(rc == 0, rc == 0 ? 1 : -1, NULL))
BEHIND(PAPI_stop, (int set, long long *values), (set, values), begin(set),
       end(0, rc == 0 ? 0 : -1, rc == 0 ? values : NULL))
BEHIND(PAPI_read, (int set, long long *values), (set, values), begin(set),
       end(0, -1, rc == 0 ? values : NULL))
BEHIND(PAPI_reset, (int set), (set), begin(set), end(rc == 0, -1, NULL))
