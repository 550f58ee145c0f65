/* cmd-recover.c: `sspapi recover`: makes the dump of a killed process from its live file, which
 * is removed once the dump is safe; or only removes the file.
 *
 * The dump goes to the place that the file names only if the file belongs to the caller, has its
 * original name, and was not writable by others. Otherwise it goes into the folder of the live
 * file: root must not create a file of another user's choice, nor from a copy that root owns by
 * now. Existing files are not replaced, and formats that the process wrote itself are not made
 * again.
 */
#include <getopt.h>
#include <time.h>

#include "../../base/safe-open.h"
#include "../../base/output.h"
#include "../../model/format-common.h"
#include "../files/live-files.h"
#include "../report/page.h"
#include "../tool/cmd.h"
#include "../tool/temp-file.h"

struct recovery {
	const char *verb, *out;		/* out: -o, or NULL */
	bool force, discard, list, all, yes;
	char host[65];
};

struct live_file {
	char *path, *program, *dump;	/* program, dump: NULL if the file is not readable */
	uint64_t start_ns, bytes;	/* bytes: of memory */
	uint32_t pid;
	int error;			/* -errno of reading it */
	bool is_here;			/* the dump goes into or below the current folder */
};

struct live_files {
	const struct recovery *r;
	struct live_file *at;
	uint32_t n, room;
};

static void print_path(const char *path)
{
	sp_print_plain(stdout, path);
	putchar('\n');
}

static bool is_same_file(const struct sp_file *f, const char *path)
{
	struct stat s;

	return lstat(path, &s) == 0 && (uint64_t)s.st_dev == f->dev && (uint64_t)s.st_ino == f->ino;
}

static bool is_trusted(const struct sp_file *f, const char *path)
{
	return f->uid == geteuid() && !(f->mode & 022) && is_same_file(f, path) &&
	       sp_is_live_file_of(path, geteuid());
}

/* Return whether a dump would be written into the file instead of replacing it. */
static bool is_special(const char *path)
{
	struct stat s;

	return lstat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode) &&
	       !S_ISLNK(s.st_mode);
}

/* Choose the output: -o, the process's own place, or the live file's name with another ending. */
static int choose_output(const struct recovery *r, const struct sp_file *f, const char *live,
			 char *to, size_t room)
{
	const char *own = sp_model_text(&f->model, f->model.h.output);
	size_t n = strlen(live);

	if (r->out || (is_trusted(f, live) && *own == '/' && !is_special(own)))
		return snprintf(to, room, "%s", r->out ? r->out : own) < (int)room ? 0
										   : -ENAMETOOLONG;
	if (sp_is_live_file(live))
		n -= strlen(".live");
	return snprintf(to, room, "%.*s.txt", (int)n, live) < (int)room ? 0 : -ENAMETOOLONG;
}

/* Rename the temporary file as the process would have, but without replacing anything. */
static int take_name(const struct recovery *r, const struct sp_model *m, char *path)
{
	struct sp_output_vars who = { .host = sp_model_text(m, m->h.process.host),
			      .pid = (int)m->h.process.pid };
	char name[SP_CONF_PATH + 16];
	int e = -EEXIST;

	for (unsigned i = 0; e == -EEXIST && i < (r->out ? 1 : 1000); i++) {
		if (strchr(who.host, '/') ||
		    sp_output_candidate(name, sizeof(name), path, &who, i) < 0)
			return -ENAMETOOLONG;
		e = sp_part_take(name);
	}
	if (e == 0)
		strcpy(path, name);
	return e;
}

/* Write without replacing anything. path (SP_CONF_PATH + 16 bytes) receives the final name. */
static int write_new(const struct recovery *rec, char *path, const struct sp_format_writer *v,
		     struct sp_model *m)
{
	int fd = sp_part_begin(path), r;

	if (fd < 0)
		return fd;
	r = sp_output_write_fd(fd, true, v, &(struct sp_selection){ .m = m });
	r = sp_part_finish(fd, r);
	if (r == 0)
		r = take_name(rec, m, path);
	sp_part_end();
	if (r == 0)
		print_path(path);
	return r;
}

