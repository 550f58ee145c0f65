/* cmd-report.c: shows stores, and live files of killed processes, as one run, in any format and per
 * level. */
#include <getopt.h>

#include "../../formats/format-json.h"
#include "../../formats/format-text-words.h"
#include "../files/runs.h"
#include "../merge/merge-files.h"
#include "../program/symbols.h"
#include "../tool/cmd.h"
#include "../tool/output-file.h"
#include "../tool/terminal.h"
#include "hwloc.h"
#include "page.h"
#include "report.h"

static int usage(const struct sp_report *r, const char *text, const char *which)
{
	return sp_complain(2, r->verb, text, which);
}

static void long_options(struct option *longs)
{
	unsigned n = sp_level_options(longs);

	longs[n++] = (struct option){ "events", required_argument, NULL, 'E' };
	longs[n++] = (struct option){ "sort", required_argument, NULL, 'S' };
	longs[n++] = (struct option){ "color-by", required_argument, NULL, 'C' };
	longs[n++] = (struct option){ "readings", no_argument, NULL, 'R' };
	longs[n++] = (struct option){ "all", no_argument, NULL, 'W' };
	longs[n++] = (struct option){ "no-symbols", no_argument, NULL, 'N' };
	longs[n++] = (struct option){ "all-symbols", no_argument, NULL, 'A' };
	longs[n] = (struct option){ NULL, 0, NULL, 0 };
}

/* Refuses an option that this format would ignore. */
static int check_dump_format(const struct sp_report *r, const struct sp_format_writer *writer)
{
	const struct {
		bool given;
		unsigned needs;		/* enum sp_format_can */
		const char *option;
	} wish[] = {
		{ r->n_levels > 2, SP_CAN_SEVERAL_LEVELS, "more than two --per-LEVEL" },
		{ r->n_levels, SP_CAN_LEVELS, "--per-LEVEL" },
		{ r->show.sort, SP_CAN_LEVELS, "--sort" },
		{ r->metrics.any, SP_CAN_METRICS, "-m" },
		{ r->readings, SP_CAN_READINGS, "--readings" },
		{ r->show.color_by, SP_CAN_OBJECTS, "--color-by" },
		{ r->show.all, SP_CAN_ALL, "--all" },
		{ r->no_symbols, SP_CAN_SYMBOLS, "--no-symbols" },
		{ r->all_symbols, SP_CAN_SYMBOLS, "--all-symbols" },
	};
	char line[256];

	for (unsigned i = 0; i < SP_COUNT(wish); i++) {
		struct sp_out o;

		if (!wish[i].given || (writer->can & wish[i].needs) == wish[i].needs)
			continue;
		sp_memory_init(&o, line, sizeof(line));
		sp_out_f(&o, "the %s format does not support it; use -f ", writer->name);
		for (unsigned k = 0, n = 0; k < sp_n_formats; k++)
			if (sp_formats[k].can & wish[i].needs)
				sp_out_f(&o, "%s%s", n++ ? " or " : "", sp_formats[k].name);
		sp_memory_text(&o);
		return usage(r, line, wish[i].option);
	}
	return 0;
}

