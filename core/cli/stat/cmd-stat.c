/* cmd-stat.c: `sspapi stat`: counts any program from outside, per CPU and thread (see stat.h). */
#include <getopt.h>

#include "../../base/safe-open.h"
#include "../../base/output.h"
#include "../tool/output-file.h"
#include "../program/program.h"
#include "../report/page.h"
#include "../report/report.h"
#include "../tool/cmd.h"
#include "../tool/other-tools.h"
#include "../tool/terminal.h"
#include "stat-interval.h"
#include "stat-job.h"
#include "stat-attach-common.h"

#define REPEATS_MOST 1000
#define INTERVAL_MOST 3600000
#define EXIT_STAT 125			/* as env(1): an error of the command, not of the program */

struct options {
	const char *verb, *out, *formats;
	char *events;			/* of all -e, joined by commas; NULL: none */
	struct sp_stat_targets targets;
	struct sp_stat_group group;
	uint32_t repeats;		/* of -r; 0: default */
	bool quiet, job;		/* -q; each rank writes a store, rank 0 shows all */
	struct sp_stat_interval interval;
	int rows;			/* --per-thread: 1 yes, 0 no, -1 default */
	struct sp_report report;
};

/* ---- the command line --------------------------------------------------- */

static void add_events(struct options *opt, const char *more)
{
	char *all;

	if (asprintf(&all, "%s%s%s", opt->events ? opt->events : "", opt->events ? "," : "", more) <
	    0)
		sp_check_alloc(NULL);
	free(opt->events);
	opt->events = all;
}

static bool all_are_formats(const char *formats)
{
	for (const char *p = formats; *p; p += strcspn(p, ","), p += *p == ',')
		if (!sp_any_format_writer_by_name(p, strcspn(p, ",")))
			return false;
	return *formats;
}

static int usage(const struct options *opt, const char *text, const char *which)
{
	return sp_complain(EXIT_STAT, opt->verb, text, which);
}

static bool take_level(struct options *opt, const char *name)
{
	bool sites = strcmp(name, "per-callsite") == 0, no = optarg && strcmp(optarg, "no") == 0;
	char option[32], text[128];

	if (sites || strcmp(name, "per-set") == 0) {
		snprintf(text, sizeof(text),
			 "stat counts from outside and has no %s; use sspapi run for a program "
			 "that uses PAPI",
			 sites ? "call sites" : "event sets");
		return !usage(opt, text, strcat(strcpy(option, "--"), name));
	}
	if (optarg && !no)
		return !usage(opt, "--per-thread takes =no or nothing", optarg);
	if (!no)
		sp_report_level(&opt->report, name);
	if (strcmp(name, "per-thread") == 0)
		opt->rows = !no;
	return true;
}

static bool take_number(uint32_t *to, const char *text, long most)
{
	char *end;
	long n = strtol(text, &end, 10);

	*to = n > 0 && n <= most && !*end ? (uint32_t)n : 0;
	return *to;
}

/* Report options that exclude each other. no_program: the command line has no program. */
static int check_conflicts(const struct options *opt, bool no_program)
{
	bool group = opt->group.fd >= 0;

	if (group && opt->targets.n)
		return usage(opt, "--cgroup is not supported with -p or -t: use one of them", NULL);
	if (group && opt->rows > 0)
		return usage(opt,
			     "--per-thread is not supported with --cgroup: the kernel counts a "
			     "control group per CPU; use -p to count a process per thread",
			     NULL);
	if (opt->interval.ms && opt->repeats)
		return usage(opt, "-I is not supported with -r", NULL);
	if ((group || opt->targets.n) && opt->repeats)
		return usage(opt,
			     "-r is not supported with -p, -t or --cgroup: it runs a program "
			     "several times",
			     NULL);
	return no_program && !opt->targets.n && !group
		       ? usage(opt, "name the program to count", NULL)
		       : 0;
}

