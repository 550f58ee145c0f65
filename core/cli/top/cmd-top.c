/* cmd-top.c: `sspapi top`, which shows tables of running processes from their live files. */
#include <getopt.h>
#include <sys/ioctl.h>

#include "../../base/run-root.h"
#include "../../store/live.h"
#include "../files/file.h"
#include "../program/symbols.h"
#include "../report/report.h"
#include "../tool/buffer.h"
#include "../tool/cmd.h"
#include "../tool/terminal.h"
#include "top-run.h"

struct top {
	struct sp_report report;
	bool several;			/* show `run`, else the process of `live` */
	struct sp_top_run run;
	char live[PATH_MAX];
	char output[1024];		/* path of its dump, from its header; "" */
	unsigned pid;
	double delay;			/* seconds */
	long times;			/* refreshes; -1: until the process ends */
	char *text;			/* text of the last refresh */
	struct names *names;		/* function names found so far */
	bool ended, killed;		/* the process has ended; killed: by a signal */
	bool became;			/* ended by exec */
	bool wrong;			/* a requested metric does not exist */
	bool removed;			/* the live file was removed */
};

/* ---- which file ----------------------------------------------------- */

/* Is it the live file that this process uses now? After exec there may also be an older one.
 * ending: accept one whose dump is being written. */
static bool is_of(const char *path, unsigned pid, uint64_t start_ticks, bool ending)
{
	struct sp_header h;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	bool whole = fd >= 0 && pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) &&
		     sp_top_is_file_of(fd, pid);

	sp_close(fd);
	return whole && memcmp(h.magic, SP_MAGIC, sizeof(h.magic)) == 0 && h.process.pid == pid &&
	       h.process.start_ticks == start_ticks && (h.end != SP_END_NONE) == ending;
}

