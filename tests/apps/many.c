/*
 * many: N readings in a row, of which the last and the longest count.
 * Touches a page before every thousandth.
 * usage: many [-t] N [event...]	-t: on stderr, the CPU time of the longest call
 */
#include "handed.h"
#include <time.h>

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int timed = argc > 1 && !strcmp(argv[1], "-t");
	long n = argc > 1 + timed ? atol(argv[1 + timed]) : 100000, long_calls = 0;
	double longest = 0;
	long long values[EVENTS];
	struct counted *c;

	papi_up();
	c = counted_new(argc - 2 - timed, argv + 2 + timed, n / 1000 + 10);
	make_set(c);
	pin(0);
	prefault();
	must("PAPI_start", PAPI_start(c->id));
	for (long i = 1; i <= n; i++) {
		double t, took;

		if (i % 1000 == 0)
			touch(&c->arena, 1);
		t = timed ? cpu_time() : 0;
		must("PAPI_read", PAPI_read(c->id, values));
		took = timed ? cpu_time() - t : 0;
		long_calls += took > 50e3;
		longest = took > longest ? took : longest;
	}
	handed(c, "PAPI_read", values);
	must("PAPI_stop", PAPI_stop(c->id, values));
	handed(c, "PAPI_stop", values);
	if (timed)
		fprintf(stderr, "longest %.0f ns, over 50 us %ld\n", longest, long_calls);
	return print_handed(c, "");
}