/* Ranks without another wish write stores, so that one table shows all of them. */
static int check_job(struct options *opt)
{
	bool wishes = opt->out || opt->report.metrics.any || opt->formats || opt->interval.ms ||
		      opt->targets.n || opt->group.fd >= 0;

	if (opt->job && sp_conf_rank() < 0)
		return usage(opt, "start each rank with it: mpirun sspapi stat --job PROGRAM",
			     "--job");
	if (opt->job && wishes)
		return usage(opt, "--job is not supported with -o, -f, -m, -I, -p, -t or --cgroup",
			     NULL);
	opt->job = opt->job || (sp_stat_is_rank() && !wishes && !opt->quiet);
	if (opt->job)
		opt->out = sp_conf_rank_output;
	return 0;
}

static int read_options(struct options *opt, int argc, char **argv)
{
	static const struct option group = { "cgroup", required_argument, NULL, 'G' };
	struct option longs[SP_LEVEL_OPTIONS + 3];
	unsigned n = sp_level_options(longs);
	int c, at = 0;
	struct stat s;

	for (unsigned i = 0; i < n; i++)
		if (strcmp(longs[i].name, "per-thread") == 0)
			longs[i].has_arg = optional_argument;
	longs[n] = group;
	longs[n + 1] = (struct option){ "job", no_argument, NULL, 'J' };
	longs[n + 2] = (struct option){ NULL, 0, NULL, 0 };
	/* "+": the program's options are its own. */
	while ((c = sp_option(argc, argv, "+e:I:m:o:f:p:qr:t:", longs, &at)) != -1) {
		if (c == 'e')
			add_events(opt, optarg);
		else if (c == 'o')
			opt->out = optarg;
		else if (c == 'f')
			opt->formats = optarg;
		else if (c == 'q')
			opt->quiet = true;
		else if (c == 'J')
			opt->job = true;
		else if (c == 'r' && !take_number(&opt->repeats, optarg, REPEATS_MOST))
			return usage(opt, "-r takes a number of runs, 1 to 1000", optarg);
		else if (c == 'I' && !take_number(&opt->interval.ms, optarg, INTERVAL_MOST))
			return usage(opt, "-I takes milliseconds, 1 to 3600000", optarg);
		else if (c == 'm' && !sp_metrics_request(&opt->report.metrics, optarg))
			return usage(opt, "-m takes one file, or names of built-in metrics",
				     optarg);
		else if ((c == 'p' || c == 't') &&
			 sp_targets_add(&opt->targets, opt->verb, optarg, c == 't'))
			return EXIT_STAT;
		else if (c == 'G' && sp_group_take(&opt->group, opt->verb, optarg))
			return EXIT_STAT;
		else if (c == '?' || (c == 'L' && !take_level(opt, longs[at].name)))
			return EXIT_STAT;
	}
	if (opt->formats && !all_are_formats(opt->formats))
		return usage(opt, "-f takes one of " SP_ALL_FORMAT_NAMES(", "), opt->formats);
	if (sp_check_output_format(opt->verb, EXIT_STAT, opt->out, opt->formats))
		return EXIT_STAT;
	if (opt->formats && !opt->interval.ms &&
	    sp_format_among(opt->formats, SP_ONLY_READINGS, SP_ONLY_READINGS))
		return usage(opt, "the trace format needs -I", opt->formats);
	if (opt->report.n_levels && !opt->out && opt->formats && strchr(opt->formats, ','))
		return usage(opt, "--per-LEVEL takes one format", opt->formats);
	if (opt->out && !*opt->out)
		return usage(opt, "-o takes the name of a file", NULL);
	if (opt->out && stat(opt->out, &s) == 0 && S_ISDIR(s.st_mode))
		return usage(opt, "a folder: name a file in it (FOLDER/run.sspapi)", opt->out);
	if (opt->targets.n && optind < argc && !argv[optind][strspn(argv[optind], "0123456789")] &&
	    !sp_is_program(argv[optind]))
		return usage(opt, "not a program; several numbers: -p PID,PID", argv[optind]);
	return check_job(opt) ?: check_conflicts(opt, argc == optind);
}

