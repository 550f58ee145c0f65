/* temp-file.c: see temp-file.h. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../base/safe-open.h"
#include "../../base/output.h"
#include "temp-file.h"

static struct sp_parent_dir dir = { .fd = -1 };
static char name[300];			/* name in `dir` */
static volatile sig_atomic_t there;

void sp_part_end(void)
{
	if (there)
		unlinkat(dir.fd, name, 0);
	there = 0;
}

static void ended(int signal_number)
{
	sp_part_end();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Signals by which a user, a batch system or a limit ends a command. */
static void watch_ends(sigset_t *all)
{
	static const int ends[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
				    SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM };
	static bool watched;
	struct sigaction a = { .sa_handler = ended }, old;

	sigemptyset(all);
	for (unsigned i = 0; i < SP_COUNT(ends); i++) {
		sigaddset(all, ends[i]);
		/* Keep ignored signals ignored (nohup). */
		if (!watched && sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(ends[i], &a, NULL);
	}
	if (!watched)
		atexit(sp_part_end);
	watched = true;
}

int sp_part_begin(const char *of)
{
	sigset_t all, before;
	int fd;

	sp_parent_dir_close(&dir);
	fd = sp_parent_dir_open(&dir, of, SP_PARENT_DIR_CREATE);
	if (fd < 0)
		return fd;
	snprintf(name, sizeof(name), "%s.%ld.part", dir.name, (long)getpid());
	watch_ends(&all);
	/* Block signals until the new file is registered for removal. */
	sigprocmask(SIG_BLOCK, &all, &before);
	fd = openat(dir.fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		fd = -errno;
	there = fd >= 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

int sp_part_replace(void)
{
	return renameat(dir.fd, name, dir.fd, dir.name) < 0 ? -errno : 0;
}

int sp_part_take(const char *path)
{
	return sp_output_take(dir.fd, name, path);
}

int sp_part_finish(int fd, int e)
{
	e = fsync(fd) < 0 && errno != EINVAL && e == 0 ? -errno : e;
	return close(fd) < 0 && e == 0 ? -errno : e;
}
