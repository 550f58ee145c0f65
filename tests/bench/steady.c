/*
 * steady.c: what a start with its stop and a reading take of a thread that stays on its CPU: ns, and system calls, as
 * the kernel's tracepoint counts them (by PTRACE_SYSCALL each stop would look like a move); run by scripts/bench and on
 * the machines of tests/machines, with and without sspapi.
 *
 *	steady ROUNDS EVENT...	lines "NAME NS", and "NAME,_system_calls N" where tracefs may be read
 *
 * Its counters are made for all CPUs that it may run on; then it is bound to the one where it is. Of the system calls the
 * number that nine of ten have at most: others come to run on this CPU.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "host.h"

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

/* Of this thread; -1: it cannot be had. */
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

static int by_size(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static void print_calls(const char *name, int fd, void (*call)(void))
{
	static long made[TIMES];
	uint64_t before, after;

	for (int i = 0; i < TIMES; i++) {
		if (read(fd, &before, sizeof(before)) != sizeof(before))
			return;
		call();
		if (read(fd, &after, sizeof(after)) != sizeof(after))
			return;
		made[i] = (long)(after - before) - 1;	/* the second look itself */
	}
	qsort(made, TIMES, sizeof(*made), by_size);
	printf("%s,_system_calls %ld\n", name, made[TIMES * 9 / 10]);
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
	long n = argc > 2 ? atol(argv[1]) : 0;
	int fd;

	if (n <= 0)
		return 2;
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 77;
	must(PAPI_create_eventset(&set), "create");
	for (int i = 2; i < argc; i++)
		must(PAPI_add_named_event(set, argv[i]), argv[i]);
	must(PAPI_start(set), "start");
	must(PAPI_stop(set, values), "stop");
	bind_here();
	for (int i = 0; i < 100; i++)
		pair();
	printf("start_and_stop %.3f\n", HOST_MEASURE(n, pair()));
	must(PAPI_start(set), "start");
	printf("read %.3f\n", HOST_MEASURE(n, reading()));
	must(PAPI_stop(set, values), "stop");
	fd = open_tracepoint();		/* (now: each system call takes longer) */
	if (fd >= 0) {
		print_calls("start_and_stop", fd, pair);
		must(PAPI_start(set), "start");
		print_calls("read", fd, reading);
		must(PAPI_stop(set, values), "stop");
	}
	host_print();
	return 0;
}
