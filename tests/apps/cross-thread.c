/*
 * cross-thread: a thread named maker, on the first CPU, makes an event set; starter, on the second
 * one, starts it and ends; the maker touches 300 pages, and main reads the set and stops it.
 *	lent	PAPI counts the maker; the starter touches 70 pages of its own
 *	own	the starter makes the set itself and touches 300 pages
 *	many	as lent, with three makers
 * Prints "maker TID" of the first one, "starter TID".
 * usage: cross-thread MODE
 */
#include <sys/prctl.h>

#include "handed.h"

#define MOST 3

static struct counted *counted[MOST];
static int makers = 1, is_own;
static pid_t maker[MOST], starter;
static pthread_barrier_t turn;

static void meet(void)
{
	pthread_barrier_wait(&turn);
}

static pid_t begin(const char *name, int cpu)
{
	prctl(PR_SET_NAME, name);
	pin(cpu);
	prefault();
	return (pid_t)syscall(SYS_gettid);
}

static void *make(void *arg)
{
	long i = (long)arg;

	maker[i] = begin("maker", 0);
	if (!is_own)
		make_set(counted[i]);
	meet(); /* made */
	meet(); /* started */
	touch(&counted[i]->arena, is_own ? 0 : 300);
	meet(); /* touched */
	meet(); /* read: it had not ended by then */
	return NULL;
}

static void *start(void *arg)
{
	struct arena mine;

	(void)arg;
	arena_make(&mine, 300);
	starter = begin("starter", 1);
	if (is_own)
		make_set(counted[0]);
	for (int i = 0; i < makers; i++)
		must("PAPI_start", PAPI_start(counted[i]->id));
	touch(&mine, is_own ? 300 : 70);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[MOST];
	long long value;
	int wrong = 0;

	if (argc != 2)
		return 1;
	is_own = !strcmp(argv[1], "own");
	makers = strcmp(argv[1], "many") ? 1 : MOST;
	papi_up_threads();
	drop_set(set_with(DEFAULT_EVENT)); /* all threads can use the name afterwards */
	pthread_barrier_init(&turn, NULL, makers + 1);
	for (long i = 0; i < makers; i++) {
		counted[i] = counted_new(0, NULL, 300);
		if (pthread_create(&t[i], NULL, make, (void *)i))
			die("pthread_create");
	}
	meet(); /* made */
	run_thread(NULL, start, NULL);
	meet(); /* started */
	meet(); /* touched */
	for (int i = 0; i < makers; i++) {
		must("PAPI_read", PAPI_read(counted[i]->id, &value));
		must("PAPI_stop", PAPI_stop(counted[i]->id, &value));
		wrong |= value != 300;
	}
	meet(); /* read */
	for (int i = 0; i < makers; i++)
		pthread_join(t[i], NULL);
	printf("maker %d\nstarter %d\n", maker[0], starter);
	return wrong;
}
