/*
 * own-events: tests whether events of the program's own find free hardware counters next to a PAPI
 * set, while the thread stays and after it has moved: as many as the set has, each half the
 * processor's counters.
 * usage: own-events EVENT...
 * Prints `beside stayed: 100 %`, the least share of time that one of them ran.
 */
#include <linux/perf_event.h>
#include <papi.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "unit.h"

#define MOST 8
#define UNITS 20		/* long enough for the kernel to let events take turns */

static int open_own(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .size = sizeof(attr),
	    .exclude_kernel = 1, .exclude_hv = 1,
	    .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		exit(77);
	return fd;
}

static void print_share(const char *when, int n)
{
	long long v[3], least = 100;
	int fd[MOST];

	for (int i = 0; i < n; i++)
		fd[i] = open_own();
	loop((long)UNIT * UNITS);
	for (int i = 0; i < n; i++) {
		if (read(fd[i], v, sizeof(v)) != sizeof(v) || !v[1])
			exit(1);
		least = 100 * v[2] / v[1] < least ? 100 * v[2] / v[1] : least;
		close(fd[i]);
	}
	printf("beside %s: %lld %%\n", when, least);
}

int main(int argc, char **argv)
{
	int set = PAPI_NULL, n = argc - 1;
	long long v[MOST];

	if (n < 1 || n > MOST || PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_create_eventset(&set))
		return 1;
	for (int i = 0; i < n; i++)
		if (PAPI_add_named_event(set, argv[1 + i]) != PAPI_OK)
			return 77;
	pin_to(0);
	if (PAPI_start(set))
		return 1;
	print_share("stayed", n);
	pin_to(2);
	if (PAPI_read(set, v))
		return 1;
	print_share("moved", n);
	return PAPI_stop(set, v) ? 1 : 0;
}
