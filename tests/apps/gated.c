/*
 * gated: a program without PAPI that touches pages on one CPU between two gates, which are FIFOs:
 * it waits at each until that is opened. It prints "ready" before the first, "done" before the
 * second, and at the end its page faults in between, from getrusage(). usage: gated CPU PAGES FIFO
 * FIFO
 */
#include <sys/resource.h>

#include "touch.h"

static long faults(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_minflt + r.ru_majflt;
}

static void say(const char *text)
{
	if (write(1, text, strlen(text)) != (ssize_t)strlen(text))
		die("write");
}

static long between(const char *first, const char *second, struct arena *a, long pages)
{
	long from, to;

	say("ready\n");
	from = faults();
	close(open(first, O_RDONLY));
	touch(a, pages);
	to = faults();
	say("done\n");
	close(open(second, O_RDONLY));
	return to - from;
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	struct arena a;
	char line[64];
	long pages;

	if (argc != 5)
		return 2;
	CPU_ZERO(&set);
	CPU_SET((unsigned)atoi(argv[1]), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	stay_mapped();
	pages = atol(argv[2]);
	arena_make(&a, pages + 1);
	between("/dev/null", "/dev/null", &a, 1);	/* all has run once by now */
	say("at the gate\n");
	snprintf(line, sizeof(line), "faults %ld\n", between(argv[3], argv[4], &a, pages));
	say(line);
	return 0;
}
