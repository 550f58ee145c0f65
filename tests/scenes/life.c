/*
 * life: the ways by which a process ends and begets others. Each measures
 * something before, and those that live on after.
 * usage: life MODE	main() below has the modes
 */
#include "now.h"
#include <spawn.h>
#include <sys/syscall.h>

extern char **environ;

static int set;
static const char *self;

static void reap(void)
{
	int status;

	while (wait(&status) > 0 || errno == EINTR)
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 3)
			dprintf(1, "a child ended with status 0x%x\n", status);
}

/* PAPI afresh, as a child of fork must. */
static void papi_of_child(int n)
{
	up();
	now(n);
}

static void fork_papi(int depth)
{
	for (int i = 0; i < 2; i++)
		if (!fork()) {
			papi_of_child(100 * depth + i);
			if (depth > 1)
				fork_papi(depth - 1);
			exit(0);
		}
	reap();
}

static void fork_plain(void)
{
	if (!fork())
		exit(0);
	if (!fork())
		_exit(1);
	reap();
}

/* The child inherits the parent's counters, and its reading is the parent's count; here it only
 * ends. */
static void fork_running(void)
{
	if (!fork())
		exit(0);
	reap();
	now_end(set, 3);
}

static void spawn(int vforked)
{
	char *argv[] = {(char *)self, "return", NULL};
	pid_t pid;

	if (!vforked) {
		posix_spawn(&pid, self, NULL, NULL, argv, environ);
	} else if (!vfork()) {
		execv(self, argv);
		_exit(127);
	}
	reap();
}

static void vfork_fails(void)
{
	if (!vfork()) {
		execl("/dev/null/such", "such", NULL);
		_exit(1);
	}
	reap();
}

static void fork_exec(void)
{
	if (!fork()) {
		execl(self, self, "return", NULL);
		_exit(127);
	}
	reap();
}

static void at_exit(void)
{
	now(7);
}

static void at_quick(void)
{
	now_end(set, 4);
	now(7);
}

static void *spin(void *arg)
{
	for (volatile long *x = arg; !*x;)
		now(1);
	return NULL;
}

/* Threads that measure all the time while children come, use PAPI, and go. */
static void fork_threaded(int times)
{
	static volatile long stop;
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, spin, (void *)&stop);
	for (int i = 0; i < times; i++) {
		if (!fork()) {
			if (i % 3 == 0)
				papi_of_child(i);
			i % 2 ? exit(0) : _exit(0);
		}
		if (i % 4 == 3)
			reap();
	}
	reap();
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static int inside[2], over[2];

static int stay_in(struct dl_phdr_info *info, size_t size, void *arg)
{
	char c = 0;

	(void)info, (void)size, (void)arg;
	if (write(inside[1], &c, 1) != 1 || read(over[0], &c, 1) != 1)
		die("pipe");
	return 1;
}

static void *walk(void *arg)
{
	dl_iterate_phdr(stay_in, NULL);
	return arg;
}

/* While another thread has the loader's lock, which glibc does not free in a child. */
static void fork_locked(void)
{
	pthread_t thread;
	char c = 0;

	if (pipe(inside) || pipe(over) || pthread_create(&thread, NULL, walk, NULL) ||
	    read(inside[0], &c, 1) != 1)
		die("pipe");
	for (int i = 0; i < 3; i++) {
		if (!fork()) {
			if (i == 2) {
				execl(self, self, "return", NULL);
				_exit(127);
			}
			papi_of_child(i);
			i % 2 ? exit(0) : _exit(0);
		}
		reap();
	}
	if (write(over[1], &c, 1) != 1)
		die("pipe");
	pthread_join(thread, NULL);
}

static int is(const char *mode, const char *name)
{
	return !strcmp(mode, name);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "return";

	self = argv[0];
	up_threads();
	if (is(mode, "atexit"))
		atexit(at_exit);
	if (is(mode, "at_quick_exit"))
		at_quick_exit(at_quick);
	set = now_set();
	now_begin(set, 5);
	if (is(mode, "exit"))
		exit(3);
	if (is(mode, "_exit"))
		_exit(3);
	if (is(mode, "_Exit"))
		_Exit(3);
	if (is(mode, "quick_exit") || is(mode, "at_quick_exit"))
		quick_exit(3);
	if (is(mode, "pthread_exit"))
		pthread_exit(NULL);
	if (is(mode, "abort"))
		abort();
	if (is(mode, "kill"))
		raise(SIGKILL);
	if (is(mode, "exit_group"))
		syscall(SYS_exit_group, 3);
	if (is(mode, "daemon") && daemon(1, 1) == 0)
		_exit(0);
	if (is(mode, "exec"))
		execl(self, self, "return", NULL);
	if (is(mode, "exec-plain"))
		execlp("true", "true", NULL);
	if (is(mode, "exec-fails"))
		execl("/dev/null/such", "such", NULL);
	if (is(mode, "fork-papi"))
		fork_papi(1);
	if (is(mode, "fork-children"))
		fork_papi(3);
	if (is(mode, "fork-plain"))
		fork_plain();
	if (is(mode, "fork-running")) {
		fork_running();
		return 0;
	}
	if (is(mode, "fork-exec"))
		fork_exec();
	if (is(mode, "fork-locked"))
		fork_locked();
	if (is(mode, "fork-threaded"))
		fork_threaded(argc > 2 ? atoi(argv[2]) : 300);
	if (is(mode, "vfork"))
		spawn(1);
	if (is(mode, "vfork-fails"))
		vfork_fails();
	if (is(mode, "spawn"))
		spawn(0);
	now_end(set, 2);
	return 3;
}
