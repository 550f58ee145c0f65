/*
 * matrix: real PAPI, perf::PAGE-FAULTS, and one kind of process life or end. usage: matrix MODE
 * Prints PAPI's values as they are returned, and at the end of each process that ends normally its
 * environment: errno after each kind of PAPI call, its signal mask, descriptors, children, threads.
 * Natively and under the shim all of that must be the same.
 */
#include "apps/handed.h"
#include <dirent.h>
#include <semaphore.h>
#include <spawn.h>

extern char **environ;
static const char *mode, *self;
static struct arena arena;
static int set = PAPI_NULL;
static pthread_key_t key;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

/* ---- counting ------------------------------------------------------------------ */

static void line(const char *by, int cpu, long long value)
{
	char text[160];
	int n = snprintf(text, sizeof(text),
			 "handed pid=%d cpu=%d event=perf::PAGE-FAULTS value=%lld by=%s\n",
			 getpid(), cpu, value, by);

	if (write(1, text, n) != n)
		_exit(9);
}

static int make(void)
{
	return set_with("perf::PAGE-FAULTS");
}

/* Touches two pages in a run of its own: nothing else happens in between. */
static void again(int s, const char *by, long pages)
{
	long long first = 0, value = 0;

	must("PAPI_start", PAPI_start(s));
	touch(&arena, pages);
	must("PAPI_read", PAPI_read(s, &first));
	touch(&arena, 2);
	must("PAPI_stop", PAPI_stop(s, &value));
	line(by, sched_getcpu(), first);
	line(by, sched_getcpu(), value - first);
}

static void measure(const char *by, long pages)
{
	int s;

	pin(0);
	prefault();
	s = make();
	again(s, by, pages);
	drop_set(s);
}

/* ---- the environment ------------------------------------------------------------ */

static void around(void)
{
	char name[64], to[256];
	sigset_t mask;
	long n = 0, value;
	DIR *d;

	printf("mask");
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < 65; i++)
		if (sigismember(&mask, i) == 1)
			printf(" %d", i);
	printf("\ndescriptors");
	for (int i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", i);
		n = readlink(name, to, sizeof(to) - 1);
		if (n < 0)
			continue;
		to[n] = 0;
		printf(" %d%s", i, strstr(to, "anon_inode") ? "=counter" : "");
	}
	d = opendir("/proc/self/task");
	for (n = -2; readdir(d); n++)
		;
	closedir(d);
	printf("\nthreads %ld children %s\n", n,
	       (waitpid(-1, NULL, WNOHANG), errno == ECHILD ? "none" : "some"));
	errno = 77;
	value = 0;
	printf("errno %d", (PAPI_read(-5, (long long *)&value), errno));
	errno = 77;
	printf(" %d", (PAPI_start(12345), errno));
	errno = 77;
	printf(" %d", (PAPI_state(set, &(int){0}), errno));
	for (int i = SIGHUP; i <= SIGRTMIN; i++) {
		struct sigaction a;

		if (sigaction(i, NULL, &a) == 0 && a.sa_handler != SIG_DFL)
			printf(" handler %d %s %x", i, a.sa_handler == SIG_IGN ? "ignored" : "own",
			       (unsigned)a.sa_flags);
	}
	printf("\n");
	fflush(stdout);
}

/* ---- threads --------------------------------------------------------------------- */

static void *counts_and_waits(void *arg)
{
	long long value;
	int s;

	pin(1);
	prefault();
	must("PAPI_register_thread", PAPI_register_thread());
	s = make();
	must("PAPI_start", PAPI_start(s));
	must("PAPI_read", PAPI_read(s, &value));
	line("waiter", sched_getcpu(), value);
	sem_t *ready = arg;

	sem_post(ready);
	for (;;)
		pause();
	return NULL;
}

static void *ends_it_all(void *arg)
{
	(void)arg;
	measure("side", 5);
	around();
	if (!strcmp(mode, "side-_exit"))
		_exit(5);
	exit(4);
}

static void at_thread_end(void *arg)
{
	again((int)(long)arg, "key", 7);
}

static void *leaves_to_key(void *arg)
{
	int s;

	(void)arg;
	pin(1);
	prefault();
	must("PAPI_register_thread", PAPI_register_thread());
	s = make();
	again(s, "thread", 3);
	pthread_setspecific(key, (void *)(long)(s ? s : 1));
	return NULL;
}

static volatile int going;

static void *reads_for_ever(void *arg)
{
	long long value;
	int s = set_with("perf::CPU-MIGRATIONS");	/* unprinted, perhaps dumped */

	(void)arg;
	if (!strcmp(mode, "cancel-async"))
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	must("PAPI_start", PAPI_start(s));
	for (;;) {
		PAPI_read(s, &value);
		going = 1;
		pthread_testcancel();
	}
	return NULL;
}

static void side(void)
{
	pthread_t t[2];
	sem_t ready;

	sem_init(&ready, 0, 0);
	pthread_create(&t[0], NULL, counts_and_waits, &ready);
	sem_wait(&ready);
	pthread_create(&t[1], NULL, ends_it_all, NULL);
	for (;;)
		pause();
}

