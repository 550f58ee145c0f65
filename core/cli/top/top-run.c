/* top-run.c: see top-run.h. */
#include <dirent.h>
#include <sys/resource.h>
#include <sys/sendfile.h>

#include "../../base/run-root.h"
#include "../../store/blocks.h"
#include "../../store/live.h"
#include "../tool/cmd.h"
#include "top-run.h"

/* ---- which processes -------------------------------------------------- */

bool sp_top_is_file_of(int fd, unsigned pid)
{
	char name[64], text[4096], *line;
	unsigned uid[4];
	struct stat s;

	snprintf(name, sizeof(name), "/proc/%u/status", pid);
	if (fstat(fd, &s) < 0 || sp_read_file(name, text, sizeof(text)) < 0)
		return false;
	line = strstr(text, "\nUid:");	/* real, effective, saved, file system */
	if (!line || sscanf(line, "\nUid: %u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) != 4)
		return false;
	for (unsigned i = 0; i < SP_COUNT(uid); i++)
		if (uid[i] == s.st_uid)
			return true;
	return s.st_uid == 0;		/* the process was root's, and dropped that */
}

bool sp_top_is_running(const struct sp_header *h)
{
	struct sp_header as_running = *h;
	struct sp_process_stat s;

	if (h->end == SP_END_EXIT || h->end == SP_END__EXIT)
		as_running.end = SP_END_NONE;
	/* sp_live_may_run assumes that processes of other PID namespaces run. */
	return sp_live_may_run(&as_running, true) && sp_process_stat((int)h->process.pid, 0, &s) &&
	       s.start_ticks == h->process.start_ticks;
}

#define GENERATIONS_MOST 64

static bool descends_from(unsigned pid, unsigned ancestor)
{
	struct sp_process_stat s;

	for (int i = 0; i < GENERATIONS_MOST && pid; i++) {
		pid = sp_process_stat((int)pid, 0, &s) ? (unsigned)s.ppid : 0;
		if (pid == ancestor)
			return true;
	}
	return false;
}

/* Reads the header of a process that runs and may be shown. */
static bool read_header(const struct sp_top_run *r, const char *path, struct sp_header *h)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat s;
	bool ok = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
		  (r->launcher || s.st_uid == geteuid()) &&
		  pread(fd, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) && sp_header_check(h) == 0 &&
		  sp_top_is_running(h) && sp_top_is_file_of(fd, h->process.pid) &&
		  (!r->launcher || descends_from(h->process.pid, r->launcher));

	sp_close(fd);
	return ok;
}

static void add(struct sp_top_run *r, const char *path, const struct sp_header *h)
{
	char name[SP_CONF_PATH];
	struct sp_top_process *p;

	r->at = sp_grow_array(r->at, &r->room, r->n + 1, sizeof(*r->at));
	p = &r->at[r->n++];
	sp_run_text(name, sizeof(name), path, h->output);
	*p = (struct sp_top_process){ .path = sp_check_alloc(strdup(path)),
				      .rank = { .h = *h, .name = sp_check_alloc(strdup(name)) },
				      .member = true };
	sp_run_text(p->rank.job, sizeof(p->rank.job), path, h->process.job);
}

static void free_process(struct sp_top_process *p)
{
	free(p->path);
	free((char *)p->rank.name);
}

static void forget(struct sp_top_run *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		free_process(&r->at[i]);
	r->n = 0;
}

/* Lists the running processes with live files in the standard place, or in the folder of
 * SSPAPI_LIVE. */
static void list_running(struct sp_top_run *r)
{
	const char *own = getenv("SSPAPI_LIVE"), *dir = own && strchr(own, '/') ? own : SP_LIVE_DIR;
	DIR *d = opendir(dir);
	struct dirent *e;
	struct sp_header h;
	char path[PATH_MAX];

	while (d && (e = readdir(d)) != NULL)
		if (sp_is_live_file(e->d_name) &&
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) < (int)sizeof(path) &&
		    read_header(r, path, &h))
			add(r, path, &h);
	if (d)
		closedir(d);
}

/* ---- the newest run --------------------------------------------------- */

/* Keeps the oldest process of the run whose process started last: others may be children of a
 * rank. */
static void choose_run(struct sp_top_run *r)
{
	uint32_t newest = 0, oldest;

	for (uint32_t i = 1; i < r->n; i++)
		if (r->at[i].rank.h.process.start_ns > r->at[newest].rank.h.process.start_ns)
			newest = i;
	oldest = newest;
	for (uint32_t i = 0; i < r->n; i++)
		if (sp_is_same_run(&r->at[i].rank.h, &r->at[newest].rank.h) &&
		    r->at[i].rank.h.process.start_ns < r->at[oldest].rank.h.process.start_ns)
			oldest = i;
	r->first = r->at[oldest];
	r->first.path = NULL;
	r->first.rank.name = sp_check_alloc(strdup(r->first.rank.name));
}

