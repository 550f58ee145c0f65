/*
 * limited: N threads that count two events each, started one after the other, all alive until the
 * last one counts, so that the choice of split threads is not random. usage: limited N
 */
#include "handed.h"

#define MOST 1000

static pthread_barrier_t started, all;

static void *work(void *arg)
{
	long long v[2];
	int set = set_with(DEFAULT_EVENT);

	must("perf::TASK-CLOCK", PAPI_add_named_event(set, "perf::TASK-CLOCK"));
	must("PAPI_start", PAPI_start(set));
	pthread_barrier_wait(&started);
	pthread_barrier_wait(&all);
	must("PAPI_stop", PAPI_stop(set, v));
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	static pthread_t t[MOST];
	pthread_attr_t small;

	if (n < 1 || n > MOST)
		return 2;
	papi_up_threads();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&started, NULL, 2);
	pthread_barrier_init(&all, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++) {
		if (pthread_create(&t[i], &small, work, NULL))
			die("pthread_create");
		pthread_barrier_wait(&started);
	}
	pthread_barrier_wait(&all);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