static int options(struct sp_report *r, const struct sp_format_writer **writer, const char **to,
		   int argc, char **argv)
{
	struct option longs[SP_LEVEL_OPTIONS + 8];
	int c, at = 0;

	long_options(longs);
	while ((c = sp_option(argc, argv, "e:f:m:o:", longs, &at)) != -1) {
		switch (c) {
		case 'f':
			*writer = sp_any_format_writer_by_name(optarg, strlen(optarg));
			if (!*writer)
				return usage(r, "-f takes one of " SP_ALL_FORMAT_NAMES(", "),
					     optarg);
			break;
		case 'm':
			if (!sp_metrics_request(&r->metrics, optarg))
				return usage(r, "-m takes one file, or names of built-in metrics",
					     optarg);
			break;
		case 'o': *to = optarg; break;
		case 'L': sp_report_level(r, longs[at].name); break;
		case 'e':
		case 'E': r->show.events = optarg; break;
		case 'S': r->show.sort = optarg; break;
		case 'C': r->show.color_by = optarg; break;
		case 'R': r->readings = true; break;
		case 'W': r->show.all = true; break;
		case 'N': r->no_symbols = true; break;
		case 'A': r->all_symbols = true; break;
		default: return 2;
		}
	}
	if (*writer && sp_check_output_format(r->verb, 2, *to, (*writer)->name))
		return 2;
	if (!*writer && *to)
		*writer = sp_any_format_writer_by_extension(*to);
	if (r->readings && !*writer)
		*writer = sp_format_writer_of(SP_FORMAT_csv);
	if (!*writer)
		*writer = sp_format_writer_of(SP_FORMAT_text);
	if (r->readings && (r->n_levels || r->metrics.any))
		return usage(r, "--readings supports neither levels nor metrics", NULL);
	if (check_dump_format(r, *writer))
		return 2;
	return 0;
}

/* Replaces a name of --events, --sort or --color-by that is the end of one event's name only. */
static void whole_names(struct sp_report *r, const struct sp_file *f)
{
	const char **name[3] = { &r->show.events, &r->show.sort, &r->show.color_by };

	for (unsigned i = 0; i < 3; i++)
		*name[i] = *name[i] ? sp_report_whole(*name[i], f, 1) : NULL;
}

/* Opens the files twice with --events: ends of event names can be resolved only when all names are
 * known. Tables per level keep the other events, which metrics need, and do not show them. */
static int open_files(struct sp_report *r, struct sp_file *f, const struct sp_runs *runs,
		      unsigned *n_bad)
{
	char name[SP_REPORT_NAME];

	if (sp_files_open(f, r->verb, runs->path, runs->n, NULL, false, n_bad))
		return 1;
	whole_names(r, f);
	if (r->n_levels || !r->show.events || sp_report_lacks(r->show.events, f, 1, name))
		return 0;
	sp_file_close(f);
	return sp_files_open(f, r->verb, runs->path, runs->n, r->show.events, true, n_bad);
}

static int check_events(const struct sp_report *r, const struct sp_file *f, bool only_readings)
{
	const struct sp_model *m = &f->model;
	char name[SP_REPORT_NAME], text[1500];

	for (unsigned i = 0; m->h.stat && i < r->n_levels; i++)
		if (sp_level_is_code(r->level[i]))
			return usage(r,
				     "sspapi stat counts from outside and sees no PAPI calls; use "
				     "sspapi run",
				     "--per-callsite");
	sp_report_there_are("no such event", m, NULL, text, sizeof(text));
	if (sp_report_lacks(r->show.events, f, 1, name))
		return usage(r, text, name);
	sp_report_there_are("--sort takes place, readings or an event", m, NULL, text,
			    sizeof(text));
	if (r->show.sort && strcmp(r->show.sort, "place") != 0 &&
	    strcmp(r->show.sort, "readings") != 0 &&
	    !sp_report_has(m, r->show.sort, strlen(r->show.sort)))
		return usage(r, text, r->show.sort);
	if (r->show.sort && !r->n_levels && !sp_report_has(m, r->show.sort, strlen(r->show.sort)))
		return usage(r, "--sort place and readings need a level (--per-cpu ...)",
			     r->show.sort);
	sp_report_there_are("--color-by: no such event with counts that add up", m, NULL, text,
			    sizeof(text));
	if (only_readings && !m->tally.kept)
		return usage(r,
			     "no permanent readings: run the program with "
			     "SSPAPI_READINGS=permanent, or sspapi stat with -I",
			     r->show.file);
	if (only_readings && m->tally.refused)
		sp_message(r->verb,
			   "%lu reading%s not kept (SSPAPI_READINGS_MAX), and missing here",
			   m->tally.refused, m->tally.refused == 1 ? "" : "s");
	return sp_hwloc_colors(m, r->show.color_by) ? 0 : usage(r, text, r->show.color_by);
}

