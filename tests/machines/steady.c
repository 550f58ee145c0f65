/*
 * steady.c: counts the system calls of a start with its stop and of a reading, for a thread that
 * stays on its CPU, by the kernel's tracepoint, with and without sspapi. (With PTRACE_SYSCALL each
 * stop would look like a move.)
 *
 *	steady EVENT...	lines "NAME,_system_calls N" if tracefs may be read
 *
 * Its counters are made for all CPUs that it may run on; then it is pinned to its current one.
 * Prints the number that nine of ten have at most: other processes run on this CPU as well.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../bench/measure.h"

#define TIMES 500

static long long values[64];
static int set = PAPI_NULL;

static void pair(void)
{
	PAPI_start(set);
	PAPI_stop(set, values);
}

static void reading(void)
{
	PAPI_read(set, values);
}

/* Opens it for this thread; -1: not available. */
static int open_tracepoint(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(a)};
	FILE *id = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
	unsigned long long number;
	int fd = -1;

	if (id && fscanf(id, "%llu", &number) == 1) {
		a.config = number;
		fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0ul);
	}
	if (id)
		fclose(id);
	return fd;
}

static void print_calls(const char *name, int fd, void (*call)(void))
{
	static double made[TIMES];
	uint64_t before, after;

	for (int i = 0; i < TIMES; i++) {
		if (read(fd, &before, sizeof(before)) != sizeof(before))
			return;
		call();
		if (read(fd, &after, sizeof(after)) != sizeof(after))
			return;
		made[i] = (double)(after - before) - 1;	/* the second read itself */
	}
	qsort(made, TIMES, sizeof(*made), by_size);
	printf("%s,_system_calls %.0f\n", name, made[TIMES * 9 / 10]);
}

static void bind_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

int main(int argc, char **argv)
{
	int fd;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 77;
	must(PAPI_create_eventset(&set), "create");
	for (int i = 1; i < argc; i++)
		must(PAPI_add_named_event(set, argv[i]), argv[i]);
	must(PAPI_start(set), "start");
	must(PAPI_stop(set, values), "stop");
	bind_here();
	for (int i = 0; i < 100; i++)
		pair();
	fd = open_tracepoint();
	if (fd >= 0) {
		print_calls("start_and_stop", fd, pair);
		must(PAPI_start(set), "start");
		print_calls("read", fd, reading);
		must(PAPI_stop(set, values), "stop");
	}
	return 0;
}