static void cancelled(void)
{
	for (int i = 0; i < 20; i++) {
		pthread_t t;
		void *result;

		going = 0;
		pthread_create(&t, NULL, reads_for_ever, NULL);
		while (!going)
			sched_yield();
		usleep(100 * i);
		pthread_cancel(t);
		pthread_join(t, &result);
		if (result != PTHREAD_CANCELED)
			printf("not cancelled\n");
	}
}

/* ---- children --------------------------------------------------------------------- */

static void child_counts(void)
{
	PAPI_library_init(PAPI_VER_CURRENT);
	measure("child", 11);
	around();
}

/* The set runs while a child starts and ends. */
static void over(void)
{
	long long value[3] = {0};
	int status;
	pid_t pid;

	must("PAPI_start", PAPI_start(set));
	touch(&arena, 3);
	must("PAPI_read", PAPI_read(set, &value[0]));
	pid = is("over-vfork") ? vfork() : fork();
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	touch(&arena, 4);
	must("PAPI_read", PAPI_read(set, &value[1]));
	touch(&arena, 2);
	must("PAPI_stop", PAPI_stop(set, &value[2]));
	for (int i = 0; i < 3; i++)
		line("over", sched_getcpu(), value[i] - (i ? value[i - 1] : 0));
}

static void reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	printf("a child ended with %x\n", status);
	fflush(stdout);
}

static void children(void)
{
	char *args[] = {(char *)self, "return", NULL}, *none[] = {"/does/not/exist", NULL};
	pid_t pid = -1;

	if (!strcmp(mode, "fork") || !strcmp(mode, "fork-kill")) {
		pid = fork();
		if (!pid) {
			child_counts();
			if (!strcmp(mode, "fork-kill"))
				raise(SIGKILL);
			_exit(6);
		}
	} else if (!strcmp(mode, "clone")) {
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (!pid) {
			child_counts();
			_exit(6);
		}
	} else if (!strcmp(mode, "vfork")) {
		pid = vfork();
		if (!pid) {
			execv(self, args);
			_exit(127);
		}
	} else if (!strcmp(mode, "vfork-fails")) {
		pid = vfork();
		if (!pid) {
			execv(none[0], none);
			_exit(errno);
		}
	} else if (!strcmp(mode, "spawn")) {
		if (posix_spawn(&pid, self, NULL, NULL, args, environ))
			die("posix_spawn");
	} else {
		pid = fork();
		if (!pid) {
			execlp("sh", "sh", "-c", "\"$0\" return; exit $?", self, NULL);
			_exit(127);
		}
	}
	reap(pid);
	/* Shared with the child: the first frames on its next page decide about a fault. */
	prefault_stack();
}

/* ---- the ends ------------------------------------------------------------------------ */

static int late;

static void at_exit(void)
{
	measure("atexit", 3);
}

__attribute__((destructor)) static void at_the_end(void)
{
	if (late)
		measure("destructor", 4);
}

static void ends(void)
{
	if (is("exit"))
		exit(3);
	if (is("_exit"))
		_exit(3);
	if (is("_Exit"))
		_Exit(3);
	if (is("quick_exit") || is("at_quick_exit"))
		quick_exit(3);
	if (is("abort"))
		abort();
	if (is("segv"))
		raise(SIGSEGV);
	if (is("trap"))
		__builtin_trap();
	if (is("kill"))
		raise(SIGKILL);
	if (is("term"))
		raise(SIGTERM);
	if (is("exec"))
		execl(self, self, "return", NULL);
	if (is("exec-plain"))
		execlp("true", "true", NULL);
	if (is("exec-fails"))
		printf("exec %d %d\n", execl("/does/not/exist", "x", NULL), errno);
	if (is("exec-no-memory")) {
		static char big[4 << 20];

		memset(big, 'x', sizeof(big) - 1);
		printf("exec %d %d\n", execl(self, self, big, big, NULL), errno);
	}
	if (is("pthread_exit"))
		pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	pthread_t t;

	mode = argc > 1 ? argv[1] : "return";
	self = argv[0];
	arena_make(&arena, 10000);
	papi_up_threads();
	pin(0);
	late = is("destructor");
	if (is("atexit"))
		atexit(at_exit);
	if (is("at_quick_exit"))
		at_quick_exit(at_exit);
	prefault();
	set = make();
	again(set, "main", 10);
	line("nothing", sched_getcpu(), 0);
	prefault();
	again(set, "main", 13);
	around();
	ends();
	if (is("side-exit") || is("side-_exit"))
		side();
	if (is("over") || is("over-vfork"))
		over();
	if (is("key")) {
		pthread_key_create(&key, at_thread_end);
		pthread_create(&t, NULL, leaves_to_key, NULL);
		pthread_join(t, NULL);
	}
	if (!strncmp(mode, "cancel", 6))
		cancelled();
	if (strstr("fork fork-kill clone vfork vfork-fails spawn shell", mode))
		children();
	again(set, "main", 5);
	around();
	return 0;
}
