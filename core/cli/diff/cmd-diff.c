/* cmd-diff.c: `sspapi diff`, which compares two runs, or repeats of two programs, at any level. */
#include <getopt.h>
#include <string.h>

#include "../files/duplicates.h"
#include "../files/runs.h"
#include "../merge/merge-files.h"
#include "../program/symbols.h"
#include "../report/report.h"
#include "../tool/cmd.h"
#include "../tool/terminal.h"
#include "diff.h"

struct command {
	const char *verb;
	struct sp_diff diff;
	struct sp_metrics_request metrics;
	const struct sp_level *level;
	char *const *path[2];		/* of each side */
	unsigned n_paths[2];
	struct sp_file *file;		/* all open files, those of A first */
	unsigned n;
};

static int error(const struct command *c, const char *text, const char *which)
{
	return sp_complain(2, c->verb, text, which);
}

/* ---- the files -------------------------------------------------------------- */

/* Opens a file, or a folder, which is one run of several ranks. */
static int open_path(const struct command *c, struct sp_file *f, char *const *path)
{
	struct sp_runs runs;
	unsigned n_bad = 0;
	int e = sp_runs_find(&runs, c->verb, path, 1) ||
				sp_files_open(f, c->verb, runs.path, runs.n, NULL, false, &n_bad)
			? 2
			: 0;

	return e == 0 && (n_bad || f->model.tally.damaged)
		       ? error(c, "damaged: missing counts would appear as differences", *path)
		       : e;
}

/* Returns whether another repeat of the side has the same process and at least as many of its
 * counts. */
static bool is_left(const struct command *c, unsigned first, unsigned end, unsigned i)
{
	struct sp_process_key own = sp_get_process_key(&c->file[i].model);

	for (unsigned k = first; c->file[i].model.n_processes == 1 && k < end; k++) {
		struct sp_process_key other = sp_get_process_key(&c->file[k].model);

		if (k != i && c->file[k].model.n_processes == 1 &&
		    sp_is_same_process(&own, &other) &&
		    (sp_process_key_compare(&other, &own) < 0 ||
		     (k < i && sp_process_key_compare(&other, &own) == 0)))
			return true;
	}
	return false;
}

/* Adds a store with its metrics. Metrics that cannot be computed are reported for the first store
 * of A, and of B if A has some. */
static int add(struct command *c, unsigned side, struct sp_model *m)
{
	bool has_metrics = !c->diff.side[side].n && (!side || c->diff.metrics.n);
	struct sp_selection show = { .m = m };
	int e = sp_metrics_show(&c->metrics, has_metrics ? c->verb : NULL, &show) ? 2 : 0;

	if (e == 0) {
		if (!c->diff.side[side].n)
			sp_metrics_report(c->verb, &show);
		e = sp_diff_add(&c->diff, side, m, c->level, show.metrics);
		e = e < 0 ? error(c, strerror(-e), NULL) : 0;
	}
	sp_metrics_forget();
	return e;
}

static int open_side(struct command *c, unsigned side)
{
	for (unsigned i = 0; i < c->n_paths[side]; i++) {
		int e = open_path(c, &c->file[c->n], c->path[side] + i);

		if (e)
			return e;
		c->n++;
	}
	return 0;
}

static int add_side(struct command *c, unsigned side)
{
	unsigned first = side ? c->n_paths[0] : 0, end = first + c->n_paths[side];

	for (unsigned i = first; i < end; i++) {
		struct sp_file *f = &c->file[i];
		int e;

		if (is_left(c, first, end, i))
			continue;
		if (sp_level_is_code(c->level) && c->diff.format != SP_DIFF_CSV)
			sp_symbols_add(&f->model, c->verb, false);
		e = add(c, side, &f->model);
		if (e)
			return e;
	}
	return 0;
}

/* ---- the command line --------------------------------------------------------- */

static bool take_format(struct command *c, const char *name)
{
	static const char *const formats[] = {
		[SP_DIFF_TEXT] = "text", [SP_DIFF_CSV] = "csv", [SP_DIFF_MARKDOWN] = "markdown"
	};
	unsigned i = 0;

	while (i < SP_COUNT(formats) && strcmp(name, formats[i]) != 0)
		i++;
	c->diff.format = i;
	return i < SP_COUNT(formats);
}

/* "1", "1%", "0.5 %" */
static bool take_limit(struct command *c, const char *text)
{
	char *end;

	c->diff.fail_above = strtod(text, &end);
	end += *end == ' ';
	end += *end == '%';
	c->diff.gate =
		end != text && !*end && c->diff.fail_above >= 0.0 && c->diff.fail_above < 1e6;
	return c->diff.gate;
}