/* Find the dump that the process wrote before it was killed; dumps with a final name are
 * complete. path receives its name. */
static bool find_dump(const struct sp_model *m, char *path)
{
	struct sp_output_vars who = { .host = sp_model_text(m, m->h.process.host),
			      .pid = (int)m->h.process.pid };
	char name[SP_CONF_PATH + 16];

	for (unsigned i = 0; i < 1000 && !strchr(who.host, '/') &&
			     sp_output_candidate(name, sizeof(name), path, &who, i) == 0;
	     i++) {
		if (sp_output_is_by(name, &who, m->h.process.pid_ns, m->h.process.end_ns)) {
			strcpy(path, name);
			print_path(path);
			return true;
		}
		if (i && access(name, F_OK) < 0)
			break;
	}
	return false;
}

/* Write all formats. name receives the last output, also if it could not be written. ended: the
 * process had begun to write its dump. n: number of dumps made. */
static int write_formats(const struct recovery *r, struct sp_file *f, const char *path,
			 char name[SP_CONF_PATH + 16], bool ended, unsigned *n)
{
	const char *formats = r->out ? "" : sp_model_text(&f->model, f->model.h.format);
	const struct sp_format_writer *v = sp_any_format_writer_by_extension(path);
	int done = 0;

	snprintf(name, SP_CONF_PATH + 16, "%s", path);
	if (!*formats && ended && !r->out && find_dump(&f->model, name))
		return 0;
	if (!*formats) {
		++*n;
		return write_new(r, name, v ? v : sp_format_writer_of(SP_FORMAT_text), &f->model);
	}
	for (const char *p = formats; *p && done == 0; p += strcspn(p, ","), p += *p == ',') {
		v = sp_format_writer_by_name(p, strcspn(p, ","));
		if (!v)
			continue;
		snprintf(name, SP_CONF_PATH + 16, "%s", path);
		if (strchr(formats, ',') &&
		    sp_output_name_for(name, SP_CONF_PATH + 16, path, v) < 0)
			return -ENAMETOOLONG;
		if (ended && find_dump(&f->model, name))
			continue;
		++*n;
		done = write_new(r, name, v, &f->model);
	}
	return done;
}

/* Remove the file of a process that was killed before its first PAPI call was recorded. */
static bool remove_if_empty(const struct recovery *r, const char *live)
{
	char magic[8] = "";
	long n = sp_file_first(live, O_NOFOLLOW, magic, sizeof(magic));

	return n >= 0 && (n == 0 || memcmp(magic, "\0\0\0\0\0\0\0\0", sizeof(magic)) == 0) &&
	       sp_live_name_is_dead(live, r->host) && unlink(live) == 0;
}

static int report_not_written(const struct recovery *r, const char *live, const char *to, int error)
{
	char text[SP_CONF_PATH + 300];

	snprintf(text, sizeof(text),
		"the dump cannot be written to '%s' (%s): name it with -o FILE", to,
		 error == -EEXIST ? "the name exists"
		 	: sp_parent_dir_error(error) ?: strerror(-error));
	return sp_complain(1, r->verb, text, live);
}

static bool may_be_running(const struct recovery *r, const struct sp_file *f)
{
	return !r->force && sp_may_run(&f->model.h, &f->reader);
}