/* ---- counting ----------------------------------------------------------- */

/* Decide whether threads have rows. Each CPU and event makes the start of a thread about a
 * microsecond slower. */
static void choose_rows(struct sp_stat_run *r, const struct options *opt, uint32_t rounds,
			const char *program)
{
	static struct sp_program p;
	struct sp_stat_counters *c = &r->c;
	const char *why = NULL;

	if (opt->rows < 0 && c->n_cpus > SP_STAT_CPUS_MOST && !opt->targets.n &&
	    !opt->interval.ms && !opt->report.n_levels) {
		/* Long-lived threads use each counter twice. */
		c->long_lived = sp_stat_rounds(c->plan, 2) <= rounds;
		sp_stat_rounds(c->plan, 1);
	}
	if (c->long_lived) {
		c->cpu[c->n_cpus++] = SP_NO_CPU;
		r->why_no_rows = "threads shorter than 20 ms have no rows and no CPU, which "
				 "would slow down new threads on more than 16 CPUs; use "
				 "--per-thread or --per-cpu";
		return;
	}
	c->task_ring_pages = SP_STAT_TASK_RING_PAGES;
	c->has_rows = opt->rows != 0;
	c->has_reads = c->has_rows && sp_stat_probe_inherited_reads(c->cpu[0]);
	c->from_library = c->has_rows && !c->has_reads && !opt->targets.n;
	if (opt->rows < 0 && c->n_cpus * (c->plan->n_natives + 1) > SP_STAT_ROWS_MOST)
		why = "no per-thread rows: they would slow down each new thread on this many "
		      "CPUs; use --per-thread, fewer events or fewer CPUs (taskset)";
	else if (opt->rows < 0 && !sp_stat_leaves_pages(c))
		why = "no per-thread rows: they would take locked pages that the program may "
		      "need; use --per-thread, or raise RLIMIT_MEMLOCK (ulimit -l)";
	else if (c->from_library && !sp_threads_library())
		why = "no per-thread rows: this kernel does not report a thread's counts at its "
		      "end, and libsspapi-threads.so is not installed";
	else if (c->from_library && opt->rows < 0)	/* preload only on request */
		why = "no per-thread rows: this kernel does not report a thread's counts at its "
		      "end; use --per-thread, which preloads libsspapi-threads.so";
	else if (c->from_library && sp_stat_rounds(c->plan, 2) > rounds &&
		 sp_stat_rounds(c->plan, 1))
		why = "no per-thread rows: on this kernel they need each counter twice, and "
		      "there are too few; name fewer events";
	else if (c->from_library && sp_program_inspect(&p, program) == 0 && *p.loader)
		why = "no per-thread rows: this kernel does not report a thread's counts at its "
		      "end, and libsspapi-threads.so cannot be loaded with another C library";
	if (why) {
		c->has_rows = c->has_reads = false;
		r->why_no_rows = why;
	}
	c->from_library = c->from_library && c->has_rows;
	/* Read the task rings also without rows: only a record shows that a program changed its
	 * user and is no longer counted. */
	if (!c->has_rows && !opt->targets.n) {
		c->task_ring_pages = SP_STAT_TASK_RING_PAGES_FEW;
		c->has_rows = geteuid() && sp_stat_leaves_pages(c);
	}
}