/* Finds the file among the process's mappings, wherever it is (SSPAPI_LIVE). */
static bool find_mapped(struct top *t, uint64_t start_ticks, bool ending)
{
	char maps[64], *line = NULL, *path, *gone;
	bool found = false;
	size_t room = 0;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%u/maps", t->pid);
	f = fopen(maps, "re");
	while (f && !found && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		path = strchr(line, '/');
		gone = path ? strstr(path, ".live (deleted)") : NULL;
		t->removed |= gone != NULL;
		found = path && !gone && sp_is_live_file(path) &&
			snprintf(t->live, sizeof(t->live), "%s", path) < (int)sizeof(t->live) &&
			is_of(t->live, t->pid, start_ticks, ending);
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Finds the live file of a PID, or its descendants that count. */
static int find(struct top *t, const char *which)
{
	struct sp_process_stat s;
	char *end;
	unsigned long pid = strtoul(which, &end, 10);

	if (*end || end == which) {
		if (snprintf(t->live, sizeof(t->live), "%s", which) >= (int)sizeof(t->live))
			return sp_complain(1, t->report.verb, strerror(ENAMETOOLONG), which);
		return 0;
	}
	if (!pid || pid > INT_MAX || !sp_process_stat((int)pid, 0, &s))
		return sp_complain(1, t->report.verb, "no such process", which);
	t->pid = (unsigned)pid;
	for (unsigned ending = 0; ending < 2; ending++)
		if (find_mapped(t, s.start_ticks, ending))
			return 0;
	t->run.launcher = t->pid;
	t->several = sp_top_run_find(&t->run) > 0;
	if (t->several)
		return 0;
	if (t->removed)
		return sp_complain(1, t->report.verb,
				   "its live file no longer exists: the process has written its "
				   "dump and is about to end, or the file was removed",
				   which);
	return sp_complain(1, t->report.verb,
			   "no live file: the process has not called PAPI yet, runs without sspapi "
			   "or with SSPAPI_LIVE=0, "
			   "or is another user's (to count it: sspapi stat -p PID)",
			   which);
}

static int find_all(struct top *t, char *const *which, int n)
{
	struct sp_top_run *run = &t->run;

	if (n == 1)
		return find(t, which[0]);
	t->several = true;
	if (!n && !sp_top_run_find(run))
		return sp_complain(2, t->report.verb,
				   "name a process, or live files: no process of this user counts "
				   "here now (to count one: sspapi stat -p PID)",
				   NULL);
	for (int i = 0; i < n; i++) {
		int r = find(t, which[i]);

		if (r)
			return r;
		if (run->launcher)
			return sp_complain(2, t->report.verb,
					   "this process has no counts, only its descendants: name "
					   "it alone",
					   which[i]);
		run->file = sp_grow_array(run->file, &run->file_room, run->n_files + 1,
					  sizeof(*run->file));
		run->file[run->n_files++] = sp_check_alloc(strdup(t->live));
	}
	return 0;
}

/* ---- a refresh --------------------------------------------------------- */

/* Writes a line about processes of the run that are not in the tables. */
static void write_missing(struct sp_out *o, const struct sp_top_run *run)
{
	char killed[64] = "";

	if (run->n_killed)
		snprintf(killed, sizeof(killed), " (%u of them killed: sspapi recover --list)",
			 run->n_killed);
	if (run->n_ended)
		sp_out_f(o, "%'u process%s ended%s; not shown\n", run->n_ended,
			 run->n_ended == 1 ? " has" : "es have", killed);
	if (run->n_bad)
		sp_out_f(o, "%'u file%s could not be read\n", run->n_bad, SP_MANY(run->n_bad));
}

/* Writes the text to memory, to be printed at once, and perhaps only in part. */
static int write_text(struct top *t)
{
	struct sp_out o;
	int r = 0;

	sp_growing_init(&o);
	write_missing(&o, &t->run);
	if (t->report.n_levels)
		r = sp_report_text(&t->report, &o);
	else
		sp_format_text(&o, &t->report.show);
	sp_out_char(&o, 0);
	if (r < 0) {
		free(o.buffer);
		return r;
	}
	free(t->text);
	t->text = o.buffer;
	return 0;
}

/* The process is ending, and may still write its dump; then its file is removed. */
static bool is_ending(const struct sp_file *f)
{
	struct sp_header h = f->model.h;

	if (h.end != SP_END_EXIT && h.end != SP_END__EXIT)
		return false;
	h.end = SP_END_NONE;
	return sp_may_run(&h, &f->reader);
}

/* Keeps what print_end needs once the file is gone. */
static void remember(struct top *t, const struct sp_model *m)
{
	t->became = m->h.end == SP_END_EXEC;
	snprintf(t->output, sizeof(t->output), "%s", sp_model_text(m, m->h.output));
	t->pid = m->h.process.pid;
}

/* 0 or -errno: the file cannot be read now. */
static int open_one(struct top *t, struct sp_file *f)
{
	int r = sp_file_load(f, t->live);

	if (r < 0)
		return r;
	t->ended = !sp_may_run(&f->model.h, &f->reader) && !is_ending(f);
	remember(t, &f->model);
	if (t->ended && access(t->live, F_OK) < 0) {	/* it ended after the file was read, and
							 * has written its dump */
		sp_file_close(f);
		return -ENOENT;
	}
	if (!t->ended && f->model.h.end == SP_END_NONE)
		f->model.h.process.end_ns = sp_now_ns();	/* for rates up to now */
	return 0;
}

/* 0 or -errno: -EAGAIN none of the launcher's descendants runs now. */
static int open_run(struct top *t, struct sp_file *f)
{
	int r = sp_top_run_open(&t->run, f);
	struct sp_process_stat s;

	t->run.verb = NULL;
	if (r == -ENOENT && t->run.launcher && sp_process_stat((int)t->run.launcher, 0, &s) &&
	    !sp_process_is_over(&s))
		return -EAGAIN;
	t->ended = !t->run.n_running;
	return r;
}

static int refresh(struct top *t)
{
	struct sp_file f;
	int r = t->several ? open_run(t, &f) : open_one(t, &f);

	if (r < 0)
		return r;
	t->killed = f.model.n_killed != 0;
	t->report.show = (struct sp_selection){ .m = &f.model };
	t->wrong = sp_metrics_show_text(&t->report.metrics, t->text ? NULL : t->report.verb,
					&t->report.show) == 2;
	if (!t->wrong)
		sp_symbols_update(&f.model, &t->names, t->text ? NULL : t->report.verb);
	r = t->wrong ? 0 : write_text(t);
	sp_metrics_forget();
	sp_file_close(&f);
	return r;
}

/* ---- refreshes ----------------------------------------------------------- */

static void pause_for(double seconds)
{
	struct timespec s = { .tv_sec = (time_t)seconds,
			      .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };

	nanosleep(&s, NULL);
}

/* On a terminal, replaces the last refresh, as many rows as fit; last: prints all, which stays. */
static bool show(const struct top *t, bool terminal, bool last)
{
	struct winsize w = { 0 };
	const char *end = t->text;

	if (terminal)
		fputs("\033[H\033[J", stdout);
	if (!terminal || last || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || !w.ws_row)
		end += strlen(end);
	for (unsigned row = 1; row < w.ws_row && *end; row++) {
		end += strcspn(end, "\n");
		end += *end == '\n';
	}
	fwrite(t->text, 1, (size_t)(end - t->text), stdout);
	return fflush(stdout) == 0;
}

/* Reports the end of a run's processes. */
static void print_run_end(const struct sp_top_run *run, const char *verb, bool gone)
{
	if (!gone)
		sp_message(verb, "no process of these files runs; these are their last counts");
	else if (run->n_killed)
		sp_message(verb,
			   "the processes have ended, %u of them killed: sspapi recover --list",
			   run->n_killed);
	else if (*run->output == '/')
		sp_message(verb, "the processes have ended; the dump of one is %s", run->output);
	else
		sp_message(verb, "the processes have ended");
}

/* Reports how the process ended and what to do next. */
static void print_end(const struct top *t, bool gone)
{
	const char *verb = t->report.verb, *how = t->killed   ? "was killed"
						  : t->became ? "has become another program"
							      : "has ended";

	if (t->several)
		print_run_end(&t->run, verb, gone);
	else if (!gone && !sp_is_live_file(t->live))
		sp_message(verb,
			   "process %u %s; these are its last counts (more: sspapi report %s)",
			   t->pid, how, t->live);
	else if (!gone)
		sp_message(verb, "process %u %s, its live file is there: sspapi recover %s", t->pid,
			   how, t->live);
	else if (*t->output == '/')
		sp_message(verb, "process %u %s, its dump is %s", t->pid, how, t->output);
	else
		sp_message(verb, "process %u %s", t->pid, how);
}

static int run(struct top *t)
{
	int r = refresh(t), status = t->run.n_files && t->run.n_bad;
	bool terminal = sp_is_terminal(STDOUT_FILENO),
	     gone = r == -ENOENT && (t->ended || t->pid) && !t->run.n_files;

	if (gone) {			/* ended meanwhile */
		print_end(t, true);
		return 0;
	}
	if (r == -ENODATA && t->several)
		return sp_complain(1, t->report.verb, "none of the files could be used", NULL);
	if (r < 0 && r != -EAGAIN)
		return sp_complain(1, t->report.verb, sp_file_why(r, t->live),
				   t->run.n_files ? t->run.file[0] : t->several ? NULL : t->live);
	if (t->wrong)
		return 2;
	for (long n = 1;; n++) {
		bool last = t->ended || gone || n == t->times;

		if (r == 0 || (gone && terminal && t->text)) {
			if (n > 1 && !terminal)
				putchar('\n');
			if (!show(t, terminal, last))
				break;
		}
		if (last)
			break;
		pause_for(t->delay);
		r = refresh(t);
		gone = r == -ENOENT;
	}
	if (t->ended || gone)
		print_end(t, gone);
	return status;
}

/* ---- the verb ----------------------------------------------------------------------------- */

static bool read_number(const char *text, double least, double most, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && *value >= least && *value <= most;
}

static int option(struct top *t, int c, const char *value)
{
	double n;

	if (c == 'n') {
		if (!read_number(value, 1, 1e9, &n) || n - (double)(long)n > 0.0)
			return sp_complain(2, t->report.verb, "-n needs a number of at least 1",
					   value);
		t->times = (long)n;
	} else if (c == 'd') {
		if (!read_number(value, 0.1, 86400, &t->delay))
			return sp_complain(2, t->report.verb, "-d takes seconds from 0.1 to 86400",
					   value);
	} else if (c == 'm') {
		if (!sp_metrics_request(&t->report.metrics, value))
			return sp_complain(2, t->report.verb,
					   "-m takes one file, or names of built-in metrics",
					   value);
	} else {
		return 2;
	}
	return 0;
}

int sp_cmd_top(int argc, char **argv)
{
	static struct top t;
	struct option levels[SP_LEVEL_OPTIONS + 1];
	int c, at = 0, r;

	t = (struct top){
		.report = { .verb = argv[0] }, .run = { .verb = argv[0] }, .delay = 2.0, .times = -1
	};
	levels[sp_level_options(levels)] = (struct option){ NULL, 0, NULL, 0 };
	while ((c = sp_option(argc, argv, "n:d:m:", levels, &at)) != -1) {
		if (c == 'L') {
			sp_report_level(&t.report, levels[at].name);
			continue;
		}
		r = option(&t, c, optarg);
		if (r)
			return r;
	}
	r = find_all(&t, argv + optind, argc - optind);
	return r ? r : run(&t);
}
