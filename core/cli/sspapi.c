/* sspapi.c: the command: finds the verb in a table and runs it. */
#include "tool/cmd.h"

/* Their help texts are in help.c, for use by shared code. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);	/* argv[0] is the verb */
} verbs[] = {
	{ "run", sp_cmd_run },
	{ "stat", sp_cmd_stat },
	{ "list", sp_cmd_list },
	{ "report", sp_cmd_report },
	{ "merge", sp_cmd_merge },
	{ "diff", sp_cmd_diff },
	{ "recover", sp_cmd_recover },
	{ "top", sp_cmd_top },
	{ "doctor", sp_cmd_doctor },
	{ "env", sp_cmd_env },
};

typedef int (*verb)(int argc, char **argv);

static verb named(const char *name)
{
	for (unsigned i = 0; i < SP_COUNT(verbs); i++)
		if (strcmp(name, verbs[i].name) == 0)
			return verbs[i].run;
	return NULL;
}

/* Occupies closed standard descriptors, so that no file opened later is taken for standard
 * output or error. The program of run and stat gets them closed. */
static void reserve_std_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	verb run;
	bool wants_help;

	reserve_std_fds();
	if (argc < 2) {
		sp_help_all(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return sp_about(argv[1], false);
	wants_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		     strcmp(argv[1], "help") == 0;
	if (wants_help && argc > 2 && named(argv[2]))
		return sp_about(argv[2], true);
	if (wants_help && argc == 2) {
		sp_help_all(stdout);
		return sp_close_stdout(0);
	}
	run = named(argv[1 + wants_help]);
	if (!run)
		return sp_report_no_verb(argv[1 + wants_help]);
	return sp_close_stdout(run(argc - 1, argv + 1));
}