static int count(struct sp_stat_run *r, const char *verb, char **argv)
{
	bool wanted = r->c.has_rows;
	int e;

	if (r->c.from_library)
		sp_threads_begin(&r->c);
	e = sp_stat_fork(&r->child, &r->c, verb, argv);
	if (e)
		return e;
	e = sp_stat_open(&r->c, verb, r->child.pid);
	if (e) {
		sp_stat_abandon(&r->child);
		return e;
	}
	if (wanted && !r->c.has_rows && !r->why_no_rows)
		r->why_no_rows = "no per-thread rows: no locked pages or descriptors are left "
				 "(other processes of this user have them; raise RLIMIT_MEMLOCK)";
	if (r->c.long_lived)
		sp_long_lived_begin(&r->c, &r->who);
	sp_machine_events_request(&r->machine_events, 's');
	sp_stat_wait(&r->child, &r->c, &r->who, r->interval);
	if (r->c.from_library)
		sp_threads_stop(&r->c, &r->who);
	sp_machine_events_request(&r->machine_events, 'e');
	/* Keep this order: counts of a running thread between these steps belong to the
	 * remainder. */
	if (r->c.has_rows)
		sp_stat_drain(&r->c, &r->who);
	if (r->c.shm)
		sp_threads_end(&r->c, &r->who);
	if (r->c.long_lived)
		sp_long_lived_end(&r->c, &r->who);
	sp_stat_read(&r->c);
	sp_stat_interval_sample(r->interval, &r->c, true);
	sp_stat_finish_rows(&r->c, &r->who, r->child.pid, argv, r->child.start_ns, r->child.end_ns);
	sp_stat_close(&r->c);
	return r->child.error ? sp_not_started(verb, argv[0], r->child.error) : 0;
}

/* Count all rounds, one after the other. Without -r there is one run, of the events that fit
 * together. */
static int count_all(struct sp_stat_all *a, struct options *opt, char **command)
{
	struct sp_stat_run first = { .c = { .plan = a->plan, .all_cpus_clock = -1 } };
	uint32_t rounds = sp_stat_rounds(a->plan, 1);
	int e = 0;

	a->plan->n_rounds = opt->repeats ? rounds : 1;
	a->repeats = (uint32_t)sp_max(opt->repeats, 1);
	a->run = sp_check_alloc(calloc(a->repeats * a->plan->n_rounds, sizeof(*a->run)));
	sp_stat_cpus(&first.c);
	if (opt->interval.ms)
		first.interval = &opt->interval;
	if (opt->group.fd < 0)
		choose_rows(&first, opt, rounds, a->argv[0]);
	for (uint32_t i = 0; e == 0 && i < a->repeats * a->plan->n_rounds; i++) {
		a->run[i] = first;
		a->run[i].c.round = i % a->plan->n_rounds;
		if (a->run[i].c.round == 0)
			sp_machine_events_begin(&a->run[i].machine_events, a->plan);
		opt->interval.machine_events = &a->run[i].machine_events;
		if (opt->group.fd >= 0)
			e = sp_group_count(&a->run[i], &opt->group, opt->verb,
					   *command ? command : NULL);
		else if (opt->targets.n)
			e = sp_attach_count(&a->run[i], &opt->targets, opt->verb,
					    *command ? command : NULL);
		else
			e = count(&a->run[i], opt->verb, a->argv);
		sp_machine_events_end(&a->run[i].machine_events);
		a->n = a->n_begun = i + 1;
		if (a->run[i].child.interrupted) {	/* ends all runs */
			a->repeats = sp_max(a->n / a->plan->n_rounds, 1);
			a->n = sp_min(a->n, a->repeats * a->plan->n_rounds);
			break;
		}
	}
	return e;
}

/* Return the first exit status that is not 0. */
static int status_of(const struct sp_stat_all *a)
{
	for (uint32_t i = 0; i < a->n_begun; i++)
		if (a->run[i].child.status)
			return a->run[i].child.status;
	return 0;
}

/* ---- showing ------------------------------------------------------------ */

