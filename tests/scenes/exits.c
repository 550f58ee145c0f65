/*
 * exits: threads that have measured end the process at once, each in its way.
 * usage: exits THREADS WAY...
 *	WAY exit _exit quick_exit abort late (abort, once the file $LATE is there) return (of main;
 *	of a thread: it ends), term (kills by SIGTERM),
 *		wait (as return, but for ever); the n-th thread, main the first, does the n-th,
 *		around
 *	the status is 4
 */
#include "now.h"

static pthread_barrier_t all;
static char **way;
static int ways;

static int end_by(const char *how)
{
	if (!strcmp(how, "exit"))
		exit(4);
	if (!strcmp(how, "_exit"))
		_exit(4);
	if (!strcmp(how, "quick_exit"))
		quick_exit(4);
	while (!strcmp(how, "late") && access(getenv("LATE"), F_OK) < 0)
		usleep(1000);
	if (!strcmp(how, "abort") || !strcmp(how, "late"))
		abort();
	if (!strcmp(how, "term"))
		kill(getpid(), SIGTERM);
	while (!strcmp(how, "wait") || !strcmp(how, "term"))
		pause();
	return 4;
}

static void measure(int n)
{
	for (int i = 0; i < 4; i++)
		now(n);
	pthread_barrier_wait(&all);
}

static void *run(void *arg)
{
	int n = (int)(long)arg;

	measure(n);
	end_by(way[n % ways]);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t t;

	way = argv + 2;
	ways = argc - 2;
	up_threads();
	pthread_barrier_init(&all, NULL, (unsigned)threads);
	for (long i = 1; i < threads; i++)
		if (pthread_create(&t, NULL, run, (void *)i))
			die("pthread_create");
	measure(100);
	return end_by(way[0]);
}
