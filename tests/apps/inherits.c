/*
 * inherits: counts itself and its children by a set of PAPI_INHERIT, and knows the result: pairs of
 * children touch pages and pass each other a byte in between, so that siblings follow each other on
 * a CPU. usage: inherits PAIRS PAGES prints what PAPI and getrusage(2) returned
 */
#include "handed.h"

#include <sys/resource.h>

static const char *const names[] = { "perf::PAGE-FAULTS", "perf::CPU-MIGRATIONS",
				     "perf::TASK-CLOCK" };

enum { FAULTS, MOVES, CLOCK, ALL };

static long faults(void)
{
	long sum = 0;
	struct rusage r;

	for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		getrusage(who, &r);
		sum += r.ru_minflt + r.ru_majflt;
	}
	return sum;
}

static void child(const int *from, const int *to, long pages)
{
	struct arena a;
	char byte = 0;

	arena_make(&a, pages);
	for (long i = 0; i < pages; i += 10) {
		touch(&a, 10);
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void pair(long pages)
{
	int there[2], back[2], status;

	if (pipe(there) || pipe(back))
		die("pipe");
	if (fork() == 0)
		child(there, back, pages);
	if (fork() == 0)
		child(back, there, pages);
	for (int i = 0; i < 2; i++)
		if (wait(&status) < 0 || status)
			die("a child");
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

int main(int argc, char **argv)
{
	int set, pairs = argc > 2 ? atoi(argv[1]) : 1;
	long pages = argc > 2 ? atol(argv[2]) : 10, before;
	long long value[ALL];

	papi_up();
	set = inherit_set();
	for (int i = 0; i < ALL; i++)
		must(names[i], PAPI_add_named_event(set, names[i]));
	before = faults();
	must("PAPI_start", PAPI_start(set));
	for (int i = 0; i < pairs; i++)
		pair(pages);
	must("PAPI_stop", PAPI_stop(set, value));
	for (int i = 0; i < ALL; i++)
		printf("%s %lld\n", names[i], value[i]);
	printf("rusage %ld\n", faults() - before);
	return 0;
}