static void fill_who(struct sp_output_vars *who, const struct sp_stat_all *r,
		     const struct sp_model *m, char *dir, size_t room)
{
	const char *slash = strrchr(r->argv[0], '/');

	if (!getcwd(dir, room))
		strcpy(dir, ".");
	if (strcmp(dir, "/") == 0)
		dir[0] = 0;
	*who = (struct sp_output_vars){ .host = sp_model_text(m, m->h.process.host),
				.program = slash ? slash + 1 : r->argv[0],
				.job = sp_conf_job(),
				.step = sp_conf_step(),
				.dir = dir,
				.rank = sp_conf_rank(),
				.pid = (int)r->run[0].child.pid };
}

/* Write one format; path receives the name of the file. */
static int write_format(const struct options *opt, struct sp_stat_all *r, struct sp_model *m,
			const struct sp_format_writer *writer, bool several,
			char path[SP_CONF_PATH])
{
	struct sp_output o = { .own_start_ns = r->run[0].child.start_ns };
	char dir[SP_CONF_PATH], name[SP_CONF_PATH];
	struct sp_output_vars who;
	int e;

	fill_who(&who, r, m, dir, sizeof(dir));
	e = sp_output_expand(path, SP_CONF_PATH, opt->out, &who);
	if (e == 0 && several && (e = sp_output_name_for(name, sizeof(name), path, writer)) == 0)
		strcpy(path, name);
	if (e == 0)
		e = sp_output_write(&o, path, &who, writer, &opt->report.show);
	if (e == 0)
		snprintf(path, SP_CONF_PATH, "%s", o.path);
	return e < 0 ? sp_complain(EXIT_STAT, opt->verb, sp_parent_dir_error(e) ?: strerror(-e),
				   *o.path ? o.path : opt->out)
		     : 0;
}

/* Write the files of -o; store receives the name of the one that is a store, or "". */
static int write_formats(const struct options *opt, struct sp_stat_all *r, struct sp_model *m,
			 char store[SP_CONF_PATH])
{
	const struct sp_format_writer *writer = sp_any_format_writer_by_extension(opt->out);
	const char *formats = opt->formats ? opt->formats : writer ? writer->name : "store";
	char path[SP_CONF_PATH];
	int e = 0;

	*store = 0;
	for (const char *p = formats; e == 0 && *p; p += strcspn(p, ","), p += *p == ',') {
		writer = sp_any_format_writer_by_name(p, strcspn(p, ","));
		e = write_format(opt, r, m, writer, strchr(formats, ',') != NULL, path);
		if (e == 0 && writer->can & SP_CAN_READ)
			strcpy(store, path);
	}
	return e;
}

/* Write to standard error, since standard output belongs to the program. */
static int show_formats(struct options *opt, const char *formats)
{
	int e = 0;

	opt->report.show.bold = sp_terminal_colour(STDERR_FILENO);
	opt->report.show.columns = sp_terminal_columns(STDERR_FILENO);
	for (const char *p = formats; e == 0 && *p; p += strcspn(p, ","), p += *p == ',')
		e = sp_report_show(&opt->report, sp_any_format_writer_by_name(p, strcspn(p, ",")),
				   STDERR_FILENO) < 0
			    ? EXIT_STAT
			    : 0;
	return e;
}

/* Returns the path without the working directory, unless -o has a whole path. */
static const char *as_typed(const struct options *opt, const char *path)
{
	char dir[SP_CONF_PATH];
	size_t n;

	if (*opt->out == '/' || !getcwd(dir, sizeof(dir)))
		return path;
	n = strlen(dir);
	return strncmp(path, dir, n) == 0 && path[n] == '/' && path[n + 1] != '-' ? path + n + 1
										 : path;
}