static int write_json(const struct sp_report *r, struct sp_out *o)
{
	int e;

	sp_json_dump(o, &r->show);
	e = sp_report_json(r, o);
	sp_out_text(o, "}\n");
	return e;
}

/* The writers of tables per level, by format. */
static int (*const write_levels[])(const struct sp_report *r, struct sp_out *o) = {
	[SP_FORMAT_text] = sp_report_text,
	[SP_FORMAT_csv] = sp_report_csv,
	[SP_FORMAT_json] = write_json,
};

/* machine: the one that the hwloc format shows; -1 for all other formats. */
static int show(const struct sp_report *r, const struct sp_format_writer *writer, int fd,
		int machine)
{
	static char buffer[65536];
	struct sp_out o;
	int e = 0, closed;

	sp_out_init(&o, fd, buffer, sizeof(buffer));
	if (machine >= 0)
		e = sp_hwloc_write(&o, &r->show, (uint32_t)machine);
	else if (r->readings)
		sp_report_readings(r, &o, r->show.m);
	else if (r->n_levels && writer->can & SP_CAN_LEVELS)
		e = write_levels[writer->id](r, &o);
	else
		writer->write(&o, &r->show);
	closed = sp_out_finish(&o);
	return e < 0 ? e : closed;
}

/* Returns whether functions of call sites are shown. The text format shows call sites only in
 * requested levels. */
static bool names_sites(const struct sp_report *r, const struct sp_format_writer *writer)
{
	bool any = !r->n_levels || !(writer->can & SP_CAN_ALL);

	for (unsigned i = 0; i < r->n_levels; i++)
		any |= sp_level_is_code(r->level[i]);
	return !r->no_symbols && any && writer->can & SP_CAN_SYMBOLS;
}

int sp_report_show(const struct sp_report *r, const struct sp_format_writer *writer, int fd)
{
	return show(r, writer, fd, -1);
}

/* Writes to the file of -o or to standard output; only one machine if `machine` is >= 0. */
static int write_to(const struct sp_report *r, const struct sp_format_writer *writer,
		    const char *to, char *const *file, unsigned n, int machine)
{
	int e = sp_redirect_begin(r->verb, to, file, n);

	if (e)
		return e;
	if (writer->can & SP_CAN_ALL)
		sp_pager_start();
	e = show(r, writer, STDOUT_FILENO, machine);
	sp_pager_wait();
	if (e == -EPIPE && !to)
		e = 0;
	e = sp_redirect_end(to, e);
	if (e < 0)
		return sp_complain(
			1, r->verb,
			e == -EBADMSG ? "hwloc cannot read the topology in the store"
			: e == -ELIBACC
				? "libsspapi-topo.so or libhwloc cannot be loaded (run sspapi "
				  "doctor)"
				: strerror(-e),
			to ? to : "standard output");
	return r->show.m->tally.damaged
		       ? sp_complain(1, r->verb, "damaged; only the readable part is shown",
				     file[0])
		       : 0;
}

/* hwloc represents one machine, so each gets a file in the folder, named for its host. */
static int write_machines(const struct sp_report *r, const struct sp_format_writer *writer,
			  const char *to, char *const *file, unsigned n)
{
	const struct sp_model *m = r->show.m;
	char path[PATH_MAX + 300], host[256];
	struct stat s;
	int e = 0;

	if (!to || sp_any_format_writer_by_extension(to) ||
	    (stat(to, &s) == 0 && !S_ISDIR(s.st_mode)))
		return usage(r,
			     "several machines, but hwloc's XML describes one: write a file of "
			     "each with -o FOLDER",
			     to);
	for (uint32_t i = 0; i < m->n_machines && e == 0; i++) {
		unsigned same = 0;

		snprintf(host, sizeof(host), "%s",
			 *m->machine[i].host ? m->machine[i].host : "machine");
		for (char *c = host; *c; c++)
			*c = *c == '/' || (unsigned char)*c < ' ' ? '_' : *c;
		for (uint32_t k = 0; k < i; k++)
			same += strcmp(m->machine[k].host, m->machine[i].host) == 0;
		if (same)
			snprintf(path, sizeof(path), "%s/%s.%u.xml", to, host, same + 1);
		else
			snprintf(path, sizeof(path), "%s/%s.xml", to, host);
		e = write_to(r, writer, path, file, n, (int)i);
	}
	return e;
}

