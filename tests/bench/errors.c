/* errors: a thread that moves between two CPUs at a given rate and is read every 10 ms, and knows
 * what it did on each: the truth for scripts/errors. Its page faults are those of the pages that it
 * touches; what else it does takes time only. usage: errors MOVES_A_SECOND same|uneven MILLISECONDS
 *
 * "same": as many pages on one CPU as on the other; "uneven": on the first one only (as work that
 * has its data there). Prints  truth CPU PAGES  of both, and  read NS, moved NS: the medians of
 * PAPI_read where the thread stayed since the reading before, and where it moved, of ten or more.
 */
#include "../apps/handed.h"

#define STEPS_A_MS	50		/* each takes 20 us of CPU, and touches a page or not */
#define READ_EVERY	(10 * STEPS_A_MS)
#define PIECE		2000		/* pages before the memory is given back */
#define MOST		100000

static double took[2][MOST];
static int n[2];

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void spin(long rounds)
{
	for (volatile long i = 0; i < rounds; i++)
		;
}

/* Rounds of spin() that take 20 us of this thread's time: the least of some, which nothing
 * disturbed. */
static long rounds_of_a_step(void)
{
	double best = 1e18;

	for (int i = 0; i < 50; i++) {
		double t = now(CLOCK_THREAD_CPUTIME_ID);

		spin(20000);
		t = now(CLOCK_THREAD_CPUTIME_ID) - t;
		best = t < best ? t : best;
	}
	return (long)(20000 * 20e3 / best);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void read_set(int id, int moved)
{
	long long values[EVENTS];
	double t = now(CLOCK_MONOTONIC);

	must("PAPI_read", PAPI_read(id, values));
	t = now(CLOCK_MONOTONIC) - t;
	if (n[moved] < MOST)
		took[moved][n[moved]++] = t;
}

/* 0.5 to 1.5, the same in each run: moves are to keep no time with the readings. */
static double about_one(void)
{
	static unsigned seed = 1;

	seed = seed * 1664525u + 1013904223u;
	return 0.5 + seed / 4294967296.0;
}

static void run(int id, double rate, int uneven, long steps, long pages[2])
{
	long rounds = rounds_of_a_step(), left = 0;
	double due = rate ? about_one() / rate : 1e9, passed = 0;
	struct arena arena;
	int at = 0, moved = 0;
	char *start = NULL;

	arena_make(&arena, PIECE);
	start = arena.next;
	must("PAPI_start", PAPI_start(id));
	for (long i = 1; i <= steps; i++, passed += 1e-3 / STEPS_A_MS) {
		if (passed >= due) {
			pin(at = !at);
			moved = 1;
			due += about_one() / rate;
		}
		if (!at || !uneven) {
			if (left == PIECE) {
				madvise(start, (size_t)(PIECE * arena.page), MADV_DONTNEED);
				arena.next = start;
				arena.left = PIECE;
				left = 0;
			}
			touch(&arena, 1);
			left++;
			pages[at]++;
		}
		spin(rounds);
		if (i % READ_EVERY == 0) {
			read_set(id, moved);
			moved = 0;
		}
	}
}

int main(int argc, char **argv)
{
	static char *event[] = { "perf::PAGE-FAULTS" };
	long pages[2] = { 0, 0 };
	long long values[EVENTS];
	struct counted *c;

	if (argc != 4)
		return 2;
	papi_up();
	if (nth_cpu(0) == nth_cpu(1))
		cannot("two CPUs", PAPI_ENOSUPP);
	c = counted_new(1, event, 1);
	pin(0);
	make_set(c);
	memset(took, 1, sizeof(took));
	prefault();
	run(c->id, atof(argv[1]), !strcmp(argv[2], "uneven"), atol(argv[3]) * STEPS_A_MS, pages);
	must("PAPI_stop", PAPI_stop(c->id, values));
	for (int i = 0; i < 2; i++) {
		qsort(took[i], (size_t)n[i], sizeof(double), by_size);
		printf("truth %d %ld\n", nth_cpu(i), pages[i]);
		if (n[i] >= 10)
			printf("%s %.0f\n", i ? "moved" : "read", took[i][n[i] / 2]);
	}
	return 0;
}