static int options(struct command *c, int argc, char **argv)
{
	struct option longs[SP_LEVEL_OPTIONS + 3];
	unsigned n = sp_level_options(longs);
	int letter, at = 0;

	longs[n++] = (struct option){ "events", required_argument, NULL, 'e' };
	longs[n++] = (struct option){ "fail-above", required_argument, NULL, 'F' };
	longs[n] = (struct option){ NULL, 0, NULL, 0 };
	while ((letter = sp_option(argc, argv, "e:f:m:", longs, &at)) != -1) {
		const struct sp_level *l =
			letter == 'L' ? sp_level_by_name(longs[at].name + strlen("per-")) : NULL;

		if (letter == '?')
			return 2;
		if (letter == 'm' && !sp_metrics_request(&c->metrics, optarg))
			return error(c, "-m takes one file, or names of built-in metrics", optarg);
		if (letter == 'f' && !take_format(c, optarg))
			return error(c, "-f takes text, csv or markdown", optarg);
		if (letter == 'F' && !take_limit(c, optarg))
			return error(c, "--fail-above takes a percentage, as 1 or 0.5%", optarg);
		if (l && c->level && l != c->level)
			return error(c, "use only one --per-LEVEL", longs[at].name);
		if (l)
			c->level = l;
		else if (letter == 'e')
			c->diff.events = optarg;
	}
	c->diff.only_sites = !c->level;
	if (!c->level)
		c->level = sp_level_by_name("callsite");
	return 0;
}

/* Takes "A B", or repeats "A... -- B...", from the arguments. getopt(3) would reorder them across
 * the --. */
static int sides(struct command *c, int argc, char **argv)
{
	int middle = 1, e;

	while (middle < argc && strcmp(argv[middle], "--") != 0)
		middle++;
	e = options(c, middle, argv);
	if (e)
		return e;
	c->path[0] = argv + optind;
	c->n_paths[0] = (unsigned)(middle - optind);
	c->path[1] = argv + middle + 1;
	c->n_paths[1] = middle < argc ? (unsigned)(argc - middle - 1) : 0;
	/* "A B" without repeats, with a -- before or behind them, or none: one file a side. */
	for (unsigned two = 0; two < 2; two++)
		if (c->n_paths[two] == 2 && !c->n_paths[!two]) {
			c->path[0] = c->path[two];
			c->path[1] = c->path[0] + 1;
			c->n_paths[0] = c->n_paths[1] = 1;
		}
	return c->n_paths[0] && c->n_paths[1]
		       ? 0
		       : error(c, "name two files, or repeats of both as A... -- B...", NULL);
}

/* An unknown name would make any two runs equal. */
static int check_events(const struct command *c)
{
	char name[SP_REPORT_NAME], text[1500];
	const char *lacks;
	unsigned side;

	if (sp_report_lacks(c->diff.events, c->file, c->n, name)) {
		sp_report_there_are("neither has such an event", &c->file[0].model,
				    &c->file[c->n - 1].model, text, sizeof(text));
		return error(c, text, name);
	}
	if (c->diff.events && !c->diff.names.n)
		return error(c, "--events: name events with counts; gauges have no sums",
			     c->diff.events);
	/* A gate that has nothing to compare must fail. */
	lacks = c->diff.events && c->diff.gate ? sp_diff_lacks(&c->diff, &side) : NULL;
	if (lacks)
		return error(c,
			     side ? "--fail-above: B has not counted it"
				  : "--fail-above: A has not counted it",
			     lacks);
	return c->diff.gate && !sp_diff_has_common(&c->diff)
		       ? error(c, "no event has counts in A and B; count the same events in both",
			       "--fail-above")
		       : 0;
}

static int compare(struct command *c)
{
	bool bold = sp_terminal_colour(STDOUT_FILENO);
	int e;

	sp_diff_index(&c->diff);
	e = check_events(c);
	if (e)
		return e;
	if (c->diff.format == SP_DIFF_TEXT)
		sp_pager_start();
	e = sp_diff_show(&c->diff, STDOUT_FILENO, bold);
	sp_pager_wait();
	return e < 0 ? error(c, strerror(-e), "standard output") : e;
}

int sp_cmd_diff(int argc, char **argv)
{
	struct command c = { .verb = argv[0] };
	int e = sides(&c, argc, argv);

	if (e)
		return e;
	c.file = sp_check_alloc(calloc(c.n_paths[0] + c.n_paths[1], sizeof(*c.file)));
	for (unsigned i = 0; i < 2 && e == 0; i++)
		e = open_side(&c, i);
	if (e == 0 && c.diff.events)
		c.diff.events = sp_report_whole(c.diff.events, c.file, c.n);
	for (unsigned i = 0; i < 2 && e == 0; i++)
		e = add_side(&c, i);
	if (e == 0)
		e = compare(&c);
	return e;
}
