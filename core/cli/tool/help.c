/* help.c: prints --help, which shell completion also reads (scripts/completion/). */
#include <getopt.h>

#include "../../base/format.h"
#include "../../formats/level.h"
#include "cmd.h"
#include "suggest.h"

static const struct cmd {
	const char *name;
	const char *options;		/* after the name */
	const char *operands;		/* after the options */
	const char *help;		/* one line */
} cmds[] = {
	{ "run", "[-o FILE] [-f FORMATS] [-e NAME=VALUE]", "-- PROGRAM [ARGS]",
	  "runs a program with sspapi preloaded; its dump is a store" },
	{ "stat",
	  "[-e EVENT,...] [-m METRICS] [-o FILE] [-f FORMATS] [-r RUNS] [-I MS] [-p PID,...] [-t "
	  "TID,...] [--cgroup NAME] [-q] [--per-LEVEL...]",
	  "[--] PROGRAM [ARGS]",
	  "counts any program from outside, by CPU and by thread; with -p, -t or --cgroup what "
	  "runs already; exit status: PROGRAM's" },
	{ "list", "", "[WORD]",
	  "the events that can be counted here, with PAPI's and perf's names; and those that "
	  "cannot, and why" },
	{ "report",
	  "[-f " SP_ALL_FORMAT_NAMES(
		  "|") "] [-o FILE] [--per-LEVEL...] [--events E,E] [--sort KEY] [--color-by "
		       "EVENT] [-m METRICS] [--readings] [--all] [--no-symbols] [--all-symbols]",
	  "[FILE|FOLDER...]",
	  "shows stores and killed processes' live files, as one run; without a file the newest "
	  "run here" },
	{ "merge", "", "-o FILE FILE|FOLDER...", "many processes (ranks, hosts) into one store" },
	{ "diff",
	  "[--per-LEVEL] [-e|--events E,E] [--fail-above N%] [-m METRICS] [-f text|csv|markdown]",
	  "A B, or A... -- B...",
	  "what two runs, or repeats of two programs, counted differently; exit 0 same, 1 differs, "
	  "2 error" },
	{ "recover", "[-o FILE] [--list] [--all] [--yes] [--force] [--discard]", "[FILE.live...]",
	  "makes the dumps that killed processes did not write, by default those in and below "
	  "this folder" },
	{ "top", "[-d SECONDS] [-n COUNT] [--per-LEVEL...] [-m METRICS]", "PID|FILE.live",
	  "the tables of report, of a process that still runs" },
	{ "doctor", "[--check]", "[PROGRAM]",
	  "what would keep counts away on this machine, or from PROGRAM, and what to do" },
	{ "env", "", "", "every variable, its value now, default and meaning" },
};

