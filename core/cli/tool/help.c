/* help.c: prints --help, which shell completion also reads (scripts/completion/). */
#include <getopt.h>

#include "../../base/format.h"
#include "../../formats/format-text-words.h"
#include "../../formats/level.h"
#include "cmd.h"
#include "other-tools.h"
#include "suggest.h"

static const struct cmd {
	const char *name;
	const char *options;		/* after the name */
	const char *operands;		/* after the options */
	const char *help;		/* one line */
} cmds[] = {
	{ "run", "[-o FILE] [-f FORMATS] [-e NAME=VALUE]", "-- PROGRAM [ARGS]",
	  "run a program with libsspapi preloaded; writes a store" },
	{ "stat",
	  "[-e EVENT,...] [-m METRICS] [-o FILE] [-f FORMATS] [-r RUNS] [-I MS] [-p PID,...] [-t "
	  "TID,...] [--cgroup NAME] [--job] [-q] [--per-LEVEL...]",
	  "[--] PROGRAM [ARGS]",
	  "count any program from outside, per CPU and thread; -p, -t, --cgroup: running ones; "
	  "exit status: PROGRAM's" },
	{ "list", "", "[WORD]",
	  "list the events that can be counted here, under PAPI's and perf's names, and the "
	  "reasons for others" },
	{ "report",
	  "[-f " SP_ALL_FORMAT_NAMES(
		  "|") "] [-o FILE] [--per-LEVEL...] [-e|--events E,E] [--sort KEY] [--color-by "
		       "EVENT] [-m METRICS] [--readings] [--all] [--no-symbols] [--all-symbols]",
	  "[FILE|FOLDER...]",
	  "show stores, and live files of killed processes, as one run; without a file the "
	  "newest run here" },
	{ "merge", "", "-o FILE FILE|FOLDER...",
	  "combine stores of many processes (ranks, hosts) into one" },
	{ "diff",
	  "[--per-LEVEL] [-e|--events E,E] [--fail-above N%] [-m METRICS] [-f text|csv|markdown]",
	  "A B, or A... -- B...",
	  "compare two runs, or repeated runs of two programs; exit status: 0 same, 1 different, "
	  "2 error" },
	{ "recover", "[-o FILE] [--list] [--all] [--yes] [--force] [--discard]", "[FILE.live...]",
	  "write the dumps of killed processes from their live files; default: those in and "
	  "below this folder" },
	{ "top", "[-d SECONDS] [-n COUNT] [--per-LEVEL...] [-m METRICS]", "[PID|FILE.live...]",
	  "show the tables of report for running processes; default: the newest run; of a "
	  "launcher: its descendants" },
	{ "doctor", "[--check]", "[PROGRAM]",
	  "report what prevents counting on this machine, or in PROGRAM, and the remedy" },
	{ "env", "", "[NAME...]", "list each variable with its value, default and meaning" },
};

/* One line each. Options of a table (levels), and -h and -V of all verbs, are below. */
static const struct option_help {
	const char *verb, *option, *help;
} options[] = {
	{ "run", "-o FILE",
	  "name of the dump: a template, as SSPAPI_OUTPUT; .txt, .json, .csv, .xml and .sspapi "
	  "select the format" },
	{ "run", "-f FORMATS",
	  "formats of the dump, separated by commas: " SP_FORMAT_NAMES(", ") "; default: store" },
	{ "run", "-e NAME=VALUE", "set a variable for the program (sspapi env lists them)" },
	{ "stat", "-e EVENT,...",
	  "events (sspapi list); default: cycles, instructions, task clock, page faults, "
	  "switches, migrations" },
	{ "stat", "-m METRICS", "metrics to compute; their events are counted" },
	{ "stat", "-o FILE", "also write the counts to a file; the extension selects the format" },
	{ "stat", "-f FORMATS",
	  "formats of the file, separated by commas: " SP_ALL_FORMAT_NAMES(
		  ", ") "; without a file, of the table" },
	{ "stat", "-r RUNS",
	  "run the program RUNS times: mean and spread; events that do not fit into the counters "
	  "take turns" },
	{ "stat", "-I MS", "print rows per CPU every MS milliseconds while the program runs" },
	{ "stat", "-p PID,...", "count running processes, with all their threads" },
	{ "stat", "-t TID,...", "count running threads" },
	{ "stat", "--cgroup NAME", "count a control group, per CPU" },
	{ "stat", "--job",
	  "as a rank: write a store; rank 0 shows all ranks (default with mpirun)" },
	{ "stat", "-q", "print no table, only the format of -f" },
	{ "stat", "--per-thread=no",
	  "no per-thread rows, which cost each new thread a microsecond per event and CPU" },
	{ "report", "-f FORMAT", "format: " SP_ALL_FORMAT_NAMES(", ") "; default: text" },
	{ "report", "-o FILE", "write to this file; the extension selects the format" },
	{ "report", "-e E,E", "only these events, by name or unique ending" },
	{ "report", "--events E,E", "the same" },
	{ "report", "--sort KEY", "the leading event; of a level's rows also place or readings" },
	{ "report", "--color-by EVENT", "the event that colours the hwloc format" },
	{ "report", "-m METRICS",
	  "metrics to compute: names, a file of definitions, or default (all possible ones)" },
	{ "report", "--readings", "permanent readings, as CSV" },
	{ "report", "--all", "all rows, events and notes" },
	{ "report", "--no-symbols", "show call sites as addresses" },
	{ "report", "--all-symbols", "also read function names from other users' files" },
	{ "merge", "-o FILE", "the store to write" },
	{ "diff", "-e E,E", "only these events, by name or unique ending" },
	{ "diff", "--events E,E", "the same" },
	{ "diff", "--fail-above N%", "exit status 1 only if an event has grown by more than N%" },
	{ "diff", "-m METRICS",
	  "also compare metrics: names, a file of definitions, or default (all possible ones)" },
	{ "diff", "-f FORMAT", "text, csv or markdown" },
	{ "recover", "-o FILE",
	  "name of the dump; default: the one that the process would have used" },
	{ "recover", "--list", "list all live files of killed processes, with their dumps" },
	{ "recover", "--all",
	  "write the dumps of all folders; a terminal requires a confirmation" },
	{ "recover", "--yes", "confirm --all" },
	{ "recover", "--force", "also if the process may still run" },
	{ "recover", "--discard", "only remove the live files; write no dump" },
	{ "top", "-d SECONDS", "refresh interval; default: 2" },
	{ "top", "-n COUNT", "end after COUNT refreshes" },
	{ "top", "-m METRICS",
	  "metrics to compute: names, a file of definitions, or default (all possible ones)" },
	{ "doctor", "--check", "exit status 1 if something prevents counting" },
};

