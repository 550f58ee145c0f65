/* cmd-recover.c: makes the dump that a killed process did not write, from its live
 * file, which goes once the dump is safe; or only lets that go.
 *
 * The dump goes where the process would have put it only if the live file is the
 * caller's own, has the name that it was made with and nobody else could write it: its
 * bytes name the place.  Otherwise it goes beside the live file: root must not make a file of
 * a stranger's choice, nor from the copy of a stranger's that is root's by now.  Nothing
 * that exists is replaced; what the process wrote itself, before it was killed, is not made again.
 */
#include <dirent.h>
#include <getopt.h>

#include "../../base/safe-open.h"
#include "../../base/output.h"
#include "../../store/live.h"
#include "../files/file.h"
#include "../report/page.h"
#include "../tool/cmd.h"
#include "../tool/temp-file.h"

struct recovery {
	const char *verb, *out;		/* -o, or NULL */
	bool force, discard;
	char host[65];
};

static void say(const char *path)
{
	sp_print_plain(stdout, path);
	putchar('\n');
}

static bool still_the_same(const struct sp_file *f, const char *path)
{
	struct stat s;

	return lstat(path, &s) == 0 && (uint64_t)s.st_dev == f->dev && (uint64_t)s.st_ino == f->ino;
}

static bool trusted(const struct sp_file *f, const char *path)
{
	return f->uid == geteuid() && !(f->mode & 022) && still_the_same(f, path) &&
	       sp_live_is_of(path, geteuid());
}

/* What a dump was to be written into rather than to take the name of. */
static bool is_special(const char *path)
{
	struct stat s;

	return lstat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode) &&
	       !S_ISLNK(s.st_mode);
}

/* Where to: -o, the process's own place, or the live file's name with another end. */
static int place(const struct recovery *r, const struct sp_file *f, const char *live, char *to,
		 size_t room)
{
	const char *own = sp_model_text(&f->model, f->model.h.output);
	size_t n = strlen(live);

	if (r->out || (trusted(f, live) && *own == '/' && !is_special(own)))
		return snprintf(to, room, "%s", r->out ? r->out : own) < (int)room ? 0
										   : -ENAMETOOLONG;
	if (sp_live_is(live))
		n -= strlen(".live");
	return snprintf(to, room, "%.*s.txt", (int)n, live) < (int)room ? 0 : -ENAMETOOLONG;
}

/* As the process itself would have named it, but over nothing at all. */
static int take_name(const struct recovery *r, const struct sp_model *m, char *path)
{
	struct sp_who who = { .host = sp_model_text(m, m->h.process.host),
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

/* Over nothing.  path has room for SP_CONF_PATH + 16 and is where it went. */
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
		say(path);
	return r;
}

/* Is the dump there that the process began to write, whole as it is once it has its name?  Then
 * path is where. */
static bool is_there(const struct sp_model *m, char *path)
{
	struct sp_who who = { .host = sp_model_text(m, m->h.process.host),
			      .pid = (int)m->h.process.pid };
	char name[SP_CONF_PATH + 16];

	for (unsigned i = 0; i < 1000 && !strchr(who.host, '/') &&
			     sp_output_candidate(name, sizeof(name), path, &who, i) == 0;
	     i++) {
		if (sp_output_is_by(name, &who, m->h.process.pid_ns, m->h.process.end_ns)) {
			strcpy(path, name);
			say(path);
			return true;
		}
		if (i && access(name, F_OK) < 0)
			break;
	}
	return false;
}

/* name: where the last one went, or could not go.  ended: the process had begun to write its dump.
 * *n: how many were made. */
static int write_formats(const struct recovery *r, struct sp_file *f, const char *path,
			 char name[SP_CONF_PATH + 16], bool ended, unsigned *n)
{
	const char *formats = r->out ? "" : sp_model_text(&f->model, f->model.h.format);
	const struct sp_format_writer *v = sp_any_format_writer_by_extension(path);
	int done = 0;

	snprintf(name, SP_CONF_PATH + 16, "%s", path);
	if (!*formats && ended && !r->out && is_there(&f->model, name))
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
		if (ended && is_there(&f->model, name))
			continue;
		++*n;
		done = write_new(r, name, v, &f->model);
	}
	return done;
}

/* Killed between making the file and the first call of PAPI that it could tell of:
 * nothing is in it. */
static bool never_began(const struct recovery *r, const char *live)
{
	char magic[8] = "";
	long n = sp_file_first(live, O_NOFOLLOW, magic, sizeof(magic));

	return n >= 0 && (n == 0 || memcmp(magic, "\0\0\0\0\0\0\0\0", sizeof(magic)) == 0) &&
	       sp_live_name_is_dead(live, r->host) && unlink(live) == 0;
}

