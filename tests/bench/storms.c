/*
 * storms.c: what a program pays whose threads, processes and switches are counted from outside; run
 * by scripts/bench under sspapi stat, under perf stat and alone.
 *
 *	storms ROUNDS  lines "NAME NS", of an operation: CPU time of the process and its children
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double used_of(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return 1e9 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double used(void)
{
	return used_of(RUSAGE_SELF) + used_of(RUSAGE_CHILDREN);
}

static void *nothing(void *arg)
{
	return arg;
}

static void one_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, nothing, NULL) == 0)
		pthread_join(t, NULL);
}

static void one_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void one_exec(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static int there[2], back[2];

static void *echo(void *arg)
{
	char c;

	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return arg;
}

static void one_switch(void)
{
	char c = 0;

	if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
		exit(1);
}

static void take(const char *what, void (*once)(void), int rounds)
{
	double from = used();

	for (int i = 0; i < rounds; i++)
		once();
	printf("%s %.1f\n", what, (used() - from) / rounds);
}

/* Both on one CPU: each echo is two switches. */
static void take_switches(int rounds)
{
	cpu_set_t here;
	pthread_t t;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	if (sched_setaffinity(0, sizeof(here), &here) != 0 || pipe(there) != 0 || pipe(back) != 0 ||
	    pthread_create(&t, NULL, echo, NULL) != 0)
		exit(1);
	take("switch_and_back", one_switch, rounds);
	close(there[1]);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;

	take("thread", one_thread, rounds);
	take("fork", one_fork, rounds);
	take("fork_and_exec", one_exec, rounds);
	take_switches(20 * rounds);
	return 0;
}
