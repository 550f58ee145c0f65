/*
 * passed: two threads use one set, and no lock.  One starts and stops it; the other meanwhile
 *	read, reset	does that
 *	both		starts and stops it, too
 *	other		reads it, and the first one starts and stops a set of its own in between
 *	start		starts and stops it, and the first one only reads
 * Prints what libpapi has handed out (tests/preload/turns.c).  usage: passed WHAT N
 */
#include "scene.h"

#pragma weak turns_handed
extern long long turns_handed(void);

static int set = PAPI_NULL;
static bool over;
static pthread_barrier_t both;
static const char *what;

static void start_and_stop(int id)
{
	long long value;

	(void)PAPI_start(id);
	(void)PAPI_stop(id, &value);
}

static void *second(void *arg)
{
	long long value;

	pthread_barrier_wait(&both);
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		if (strcmp(what, "reset") == 0)
			(void)PAPI_reset(set);
		else if (strcmp(what, "both") == 0 || strcmp(what, "start") == 0)
			start_and_stop(set);
		else
			(void)PAPI_read(set, &value);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int own, n = argc > 2 ? atoi(argv[2]) : 0;
	long long value;
	pthread_t thread;

	what = argv[1];
	up_threads();
	set = set_with("EV_A");
	own = set_with("EV_B");
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, second, NULL);
	pthread_barrier_wait(&both);
	for (int i = 0; i < n; i++) {
		if (strcmp(what, "start") == 0)
			(void)PAPI_read(set, &value);
		else
			start_and_stop(set);
		if (strcmp(what, "other") == 0)
			start_and_stop(own);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	if (&turns_handed)
		printf("handed %lld\n", turns_handed());
	return 0;
}
