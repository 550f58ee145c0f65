/* runs.c: finds the files of a run; see runs.h. */
#include <dirent.h>

#include "../../formats/format-writer.h"
#include "../../store/blocks.h"
#include "../tool/cmd.h"
#include "file.h"
#include "live-files.h"
#include "runs.h"

#define EXTENSION ".sspapi"

static void add(struct sp_runs *r, const char *path)
{
	r->path = sp_grow_array(r->path, &r->room, r->n + 1, sizeof(*r->path));
	r->path[r->n++] = sp_check_alloc(strdup(path));
}

static int is_store(const struct dirent *e)
{
	const char *name = e->d_name;
	size_t n = strlen(name);

	return *name != '.' && n > strlen(EXTENSION) &&
	       strcmp(name + n - strlen(EXTENSION), EXTENSION) == 0;
}

static bool is_dir(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* Adds the stores of a folder; their number, or -errno. */
static int add_dir(struct sp_runs *r, const char *dir)
{
	struct dirent **found;
	int n = scandir(dir, &found, is_store, versionsort), added = 0;
	size_t end = strlen(dir);

	if (n < 0)
		return -errno;
	while (end > 1 && dir[end - 1] == '/')
		end--;
	for (int i = 0; i < n; i++) {
		char *path;

		if (asprintf(&path, "%.*s/%s", (int)end, dir, found[i]->d_name) < 0)
			path = sp_check_alloc(NULL);
		if (!is_dir(path)) {
			add(r, path);
			added++;
		}
		free(path);
		free(found[i]);
	}
	free(found);
	return added;
}

/* Reads a process's header; false: unusable. */
static bool header_of(const char *path, struct sp_header *h)
{
	long n = sp_file_first(path, 0, h, sizeof(*h));

	return n == (long)sizeof(*h) && sp_header_check(h) == 0;
}

struct span {
	int64_t rank;
	uint64_t start_ns, end_ns;
};

static int by_rank(const void *a, const void *b)
{
	int64_t x = ((const struct span *)a)->rank, y = ((const struct span *)b)->rank;

	return (x > y) - (x < y);
}

/* Warns if all ranks from one on ended before the others began: a run with fewer ranks leaves the
 * files of an earlier one. (In a short run, ranks of low numbers may have ended.) */
static void doubt_ranks(const struct sp_runs *r, const char *verb, const char *dir)
{
	struct span *span = sp_check_alloc(calloc(r->n + 1, sizeof(*span)));
	uint64_t first = UINT64_MAX;
	unsigned n = 0, before = 0;
	char text[160];
	struct sp_header h;

	for (unsigned i = 0; i < r->n; i++)
		if (header_of(r->path[i], &h) && h.process.rank >= 0)
			span[n++] = (struct span){ h.process.rank, h.process.start_ns,
						   sp_max(h.process.start_ns, h.process.end_ns) };
	qsort(span, n, sizeof(*span), by_rank);
	for (unsigned i = n; i-- > 0;)	/* the last end of this rank and higher ones */
		span[i].end_ns = sp_max(span[i].end_ns, span[i + 1].end_ns);
	for (unsigned i = 0; i < n && !before; i++) {
		if (i && span[i].rank > span[i - 1].rank && span[i].end_ns < first)
			before = n - i;
		first = sp_min(first, span[i].start_ns);
	}
	free(span);
	if (!before)
		return;
	snprintf(text, sizeof(text),
		 "%u of %u processes ended before those of lower ranks began: some files may be of "
		 "an earlier run",
		 before, r->n);
	sp_complain(0, verb, text, dir);
}

/* ---- the newest run -------------------------------------------------------- */

static int64_t age_of(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && !S_ISDIR(s.st_mode)
		       ? (int64_t)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec
		       : INT64_MIN;
}

/* Finds the newest path; returns its time, or INT64_MIN. */
static int64_t newest_of(const struct sp_runs *r, const char **path)
{
	int64_t best = INT64_MIN;

	for (unsigned i = 0; i < r->n; i++) {
		int64_t age = age_of(r->path[i]);

		if (age > best) {
			best = age;
			*path = r->path[i];
		}
	}
	return best;
}

#define WORDS_MOST 4096u		/* a command line that people would still paste */

/* Quotes names for a shell; the caller frees the text. */
static char *words(char *const *name, unsigned n)
{
	char *text = sp_check_alloc(malloc(WORDS_MOST));
	struct sp_out o;

	sp_memory_init(&o, text, WORDS_MOST);
	for (unsigned i = 0; i < n && !o.error; i++) {
		sp_out_text(&o, i ? " " : "");
		sp_shell_word(&o, name[i]);
	}
	sp_memory_text(&o);
	return o.error ? strcpy(text, "FILE...") : text;
}

static int is_ranks(const struct dirent *e)
{
	return strncmp(e->d_name, "sspapi.", 7) == 0;
}

static int is_visible(const struct dirent *e)
{
	return *e->d_name != '.';
}

/* Takes the stores of the newest folder in `dir`, if it is newer than `than`. */
static void take_newer_dir(struct sp_runs *r, const char *dir,
			   int (*is_wanted)(const struct dirent *), int64_t than)
{
	struct dirent **found;
	int n = scandir(dir, &found, is_wanted, versionsort);

	for (int i = 0; i < n; i++) {
		struct sp_runs of = { 0 };
		const char *path;
		char *name;

		if (asprintf(&name, "%s%s%s", strcmp(dir, ".") == 0 ? "" : dir,
			     strcmp(dir, ".") == 0 || dir[strlen(dir) - 1] == '/' ? "" : "/",
			     found[i]->d_name) < 0)
			name = sp_check_alloc(NULL);
		if (add_dir(&of, name) > 0 && newest_of(&of, &path) > than) {
			than = newest_of(&of, &path);
			*r = of;
			r->shown = name;
		} else {
			free(name);
		}
		free(found[i]);
	}
	if (n >= 0)
		free(found);
}

/* Reports that the folder has no store; if folders in it have any, it names the newest. */
static int no_store(const char *verb, const char *dir)
{
	char text[PATH_MAX + 100];
	struct sp_runs of = { 0 };

	take_newer_dir(&of, dir, is_visible, INT64_MIN);
	snprintf(text, sizeof(text), "no store (*" EXTENSION ") is in this folder%s%s",
		 of.n ? "; the newest folder in it with stores: " : "",
		 of.n ? words(&of.shown, 1) : "");
	return sp_complain(1, verb, text, dir);
}

bool sp_is_same_run(const struct sp_header *a, const struct sp_header *b)
{
	return a->run && a->run == b->run && a->process.pid_ns == b->process.pid_ns &&
	       strncmp(a->process.boot_id, b->process.boot_id, sizeof(a->process.boot_id)) == 0;
}

/* ---- ranks with a file each ------------------------------------------- */

/* Is the rank at name[at], as a complete number? Returns what follows it, or NULL. */
static const char *behind_rank(const char *name, size_t at, int64_t rank)
{
	char number[24];
	size_t n = (size_t)snprintf(number, sizeof(number), "%lld", (long long)rank);

	if (strncmp(name + at, number, n) != 0 ||
	    (at && name[at - 1] >= '0' && name[at - 1] <= '9') ||
	    (name[at + n] >= '0' && name[at + n] <= '9'))
		return NULL;
	return name + at + n;
}

/* Are the names equal except for the rank in one place (x.%r.sspapi)? */
static bool is_same_name(const char *a, int64_t rank_a, const char *b, int64_t rank_b)
{
	for (size_t at = 0;; at++) {
		const char *x = behind_rank(a, at, rank_a), *y = behind_rank(b, at, rank_b);

		if (x && y && strcmp(x, y) == 0)
			return true;
		if (!a[at] || a[at] != b[at])
			return false;
	}
}

void sp_run_text(char *text, size_t room, const char *path, sp_off at)
{
	int fd = at ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct sp_string head;

	memset(text, 0, room);
	if (fd < 0)
		return;
	if (sp_file_read(fd, &head, sizeof(head), at) != (int64_t)sizeof(head) ||
	    head.length >= room ||
	    sp_file_read(fd, text, head.length, at + offsetof(struct sp_string, text)) !=
		    (int64_t)head.length)
		memset(text, 0, room);
	close(fd);
}

/* Ranks of one job step run at the same time, apart from the launcher's delays. */
#define BETWEEN_NS 2000000000ull
static bool is_same_time(const struct sp_header *a, const struct sp_header *b)
{
	return a->process.start_ns <= b->process.end_ns + BETWEEN_NS &&
	       b->process.start_ns <= a->process.end_ns + BETWEEN_NS;
}

bool sp_is_other_rank(const struct sp_rank *a, const struct sp_rank *b)
{
	return a->h.process.rank >= 0 && b->h.process.rank >= 0 &&
	       a->h.process.rank != b->h.process.rank &&
	       is_same_name(a->name, a->h.process.rank, b->name, b->h.process.rank) &&
	       strcmp(a->job, b->job) == 0;
}

static bool read_rank(struct sp_rank *rank, const char *path)
{
	rank->name = path;
	if (!header_of(path, &rank->h))
		return false;
	sp_run_text(rank->job, sizeof(rank->job), path, rank->h.process.job);
	return true;
}

/* Keeps only the stores of the newest one's run. */
static void keep_run_of(struct sp_runs *r, const char *verb, const char *newest)
{
	struct sp_rank of, is;
	bool known = read_rank(&of, newest), ranks = false;
	unsigned n = 0;

	for (unsigned i = 0; i < r->n; i++) {
		char *path = r->path[i];
		bool there = known && read_rank(&is, path),
		     other = there && is_same_time(&of.h, &is.h) && sp_is_other_rank(&of, &is);

		ranks = ranks || other;
		if (strcmp(path, newest) == 0 || other || (there && sp_is_same_run(&of.h, &is.h)))
			r->path[n++] = path;
	}
	r->n = n;
	if (ranks)
		doubt_ranks(r, verb, ".");
}

static int find_newest(struct sp_runs *r, const char *verb)
{
	const char *newest = NULL;
	char *here;
	int64_t age;

	if (add_dir(r, ".") < 0)
		return sp_complain(1, verb, strerror(errno), ".");
	age = newest_of(r, &newest);
	take_newer_dir(r, ".", is_ranks, age);
	if (!r->n)
		return sp_complain(2, verb,
				   "name the files: no store (*" EXTENSION ") of a run is here",
				   NULL);
	if (!r->shown) {
		if (!newest)
			return sp_complain(1, verb, "cannot be read", r->path[0]);
		keep_run_of(r, verb, newest);
		here = r->path[0] + strlen("./");
		r->shown = r->n == 1 ? words(&here, 1) : sp_check_alloc(strdup(""));
	} else {
		doubt_ranks(r, verb, r->shown);
		r->shown = words(&r->shown, 1);
	}
	return 0;
}

int sp_runs_find(struct sp_runs *r, const char *verb, char *const *arg, unsigned n)
{
	*r = (struct sp_runs){ 0 };
	if (!n)
		return find_newest(r, verb);
	for (unsigned i = 0; i < n; i++) {
		int added = is_dir(arg[i]) ? add_dir(r, arg[i]) : 1;
		char live[PATH_MAX];

		if (access(arg[i], F_OK) < 0 && errno == ENOENT && sp_live_find(arg[i], live)) {
			sp_message(verb,
				   "%s: not written, because its process was killed: showing its "
				   "live file %s (sspapi recover writes the dump)",
				   arg[i], live);
			add(r, live);
			continue;
		}

		if (added < 0)
			return sp_complain(1, verb, strerror(-added), arg[i]);
		if (!added)
			return no_store(verb, arg[i]);
		if (!is_dir(arg[i]))
			add(r, arg[i]);
		else if (n == 1)
			doubt_ranks(r, verb, arg[i]);
	}
	r->shown = words(arg, n);
	return 0;
}