static int show_metrics(struct sp_report *r, const struct sp_format_writer *writer)
{
	bool text = writer->can & SP_CAN_ALL;
	int status = text ? sp_metrics_show_text(&r->metrics, r->verb, &r->show)
			  : sp_metrics_show(&r->metrics, r->verb, &r->show);

	if (!text || r->n_levels)
		sp_metrics_report(r->verb, &r->show);
	return status;
}

void sp_report_repeat_options(struct sp_report *r)
{
	const struct sp_metrics_request *m = &r->metrics;
	const struct {
		const char *option, *value;
	} given[] = {
		{ "-m", !m->any ? NULL : m->file ? m->file : *m->names ? m->names : "default" },
		{ "--events", r->show.events },
		{ "--sort", r->show.sort },
	};
	static char text[8192];
	struct sp_out o;

	sp_memory_init(&o, text, sizeof(text));
	for (unsigned i = 0; i < SP_COUNT(given); i++)
		if (given[i].value) {
			sp_out_f(&o, " %s ", given[i].option);
			sp_shell_word(&o, given[i].value);
		}
	r->show.again = sp_memory_text(&o);
}

/* Reports several observers, unless the format does so itself or lists each of them. */
static void report_observers(const struct sp_report *r, const struct sp_format_writer *writer)
{
	bool sums = writer->can & SP_CAN_OBJECTS;
	char text[512];

	for (unsigned i = 0; i < r->n_levels; i++)
		sums = sums || r->level[i]->what != SP_LEVEL_THREAD;
	for (uint32_t e = 0;
	     sums && !(writer->can & SP_CAN_OBSERVERS) && sp_text_observers(r->show.m, &e, text);)
		sp_message(r->verb, "%s", text);
}

int sp_cmd_report(int argc, char **argv)
{
	const struct sp_format_writer *writer = NULL;
	const char *to = NULL;
	struct sp_report report = { .verb = argv[0] };
	struct sp_file f;
	struct sp_runs runs;
	unsigned n_bad;
	int r, metrics;

	r = options(&report, &writer, &to, argc, argv);
	if (r == 0)
		r = sp_runs_find(&runs, argv[0], argv + optind, (unsigned)(argc - optind));
	if (r)
		return r;
	report.show.file = runs.shown;
	sp_report_repeat_options(&report);
	if (open_files(&report, &f, &runs, &n_bad))
		return 1;
	report.show.m = &f.model;
	r = check_events(&report, &f, report.readings || writer->can & SP_ONLY_READINGS);
	metrics = r ? 0 : show_metrics(&report, writer);
	if (r == 0 && metrics != 2) {
		report.show.bold = !to && sp_terminal_colour(STDOUT_FILENO);
		report.show.columns = to ? 0 : sp_terminal_columns(STDOUT_FILENO);
		report_observers(&report, writer);
		if (names_sites(&report, writer))
			sp_symbols_add(&f.model, argv[0], report.all_symbols);
		if (writer->can & SP_CAN_OBJECTS && !report.show.color_by &&
		    !sp_hwloc_colors(&f.model, sp_hwloc_color_by()))
			sp_message(
				report.verb,
				"SSPAPI_COLOR_BY: '%s': no such event was counted; using the first",
				sp_hwloc_color_by());
		if (writer->can & SP_CAN_OBJECTS && f.model.n_machines > 1)
			r = write_machines(&report, writer, to, runs.path, runs.n);
		else
			r = write_to(&report, writer, to, runs.path, runs.n, -1);
	}
	return r ? r : metrics ? metrics : n_bad != 0;
}
