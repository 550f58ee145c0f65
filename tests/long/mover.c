/*
 * mover: runs a command and moves each of its threads to a random CPU every 0.3 ms, until it ends;
 * its children are not moved. Exits with its status. usage: mover COMMAND...
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static cpu_set_t allowed;

static void move(pid_t tid)
{
	cpu_set_t one;
	int cpu;

	do
		cpu = rand() % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, &allowed));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(tid, sizeof(one), &one);
}

static void move_all(pid_t pid)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			move(atoi(e->d_name));
	if (d)
		closedir(d);
}

int main(int argc, char **argv)
{
	const struct timespec while_it_runs = {.tv_nsec = 300000};
	pid_t pid;
	int status;

	if (argc < 2 || sched_getaffinity(0, sizeof(allowed), &allowed))
		return 2;
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	while (waitpid(pid, &status, WNOHANG) != pid) {
		move_all(pid);
		nanosleep(&while_it_runs, NULL);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
