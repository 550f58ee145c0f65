/*
 * thread-start: prints what threads and processes can see of their own start, for comparison with a
 * native run.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

/* mallinfo(), which glibc 2.33 replaced by mallinfo2(). */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void say(const char *who)
{
	int error = errno, fd = open("/dev/null", O_RDONLY), state, type;
	char mask[2 * 64 + 1] = "";
	sigset_t set;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	for (int s = 1; s < 64; s++)
		strcat(mask, sigismember(&set, s) == 1 ? "1" : "0");
	printf("%s: errno %d, next descriptor %d, signals %s, cancelled %d %d\n", who, error, fd,
	       mask, state, type);
	close(fd);
	pthread_setcancelstate(state, &state);
}

static void *thread(void *who)
{
	say(who);
	return (void *)5;
}

static int thread_c11(void *who)
{
	say(who);
	return 6;
}

static void *until_cancelled(void *none)
{
	for (;;)
		pause();
	return none;
}

static void *leaves(void *none)
{
	(void)none;
	pthread_exit((void *)7);
}

static void a_thread(const char *name, void *(*start)(void *), int cancel)
{
	pthread_t t;
	void *r = NULL;
	int before = mallinfo().uordblks;
	int e = pthread_create(&t, NULL, start, (void *)name);

	if (cancel)
		pthread_cancel(t);
	pthread_join(t, &r);
	printf("%s: %d, errno %d, returned %ld, malloc %s\n", name, e, errno, (long)r,
	       mallinfo().uordblks >= before + 65536 ? "more" : "as it was");
}

static void too_many(void)
{
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, (size_t)1 << 62); /* more than any address space */
	printf("no room: %d\n", pthread_create(&t, &a, thread, NULL));
}

int main(void)
{
	sigset_t set;
	thrd_t t;
	int e, r = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &set, NULL);
	errno = 77;
	say("main");
	dlopen("/no/such/library", RTLD_NOW);
	a_thread("thread", thread, 0);
	a_thread("cancelled", until_cancelled, 1);
	a_thread("left", leaves, 0);
	e = thrd_create(&t, thread_c11, "c11");		/* (thread_c11 prints a line itself) */
	thrd_join(t, &r);
	printf("thrd_create: %d, returned %d\n", e, r);
	printf("dlerror: %s\n", dlerror());
	too_many();
	errno = 78;
	if (fork() == 0) {
		say("child");
		a_thread("child's thread", thread, 0);
		_exit(0);
	}
	r = errno;
	wait(NULL);
	printf("parent: errno %d\n", r);
	return 0;
}
