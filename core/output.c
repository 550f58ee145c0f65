/* output.c: names of dumps and how they are taken; see output.h. */
#include <linux/fs.h>
#include <string.h>
#include <time.h>

#include "lineage.h"
#include "output.h"
#include "sys.h"

#define MOST_SUFFIXES 10000

static char write_buffer[65536];	/* one dump at a time: the door is won once (preload/life/end.c) */

/* ---- names ------------------------------------------------------------ */

static void expand_letter(struct sp_out *o, const char **p, const struct sp_who *who)
{
	char name[128];
	size_t n;

	switch (*++*p) {
	case 'p':
		sp_out_u64(o, (uint64_t)who->pid);
		break;
	case 'h':
		sp_out_text(o, who->host);
		break;
	case 'e':
		sp_out_text(o, who->program);
		break;
	case 'r':
		sp_out_u64(o, who->rank < 0 ? 0 : (uint64_t)who->rank);
		break;
	case 'j':
		sp_out_text(o, who->job ? who->job : "0");
		break;
	case 's':
		sp_out_text(o, who->step ? who->step : "0");
		break;
	case 'q':
		n = strcspn(*p + 2, "}");
		if (n < sizeof(name)) {
			memcpy(name, *p + 2, n);
			name[n] = 0;
			if (sp_conf_env(name))
				sp_out_text(o, sp_conf_env(name));
		}
		*p += n + 2;
		break;
	default:
		sp_out_char(o, '%');
	}
}

int sp_output_expand(char *path, size_t room, const char *template, const struct sp_who *who)
{
	struct sp_out o;

	sp_out_init(&o, -1, path, room - 1);
	if (*template != '/') {
		sp_out_text(&o, who->folder);
		sp_out_char(&o, '/');
	}
	for (const char *p = template; *p; p++) {
		if (*p == '%')
			expand_letter(&o, &p, who);
		else
			sp_out_char(&o, *p);
	}
	path[o.used] = 0;
	return o.error ? -ENAMETOOLONG : 0;
}

/* Where the known extension of the last part of path starts, or its end. */
static size_t stem(const char *path)
{
	const struct sp_view *v = sp_view_by_extension(path);

	return strlen(path) - (v ? strlen(v->extension) : sp_has_extension(path, SP_PAGE_EXTENSION) ? strlen(SP_PAGE_EXTENSION) : 0);
}

int sp_output_name_for(char *to, size_t room, const char *path, const struct sp_view *view)
{
	size_t n = stem(path);

	if (n + strlen(view->extension) + 1 > room)
		return -ENAMETOOLONG;
	memcpy(to, path, n);
	strcpy(to + n, view->extension);
	return 0;
}

int sp_output_candidate(char *to, size_t room, const char *path, const struct sp_who *who, unsigned i)
{
	size_t n = stem(path), dot;
	const char *base = strrchr(path, '/');
	const char *last = strrchr(base ? base : path, '.');
	struct sp_out o;

	if (n == strlen(path) && last && last > (base ? base + 1 : path))
		n = (size_t)(last - path);	/* an extension that is not ours */
	dot = n;
	sp_out_init(&o, -1, to, room - 1);
	sp_out_bytes(&o, path, i ? dot : strlen(path));
	if (i) {
		sp_out_char(&o, '.');
		sp_out_text(&o, who->host);
		sp_out_char(&o, '.');
		sp_out_u64(&o, (uint64_t)who->pid);
		if (i > 1) {
			sp_out_char(&o, '.');
			sp_out_u64(&o, i);
		}
		sp_out_text(&o, path + dot);
	}
	to[o.used] = 0;
	return o.error ? -ENAMETOOLONG : 0;
}

/* A name beside path that nobody else uses: /folder/.base.PID.what */
static int beside(char *to, size_t room, const char *path, const struct sp_who *who, const char *what, unsigned i)
{
	const char *base = strrchr(path, '/') + 1;
	struct sp_out o;

	sp_out_init(&o, -1, to, room - 1);
	sp_out_bytes(&o, path, (size_t)(base - path));
	sp_out_char(&o, '.');
	sp_out_bytes(&o, base, strnlen(base, 200));	/* NAME_MAX is 255 */
	sp_out_char(&o, '.');
	sp_out_u64(&o, (uint64_t)who->pid);
	sp_out_char(&o, '.');
	sp_out_text(&o, what);
	if (i)
		sp_out_u64(&o, i);
	to[o.used] = 0;
	return o.error ? -ENAMETOOLONG : 0;
}

/* ---- writing ---------------------------------------------------------- */