/* Did one launcher start both as different ranks? */
static bool is_sibling(const struct sp_header *a, const struct sp_header *b)
{
	return a->process.rank >= 0 && b->process.rank >= 0 && a->process.rank != b->process.rank &&
	       a->process.ppid == b->process.ppid;
}

/* Marks the processes of the chosen run. If the launcher started ranks directly, they are siblings.
 * Ranks with a shell each have equal names. */
static void mark_run(struct sp_top_run *r)
{
	const struct sp_rank *first = &r->first.rank;
	bool siblings = false;

	for (uint32_t i = 0; i < r->n; i++)
		siblings = siblings || is_sibling(&first->h, &r->at[i].rank.h);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct sp_rank *is = &r->at[i].rank;

		r->at[i].member =
			sp_is_same_run(&first->h, &is->h) ||
			(siblings ? is_sibling(&first->h, &is->h) : sp_is_other_rank(first, is));
	}
	/* Ranks without a common ancestor have children in runs of their own. */
	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t k = 0; k < r->n && !r->at[i].member; k++)
			r->at[i].member = r->at[k].member &&
					  sp_is_same_run(&r->at[k].rank.h, &r->at[i].rank.h);
}

uint32_t sp_top_run_find(struct sp_top_run *r)
{
	uint32_t n = 0;

	forget(r);
	list_running(r);
	if (!r->launcher && r->n) {
		if (!r->first.rank.name)
			choose_run(r);
		mark_run(r);
	}
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->at[i].member)
			r->at[n++] = r->at[i];
		else
			free_process(&r->at[i]);
	}
	r->n = n;
	return n;
}

/* ---- reading live files into memory ------------------------------------- */

/* Write the data of a file to another; holes stay holes. */
static int copy_data(int to, int from, off_t size)
{
	off_t end = 0;

	for (off_t at = 0; at < size; at = end) {
		at = lseek(from, at, SEEK_DATA);
		if (at < 0)
			return errno == ENXIO ? 0 : -errno;
		end = lseek(from, at, SEEK_HOLE);
		if (end < 0 || lseek(to, at, SEEK_SET) < 0)
			return -errno;
		for (off_t next = at; next < end;) {
			ssize_t n = sendfile(to, from, &next, (size_t)(end - next));

			if (n < 0 && errno != EINTR)
				return -errno;
			if (n == 0)	/* truncated meanwhile */
				return 0;
		}
	}
	return 0;
}

/* Write an open live file, which may grow meanwhile, to an empty file, without holes at the end.
 * 0 or -errno. */
static int copy_file(int to, int from, struct sp_header *h)
{
	uint64_t size = 0;
	struct stat s;
	int e = 0;

	for (int tries = 0; tries < 3 && e == 0; tries++) {
		e = fstat(from, &s) < 0	   ? -errno
		    : S_ISREG(s.st_mode) ? sp_file_is_filled(from, &s)
					 : -EINVAL;
		size = (uint64_t)s.st_size;
		e = e ? e : ftruncate(to, 0) < 0 ? -errno : copy_data(to, from, s.st_size);
		if (e == 0 && pread(to, h, sizeof(*h), 0) < (ssize_t)SP_HEADER_LEAST)
			e = -EINVAL;
		if (e == 0 && h->used <= size)
			break;
	}
	e = e ? e : sp_header_check(h);
	if (e == 0 && fstat(to, &s) < 0)
		e = -errno;
	/* The end of the store may be zeros, and so a hole. */
	if (e == 0 && (uint64_t)s.st_size < h->used && h->used <= size &&
	    ftruncate(to, (off_t)h->used) < 0)
		e = -errno;
	return e;
}

/* May the process of a named file run, perhaps on another host? */
static bool may_run(const struct sp_header *h, const char *path)
{
	struct sp_header as_running = *h;
	char own[65] = "", host[65];

	gethostname(own, sizeof(own) - 1);
	sp_run_text(host, sizeof(host), path, h->process.host);
	if (h->end == SP_END_EXIT || h->end == SP_END__EXIT)
		as_running.end = SP_END_NONE;
	return sp_live_may_run(&as_running, strcmp(own, host) == 0);
}

#define COPIES_MOST (1ull << 30)	/* bytes of memory */
#define COPY_PATH sizeof("/proc/self/fd/2147483647")

