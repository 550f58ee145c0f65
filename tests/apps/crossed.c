/*
 * crossed: three functions touch pages on each CPU, in turn; prints the truth of each:
 * "cell FUNCTION CPU PAGES".
 */
#include "handed.h"

#define FUNCTIONS 3
#define CPUS 12

static struct counted *c;
static long long values[EVENTS];

#define WORK(name) \
	int name(long pages); \
	__attribute__((noinline)) int name(long pages) \
	{ \
		must("PAPI_start", PAPI_start(c->id)); \
		touch(&c->arena, pages); \
		must("PAPI_stop", PAPI_stop(c->id, values)); \
		return values[0] == pages; \
	}

WORK(assemble)
WORK(solve)
WORK(store)

int main(int argc, char **argv)
{
	static int (*const work[FUNCTIONS])(long) = { assemble, solve, store };
	static const char *const name[FUNCTIONS] = { "assemble", "solve", "store" };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	papi_up();
	c = counted_new(argc - 1, argv + 1, CPUS * FUNCTIONS * (30 + 100 + CPUS));
	make_set(c);
	for (int k = 0; k < (cpus < CPUS ? cpus : CPUS); k++) {
		int cpu = pin(k);

		for (int i = 0; i < FUNCTIONS; i++) {
			long pages = 10 * (i + 1) + 100 * (i == k) + k;

			if (!work[i](pages))
				die("a count");
			printf("cell %s %d %ld\n", name[i], cpu, pages);
		}
	}
	return 0;
}
