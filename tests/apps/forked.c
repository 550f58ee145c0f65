/*
 * forked: a child of fork counts its page faults from its first window on, in sets of its own:
 * prints those of each, of 10 pages touched. Nothing is prefaulted, not even the loader's code.
 *
 *	fresh	it initialises PAPI
 *	used	the same, after the parent has made these calls
 *	goes-on	it uses its parent's libpapi without initialising it again
 *	raw	the same, made by the system call
 *	thread	as goes-on, and another thread of it calls PAPI first
 *
 * usage: forked MODE
 */
#include "handed.h"

#define PAGES 10

static volatile char *arena;
static long at;
static int set = PAPI_NULL;

/* No page is larger than 64 kB. */
__attribute__((noinline)) static long long window(void)
{
	long long value = 0;

	must("PAPI_start", PAPI_start(set));
	for (int i = 0; i < PAGES; i++)
		arena[at++ * 65536] = 1;
	must("PAPI_stop", PAPI_stop(set, &value));
	return value;
}

static pid_t new_child(const char *how)
{
#ifdef SYS_fork
	if (!strcmp(how, "raw"))
		return (pid_t)syscall(SYS_fork);
#endif
	return fork();
}

static void *makes(void *arg)
{
	(void)set_with(DEFAULT_EVENT);
	return arg;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "fresh";
	int goes_on = !strcmp(how, "goes-on") || !strcmp(how, "raw") || !strcmp(how, "thread");
	long long n[3] = {0};
	char line[80];
	pid_t child;

	arena = new_memory(4 * PAGES * 65536);
	papi_up();
	if (goes_on || !strcmp(how, "used")) {
		set = set_with(DEFAULT_EVENT);
		window();
	}
	child = new_child(how);
	if (child == 0) {
		if (!goes_on)
			papi_up();
		if (!strcmp(how, "thread"))
			run_thread(NULL, makes, NULL);
		for (int i = 0; i < 3; i++) {
			if (i == 0 || goes_on)
				set = set_with(DEFAULT_EVENT);
			n[i] = window();
		}
		_exit(write(1, line, (size_t)sprintf(line, "%lld %lld %lld\n", n[0], n[1], n[2])) <
		      0);
	}
	await_child(child);
	return 0;
}
