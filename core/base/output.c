/* output.c: makes the names of dumps and writes the files; see output.h. */
#include <linux/fs.h>

#include "run-root.h"
#include "output.h"
#include "safe-open.h"
#include "out.h"

#define MOST_SUFFIXES 10000

/* one dump at a time: enter() in preload/lifecycle/exit.c */
static char write_buffer[65536];

/* ---- names ------------------------------------------------------------ */

static void expand_letter(struct sp_out *o, const char **p, const struct sp_output_vars *vars)
{
	char name[128];
	size_t n;

	switch (*++*p) {
	case 'p':
		sp_out_u64(o, (uint64_t)vars->pid);
		break;
	case 'h':
		sp_out_text(o, vars->host);
		break;
	case 'e':
		sp_out_text(o, vars->program);
		break;
	case 'r':
		sp_out_u64(o, vars->rank < 0 ? 0 : (uint64_t)vars->rank);
		break;
	case 'j':
		sp_out_text(o, vars->job ? vars->job : "0");
		break;
	case 's':
		sp_out_text(o, vars->step ? vars->step : "0");
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

int sp_output_expand(char *path, size_t room, const char *template,
		     const struct sp_output_vars *vars)
{
	struct sp_out o;

	sp_out_init(&o, -1, path, room - 1);
	if (*template != '/') {
		sp_out_text(&o, vars->dir);
		sp_out_char(&o, '/');
	}
	for (const char *p = template; *p; p++) {
		if (*p == '%')
			expand_letter(&o, &p, vars);
		else
			sp_out_char(&o, *p);
	}
	path[o.used] = 0;
	return o.error ? -ENAMETOOLONG : 0;
}

/* The length of path without a known extension. */
static size_t stem(const char *path)
{
	const struct sp_format *format = sp_format_by_extension(path);

	return strlen(path) - (format ? strlen(format->extension) : 0);
}

int sp_output_name_for(char *to, size_t room, const char *path,
		       const struct sp_format_writer *writer)
{
	size_t n = stem(path);

	if (n + strlen(writer->extension) + 1 > room)
		return -ENAMETOOLONG;
	memcpy(to, path, n);
	strcpy(to + n, writer->extension);
	return 0;
}

int sp_output_candidate(char *to, size_t room, const char *path, const struct sp_output_vars *vars,
			unsigned i)
{
	size_t n = stem(path);
	char number[32];
	const char *base = strrchr(path, '/');
	const char *last = strrchr(base ? base : path, '.');
	struct sp_out o;

	if (n == strlen(path) && last && last > (base ? base + 1 : path))
		n = (size_t)(last - path);	/* an unknown extension */
	sp_out_init(&o, -1, to, room - 1);
	sp_out_bytes(&o, path, i ? n : strlen(path));
	if (i) {
		sp_path_f(number, sizeof(number), i > 1 ? ".%d.%u" : ".%d", vars->pid, i);
		sp_out_char(&o, '.');
		sp_out_text(&o, vars->host);
		sp_out_text(&o, number);
		sp_out_text(&o, path + n);
	}
	to[o.used] = 0;
	return o.error ? -ENAMETOOLONG : 0;
}

/* A unique name in the folder of path: /folder/.base.PID.what */
static int make_temporary_name(char *to, size_t room, const char *path,
			       const struct sp_output_vars *vars, const char *suffix, unsigned i)
{
	const char *base = strrchr(path, '/') + 1;
	struct sp_out o;

	sp_out_init(&o, -1, to, room - 1);
	sp_out_bytes(&o, path, (size_t)(base - path));
	sp_out_char(&o, '.');
	sp_out_bytes(&o, base, strnlen(base, 200));	/* NAME_MAX is 255 */
	sp_out_char(&o, '.');
	sp_out_u64(&o, (uint64_t)vars->pid);
	sp_out_char(&o, '.');
	sp_out_text(&o, suffix);
	if (i)
		sp_out_u64(&o, i);
	to[o.used] = 0;
	return o.error ? -ENAMETOOLONG : 0;
}

/* ---- writing: names are relative to the open folder ----------------------- */

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int open_in(int dir, const char *path, int flags, int mode)
{
	return (int)sp_sys_whole(SYS_openat, dir, last_of(path), flags | O_NOFOLLOW | O_CLOEXEC,
				 mode);
}

static void remove_in(int dir, const char *path)
{
	(void)sp_sys(SYS_unlinkat, dir, last_of(path), 0);
}

int sp_output_write_fd(int fd, bool own, const struct sp_format_writer *writer,
		       const struct sp_selection *s)
{
	struct sp_out o;

	sp_out_init(&o, fd, write_buffer, sizeof(write_buffer));
	o.own = own;
	sp_out_shared(&o, SP_OUT_PATIENCE);
	writer->write(&o, s);
	return sp_out_finish(&o);
}

/* Write to a device, FIFO or symbolic link (/dev/stdout). Append, since the application may write
 * to the same file. Open it without blocking: the reader of a FIFO may stall while the application
 * wants to exit. */
static int write_special(const char *path, const struct sp_format_writer *writer,
			 const struct sp_selection *s)
{
	int fd = sp_safe_open_special(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK), r;

	if (fd < 0)
		/* ENXIO: a FIFO without a reader, for which it could wait for ever, or no terminal,
		 * or a socket */
		return fd;
	r = sp_output_write_fd(fd, false, writer, s);
	sp_close(fd);
	return r;
}

/* Encode the writer of a file in the nanoseconds of its access time: its pid, and a hash of its
 * host and pid namespace. A second has room for 238 hashes. */
#define WRITER_PID	(1u << 22)	/* the kernel's PID_MAX_LIMIT */
static uint32_t writer_in(const struct sp_output_vars *vars, uint64_t pid_ns)
{
	uint32_t at = (uint32_t)pid_ns;

	for (const char *p = vars->host; *p; p++)
		at = at * 31 + (unsigned char)*p;
	return at % 238 * WRITER_PID + (uint32_t)vars->pid % WRITER_PID;
}

static uint32_t writer_of(const struct sp_output_vars *vars)
{
	struct stat ns = { 0 };

	(void)sp_sys(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &ns, 0);
	return writer_in(vars, ns.st_ino);
}

/* Set the times. The kernel's time stamps are up to 4 ms old, more than a short program runs, and a
 * later run compares them with its start. The access time carries the writer. It is ahead of the
 * others, so that reading the file does not change it under relatime, the kernel's default. */
#define ACCESS_AHEAD	60		/* seconds */
static void stamp(int fd, const struct sp_output_vars *vars)
{
	uint64_t now = sp_now_ns();
	struct timespec t[2] = { { .tv_nsec = writer_of(vars) } };

	t[1].tv_sec = (time_t)(now / 1000000000u);
	t[1].tv_nsec = (long)(now % 1000000000u);
	t[0].tv_sec = t[1].tv_sec + ACCESS_AHEAD;
	(void)sp_sys(SYS_utimensat, fd, NULL, t, 0);
}

/* Returns r, or the error of close if r is 0: a network file system may report only now that its
 * disk is full. */
static int close_written(int fd, int r)
{
	long closed = sp_sys(SYS_close, fd);

	return r == 0 && closed < 0 && closed != -EINTR ? (int)closed : r;
}

static int write_temporary(int dir, char *temp, size_t room, const char *path,
			   const struct sp_output_vars *vars, const struct sp_format_writer *writer,
			   const struct sp_selection *s)
{
	int fd = -EEXIST, r;

	for (unsigned i = 0; fd == -EEXIST && i < 100; i++) {
		r = make_temporary_name(temp, room, path, vars, "part", i);
		if (r < 0)
			return r;
		fd = open_in(dir, temp, O_WRONLY | O_CREAT | O_EXCL, 0666);
	}
	if (fd < 0)
		return fd;
	r = sp_output_write_fd(fd, true, writer, s);
	stamp(fd, vars);
	r = close_written(fd, r);
	if (r < 0)
		remove_in(dir, temp);
	return r;
}

/* ---- taking a name ---------------------------------------------------- */

struct identity {
	uint64_t dev, ino, mtime_ns;
	uint32_t writer;		/* set by stamp(); 0: unknown */
	bool regular, present;
};

static struct identity identify(int dir, const char *path)
{
	struct identity id = { 0 };
	struct stat s;

	if (sp_sys(SYS_newfstatat, dir, dir == AT_FDCWD ? path : last_of(path), &s,
		   AT_SYMLINK_NOFOLLOW) < 0)
		return id;
	id.present = true;
	id.dev = s.st_dev;
	id.ino = s.st_ino;
	id.regular = S_ISREG(s.st_mode);
	id.writer = s.st_atim.tv_sec == s.st_mtim.tv_sec + ACCESS_AHEAD
			    ? (uint32_t)s.st_atim.tv_nsec
			    : 0;
	id.mtime_ns = (uint64_t)s.st_mtim.tv_sec * 1000000000u + (uint64_t)s.st_mtim.tv_nsec;
	return id;
}

bool sp_output_is_by(const char *path, const struct sp_output_vars *vars, uint64_t pid_ns,
		     uint64_t since_ns)
{
	struct identity id = identify(AT_FDCWD, path);

	return id.regular && id.writer == writer_in(vars, pid_ns) && id.mtime_ns >= since_ns;
}

bool sp_output_is_special(const char *path)
{
	struct identity id = identify(AT_FDCWD, path);

	return id.present && !id.regular;
}

static bool is_own_file(const struct sp_output *o, const struct identity *id)
{
	for (unsigned i = 0; i < o->n_own_files; i++)
		if (o->own_files[i].dev == id->dev && o->own_files[i].ino == id->ino)
			return true;
	return false;
}

static bool same_file(const struct identity *a, const struct identity *b)
{
	return a->present && b->present && a->dev == b->dev && a->ino == b->ino;
}

/* Copy into a new file, for a file system that can neither link nor rename without replacing. A
 * concurrent reader sees a part. */
static int copy(int dir, const char *temp, const char *name, struct identity *id)
{
	int from = open_in(dir, temp, O_RDONLY, 0), to = from;
	struct timespec times[2];
	struct stat s = { 0 };
	long r = from, n;

	if (r >= 0)
		r = sp_sys(SYS_newfstatat, from, "", &s, AT_EMPTY_PATH);
	times[0] = s.st_atim;
	times[1] = s.st_mtim;
	if (r >= 0)
		r = to = open_in(dir, name, O_WRONLY | O_CREAT | O_EXCL, s.st_mode & 0777);
	if (r >= 0) {
		while ((n = sp_sys_whole(SYS_read, from, write_buffer, sizeof(write_buffer))) > 0 &&
		       r >= 0)
			r = sp_write_all(to, write_buffer, (size_t)n);
		(void)sp_sys(SYS_utimensat, to, NULL, times, 0);
		r = close_written(to, (int)(r < 0 ? r : n));
		*id = identify(dir, name);
		if (r < 0)
			remove_in(dir, name);
	}
	sp_close(from);
	return (int)r;
}

/* Give temp the name unless it exists, by link(2) or O_EXCL. Returns 0 with the file's identity in
 * *id, -EEXIST or another -errno. Compare the files after an error: a server may have made the link
 * and lost its answer. */
static int take(int dir, const char *temp, const char *name, struct identity *id)
{
	const char *from = last_of(temp), *to = last_of(name);
	struct identity present;
	long r = sp_sys_whole(SYS_linkat, dir, from, dir, to, 0);

	*id = identify(dir, temp);
	present = identify(dir, name);
	if (same_file(&present, id))
		r = 0;
	if (r < 0 && r != -EEXIST)
		r = sp_sys_whole(SYS_renameat2, dir, from, dir, to, RENAME_NOREPLACE);
	if (r < 0 && r != -EEXIST) {
		present = identify(dir, name);
		r = same_file(&present, id) ? 0 : copy(dir, temp, name, id);
	}
	if (r == 0)
		remove_in(dir, temp);
	return (int)r;
}

int sp_output_take(int dir, const char *temp, const char *name)
{
	struct identity id;

	return take(dir, temp, name, &id);
}

/* Replace the file of an earlier run: move it away first, and back if it turns out to be another
 * file. */
static int replace(int dir, const char *temp, const char *name, const struct identity *old,
		   const struct sp_output_vars *vars, struct identity *id)
{
	char old_name[SP_CONF_PATH];
	struct identity moved;
	int r = make_temporary_name(old_name, sizeof(old_name), name, vars, "old", 0);

	if (r < 0)
		return r;
	if (sp_sys_whole(SYS_renameat2, dir, last_of(name), dir, last_of(old_name), 0) < 0)
		return -EEXIST;
	moved = identify(dir, old_name);
	if (!same_file(&moved, old)) {
		/* if that fails the file stays under the other name */
		(void)take(dir, old_name, name, id);
		return -EEXIST;
	}
	r = take(dir, temp, name, id);
	remove_in(dir, old_name);
	return r;
}

/* more than the processes that start in 10 ms, and half of the smallest pid_max */
#define PID_DISTANCE	16384

/* Returns whether the file is older than the run. In the 10 ms by which the run's start is
 * uncertain compare the pids, which the kernel assigns in ascending order. A file without a known
 * writer was not written by a process of the run. */
static bool is_earlier(const struct identity *old, const struct sp_run *run,
		       const struct sp_output_vars *vars, uint64_t own_start_ns)
{
	uint32_t own = writer_of(vars);
	int before = run->pid - (int)(old->writer % WRITER_PID);

	if (old->mtime_ns < run->start_ns)
		return true;
	if (old->mtime_ns >= sp_min(run->start_ns + SP_START_KNOWN_TO, own_start_ns))
		return false;
	if (!old->writer)
		return run->pid == vars->pid;
	return old->writer / WRITER_PID == own / WRITER_PID && before &&
	       (before > 0) == (before < PID_DISTANCE && before > -PID_DISTANCE);
}

/* Take the name, replace an earlier run's file, or try the next candidate. *id identifies the new
 * file. */
static int replace_or_rename(struct sp_output *o, int dir, const char *temp, const char *path,
			     const struct sp_output_vars *vars, struct identity *id)
{
	struct sp_run run = { 0 };

	for (unsigned i = 0; i < MOST_SUFFIXES; i++) {
		struct identity old;
		int r = sp_output_candidate(o->path, sizeof(o->path), path, vars, i);

		if (r < 0)
			return r;
		r = take(dir, temp, o->path, id);
		if (r != -EEXIST)
			return r;
		old = identify(dir, o->path);
		if (is_own_file(o, &old))
			return (int)sp_sys_whole(SYS_renameat2, dir, last_of(temp), dir,
						 last_of(o->path), 0);
		if (!run.pid)
			run = sp_run_find(o->own_start_ns);
		if (!old.regular || !is_earlier(&old, &run, vars, o->own_start_ns))
			continue;
		r = replace(dir, temp, o->path, &old, vars, id);
		if (r != -EEXIST)
			return r;
	}
	return -EEXIST;
}

static int write_in(struct sp_output *o, int dir, const char *path,
		    const struct sp_output_vars *vars, const struct sp_format_writer *writer,
		    const struct sp_selection *s)
{
	char temp[SP_CONF_PATH];
	struct identity id = identify(dir, path);
	int r;

	if (id.present && !id.regular)
		return write_special(path, writer, s);
	r = write_temporary(dir, temp, sizeof(temp), path, vars, writer, s);
	if (r < 0)
		return r;
	r = replace_or_rename(o, dir, temp, path, vars, &id);
	if (r < 0) {
		remove_in(dir, temp);
		return r;
	}
	if (!is_own_file(o, &id) && o->n_own_files < SP_OUTPUT_FILES) {
		o->own_files[o->n_own_files].dev = id.dev;
		o->own_files[o->n_own_files++].ino = id.ino;
	}
	return 0;
}

int sp_output_write(struct sp_output *o, const char *path, const struct sp_output_vars *vars,
		    const struct sp_format_writer *writer, const struct sp_selection *s)
{
	struct sp_parent_dir p;
	int r;

	strncpy(o->path, path, sizeof(o->path) - 1);
	if (path[strlen(path) - 1] == '/')
		return -EISDIR;
	r = sp_parent_dir_open(&p, path, SP_PARENT_DIR_CREATE);
	if (r == 0)
		r = write_in(o, p.fd, path, vars, writer, s);
	sp_parent_dir_close(&p);
	return r;
}
