/*
 * cornered: makes its own surroundings hostile after its first measurement, and goes on measuring.
 * usage: cornered SETS HOW... [kill]
 *	SETS	event sets that it then makes, each measured once: the store grows by them
 *	HOW	files	no descriptor can be had any more
 *		chroot=FOLDER
 *		bus	SIGBUS is blocked; bus-before: already before PAPI
 *		cut	the live file is truncated (SSPAPI_LIVE is its folder)
 *		deny=CALL,...  deny-before=CALL,...	EPERM; the second already before PAPI
 *	kill	ends by SIGKILL
 */
#include "now.h"
#include "deny.h"
#include <dirent.h>
#include <signal.h>
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

static void corner(const char *how)
{
	if (!strcmp(how, "files"))
		no_files();
	if (!strncmp(how, "chroot=", 7) && (chroot(how + 7) || chdir("/")))
		die(how);
	if (!strcmp(how, "bus"))
		block_bus();
	if (!strcmp(how, "cut"))
		cut();
	if (!strncmp(how, "deny=", 5))
		deny(how, SECCOMP_RET_ERRNO | EPERM);
}

int main(int argc, char **argv)
{
	int set, killed = 0;

	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], "bus-before"))
			block_bus();
		else if (!strncmp(argv[i], "deny-before=", 12))
			deny(argv[i], SECCOMP_RET_ERRNO | EPERM);
	up();
	set = now_set();
	now_begin(set, 5);
	for (int i = 2; i < argc; i++) {
		corner(argv[i]);
		killed = killed || !strcmp(argv[i], "kill");
	}
	now_end(set, 3);
	for (int i = 0; i < atoi(argv[1]); i++) {
		set = now_set();
		now_begin(set, 2);
		now_end(set, 1);
	}
	if (killed)
		raise(SIGKILL);
	return 3;
}
