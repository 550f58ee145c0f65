/*
 * many: N readings in a row, of which the last and the longest matter.
 * Touches a page before every thousandth.
 * usage: many [-t FILE] N [event...]	-t: the CPU time of each call, the least of all runs
 *					with this FILE; on stderr, how many are longer than 50 us
 */
#include "calls.h"

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/*
 * A long call that was interrupted by chance is not so each time: times that stay long are the
 * call's own.
 */
static float *least_times(const char *path, long n)
{
	float *least = malloc((size_t)n * sizeof(*least));
	FILE *f = fopen(path, "r");

	if (!least)
		exit(1);
	for (long i = 0; i < n; i++)
		least[i] = 1e9;
	if (f && fread(least, sizeof(*least), (size_t)n, f) != (size_t)n)
		exit(1);
	if (f)
		fclose(f);
	return least;
}

static void keep_times(const char *path, const float *least, long n)
{
	FILE *f = fopen(path, "w");
	long over = 0;
	float longest = 0;

	for (long i = 0; i < n; i++) {
		over += least[i] > 50e3f;
		longest = least[i] > longest ? least[i] : longest;
	}
	if (!f || fwrite(least, sizeof(*least), (size_t)n, f) != (size_t)n || fclose(f))
		exit(1);
	fprintf(stderr, "longest %.0f ns, over 50 us %ld\n", (double)longest, over);
}

int main(int argc, char **argv)
{
	int timed = argc > 2 && !strcmp(argv[1], "-t") ? 2 : 0;
	long n = argc > 1 + timed ? atol(argv[1 + timed]) : 100000;
	float *least = timed ? least_times(argv[2], n) : NULL;
	long long values[EVENTS];
	struct counted *c;

	papi_up();
	c = counted_new(argc - 2 - timed, argv + 2 + timed, n / 1000 + 10);
	make_set(c);
	pin(0);
	prefault();
	must("PAPI_start", PAPI_start(c->id));
	for (long i = 1; i <= n; i++) {
		double t;

		if (i % 1000 == 0)
			touch(&c->arena, 1);
		t = timed ? cpu_time() : 0;
		must("PAPI_read", PAPI_read(c->id, values));
		t = timed ? cpu_time() - t : 0;
		if (timed && t < (double)least[i - 1])
			least[i - 1] = (float)t;
	}
	handed(c, "PAPI_read", values);
	end(c);
	if (timed)
		keep_times(argv[2], least, n);
	return print_handed(c, "");
}