static int recover(const struct recovery *r, const char *live)
{
	char to[SP_CONF_PATH], name[SP_CONF_PATH + 16] = "";
	struct sp_file f;
	bool ended, torn, nothing;
	char text[300];
	unsigned n = 0;
	int e;

	if (remove_if_empty(r, live))
		return 0;
	if (sp_file_open(&f, r->verb, live))
		return 1;
	/* A symbolic link of another user could expose a private live file's dump in the link's
	 * folder. */
	if (!is_same_file(&f, live)) {
		sp_file_close(&f);
		return sp_complain(1, r->verb,
				   "a symbolic link, or replaced meanwhile: name the file itself",
				   live);
	}
	if (may_be_running(r, &f)) {
		sp_file_close(&f);
		return sp_complain(1, r->verb, "its process may still run (if not, use --force)",
				   live);
	}
	ended = f.model.h.end != SP_END_NONE;
	if (sp_is_job(&f.model) || (ended && !sp_is_live_file(live))) {
		sp_file_close(&f);
		return sp_complain(1, r->verb,
				   "not a live file, but a finished store: sspapi report shows it",
				   live);
	}
	f.model.h.end = SP_END_RECOVERED;
	torn = sp_is_torn(&f.model);
	nothing = torn && f.model.h.lists.n_relations && !f.model.tally.relations;
	e = choose_output(r, &f, live, to, sizeof(to));
	if (e == 0)
		e = write_formats(r, &f, to, name, ended, &n);
	sp_file_close(&f);
	if (n && (torn || (e == 0 && f.model.tally.damaged))) {
		snprintf(text, sizeof(text), "%s: %s%s",
			 torn ? sp_torn_text(f.model.h.torn) : "damaged",
			 torn ? nothing ? "it contains no counts"
					: "later counts are missing"
			      : "the dump has all that could be read",
			 f.model.tally.damaged || nothing ? "; it is kept" : "");
		sp_complain(0, r->verb, text, live);
	}
	if (e < 0)
		return report_not_written(r, live, *name ? name : to, e);
	if (n && (f.model.tally.damaged || nothing))
		return 1;
	if (sp_is_live_file(live) && is_same_file(&f, live) && unlink(live) < 0)
		return sp_complain(1, r->verb, strerror(errno), live);
	return 0;
}

/* Remove a live file, but no other file given by mistake. A damaged one is recognized by its
 * name. */
static int discard(const struct recovery *r, const char *live)
{
	struct sp_file f;
	bool runs;

	if (!sp_is_live_file(live))
		return sp_complain(1, r->verb, "not the name of a live file: not removed", live);
	if (sp_file_load(&f, live) == 0) {
		runs = may_be_running(r, &f);
		sp_file_close(&f);
	} else {
		runs = !r->force && !sp_live_name_is_dead(live, r->host);
	}
	if (runs)
		return sp_complain(1, r->verb, "its process may still run (if not, use --force)",
				   live);
	if (unlink(live) < 0)
		return sp_complain(1, r->verb, strerror(errno), live);
	print_path(live);
	return 0;
}

/* ---- without a file -------------------------------------------------------- */

static void add_live_file(void *live_files, const char *path, struct sp_file *f, int error)
{
	struct live_files *l = live_files;
	char to[SP_CONF_PATH] = "";
	struct live_file *one;
	const char *exe;
	struct stat s;

	l->at = sp_grow_array(l->at, &l->room, l->n + 1, sizeof(*l->at));
	one = &l->at[l->n++];
	*one = (struct live_file){ .path = sp_check_alloc(strdup(path)), .error = error };
	one->bytes = lstat(path, &s) == 0 ? (uint64_t)s.st_blocks * 512 : 0;
	if (!f)
		return;
	exe = sp_model_text(&f->model, f->model.h.process.exe);
	one->program = sp_plain(strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe);
	one->pid = f->model.h.process.pid;
	one->start_ns = f->model.h.process.start_ns;
	choose_output(l->r, f, path, to, sizeof(to));
	one->dump = sp_check_alloc(strdup(to));
	one->is_here = sp_is_below_here(to);
}

static int by_start(const void *a, const void *b)
{
	const struct live_file *x = a, *y = b;

	return SP_COMPARE(x->start_ns, y->start_ns) ?: strcmp(x->path, y->path);
}

static void print_live_file(const struct live_file *f)
{
	time_t start = (time_t)(f->start_ns / 1000000000);
	char when[32] = "-";

	if (f->start_ns)
		strftime(when, sizeof(when), "%F %T", localtime(&start));
	printf("%c %-15.15s %7.0u  %-19s  %6.1f MiB  ", f->is_here ? '*' : ' ',
	       f->program ? f->program : "-", f->pid, when, (double)f->bytes / (1 << 20));
	sp_print_plain(stdout, f->dump ? f->dump : f->path);
	printf(f->dump ? "\n" : " (%s)\n", sp_file_why(f->error, f->path));
}

