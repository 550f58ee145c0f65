/*
 * held: calls PAPI first in a thread for which another one waits with the loader's lock, or in a
 * handler that interrupts malloc. usage: held lock|handler
 */
#include <dlfcn.h>
#include <papi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rc;
static volatile int armed, inside;

static void *ask(void *arg)
{
	rc = PAPI_library_init(PAPI_VER_CURRENT);
	return arg;
}

/* dlsym calls it with the loader's lock. */
static __attribute__((used)) void *(*resolve(void))(void *)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, ask, NULL))
		pthread_join(thread, NULL);
	return ask;
}
void *held(void *) __attribute__((ifunc("resolve")));

static void handler(int signal)
{
	(void)signal;
	rc = PAPI_start(77);
}

void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes)
{
	if (inside)
		_exit(write(2, "malloc in malloc\n", 17) > 0);
	if (armed) {
		armed = 0;
		inside = 1;
		raise(SIGUSR1);
		inside = 0;
	}
	return __libc_malloc(bytes);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "handler")) {
		signal(SIGUSR1, handler);
		armed = 1;
		armed = !strdup("memory");
	} else {
		dlsym(RTLD_DEFAULT, "held");
	}
	return printf("%d\n", rc) < 0;
}