/* One line each. Options of a table (levels), and -h and -V of all verbs, are below. */
static const struct option_help {
	const char *verb, *option, *help;
} options[] = {
	{ "run", "-o FILE",
	  "where the dump goes: a template, as SSPAPI_OUTPUT; .txt, .json, .csv, .xml and .sspapi "
	  "choose the form" },
	{ "run", "-f FORMATS",
	  "the dump's forms, comma-separated: " SP_FORMAT_NAMES(", ") "; default: store" },
	{ "run", "-e NAME=VALUE", "sets a variable for the program (sspapi env lists them)" },
	{ "stat", "-e EVENT,...",
	  "the events (sspapi list); default: cycles, instructions, task clock, page faults, "
	  "switches, migrations" },
	{ "stat", "-m METRICS", "metrics to compute; the events that these need are counted" },
	{ "stat", "-o FILE",
	  "keeps the counts; the extension chooses the form; the table is printed, too" },
	{ "stat", "-f FORMATS",
	  "the forms of the file, comma-separated: " SP_ALL_FORMAT_NAMES(
		  ", ") "; without a file the form of the table" },
	{ "stat", "-r RUNS",
	  "runs the program so often: mean and spread; events take turns where counters are too "
	  "few" },
	{ "stat", "-I MS", "rows by CPU while the program runs, every so many milliseconds" },
	{ "stat", "-p PID,...", "counts processes that run already, with all their threads" },
	{ "stat", "-t TID,...", "counts threads that run already" },
	{ "stat", "--cgroup NAME", "counts all that runs in a control group, by CPU" },
	{ "stat", "-q", "prints no table, only the format of -f" },
	{ "stat", "--per-thread=no",
	  "no rows by thread, which cost each thread's birth a microsecond for each event and "
	  "CPU" },
	{ "report", "-f FORM", "the form: " SP_ALL_FORMAT_NAMES(", ") "; default: text" },
	{ "report", "-o FILE", "writes to this file; the extension chooses the form" },
	{ "report", "--events E,E",
	  "these events only, by name, or by an ending that one event alone has" },
	{ "report", "--sort KEY", "the leading event; of a level's rows also place or readings" },
	{ "report", "--color-by EVENT", "the event that colours the hwloc form" },
	{ "report", "-m METRICS",
	  "metrics to compute: names, a file of definitions, or default (all that can be)" },
	{ "report", "--readings", "the readings that were kept, as CSV" },
	{ "report", "--all", "all rows, events and notes" },
	{ "report", "--no-symbols", "call sites as addresses" },
	{ "report", "--all-symbols", "asks other users' files for names of functions, too" },
	{ "merge", "-o FILE", "the store to write" },
	{ "diff", "-e E,E",
	  "these events only, by name, or by an ending that one event alone has" },
	{ "diff", "--events E,E", "the same" },
	{ "diff", "--fail-above N%", "exit status 1 only where an event has grown by more" },
	{ "diff", "-m METRICS",
	  "metrics to compare, too: names, a file of definitions, or default (all that can be)" },
	{ "diff", "-f FORM", "text, csv or markdown" },
	{ "recover", "-o FILE", "where the dump goes; else where the process would have put it" },
	{ "recover", "--list", "lists all live files of killed processes, with their dumps" },
	{ "recover", "--all",
	  "makes the dumps of all folders; a terminal requires a confirmation" },
	{ "recover", "--yes", "confirms --all" },
	{ "recover", "--force", "also of a process that may still live" },
	{ "recover", "--discard", "makes no dump: only removes the live files" },
	{ "top", "-d SECONDS", "between two looks; default: 2" },
	{ "top", "-n COUNT", "ends after so many looks" },
	{ "top", "-m METRICS",
	  "metrics to compute: names, a file of definitions, or default (all that can be)" },
	{ "doctor", "--check", "exit status 1 if something stands in the way of counts" },
};

static void verb(FILE *to, const struct cmd *c, const char *shown)
{
	fprintf(to, "  sspapi %s%s%s%s%s\n      %s\n", c->name, *shown ? " " : "", shown,
		*c->operands ? " " : "", c->operands, c->help);
}

static void levels(const char *verb)
{
	struct option longs[SP_LEVEL_OPTIONS + 1];
	unsigned n = sp_level_options(longs);

	puts("\nlevels:");
	for (unsigned i = 0; i < n; i++) {
		const struct sp_level *level = sp_level_by_name(longs[i].name + strlen("per-"));

		/* stat does not see PAPI calls. */
		if (strcmp(verb, "stat") != 0 || level->what != SP_LEVEL_CALLSITE)
			printf("  --%-16s a row for each %s\n", longs[i].name, level->row);
	}
}

void sp_help_all(FILE *to)
{
	fputs("usage: sspapi VERB ...\n\n", to);
	for (unsigned i = 0; i < SP_COUNT(cmds); i++)
		verb(to, &cmds[i], *cmds[i].options ? "[OPTIONS]" : "");
	fputs("  sspapi help [VERB]\n      this list, or a verb's options; man sspapi tells the "
	      "rest\n",
	      to);
}

static void own_options(const char *name)
{
	puts("\noptions:");
	for (unsigned i = 0; i < SP_COUNT(options); i++)
		if (strcmp(options[i].verb, name) == 0)
			printf("  %-18s %s\n", options[i].option, options[i].help);
	printf("  %-18s %s\n  %-18s %s\n", "-h, --help", "this text", "-V, --version",
	       "the version of sspapi");
}

static void help(const struct cmd *c)
{
	puts("usage:");
	verb(stdout, c, c->options);
	own_options(c->name);
	if (strstr(c->options, "--per-LEVEL"))
		levels(c->name);
	puts("\nman sspapi tells the rest");
}

int sp_report_no_verb(const char *name)
{
	static const char *const others[] = { "help", "--help", "--version", "-h", "-V" };
	const char *names[SP_COUNT(cmds) + SP_COUNT(others)];
	char text[300] = "no such verb";
	unsigned n = 0;

	if (*name == '-')
		strcpy(text, "no such option");
	for (; n < SP_COUNT(cmds); n++)
		names[n] = cmds[n].name;
	for (unsigned i = 0; i < SP_COUNT(others); i++)
		names[n++] = others[i];
	sp_suggest_nearest(name, names, n, text, sizeof(text) - 40);
	return sp_complain(2, "", strcat(text, " (sspapi --help lists them)"), name);
}

int sp_close_stdout(int status)
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
	return sp_close_stdout(0);
}