static void list_live_files(const struct live_files *l)
{
	bool any = false;

	if (!l->n) {
		sp_message(l->r->verb, "no killed process has left a live file in " SP_LIVE_DIR);
		return;
	}
	printf("  %-15s %7s  %-19s  %10s  %s\n", "program", "pid", "started", "memory", "dump");
	for (uint32_t i = 0; i < l->n; i++) {
		print_live_file(&l->at[i]);
		any = any || l->at[i].is_here;
	}
	printf("\n%ssspapi recover --all writes all these dumps; with --discard it only\nremoves "
	       "the live files. sspapi recover " SP_LIVE_DIR "/*.PID.*.live writes one.\n",
	       any ? "* in or below this folder: sspapi recover writes these dumps.\n" : "");
}

/* Require a confirmation on a terminal before anything outside the current folder changes. */
static bool is_confirmed(const struct live_files *l)
{
	char answer[16] = "";

	if (l->r->yes || !l->n || !isatty(STDIN_FILENO))
		return true;
	fprintf(stderr,
		l->r->discard ? "Remove %u live file%s without a dump? [y/N] "
			      : "Write the dumps of %u live file%s in all folders? [y/N] ",
		l->n, SP_MANY(l->n));
	return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

/* Recover, discard or list this user's live files in the standard place: without --all only those
 * whose dumps go into or below the current folder. */
static int recover_found(const struct recovery *r)
{
	struct live_files l = { .r = r };
	int status = 0, e = sp_live_files(add_live_file, &l);
	unsigned done = 0;

	if (e < 0)
		return sp_complain(1, r->verb, strerror(-e), SP_LIVE_DIR);
	if (l.n)
		qsort(l.at, l.n, sizeof(*l.at), by_start);
	if (r->list) {
		list_live_files(&l);
		return 0;
	}
	if (r->all && !is_confirmed(&l))
		return sp_complain(1, r->verb, "nothing was changed", NULL);
	for (uint32_t i = 0; i < l.n; i++) {
		const struct live_file *f = &l.at[i];

		if (!r->all && !f->is_here)
			continue;
		done++;
		if (f->dump || !remove_if_empty(r, f->path))
			status |= r->discard ? discard(r, f->path) : recover(r, f->path);
	}
	if (!done && l.n)
		sp_message(r->verb,
			   "no dump was to be written in or below this folder; %u live file%s of "
			   "other runs: sspapi recover --list",
			   l.n, SP_MANY(l.n));
	return status;
}

int sp_cmd_recover(int argc, char **argv)
{
	static const struct option longs[] = { { "force", no_argument, NULL, 'F' },
					       { "discard", no_argument, NULL, 'D' },
					       { "list", no_argument, NULL, 'L' },
					       { "all", no_argument, NULL, 'A' },
					       { "yes", no_argument, NULL, 'Y' },
					       { NULL, 0, NULL, 0 } };
	struct recovery r = { .verb = argv[0] };
	int c, status = 0;

	while ((c = sp_option(argc, argv, "o:", longs, NULL)) != -1) {
		if (c == 'o')
			r.out = optarg;
		else if (c == 'F')
			r.force = true;
		else if (c == 'D')
			r.discard = true;
		else if (c == 'L')
			r.list = true;
		else if (c == 'A')
			r.all = true;
		else if (c == 'Y')
			r.yes = true;
		else
			return 2;
	}
	gethostname(r.host, sizeof(r.host) - 1);
	if (r.out && r.discard)
		return sp_complain(2, argv[0],
				   "-o is not supported with --discard, which writes "
				   "no dump",
				   NULL);
	if (optind == argc)
		return r.out ? sp_complain(2, argv[0], "-o needs exactly one live file", NULL)
			     : recover_found(&r);
	if (r.list || r.all)
		return sp_complain(2, argv[0], "--list and --all take no files", argv[optind]);
	if (r.out && argc - optind > 1)
		return sp_complain(2, argv[0], "-o needs exactly one live file", NULL);
	for (; optind < argc; optind++)
		status |= r.discard ? discard(&r, argv[optind]) : recover(&r, argv[optind]);
	return status;
}
