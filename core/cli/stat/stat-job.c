/* stat-job.c: shows the stores of a job's ranks; see stat-job.h. */
#include <dirent.h>
#include <getopt.h>
#include <sys/wait.h>

#include "../../base/conf.h"
#include "../tool/cmd.h"
#include "../tool/key-index.h"
#include "stat-job.h"

#define WAIT_MS	 5000u			/* for other ranks, which usually end together */
#define CHECK_MS 50u

bool sp_stat_is_rank(void)
{
	return sp_conf_rank() >= 0 && sp_conf_ranks() > 1;
}

/* The stores of a folder. */
struct stores {
	char **path;			/* of the job's ranks, written since start_ns; owned */
	uint32_t n, room;
	uint32_t n_ended;		/* ranks that have a store */
	bool others;			/* there are stores of an earlier run */
};

/* If the file system has whole seconds only, returns the end of that second. */
static uint64_t written_ns(const struct stat *s)
{
	return (uint64_t)s->st_mtim.tv_sec * 1000000000u +
	       (s->st_mtim.tv_nsec ? (uint64_t)s->st_mtim.tv_nsec : 999999999u);
}

static void list_stores(struct stores *stores, const char *folder, uint64_t start_ns)
{
	long ranks = sp_conf_ranks();
	struct sp_names ended = { 0 };
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat s;

	while (stores->n)
		free(stores->path[--stores->n]);
	stores->others = false;
	while (dir && (entry = readdir(dir)) != NULL) {
		const char *dot = strrchr(entry->d_name, '.');
		unsigned long rank;
		char *path;

		if (!dot || dot == entry->d_name || strcmp(dot, ".sspapi") != 0 ||
		    fstatat(dirfd(dir), entry->d_name, &s, 0) < 0 || !S_ISREG(s.st_mode))
			continue;
		/* Names begin with the rank (sp_conf_rank_output). */
		rank = strtoul(entry->d_name, NULL, 10);
		if ((ranks > 0 && rank >= (unsigned long)ranks) || written_ns(&s) < start_ns) {
			stores->others = true;
			continue;
		}
		sp_names_number(&ended, &rank, sizeof(rank));
		if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			path = sp_check_alloc(NULL);
		stores->path = sp_grow_array(stores->path, &stores->room, stores->n + 1,
					     sizeof(*stores->path));
		stores->path[stores->n++] = path;
	}
	if (dir)
		closedir(dir);
	stores->n_ended = ended.n;
	sp_names_free(&ended);
}

/* Shows the n files, or a folder, as sspapi report. */
static int show_report(const struct sp_report *r, char **file, uint32_t n)
{
	char level[SP_REPORT_LEVELS][32];
	char **argv = sp_check_alloc(calloc(n + SP_REPORT_LEVELS + 3, sizeof(*argv)));
	int argc = 0, status = 0;
	pid_t pid;

	argv[argc++] = "report";
	for (unsigned i = 0; i < r->n_levels; i++) {
		snprintf(level[i], sizeof(level[i]), "--per-%s", r->level[i]->name);
		argv[argc++] = level[i];
	}
	argv[argc++] = "--";
	memcpy(argv + argc, file, n * sizeof(*file));
	argc += (int)n;
	pid = fork();
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);	/* standard output is the program's */
		optind = 0;
		_exit(sp_close_stdout(sp_cmd_report(argc, argv)));
	}
	free(argv);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int sp_stat_show_job(const struct sp_report *r, const char *store, uint64_t start_ns)
{
	char path[PATH_MAX], *folder = path;
	const char *slash = strrchr(store, '/');
	struct stores stores = { 0 };
	long ranks = sp_conf_ranks();
	struct stat s;

	if (sp_conf_rank() != 0)
		return 0;
	/* Files have times of the file system's clock, which may be a server's. */
	if (stat(store, &s) == 0)
		start_ns = (uint64_t)s.st_mtim.tv_sec * 1000000000u +
			   (uint64_t)s.st_mtim.tv_nsec - (sp_now_ns() - start_ns);
	snprintf(path, sizeof(path), "%.*s", slash ? (int)sp_max(slash - store, 1) : 1,
		 slash ? store : ".");
	list_stores(&stores, folder, start_ns);
	for (unsigned ms = 0; stores.n_ended < ranks && ms < WAIT_MS; ms += CHECK_MS) {
		usleep(CHECK_MS * 1000);
		list_stores(&stores, folder, start_ns);
	}
	if (stores.n_ended < ranks)
		sp_message(r->verb, "%u of %ld ranks have ended; for all later: sspapi report %s",
			   stores.n_ended, ranks, folder);
	return stores.others ? show_report(r, stores.path, stores.n) : show_report(r, &folder, 1);
}
