/*
 * cornered: makes its own surroundings hostile after its first measurement, and goes on measuring.
 * usage: cornered SETS HOW... [kill]
 *	SETS	event sets that it then makes, each measured once: the store grows by them
 *	HOW	files	no descriptor can be had any more
 *		chroot=FOLDER, pivot=FOLDER	(pivot_root, in a mount namespace of its own)
 *		bus	SIGBUS is blocked, with all others; bus-before: already before PAPI; bus-held: it alone, by
 *			sighold; bus-thread: in a thread that then does the rest; bus-moment: only while a thread is
 *			made that keeps it blocked
 *		cut	the live file is truncated (SSPAPI_LIVE is its folder)
 *		deny=CALL,...  deny-before=CALL,...	EPERM; the second already before PAPI
 *		die=CALL,...	the kernel ends the process at such a call
 *	kill	ends by SIGKILL
 */
#include "now.h" /* first: _GNU_SOURCE */
#include "deny.h"
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

static void no_files(void)
{
	struct rlimit none;

	if (getrlimit(RLIMIT_NOFILE, &none))
		die("getrlimit");
	none.rlim_cur = 3;
	if (setrlimit(RLIMIT_NOFILE, &none))
		die("setrlimit");
}

static void block_bus(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void hold(int number)
{
	sighold(number);
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void block_for_a_moment(void)
{
	sigset_t all, before;
	pthread_t t;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&t, NULL, wait_for_ever, NULL))
		die("pthread_create");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void cut(void)
{
	const char *folder = getenv("SSPAPI_LIVE");
	char path[600];
	DIR *d = folder ? opendir(folder) : NULL;

	for (struct dirent *e; d && (e = readdir(d));)
		if (strstr(e->d_name, ".live")) {
			snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
			if (truncate(path, 0))
				die(path);
		}
	if (d)
		closedir(d);
}

/* As container runtimes do. */
static void pivot(const char *folder)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(folder, folder, NULL, MS_BIND, NULL) || chdir(folder) || syscall(SYS_pivot_root, ".", ".") ||
	    umount2(".", MNT_DETACH) || chdir("/")) {
		perror("pivot_root");
		exit(77);
	}
}

static void corner(const char *how)
{
	if (!strcmp(how, "files"))
		no_files();
	if (!strncmp(how, "chroot=", 7) && (chroot(how + 7) || chdir("/")))
		die(how);
	if (!strcmp(how, "bus") || !strcmp(how, "bus-thread"))
		block_bus();
	if (!strcmp(how, "bus-held"))
		hold(SIGBUS);
	if (!strcmp(how, "bus-moment"))
		block_for_a_moment();
	if (!strcmp(how, "cut"))
		cut();
	if (!strncmp(how, "pivot=", 6))
		pivot(how + 6);
	if (!strncmp(how, "die=", 4))
		deny(how, SECCOMP_RET_KILL_PROCESS);
	if (!strncmp(how, "deny=", 5))
		deny(how, SECCOMP_RET_ERRNO | EPERM);
}

static int set, sets, killed;

static void *go_on(void *arg)
{
	if (!arg)
		now_end(set, 3);
	for (int i = 0; i < sets; i++) {
		int own = now_set();

		now_begin(own, 2);
		now_end(own, 1);
	}
	if (killed)
		raise(SIGKILL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int by_thread = 0;

	sets = atoi(argv[1]);
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], "bus-before"))
			block_bus();
		else if (!strncmp(argv[i], "deny-before=", 12))
			deny(argv[i], SECCOMP_RET_ERRNO | EPERM);
	up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	set = now_set();
	now_begin(set, 5);
	for (int i = 2; i < argc; i++) {
		corner(argv[i]);
		killed = killed || !strcmp(argv[i], "kill");
		by_thread = by_thread || !strcmp(argv[i], "bus-thread");
	}
	if (!by_thread) {
		go_on(NULL);
		return 3;
	}
	if (pthread_create(&thread, NULL, go_on, &set) || pthread_join(thread, NULL))
		die("a thread");
	now_end(set, 3);
	return 3;
}