struct copies {
	int *fd;
	char **path;			/* /proc/self/fd/N: not the name of a live file */
	char (*text)[COPY_PATH];
	uint32_t n;
	uint64_t bytes;
};

/* Adds a copy of a file. A process that runs has counted until now, which rates need. 0 or
 * -errno; -ENOENT: the process has ended. */
static int add_copy(struct sp_top_run *r, struct copies *c, const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (r->n_files ? 0 : O_NOFOLLOW)),
	    to = from < 0 ? -1 : memfd_create("sspapi", MFD_CLOEXEC),
	    e = from < 0 || to < 0 ? -errno : 0;
	struct sp_header h = { 0 };
	uint64_t now = sp_now_ns();
	struct stat s;
	bool runs;

	if (e == 0 && fstat(from, &s) == 0) {
		c->bytes += (uint64_t)s.st_blocks * 512;
		e = c->bytes > COPIES_MOST ? -EFBIG : 0;
	}
	e = e ? e : copy_file(to, from, &h);
	sp_close(from);
	if (e < 0) {
		sp_close(to);
		return e;
	}
	runs = r->n_files ? may_run(&h, path) : sp_top_is_running(&h);
	if (runs && h.end == SP_END_NONE &&
	    pwrite(to, &now, sizeof(now), offsetof(struct sp_header, process.end_ns)) < 0) {
		sp_close(to);
		return -errno;
	}
	r->n_running += runs;
	sp_run_text(r->output, sizeof(r->output), path, h.output);
	snprintf(c->text[c->n], COPY_PATH, "/proc/self/fd/%d", to);
	c->path[c->n] = c->text[c->n];
	c->fd[c->n++] = to;
	return 0;
}

/* A copy needs a descriptor. */
static void raise_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

/* ---- a read ------------------------------------------------------------- */

static bool is_listed(const char *path, char *const *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(path, list[i]) == 0)
			return true;
	return false;
}

/* Counts the processes that have ended since the last read. A killed one leaves its file. */
static void count_ended(struct sp_top_run *r, char **path, uint32_t n)
{
	for (uint32_t i = 0; i < r->n_shown; i++) {
		bool ended = !is_listed(r->shown[i], path, n);

		r->n_ended += ended;
		r->n_killed += ended && access(r->shown[i], F_OK) == 0;
		free(r->shown[i]);
	}
	r->shown = sp_grow_array(r->shown, &r->shown_room, n, sizeof(*r->shown));
	for (uint32_t i = 0; i < n; i++)
		r->shown[i] = sp_check_alloc(strdup(path[i]));
	r->n_shown = n;
}

/* Make a copy of each file; path[] keeps those that exist. 0 or -errno: too little memory or too
 * few descriptors. */
static int copy_all(struct sp_top_run *r, struct copies *c, char **path, uint32_t *n)
{
	uint32_t there = 0;
	int e = 0;

	raise_limit();
	for (uint32_t i = 0; i < *n && e != -EMFILE && e != -ENFILE && e != -ENOSPC; i++) {
		e = add_copy(r, c, path[i]);
		if (e < 0 && e != -ENOENT && r->verb)
			sp_complain(0, r->verb, sp_file_why(e, path[i]), path[i]);
		r->n_bad += e < 0 && e != -ENOENT;
		if (e != -ENOENT)
			path[there++] = path[i];
	}
	*n = there;
	return e == -EMFILE || e == -ENFILE || e == -ENOSPC ? e : 0;
}

int sp_top_run_open(struct sp_top_run *r, struct sp_file *f)
{
	uint32_t n = r->n_files ? r->n_files : sp_top_run_find(r);
	char **path = sp_check_alloc(calloc(n + 1, sizeof(*path)));
	struct copies c = { .fd = sp_check_alloc(calloc(n + 1, sizeof(*c.fd))),
			    .path = sp_check_alloc(calloc(n + 1, sizeof(*c.path))),
			    .text = sp_check_alloc(calloc(n + 1, sizeof(*c.text))) };
	struct sp_merge job = { .file = c.path, .quiet = true };
	int e;

	for (uint32_t i = 0; i < n; i++)
		path[i] = r->n_files ? r->file[i] : r->at[i].path;
	r->n_running = r->n_bad = 0;
	e = copy_all(r, &c, path, &n);
	if (e == 0) {
		count_ended(r, path, n);
		job.n_files = c.n;
		e = !n ? -ENOENT : c.n == 1 ? sp_file_load(f, c.path[0]) : sp_merge_open(f, &job);
		r->n_bad += job.n_bad;
	}
	for (uint32_t i = 0; i < c.n; i++)
		close(c.fd[i]);
	free(c.fd);
	free(c.path);
	free(c.text);
	free(path);
	return e;
}