static int show(struct options *opt, struct sp_stat_all *r, struct sp_model *m)
{
	bool to_files = opt->out && strcmp(opt->out, "-") != 0;
	char store[SP_CONF_PATH], word[2 * SP_CONF_PATH];
	struct sp_out o;
	int e = to_files ? write_formats(opt, r, m, store) : 0;

	if (to_files)
		sp_memory_init(&o, word, sizeof(word)), sp_shell_word(&o, as_typed(opt, store));
	if (to_files)
		opt->report.show.file = *store ? sp_memory_text(&o) : SP_FORMAT_NO_STORE;
	sp_report_repeat_options(&opt->report);
	if (opt->interval.ms)
		sp_stat_interval_put(&opt->interval, true);
	if (opt->job) {
		e = e || opt->quiet
			    ? e
			    : sp_stat_show_job(&opt->report, store, r->run[0].child.start_ns);
		e = e ? EXIT_STAT : 0;
	} else if (to_files && !opt->quiet)
		/* neither a closed terminal nor a file that cannot be written loses the result */
		show_formats(opt, "text");
	else if (e == 0 && !opt->interval.csv &&	/* the rows of -I are the dump */
		 (!opt->quiet || (opt->formats && strcmp(opt->formats, "text") != 0)))
		e = show_formats(opt, opt->formats ? opt->formats : "text");
	opt->report.show.file = NULL;
	return e;
}

static int show_store(struct options *opt, struct sp_stat_all *r)
{
	struct sp_out o;
	struct sp_store_reader reader = { 0 };
	struct sp_model m;
	int e;

	sp_stat_topo_end(&r->topo);
	sp_growing_init(&o);
	sp_stat_store(&o, r);
	reader.base = (const unsigned char *)o.buffer;
	reader.bytes = o.used;
	e = o.error ? o.error : sp_model_open(&m, &reader);
	if (e < 0)
		return sp_complain(EXIT_STAT, opt->verb, strerror(-e), NULL);
	opt->report.show.m = &m;
	sp_metrics_show_text(&opt->report.metrics, opt->verb, &opt->report.show);
	return show(opt, r, &m);
}

static void report_nothing(const char *line, void *arg)
{
	(void)line, (void)arg;		/* the program reports it, if it reads the settings */
}

int sp_cmd_stat(int argc, char **argv)
{
	struct options opt = { .verb = argv[0],
			       .rows = -1,
			       .group = { .fd = -1 },
			       .interval = { .fd = -1 },
			       .report = { .verb = argv[0], .framed = true } };
	static struct sp_conf conf;
	struct sp_stat_all a = { 0 };
	int e;

	sp_conf_capture(environ);
	e = read_options(&opt, argc, argv);
	if (e)
		return e;
	sp_conf_read(&conf, report_nothing, NULL);
	/* The limit applies per CPU, as it does per relation. */
	opt.interval.most = (uint64_t)sp_max(conf.readings_max, 0);
	opt.interval.csv = opt.interval.ms && opt.formats && !opt.out &&
			   !strchr(opt.formats, ',') &&
			   sp_format_among(opt.formats, SP_CAN_INTERVALS, SP_CAN_INTERVALS);
	opt.interval.quiet = opt.quiet && !opt.interval.csv;
	sp_stat_topo_begin(&a.topo, sp_cli_library("libsspapi-topo.so"));
	if (opt.targets.n)
		e = sp_targets_begin(&opt.targets, opt.verb);
	a.argv = opt.targets.n	     ? opt.targets.argv
		 : opt.group.fd >= 0 ? opt.group.argv
				     : argv + optind;
	a.plan = mmap(NULL, sizeof(*a.plan), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	sp_check_alloc(a.plan == MAP_FAILED ? NULL : a.plan);
	if (e == 0 && !sp_stat_plan(a.plan, opt.events,
				    *opt.report.metrics.names ? opt.report.metrics.names : NULL))
		e = sp_complain(EXIT_STAT, opt.verb, a.plan->wrong, NULL);
	if (e == 0) {
		e = count_all(&a, &opt, argv + optind);
		sp_stat_release();
	}
	if (e == 0)
		e = show_store(&opt, &a);
	if (e == 0)
		e = status_of(&a);
	sp_stat_topo_end(&a.topo);
	return e;
}
