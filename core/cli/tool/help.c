/* help.c: what --help says; shell completion reads it, too (scripts/completion/). */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../../conf.h"
#include "cmd.h"
#include "metrics.h"

static const struct cmd {
	const char *name;
	const char *usage;		/* behind the name */
	const char *help;		/* one line */
} cmds[] = {
	{ "run", "[-o FILE] [-f FORMATS] [-e NAME=VALUE] -- PROGRAM [ARGS]",
	  "runs a program with sspapi preloaded; its dump is a store" },
	{ "stat", "[-e EVENT,...] [-m METRICS] [-o FILE] [-f FORMATS] [-r RUNS] [-I MS] [-p PID,...] [-t TID,...] [--cgroup NAME] [-q] [--per-LEVEL...] [--] PROGRAM [ARGS]",
	  "counts any program from outside, by CPU and by thread, or with -p, -t and --cgroup what runs already, until it or PROGRAM ends; exit status: PROGRAM's" },
	{ "list", "[WORD]", "what can be counted here and how it is called, by PAPI and by perf; and what cannot, and why" },
	{ "report", "[-f " SP_ALL_FORM_NAMES("|") "] [-o FILE] [--per-LEVEL...] [--events E,E] [--sort KEY] [-m METRICS] [--readings] [--all] [--no-symbols] [--all-symbols] [FILE|FOLDER...]",
	  "shows stores and killed processes' live files, as one run, by level if one is named; without a file the newest run here" },
	{ "merge", "-o FILE FILE|FOLDER...", "many processes (ranks, hosts) into one store" },
	{ "diff", "[--per-LEVEL] [-e|--events E,E] [--fail-above N%] [-m METRICS] [-f text|csv|markdown] A B, or A... -- B...",
	  "what two runs, or repeats of two, counted differently, by logical position; exit 0 same, 1 differs, 2 error" },
	{ "recover", "[-o FILE] [--force] [--discard] [FILE.live...]",
	  "makes the dump that a killed process did not write; or only removes what it left" },
	{ "top", "[-d SECONDS] [-n COUNT] [--per-LEVEL...] [-m METRICS] PID|FILE.live",
	  "the same tables of a process that still runs; q ends" },
	{ "doctor", "[--check] [PROGRAM]", "what would keep counts away on this machine, of this program, and what to do" },
	{ "env", "", "every variable, its value now, default and meaning" },
};

static void verb(FILE *to, const struct cmd *c)
{
	fprintf(to, "  sspapi %s%s%s\n      %s\n", c->name, *c->usage ? " " : "", c->usage, c->help);
}

const char *sp_option_of(const char *variable, char name[32])
{
	snprintf(name, 32, "%s", variable + strlen("SSPAPI_"));
	for (char *p = name; *p; p++)
		*p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
	return name;
}

/* Of run: an option for each variable. */
static void variables(void)
{
	puts("\nand for each variable (sspapi env, libsspapi(7)):");
	for (unsigned i = 0; i < sp_conf_n_rows; i++) {
		const struct sp_conf_row *row = &sp_conf_rows[i];
		char name[32];

		printf("  --%-16s %s (%s)\n", sp_option_of(row->name, name), row->help, row->values);
	}
}

static void levels(void)
{
	struct option longs[SP_LEVEL_OPTIONS + 1];
	unsigned n = sp_level_options(longs);

	fputs("\nlevels:", stdout);
	for (unsigned i = 0; i < n; i++)
		printf(" --%s", longs[i].name);
	putchar('\n');
}

static bool last_of(const struct sp_metrics *t, uint32_t i)
{
	for (uint32_t k = i + 1; k < t->n; k++)
		if (sp_metric_same(t->at[k].name, t->at[i].name))
			return false;
	return true;
}

/* The usual ones, by name, with what they are; of several definitions of one name the last. */
void sp_help_metrics(void)
{
	struct sp_metrics *t = sp_metrics_usual();

	if (!t)
		return;
	puts("metrics for -m, beside `default` and files of definitions:");
	for (uint32_t i = 0; i < t->n; i++)
		if (last_of(t, i))
			printf("  %-20s %s\n", t->at[i].name, t->at[i].note);
	sp_metrics_forget();
}

void sp_help_all(FILE *to)
{
	fputs("usage: sspapi VERB ...\n\n", to);
	for (unsigned i = 0; i < SP_COUNT(cmds); i++)
		verb(to, &cmds[i]);
	fputs("\n  sspapi --help, sspapi help VERB, sspapi --version\n", to);
}

static void help(const struct cmd *c)
{
	puts("usage:");
	verb(stdout, c);
	if (strcmp(c->name, "run") == 0)
		variables();
	if (strstr(c->usage, "--per-LEVEL"))
		levels();
	if (strstr(c->usage, "-m METRICS"))
		putchar('\n'), sp_help_metrics();
	puts("\nman sspapi tells the rest");
}

int sp_closed(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return sp_complain(status ? status : 1, "", "cannot write", "standard output");
	return status;
}

int sp_about(const char *name, bool with_help)
{
	for (unsigned i = 0; with_help && i < SP_COUNT(cmds); i++)
		if (strcmp(name, cmds[i].name) == 0)
			help(&cmds[i]);
	if (!with_help)
		puts("sspapi " SP_VERSION);
	return sp_closed(0);
}
