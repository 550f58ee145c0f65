/*
 * forked: a child of fork makes a set of its own and counts its page faults from the first
 * window on: prints those of each, of 10 pages touched. Nothing is prefaulted, the loader's
 * code neither. usage: forked [used]
 * used: the parent has made the same calls before.
 */
#include "handed.h"

#include <sys/wait.h>

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
	size_t bytes = MOST * sysconf(_SC_PAGESIZE);
	long long n[3] = {0};
	int status;
	pid_t child;

	arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED || madvise((void *)arena, bytes, MADV_NOHUGEPAGE))
		die("mmap");
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
