/* sspapi.c: the command: a table of verbs, and running one. */
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "page.h"

static const struct sp_cmd verbs[] = {
	{ "run", sp_cmd_run, "[-o FILE] [-f FORMATS] [-e NAME=VALUE] -- PROGRAM [ARGS]",
	  "runs a program with sspapi preloaded; its dump is a store" },
	{ "stat", sp_cmd_stat, "[-e EVENT,...] [-m METRICS] [-o FILE] [-f FORMATS] [--per-LEVEL...] [--] PROGRAM [ARGS]",
	  "counts any program from outside, by CPU and by thread; exit status: the program's" },
	{ "report", sp_cmd_report, "[-f text|json|csv|hwloc|html|store] [-o FILE] [--per-LEVEL...] [--events E,E] [--sort KEY] [-m METRICS] [--readings] [--all] [--no-symbols] [--all-symbols] [FILE|FOLDER...]",
	  "shows stores and killed processes' live files, as one run, by level if one is named; without a file the newest run here" },
	{ "merge", sp_cmd_merge, "-o FILE FILE|FOLDER...", "many processes (ranks, hosts) into one store" },
	{ "diff", sp_cmd_diff, "[--per-LEVEL] [--events E,E] [-f text|csv] A B",
	  "what two runs counted differently, by logical position; exit 0 same, 1 differs, 2 error" },
	{ "recover", sp_cmd_recover, "[-o FILE] [--force] [--discard] [FILE.live...]",
	  "makes the dump that a killed process did not write; or only removes what it left" },
	{ "top", sp_cmd_top, "[-d SECONDS] [-n COUNT] [--per-LEVEL...] [-m METRICS] PID|FILE.live",
	  "the same tables of a process that still runs; q ends" },
	{ "doctor", sp_cmd_doctor, "[--check] [PROGRAM]", "what would keep counts away on this machine, of this program, and what to do" },
	{ "env", sp_cmd_env, "", "every variable, its value now, default and meaning" },
};

static void help(FILE *to)
{
	fputs("usage: sspapi VERB ...\n\n", to);
	for (unsigned i = 0; i < SP_COUNT(verbs); i++)
		sp_help_verb(to, &verbs[i]);
	fputs("\n  sspapi --help, sspapi help VERB, sspapi --version\n", to);
}

/* A full disk behind standard output is a failure, too. */
static int closed(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return sp_complain(status ? status : 1, "", "cannot write", "standard output");
	return status;
}

static const struct sp_cmd *named(const char *verb)
{
	for (unsigned i = 0; i < SP_COUNT(verbs); i++)
		if (strcmp(verb, verbs[i].name) == 0)
			return &verbs[i];
	return NULL;
}

int sp_about(const char *verb, bool help)
{
	if (help)
		sp_help(named(verb));
	else
		puts("sspapi " SP_VERSION);
	return closed(0);
}

int main(int argc, char **argv)
{
	const struct sp_cmd *verb;
	bool asks;

	sp_view_also = &sp_page;
	if (argc < 2) {
		help(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return sp_about(argv[1], false);
	asks = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0;
	if (asks && argc > 2 && named(argv[2]))
		return sp_about(argv[2], true);
	if (asks && argc == 2) {
		help(stdout);
		return closed(0);
	}
	verb = named(argv[1 + asks]);
	if (!verb)
		return sp_complain(2, "", "no such verb (sspapi --help lists them)", argv[1 + asks]);
	return closed(verb->run(argc - 1, argv + 1));
}
