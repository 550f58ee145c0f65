/*
 * unwinding: forks while another thread is in libunwind, which is tests/preload/unwinds.c, and holds its lock; the child
 * counts, and so does a child of it. usage: unwinding
 */
#include "scene.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

static sem_t inside, go_on;
static __thread int holds;

/* In libunwind. */
static void on_unwind(void)
{
	if (!holds)
		return;
	holds = 0;
	sem_post(&inside);
	sem_wait(&go_on);
}

static void count(int n)
{
	struct counted *c = SET("EV_A");

	begin(c);
	fake_count("EV_A", n);
	look(c);
	end(c);
	print_handed(c, "");
	fflush(stdout);
}

static void *work(void *arg)
{
	count(1);
	holds = 1;
	count(2);
	return arg;
}

static int child(int depth)
{
	int status = 0;
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, &status, 0);
		return status;
	}
	alarm(200);
	up();
	count(5);
	if (depth > 1)
		status = child(depth - 1);
	exit(!!status);
}

int main(void)
{
	char at[32];
	pthread_t t;
	int status;

	snprintf(at, sizeof(at), "%#lx", (unsigned long)&on_unwind);
	setenv("UNWINDS", at, 1);
	sem_init(&inside, 0, 0);
	sem_init(&go_on, 0, 0);
	up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	pthread_create(&t, NULL, work, NULL);
	sem_wait(&inside);
	fflush(stdout);
	status = child(2);
	sem_post(&go_on);
	pthread_join(t, NULL);
	return !!status;
}