static int not_written(const struct recovery *r, const char *live, const char *to, int error)
{
	char text[SP_CONF_PATH + 300];

	snprintf(text, sizeof(text),
		"the dump cannot be written to '%s' (%s): say where to with -o FILE", to,
		 error == -EEXIST ? "something of that name is there"
		 	: sp_parent_dir_error(error) ?: strerror(-error));
	return sp_complain(1, r->verb, text, live);
}

static bool may_run(const struct recovery *r, const struct sp_file *f)
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

	if (never_began(r, live))
		return 0;
	if (sp_file_open(&f, r->verb, live))
		return 1;
	/* A link of a stranger's to one that only the caller may read would lay its dump open
	 * beside the link. */
	if (!still_the_same(&f, live)) {
		sp_file_close(&f);
		return sp_complain(1, r->verb,
				   "a symbolic link, or exchanged meanwhile: name the file itself",
				   live);
	}
	if (may_run(r, &f)) {
		sp_file_close(&f);
		return sp_complain(
			1, r->verb,
			"its process may still live (--force, if you know that it does not)", live);
	}
	ended = f.model.h.end != SP_END_NONE;
	f.model.h.end = SP_END_RECOVERED;
	torn = sp_is_torn(&f.model);
	nothing = torn && f.model.h.lists.n_relations && !f.model.tally.relations;
	e = place(r, &f, live, to, sizeof(to));
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
		return not_written(r, live, *name ? name : to, e);
	if (n && (f.model.tally.damaged || nothing))
		return 1;
	if (sp_live_is(live) && still_the_same(&f, live) && unlink(live) < 0)
		return sp_complain(1, r->verb, strerror(errno), live);
	return 0;
}

/* Nothing but a live file: not a dump that somebody named by mistake.  One that cannot be read any
 * more is told by its name. */
static int discard(const struct recovery *r, const char *live)
{
	struct sp_file f;
	bool runs;

	if (!sp_live_is(live))
		return sp_complain(1, r->verb, "not the name of a live file: the file is left",
				   live);
	if (sp_file_load(&f, live) == 0) {
		runs = may_run(r, &f);
		sp_file_close(&f);
	} else {
		runs = !r->force && !sp_live_name_is_dead(live, r->host);
	}
	if (runs)
		return sp_complain(
			1, r->verb,
			"its process may still live (--force, if you know that it does not)", live);
	if (unlink(live) < 0)
		return sp_complain(1, r->verb, strerror(errno), live);
	say(live);
	return 0;
}

/* All of this user's dead ones in the standard place. */
static int recover_all(const struct recovery *r)
{
	DIR *d = opendir(SP_LIVE_DIR);
	struct dirent *e;
	char path[512];
	int status = 0;

	if (!d)
		return sp_complain(1, r->verb, strerror(errno), SP_LIVE_DIR);
	while ((e = readdir(d)) != NULL) {
		struct stat s;
		struct sp_file f;
		bool loaded, leave;

		snprintf(path, sizeof(path), SP_LIVE_DIR "/%s", e->d_name);
		if (!sp_live_is(path) || lstat(path, &s) < 0 || s.st_uid != geteuid())
			continue;
		if (never_began(r, path))
			continue;
		loaded = sp_file_load(&f, path) == 0;
		/* its process lives, or has just ended */
		leave = loaded ? may_run(r, &f) : lstat(path, &s) < 0;
		if (loaded)
			sp_file_close(&f);
		if (!leave)
			status |= r->discard ? discard(r, path) : recover(r, path);
	}
	closedir(d);
	return status;
}

int sp_cmd_recover(int argc, char **argv)
{
	static const struct option longs[] = { { "force", no_argument, NULL, 'F' },
					       { "discard", no_argument, NULL, 'D' },
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
		else
			return 2;
	}
	gethostname(r.host, sizeof(r.host) - 1);
	if (r.out && r.discard)
		return sp_complain(2, argv[0], "--discard makes no dump: -o does not go with it",
				   NULL);
	if (optind == argc)
		return r.out ? sp_complain(2, argv[0], "-o goes with one live file", NULL)
			     : recover_all(&r);
	if (r.out && argc - optind > 1)
		return sp_complain(2, argv[0], "-o goes with one live file", NULL);
	for (; optind < argc; optind++)
		status |= r.discard ? discard(&r, argv[optind]) : recover(&r, argv[optind]);
	return status;
}
