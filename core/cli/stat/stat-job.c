/* stat-job.c: shows the stores of a job's ranks; see stat-job.h. */
#include <dirent.h>
#include <getopt.h>
#include <sys/wait.h>

#include "../../base/conf.h"
#include "../tool/cmd.h"
#include "stat-job.h"

#define WAIT_MS	 5000u			/* for other ranks, which usually end together */
#define CHECK_MS 50u

bool sp_stat_is_rank(void)
{
	return sp_conf_rank() >= 0 && sp_conf_ranks() > 1;
}

/* Returns the number of stores in the folder that were written since start_ns. */
static long count_stores(const char *folder, uint64_t start_ns)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat s;
	long n = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		const char *dot = strrchr(entry->d_name, '.');

		n += dot && dot != entry->d_name && strcmp(dot, ".sspapi") == 0 &&
		     fstatat(dirfd(dir), entry->d_name, &s, 0) == 0 && S_ISREG(s.st_mode) &&
		     (uint64_t)s.st_mtim.tv_sec >= start_ns / 1000000000u;
	}
	if (dir)
		closedir(dir);
	return n;
}

static int show_report(const struct sp_report *r, char *folder)
{
	char level[SP_REPORT_LEVELS][32], *argv[SP_REPORT_LEVELS + 3] = { "report", folder };
	int argc = 2, status = 0;
	pid_t pid;

	for (unsigned i = 0; i < r->n_levels; i++) {
		snprintf(level[i], sizeof(level[i]), "--per-%s", r->level[i]->name);
		argv[argc++] = level[i];
	}
	pid = fork();

	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);	/* standard output is the program's */
		optind = 0;
		_exit(sp_close_stdout(sp_cmd_report(argc, argv)));
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int sp_stat_show_job(const struct sp_report *r, const char *store, uint64_t start_ns)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(store, '/');
	long n, ranks = sp_conf_ranks();

	if (sp_conf_rank() != 0)
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)sp_max(slash - store, 1) : 1,
		 slash ? store : ".");
	n = count_stores(folder, start_ns);
	for (unsigned ms = 0; n < ranks && ms < WAIT_MS; ms += CHECK_MS) {
		usleep(CHECK_MS * 1000);
		n = count_stores(folder, start_ns);
	}
	if (n < ranks)
		sp_message(r->verb, "%ld of %ld ranks have ended; for all later: sspapi report %s",
			   n, ranks, folder);
	return show_report(r, folder);
}
