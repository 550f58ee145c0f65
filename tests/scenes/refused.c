/*
 * refused: a set counts; it is started again, which PAPI refuses, then one that is not there; and
 * the same in a child of fork, whose sets are its own. usage: refused TIMES
 */
#include "scene.h"

static void start(int times, int id, int wanted)
{
	for (int i = 0; i < times; i++) {
		int ret = PAPI_start(id);

		if (ret != wanted) {
			fprintf(stderr, "PAPI_start: %d, not %d\n", ret, wanted);
			exit(1);
		}
	}
}

static void count(int times)
{
	struct counted *c;

	up();
	c = SET("EV_A");
	begin(c);
	start(times, c->id, PAPI_EISRUN);
	start(times, 12345, PAPI_ENOEVST);
	fake_count("EV_A", 5);
	end(c);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;

	count(times);
	if (!fork()) {
		count(times);
		return 0;
	}
	wait(NULL);
	return 0;
}