int sp_output_write_fd(int fd, const struct sp_view *view, const struct sp_show *s)
{
	struct sp_out o;

	sp_out_init(&o, fd, write_buffer, sizeof(write_buffer));
	sp_out_shared(&o, SP_OUT_PATIENCE);
	view->write(&o, s);
	return sp_out_finish(&o);
}

/* May a symbolic link be followed?  One that another user laid to where he cannot write himself, not:
 * in /tmp anybody can lay one. */
static int may_follow(const char *path, bool *link)
{
	struct stat s;
	long r = sp_sys(SYS_newfstatat, AT_FDCWD, path, &s, AT_SYMLINK_NOFOLLOW);

	*link = r == 0 && S_ISLNK(s.st_mode);
	if (r < 0 || !*link)
		return (int)r;
	return s.st_uid == 0 || s.st_uid == (uid_t)sp_sys(SYS_geteuid) ? 0 : -ELOOP;
}

/* A device, a FIFO, a symbolic link (/dev/stdout): opened and written, never
 * replaced.  Appending: behind it may be a file that the application writes.  It stays
 * non-blocking, for us alone: who reads a FIFO may stall, and the application wants to end. */
static int write_special(const char *path, const struct sp_view *view, const struct sp_show *s)
{
	bool link;
	int fd, r = may_follow(path, &link);

	if (r < 0)
		return r;
	fd = sp_open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | (link ? 0 : O_NOFOLLOW), 0);
	if (fd < 0)
		return fd;		/* ENXIO: a FIFO that nobody reads (waiting could be for ever), no terminal, a socket */
	r = sp_output_write_fd(fd, view, s);
	sp_close(fd);
	return r;
}

/* Of a process in a step of a batch job: what its dump's time has below the millisecond.  Two `srun`
 * lines of one job have no process in common that would say that they are one run, and a file's form
 * need not name the job.  0: in no job. */
#define MARKS	1000000u		/* JJJSSS: from the job, and from the step */
static uint32_t mark_of(const struct sp_who *who)
{
	uint32_t job = 0, step = 0;

	for (const char *p = who->job; p && *p; p++)
		job = job * 31 + (unsigned char)*p;
	for (const char *p = who->step; p && *p; p++)	/* 10 n + digit: steps that differ by less than 999 differ */
		step = (step * 10 + (unsigned char)*p - '0') % 999;
	return who->job ? (1 + job % 999) * 1000 + (who->step ? 1 + step : 0) : 0;
}

static bool is_of_another_step(uint64_t mtime_ns, const struct sp_who *who)
{
	uint32_t own = mark_of(who), mark = (uint32_t)(mtime_ns % MARKS);

	return own && mark / 1000 == own / 1000 && mark != own;
}

/* The kernel's own stamp is up to 4 ms old, which is more than a short program
 * runs: a later run asks whether this file is older than it.  The time of access
 * carries the pid in its fraction: a program that exec starts in the same process
 * finds there what the one before it wrote. */
static void stamp(int fd, const struct sp_who *who)
{
	uint64_t now = sp_now_ns(), mark = mark_of(who);
	struct timespec t[2] = { { .tv_nsec = who->pid } };

	if (mark)			/* not before now: the run's own files must not look older than it */
		now = (now / MARKS + 1) * MARKS + mark;
	t[0].tv_sec = t[1].tv_sec = (time_t)(now / 1000000000u);
	t[1].tv_nsec = (long)(now % 1000000000u);
	(void)sp_sys(SYS_utimensat, fd, NULL, t, 0);
}

static int write_temporary(char *temp, size_t room, const char *path, const struct sp_who *who,
			   const struct sp_view *view, const struct sp_show *s)
{
	int fd = -EEXIST, r;

	for (unsigned i = 0; fd == -EEXIST && i < 100; i++) {
		r = beside(temp, room, path, who, "part", i);
		if (r < 0)
			return r;
		fd = sp_open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
	}
	if (fd < 0)
		return fd;
	r = sp_output_write_fd(fd, view, s);
	stamp(fd, who);
	sp_close(fd);
	if (r < 0)
		(void)sp_sys(SYS_unlinkat, AT_FDCWD, temp, 0);
	return r;
}

/* ---- taking a name ---------------------------------------------------- */

struct identity {
	uint64_t dev, ino, mtime_ns;
	int written_by;			/* what stamp() left, if nobody has read it since */
	bool regular, there;
};

static struct identity identify(const char *path)
{
	struct identity id = { 0 };
	struct stat s;

