/*
 * cornered: makes its own surroundings hostile after its first measurement, and goes on measuring.
 * usage: cornered SETS HOW... [kill]
 *	SETS	event sets that it then makes, each measured once: the store grows by them
 *	HOW	files	no descriptor can be had any more
 *		memory	no more address space than is mapped (RLIMIT_AS)
 *		chroot=FOLDER, pivot=FOLDER	(pivot_root, in a mount namespace of its own)
 *		deny=CALL,...  deny-before=CALL,...	EPERM; the second already before PAPI
 *		die=CALL,...	the kernel ends the process at such a call
 *	kill	ends by SIGKILL
 */
#include "now.h" /* first: _GNU_SOURCE */
#include "deny.h"
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

static void no_memory(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	struct rlimit most;
	unsigned long pages = 0;

	if (!f || fscanf(f, "%lu", &pages) != 1)
		die("statm");
	fclose(f);
	most.rlim_cur = most.rlim_max = pages * (unsigned long)sysconf(_SC_PAGESIZE);
	if (setrlimit(RLIMIT_AS, &most))
		die("setrlimit");
}

/* As container runtimes do. */
static void pivot(const char *folder)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(folder, folder, NULL, MS_BIND, NULL) || chdir(folder) ||
	    syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/")) {
		perror("pivot_root");
		exit(77);
	}
}

static void corner(const char *how)
{
	if (!strcmp(how, "files"))
		no_files();
	if (!strcmp(how, "memory"))
		no_memory();
	if (!strncmp(how, "chroot=", 7) && (chroot(how + 7) || chdir("/")))
		die(how);
	if (!strncmp(how, "pivot=", 6))
		pivot(how + 6);
	if (!strncmp(how, "die=", 4))
		deny(how, SECCOMP_RET_KILL_PROCESS);
	if (!strncmp(how, "deny=", 5))
		deny(how, SECCOMP_RET_ERRNO | EPERM);
}

int main(int argc, char **argv)
{
	int sets = atoi(argv[1]), killed = 0, set;

	for (int i = 2; i < argc; i++)
		if (!strncmp(argv[i], "deny-before=", 12))
			deny(argv[i], SECCOMP_RET_ERRNO | EPERM);
	up();
	set = now_set();
	now_begin(set, 5);
	for (int i = 2; i < argc; i++) {
		corner(argv[i]);
		killed = killed || !strcmp(argv[i], "kill");
	}
	now_end(set, 3);
	for (int i = 0; i < sets; i++) {
		int own = now_set();

		now_begin(own, 2);
		now_end(own, 1);
	}
	if (killed)
		raise(SIGKILL);
	return 3;
}
