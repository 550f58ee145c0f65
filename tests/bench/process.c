/*
 * process.c: what a process pays that does not use PAPI; run by scripts/bench.
 *
 *	process ROUNDS PROGRAM PRELOAD...
 *
 * Runs the program with each of the preloads in turn. Prints for each a line "PRELOAD CPU_US
 * FAULTS", the medians.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define MOST_ROUNDS	1000
#define MOST_PRELOADS	4

static double cpu_us[MOST_PRELOADS][MOST_ROUNDS], faults[MOST_PRELOADS][MOST_ROUNDS];

static double us(struct timeval t)
{
	return 1e6 * (double)t.tv_sec + (double)t.tv_usec;
}

static void run(char *program, const char *preload, double *took, double *faulted)
{
	struct rusage used;
	pid_t pid = fork();

	if (pid == 0) {
		if (dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) < 0 ||
		    setenv("LD_PRELOAD", preload, 1) != 0)
			_exit(1);
		execl(program, program, (char *)NULL);
		_exit(1);
	}
	if (pid < 0 || wait4(pid, NULL, 0, &used) < 0)
		exit(1);
	*took = us(used.ru_utime) + us(used.ru_stime);
	*faulted = (double)used.ru_minflt;
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[1]) : 0, n = argc - 3;

	if (rounds <= 0 || rounds > MOST_ROUNDS || n > MOST_PRELOADS)
		return 2;
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < n; i++)
			run(argv[2], argv[3 + i], &cpu_us[i][r], &faults[i][r]);
	for (int i = 0; i < n; i++)
		printf("%s %.0f %.0f\n", argv[3 + i], median(cpu_us[i], rounds),
		       median(faults[i], rounds));
	return 0;
}