	if (sp_sys(SYS_newfstatat, AT_FDCWD, path, &s, AT_SYMLINK_NOFOLLOW) < 0)
		return id;
	id.there = true;
	id.dev = s.st_dev;
	id.ino = s.st_ino;
	id.regular = S_ISREG(s.st_mode);
	id.written_by = s.st_atim.tv_sec == s.st_mtim.tv_sec ? (int)s.st_atim.tv_nsec : 0;
	id.mtime_ns = (uint64_t)s.st_mtim.tv_sec * 1000000000u + (uint64_t)s.st_mtim.tv_nsec;
	return id;
}

bool sp_output_is_special(const char *path)
{
	struct identity id = identify(path);

	return id.there && !id.regular;
}

int sp_output_make_folders(char *path)
{
	for (char *p = *path ? strchr(path + 1, '/') : NULL; p; p = strchr(p + 1, '/')) {
		long r;

		*p = 0;
		r = sp_sys(SYS_mkdirat, AT_FDCWD, path, 0777);
		/* A refusal may be of a folder that is there all the same. */
		if ((r == -EACCES || r == -EROFS) && identify(path).there)
			r = 0;
		*p = '/';
		if (r < 0 && r != -EEXIST && r != -EISDIR)
			return (int)r;
	}
	return 0;
}

static bool mine(const struct sp_output *o, const struct identity *id)
{
	for (unsigned i = 0; i < o->n_mine; i++)
		if (o->mine[i].dev == id->dev && o->mine[i].ino == id->ino)
			return true;
	return false;
}

/* temp becomes name unless there is one: 0, -EEXIST, or another -errno. */
static int take(const char *temp, const char *name)
{
	long r = sp_sys(SYS_linkat, AT_FDCWD, temp, AT_FDCWD, name, 0);

	if (r == 0) {
		(void)sp_sys(SYS_unlinkat, AT_FDCWD, temp, 0);
		return 0;
	}
	if (r == -EEXIST)
		return -EEXIST;
	/* A file system without hard links. */
	return (int)sp_sys(SYS_renameat2, AT_FDCWD, temp, AT_FDCWD, name, RENAME_NOREPLACE);
}

/* The file of an earlier run gives its name up: it is moved aside first, and put
 * back if it was not that file any more that we moved. */
static int replace(const char *temp, const char *name, const struct identity *old, const struct sp_who *who)
{
	char aside[SP_CONF_PATH];
	struct identity moved;
	int r = beside(aside, sizeof(aside), name, who, "old", 0);

	if (r < 0)
		return r;
	if (sp_sys(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, aside, 0) < 0)
		return -EEXIST;
	moved = identify(aside);
	if (moved.dev != old->dev || moved.ino != old->ino) {
		(void)take(aside, name);	/* where that fails it stays under the other name: not lost */
		return -EEXIST;
	}
	r = take(temp, name);
	(void)sp_sys(SYS_unlinkat, AT_FDCWD, aside, 0);
	return r;
}

static int settle(struct sp_output *o, const char *temp, const char *path, const struct sp_who *who)
{
	uint64_t run = 0;

	for (unsigned i = 0; i < MOST_SUFFIXES; i++) {
		struct identity old;
		int r = sp_output_candidate(o->path, sizeof(o->path), path, who, i);

		if (r < 0)
			return r;
		r = take(temp, o->path);
		if (r != -EEXIST)
			return r;
		old = identify(o->path);
		if (mine(o, &old))
			return (int)sp_sys(SYS_renameat2, AT_FDCWD, temp, AT_FDCWD, o->path, 0);
		if (!run)
			run = sp_run_find(o->own_start_ns).start_ns;
		if (!old.regular || old.mtime_ns >= run || old.written_by == who->pid || is_of_another_step(old.mtime_ns, who))
			continue;
		r = replace(temp, o->path, &old, who);
		if (r != -EEXIST)
			return r;
	}
	return -EEXIST;
}

int sp_output_write(struct sp_output *o, const char *path, const struct sp_who *who, const struct sp_view *view,
		    const struct sp_show *s)
{
	char temp[SP_CONF_PATH];
	struct identity id;
	int r;

	strncpy(o->path, path, sizeof(o->path) - 1);
	if (path[strlen(path) - 1] == '/')
		return -EISDIR;
	if (sp_output_is_special(path))
		return write_special(path, view, s);
	r = sp_output_make_folders(o->path);
	if (r < 0)
		return r;
	r = write_temporary(temp, sizeof(temp), path, who, view, s);
	if (r < 0)
		return r;
	id = identify(temp);
	r = settle(o, temp, path, who);
	if (r < 0) {
		(void)sp_sys(SYS_unlinkat, AT_FDCWD, temp, 0);
		return r;
	}
	if (!mine(o, &id) && o->n_mine < SP_OUTPUT_FILES) {
		o->mine[o->n_mine].dev = id.dev;
		o->mine[o->n_mine++].ino = id.ino;
	}
	return 0;
}
