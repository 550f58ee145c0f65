/*
 * child: a child of fork goes on with the libpapi that its parent has used, without initialising it again: prints the
 * page faults that the first two sets of its own count, of 10 pages touched. usage: child [raw]
 * raw: made by the system call
 */
#include "handed.h"

#define PAGES 10

static volatile char *arena;
static long at;

static long long count(void)
{
	int set = set_with(DEFAULT_EVENT);
	long long value = 0;

	must("PAPI_start", PAPI_start(set));
	for (int i = 0; i < PAGES; i++)
		arena[at++ * 65536] = 1;
	must("PAPI_stop", PAPI_stop(set, &value));
	return value;
}

static pid_t new_child(int argc)
{
#ifdef SYS_fork
	if (argc > 1)
		return (pid_t)syscall(SYS_fork);
#endif
	return fork();
}

int main(int argc, char **argv)
{
	long long n[2];
	char line[60];
	int status;
	pid_t child;

	(void)argv;
	arena = new_memory(3 * PAGES * 65536);
	papi_up();
	count();
	child = new_child(argc);
	if (child == 0) {
		n[0] = count();
		n[1] = count();
		if (write(1, line, (size_t)sprintf(line, "%lld %lld\n", n[0], n[1])) < 0)
			_exit(1);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		die("the child");
	return 0;
}
