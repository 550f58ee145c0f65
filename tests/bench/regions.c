/* regions.c: what a region of PAPI's high level costs; run by scripts/bench.
 *
 *	regions ROUNDS		one line "region NS"
 */
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* CPU time: on a busy machine others' turns are not the call's cost. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	double t;

	if (n <= 0)
		return 2;
	if (PAPI_hl_region_begin("first") != PAPI_OK || PAPI_hl_region_end("first") != PAPI_OK)
		return 77;
	t = now();
	for (long i = 0; i < n; i++) {
		PAPI_hl_region_begin("loop");
		PAPI_hl_region_end("loop");
	}
	printf("region %.3f\n", (now() - t) / (double)n);
	return 0;
}
