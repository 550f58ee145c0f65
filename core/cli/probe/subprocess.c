/* subprocess.c: see subprocess.h. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../base/sys.h"
#include "subprocess.h"

static void child(int to, void (*part)(void *, int), void *arg)
{
	static const int theirs[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM };
	int null = sp_open("/dev/null", O_RDWR, 0);

	/* Libraries may print; only `to` has answers. */
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	for (unsigned i = 0; i < SP_COUNT(theirs); i++)
		signal(theirs[i], SIG_DFL);
	alarm(SP_CHILD_SECONDS);
	part(arg, to);
	_exit(0);
}

static void relay(int from, void (*line)(void *, char *), void *arg)
{
	FILE *lines = fdopen(from, "r");
	char text[8192];		/* the rest of a longer line is dropped */
	int c;

	while (lines && fgets(text, sizeof(text), lines)) {
		for (c = strchr(text, '\n') ? '\n' : 0; c != '\n' && c != EOF;)
			c = getc(lines);
		text[strcspn(text, "\n")] = 0;
		if (line && *text)
			line(arg, text);
	}
	if (lines)
		fclose(lines);
	else
		close(from);
}

const char *sp_child_why(int status)
{
	static char how[120];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return NULL;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(how, sizeof(how), "does not return (%d s)", SP_CHILD_SECONDS);
	else
		snprintf(how, sizeof(how), "ends the process that queries it (%s)",
			 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
	return how;
}

const char *sp_run_in_child(void (*part)(void *, int), void *arg, void (*line)(void *, char *),
			    void *arg2)
{
	static char how[120];
	int pipe_of[2], status = 0;
	pid_t pid;

	fflush(NULL);
	pid = pipe2(pipe_of, O_CLOEXEC) < 0 ? -1 : fork();
	if (pid < 0) {
		snprintf(how, sizeof(how), "cannot be queried: %s", strerror(errno));
		return how;
	}
	if (pid == 0) {
		close(pipe_of[0]);
		child(pipe_of[1], part, arg);
	}
	close(pipe_of[1]);
	relay(pipe_of[0], line, arg2);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return sp_child_why(status);
}
