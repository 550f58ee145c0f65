/*
 * forked: a child of fork makes a set of its own and counts its page faults from the first
 * window on: prints those of each, of 10 pages touched. Nothing is prefaulted, the loader's
 * code neither. usage: forked [used]
 * used: the parent has made the same calls before.
 */
#include "handed.h"

#define PAGES 10
#define MOST 100

static volatile char *arena;
static long at;
static int set = PAPI_NULL;

__attribute__((noinline)) static long long window(void)
{
	long long value = 0;

	must("PAPI_start", PAPI_start(set));
	for (int i = 0; i < PAGES; i++)
		arena[at++ * sysconf(_SC_PAGESIZE)] = 1;
	must("PAPI_stop", PAPI_stop(set, &value));
	return value;
}

static void begin(void)
{
	papi_up();
	set = set_with(DEFAULT_EVENT);
}

int main(int argc, char **argv)
{
	long long n[3] = {0};
	int status;
	pid_t child;

	arena = new_memory(MOST * sysconf(_SC_PAGESIZE));
	papi_up();
	if (argc > 1 && strcmp(argv[1], "used") == 0) {
		begin();
		window();
	}
	child = fork();
	if (child == 0) {
		begin();
		for (int i = 0; i < 3; i++)
			n[i] = window();
		printf("%lld %lld %lld\n", n[0], n[1], n[2]);
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		die("the child");
	return 0;
}
