/*
 * ending: threads that count forever while the process ends, and that store at once what PAPI
 * returned.
 * usage: ending FILE EVENT WAY THREADS ROUNDS
 *
 *	FILE	a struct slot for each thread, shared: it survives the process
 *	WAY	exit, return, _exit, quick_exit, exec, missing (an exec that fails, then exit),
 *		abort, segv, raw (the system call). With "other-" before it: by a thread that is not
 *		the main one. With "slow-": an exit handler takes 20 ms.
 *	ROUNDS	the readings that each thread has had before
 */
#include "touch.h"
#include "handed.h"
#include <stdbool.h>

#ifndef COUNT
#define COUNT(set)	0	/* the events counted now, if known */
#endif

#define MOST 64
struct slot {			/* of 64 bytes; tests/lib/check-ending.pl reads them */
	volatile long long handed, requested, tid, rounds, pad[4];
};

static struct slot *slots;
static const char *event, *way;
static long threads, rounds;
static bool other;

/* Makes one reading of each kind in turn, beginning with the thread's. */
static void *count(void *arg)
{
	struct slot *s = &slots[(long)arg];
	long long sum = 0, before = 0, value = 0;
	int set = set_with(event);

	s->tid = syscall(SYS_gettid);
	must("PAPI_start", PAPI_start(set));
	for (;; s->rounds++) {
		s->requested += COUNT(set);
		switch ((long)arg % 4) {
		case 0:
			must("PAPI_read", PAPI_read(set, &value));
			s->handed = value;
			break;
		case 1:
			must("PAPI_stop", PAPI_stop(set, &value));
			s->handed += value;
			must("PAPI_start", PAPI_start(set));
			break;
		case 2:
			must("PAPI_accum", PAPI_accum(set, &sum));
			s->handed = sum;
			break;
		case 3:
			must("PAPI_read", PAPI_read(set, &value));
			s->handed = before + value;
			if (s->rounds % 8 == 7) {
				before += value;
				must("PAPI_stop", PAPI_stop(set, NULL));
				must("PAPI_start", PAPI_start(set));
			}
			break;
		}
	}
	return NULL;
}

static void nap(void)
{
	usleep(20000);
}

static int leave(void)
{
	char *const none[] = { (char *)"true", NULL };

	for (long i = 0; i < threads; i++)
		while (slots[i].rounds < rounds)
			sched_yield();
	if (!strcmp(way, "return"))
		return 4;
	if (!strcmp(way, "_exit"))
		_exit(4);
	if (!strcmp(way, "quick_exit"))
		quick_exit(4);
	if (!strcmp(way, "exec"))
		execv("/bin/true", none);
	if (!strcmp(way, "missing"))
		execv("/bin/there is none", none);
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "segv"))
		raise(SIGSEGV);
	if (!strcmp(way, "raw"))
		syscall(SYS_exit_group, 4);
	exit(4);
}

static void *ends(void *arg)
{
	return (void *)(long)(leave() + (arg != NULL));
}

int main(int argc, char **argv)
{
	int fd = argc == 6 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	pthread_t t;

	if (fd < 0 || ftruncate(fd, MOST * sizeof(*slots)) < 0)
		die("usage: ending FILE EVENT WAY THREADS ROUNDS");
	slots = mmap(NULL, MOST * sizeof(*slots), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	event = argv[2];
	way = argv[3];
	threads = atol(argv[4]);
	rounds = atol(argv[5]);
	papi_up_threads();
	if (!strncmp(way, "slow-", 5)) {
		way += 5;
		atexit(nap);
	}
	other = !strncmp(way, "other-", 6);
	if (other)
		way += 6;
	for (long i = 0; i < threads; i++)
		if (pthread_create(&t, NULL, count, (void *)i))
			die("pthread_create");
	if (!other)
		return leave();
	if (pthread_create(&t, NULL, ends, NULL))
		die("pthread_create");
	for (;;)
		pause();
}