#define UNBROKEN '\1'			/* a space at which no line ends */

void sp_print_paragraph(FILE *to, const char *start, unsigned indent, const char *text)
{
	char lines[4096];
	struct sp_out o;

	sp_memory_init(&o, lines, sizeof(lines));
	sp_paragraph(&o, start, indent, text);
	sp_memory_text(&o);
	for (char *c = lines; (c = strchr(c, UNBROKEN)) != NULL;)
		*c = ' ';
	fputs(lines, to);
}

/* Keeps an option and its value on one line. */
static void keep_brackets(char *usage)
{
	unsigned depth = 0;

	for (; *usage; usage++) {
		depth += *usage == '[';
		depth -= *usage == ']' && depth;
		if (*usage == ' ' && depth)
			*usage = UNBROKEN;
	}
}

static void verb(FILE *to, const struct cmd *c, const char *shown)
{
	char text[1024];

	snprintf(text, sizeof(text), "sspapi %s%s%s%s%s", c->name, *shown ? " " : "", shown,
		 *c->operands ? " " : "", c->operands);
	keep_brackets(text);
	sp_print_paragraph(to, "  ", 9, text);
	sp_print_paragraph(to, "      ", 6, c->help);
}

static void option(const char *name, const char *text)
{
	char start[64];

	snprintf(start, sizeof(start), "  %-18s ", name);
	sp_print_paragraph(stdout, start, 21, text);
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
			printf("  --%-16s a row per %s\n", longs[i].name, level->row);
	}
	if (strcmp(verb, "diff") != 0)
		puts("  Two levels make one table: rows of the first, columns of the second.");
}

void sp_help_all(FILE *to)
{
	fputs("usage: sspapi VERB ...\n\n", to);
	for (unsigned i = 0; i < SP_COUNT(cmds); i++)
		verb(to, &cmds[i], *cmds[i].options ? "[OPTIONS]" : "");
	fputs("  sspapi help [VERB]\n      show this list, or the options of a verb; more in man "
	      "sspapi\n",
	      to);
}

static void own_options(const char *name)
{
	puts("\noptions:");
	for (unsigned i = 0; i < SP_COUNT(options); i++)
		if (strcmp(options[i].verb, name) == 0)
			option(options[i].option, options[i].help);
	option("-h, --help", "show this text");
	option("-V, --version", "show the version of sspapi");
}

static void help(const struct cmd *c)
{
	puts("usage:");
	verb(stdout, c, c->options);
	own_options(c->name);
	if (strstr(c->options, "--per-LEVEL"))
		levels(c->name);
	puts("\nmore in man sspapi");
}

int sp_report_no_verb(const char *name)
{
	static const char *const others[] = { "help", "--help", "--version", "-h", "-V" };
	const char *names[SP_COUNT(cmds) + SP_COUNT(others)];
	char text[300] = "no such verb";
	const char *advice = sp_other_verb(name);
	unsigned n = 0;

	if (advice)
		return sp_complain(2, "", advice, name);
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
