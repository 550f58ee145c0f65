/* terminal.c: see terminal.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal.h"

#define COLUMNS_MOST	1000u

static pid_t pager;

bool sp_is_terminal(int fd)
{
	const char *term = getenv("TERM");

	return !(term && strcmp(term, "dumb") == 0) && isatty(fd);
}

bool sp_terminal_colour(int fd)
{
	const char *no = getenv("NO_COLOR");

	return !(no && *no) && sp_is_terminal(fd);
}

unsigned sp_terminal_columns(int fd)
{
	const char *text = getenv("COLUMNS");
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;
	struct winsize w;

	if (n >= 20 && n <= COLUMNS_MOST)
		return (unsigned)n;
	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0
		       ? (unsigned)(w.ws_col < COLUMNS_MOST ? w.ws_col : COLUMNS_MOST)
		       : 0;
}

void sp_pager_start(void)
{
	const char *command = getenv("PAGER");
	int to[2];

	if (!command)
		command = "less";
	if (!*command || strcmp(command, "cat") == 0 || !isatty(STDOUT_FILENO) || pipe(to) < 0)
		return;
	fflush(stdout);
	pager = fork();
	if (pager == 0) {
		dup2(to[0], STDIN_FILENO);
		close(to[0]);
		close(to[1]);
		setenv("LESS", "FRX", 0);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	if (pager > 0) {
		dup2(to[1], STDOUT_FILENO);
		signal(SIGPIPE, SIG_IGN);	/* the user may leave the pager early */
	}
	close(to[0]);
	close(to[1]);
}

void sp_pager_wait(void)
{
	if (pager <= 0)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}
