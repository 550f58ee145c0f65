/* symbols.c: runs addr2line and adds its names to the model; see symbols.h. */
#include <sys/resource.h>

#include "../../base/elf-file.h"
#include "../probe/subprocess.h"
#include "../tool/cmd.h"
#include "symbols.h"

#define AT_ONCE	512u		/* addresses per run */

#define NAMES_MANY 32768u		/* a job of many ranks has the same addresses again and
					 * again */
#define INLINED_MOST 16u		/* functions around an inlined one */

struct name {
	uint64_t at;
	const char *module;		/* a copy; in a search key the store's */
	char build_id[80];
	bool unnamed;			/* the store lacks a name for it, or for another of its
					 * module */
	char *symbol, *line;
	uint32_t n_into;
	struct sp_inlined *into;	/* [INLINED_MOST] */
};

struct names {
	struct name *name;		/* sorted by module and offset */
	uint32_t n, room;
	uint64_t until;			/* no queries after this, in seconds() */
	bool other_users;			/* also query modules of other users */
	const char *left;		/* first module that was left out */
};

struct module {
	const char *path;
	int fd;				/* the checked file */
	uint64_t bytes;			/* disk space */
	bool stripped, of_other;
};

static int compare(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return strcmp(x->module, y->module) ?: strcmp(x->build_id, y->build_id) ?: SP_COMPARE(x->at,
	       y->at);
}

static struct name name_of(const struct sp_frame_info *f, uint64_t at)
{
	struct name is = { .at = at, .module = f->module, .unnamed = !*f->symbol };

	memcpy(is.build_id, f->build_id, sizeof(is.build_id));
	return is;
}

/* bsearch needs an array, even if it is empty. */
static const struct name *find(const struct names *all, const struct name *key)
{
	return all->n ? bsearch(key, all->name, all->n, sizeof(*key), compare) : NULL;
}

static void fill(void *arg, uint64_t at, struct sp_frame_info *f)
{
	const struct names *all = arg;
	struct name key = name_of(f, at);
	const struct name *is = find(all, &key);

	if (!is)
		return;
	f->symbol = is->symbol ? is->symbol : f->symbol;
	f->line = is->line ? is->line : f->line;
	f->into = is->into;
	f->n_into = is->n_into;
}

static void add(struct names *all, const struct sp_frame_info *f, uint64_t at)
{
	all->name = sp_grow_array(all->name, &all->room, all->n + 1, sizeof(*all->name));
	all->name[all->n] = name_of(f, at);
	all->name[all->n++].module = sp_check_alloc(strdup(f->module));
}

/* Sorts, and drops names that are there twice. */
static void sort(struct names *all)
{
	uint32_t n = 0;

	if (all->n)
		qsort(all->name, all->n, sizeof(*all->name), compare);
	for (uint32_t i = 0; i < all->n; i++)
		if (!n || compare(&all->name[n - 1], &all->name[i]) != 0)
			all->name[n++] = all->name[i];
		else
			free((char *)all->name[i].module);
	all->n = n;
}

static void collect(struct names *all, struct sp_model *m)
{
	struct sp_overflowed at;
	struct sp_frame_info f;
	struct sp_row row = { 0 };
	uint64_t count;

	for (uint32_t id = 1; id < m->n_callsites; id++)
		for (uint32_t i = 0; sp_model_frame(m, id, i, &f); i++)
			add(all, &f, f.offset - 1);
	while (sp_model_next(m, &row)) {
		for (uint32_t i = 0; sp_row_overflow(m, &row, &i, &at);)
			for (uint32_t hit = UINT32_MAX; sp_row_hit(m, &row, &at, &hit, &f, &count);)
				add(all, &f, f.offset);
		if (all->n > NAMES_MANY)
			sort(all);
		if (all->n > NAMES_MANY)
			break;
	}
	sort(all);
}

/* ---- addr2line, which trusts its files --------------------------------- */

#define SECONDS_EACH	20u		/* per module; as long as sp_run_in_child waits */
#define SECONDS_ALL	60u
#define MEMORY_LEAST	(1ull << 30)
#define MEMORY_TIMES	16u		/* the file's disk space */

static uint64_t seconds(void)
{
	return sp_ns_of(CLOCK_MONOTONIC) / 1000000000;
}

static void limit(int what, uint64_t most)
{
	struct rlimit l;

	if (getrlimit(what, &l) == 0 && (l.rlim_cur == RLIM_INFINITY || l.rlim_cur > most)) {
		l.rlim_cur = (rlim_t)most;
		setrlimit(what, &l);
	}
}

/* Can only root and the caller change this folder and its parents? dir: the kernel's path,
 * without links. A sticky parent such as /tmp is safe; the folder itself must not be, since
 * anyone could add files. */
static bool is_kept(char *dir)
{
	mode_t open_to_all = 0;
	struct stat s;

	for (char *end = dir + strlen(dir);; end = strrchr(dir, '/')) {
		*end = 0;
		if (lstat(*dir ? dir : "/", &s) < 0 || !S_ISDIR(s.st_mode) ||
		    (s.st_uid != 0 && s.st_uid != geteuid()))
			return false;
		if (s.st_mode & (S_IWGRP | S_IWOTH) && !(s.st_mode & open_to_all))
			return false;
		if (end == dir)
			return true;
		open_to_all = S_ISVTX;
	}
}

/* Do all files beside this one, which addr2line may read, belong to root or the caller? */
static bool is_among_own(const char *real)
{
	char dir[4096];
	struct stat s;
	int n = (int)(strrchr(real, '/') - real);

	if (snprintf(dir, sizeof(dir), "%.*s/.debug", n, real) >= (int)sizeof(dir))
		return false;
	if (lstat(dir, &s) == 0 && !is_kept(dir))
		return false;
	dir[n] = 0;
	return is_kept(dir);
}

/* Returns the name by which addr2line opens the checked file. addr2line searches for files that
 * it names (.gnu_debuglink, .gnu_debugaltlink) in that name's folder, in .debug there and in
 * /usr/lib/debug. If strangers may add files there, the name is the descriptor's, which has none
 * beside it. */
static const char *name_for_tool(const struct module *is, bool other_users, char *real, size_t room)
{
	struct stat named, checked;
	char link[48];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", is->fd);
	n = readlink(link, real, room - 1);
	real[n > 0 ? n : 0] = 0;
	if (*real == '/' && (other_users || is_among_own(real)) && stat(real, &named) == 0 &&
	    fstat(is->fd, &checked) == 0 && named.st_dev == checked.st_dev &&
	    named.st_ino == checked.st_ino)
		return real;
	return strcpy(real, link);
}

static const char *known(char *line)
{
	char *more = strstr(line, " (discriminator");

	if (more)
		*more = 0;
	return strncmp(line, "??", 2) == 0 || !*line ? NULL : line;
}

/* Returns "file:line", or NULL: unknown. */
static const char *known_line(char *line)
{
	const char *end = strrchr(line, ':');

	return end && end[1] >= '1' && end[1] <= '9' ? known(line) : NULL;
}

static char *copy(const char *text)
{
	return text ? sp_check_alloc(strdup(text)) : NULL;
}

/* Adds a function that contains the code: the innermost first, then those into which it was
 * inlined. In a stripped file, a name without a line may be of any function before it. */
static void add_function(struct name *is, unsigned nth, char *function, char *line, bool stripped)
{
	const char *symbol = known(function), *at = known_line(line);

	if (nth == 0) {
		is->symbol = stripped && !at ? NULL : copy(symbol);
		is->line = copy(at);
		return;
	}
	is->into = is->into ? is->into : sp_check_alloc(calloc(INLINED_MOST, sizeof(*is->into)));
	if (is->n_into < INLINED_MOST && symbol)
		is->into[is->n_into++] = (struct sp_inlined){ copy(symbol), copy(at) };
}

/* Query of a module, and the answer so far: a line for each address, then a pair of lines for
 * each function. */
struct query {
	const struct module *is;
	char *argv[AT_ONCE + 8];
	struct names *all;
	const uint32_t *which;		/* indices of the n names */
	uint32_t n, i;			/* i: current address, from 1 */
	unsigned nth;			/* its function, from 0 */
	char *function;			/* whose line comes next; NULL: none */
	bool missing;			/* addr2line is not installed */
};
#define MISSING	"!"

/* Runs addr2line with limits: a 20 kB file of mostly holes kept it busy for 7 s, with 6 GB of
 * memory. */
static void become(void *query, int out)
{
	struct query *a = query;

	dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	fcntl(a->is->fd, F_SETFD, 0);
	limit(RLIMIT_AS, MEMORY_LEAST + MEMORY_TIMES * a->is->bytes);
	limit(RLIMIT_CPU, SECONDS_EACH);
	limit(RLIMIT_CORE, 0);
	unsetenv("DEBUGINFOD_URLS");	/* no network queries for files that a store names */
	execvp(a->argv[0], a->argv);
	dprintf(out, MISSING "\n");
}

static void take_line(void *query, char *line)
{
	struct query *a = query;

	if (!a->i && strcmp(line, MISSING) == 0) {	/* later lines: a function's name */
		a->missing = true;
	} else if (a->function) {
		add_function(&a->all->name[a->which[a->i - 1]], a->nth++, a->function, line,
			     a->is->stripped);
		free(a->function);
		a->function = NULL;
	} else if (strncmp(line, "0x", 2) == 0) {
		a->i++;
		a->nth = 0;
	} else if (a->i && a->i <= a->n) {
		a->function = sp_check_alloc(strdup(line));
	}
}

/* Names the frames `which` of one module. 0, -ENOENT: no addr2line, -ETIMEDOUT. */
static int run_addr2line(struct names *all, const struct module *is, const uint32_t *which,
			 uint32_t n)
{
	static char text[AT_ONCE][24], name[4096];
	struct query a = { .is = is,
			    .all = all,
			    .which = which,
			    .n = n,
			    .argv = { (char *)"addr2line", (char *)"-a", (char *)"-f", (char *)"-i",
				      (char *)"-C", (char *)"-e", name } };
	const char *how;

	if (seconds() >= all->until)
		return -ETIMEDOUT;
	name_for_tool(is, all->other_users, name, sizeof(name));
	for (uint32_t i = 0; i < n; i++) {
		snprintf(text[i], sizeof(text[i]), "0x%llx",
			 (unsigned long long)all->name[which[i]].at);
		a.argv[7 + i] = text[i];
	}
	how = sp_run_in_child(become, &a, take_line, &a);
	free(a.function);
	return a.missing ? -ENOENT : how || !a.i ? -ETIMEDOUT : 0;
}

/* Without build ids: is the file older than the process, and unchanged? */
static bool is_older(const struct stat *s, const struct sp_model *m)
{
	return (uint64_t)s->st_mtim.tv_sec < m->h.process.start_ns / 1000000000u &&
	       (uint64_t)s->st_ctim.tv_sec < m->h.process.start_ns / 1000000000u;
}

/* Prints to standard error; verb NULL: nothing. */
static void warn(const char *verb, const char *what, const char *subject)
{
	if (verb)
		sp_complain(0, verb, what, subject);
}

/* Returns NULL if the file that the store names may be queried, else why not. */
static const char *why_not(const struct sp_model *m, const struct name *name,
			   const struct sp_elf_file *f, struct module *is)
{
	char id[80] = "";
	struct stat s;

	if (fstat(f->fd, &s) < 0)
		return strerror(errno);
	is->of_other = (s.st_uid != geteuid() && s.st_uid != 0) || s.st_mode & S_IWOTH;
	is->bytes = (uint64_t)s.st_blocks * 512;
	is->stripped = !sp_elf_file_has_symbols(f);
	for (uint32_t i = 0; i < f->build_id_bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", f->build_id[i]);
	if (strcmp(id, name->build_id) != 0)
		return "not the file that ran (another build id): call sites in it have no names";
	return *id || is_older(&s, m) ? NULL
				      : "changed since it ran, and has no build id: call sites in "
					"it have no names";
}

/* True leaves is->fd open. */
static bool is_worth_addr2line(struct names *all, const struct sp_model *m, const struct name *name,
			       const char *verb, struct module *is)
{
	struct sp_elf_file f;
	const char *why;

	*is = (struct module){ .path = name->module };
	if (name->module[0] != '/')
		return false;
	if (sp_elf_file_open(&f, name->module) < 0) {
		if (name->unnamed)
			warn(verb, "cannot be read: call sites in it have no names", name->module);
		return false;
	}
	is->fd = f.fd;
	why = why_not(m, name, &f, is);
	if (why)
		warn(verb, why, name->module);
	else if (!is->of_other || all->other_users)
		return true;
	else if (!all->left)
		all->left = name->module;
	sp_elf_file_close(&f);
	return false;
}

/* Lists the frames of frame i's module that were not queried, up to AT_ONCE. */
static uint32_t names_of_module(struct names *all, uint32_t i, bool *done, uint32_t which[AT_ONCE])
{
	uint32_t n = 0;

	for (uint32_t k = i; k < all->n && n < AT_ONCE; k++)
		if (!done[k] && strcmp(all->name[k].module, all->name[i].module) == 0 &&
		    strcmp(all->name[k].build_id, all->name[i].build_id) == 0) {
			done[k] = true;
			all->name[i].unnamed |= all->name[k].unnamed;
			which[n++] = k;
		}
	return n;
}

void sp_symbols_add(struct sp_model *m, const char *verb, bool other_users)
{
	struct names *all = sp_check_alloc(calloc(1, sizeof(*all)));
	uint32_t which[AT_ONCE];
	struct module is;
	bool *done;
	int r = 0;

	collect(all, m);
	done = sp_check_alloc(calloc(all->n + 1, sizeof(*done)));
	all->until = seconds() + SECONDS_ALL;
	all->other_users = other_users;
	for (uint32_t i = 0; r != -ENOENT && i < all->n; i++) {
		uint32_t n = done[i] ? 0 : names_of_module(all, i, done, which);

		if (!n || !is_worth_addr2line(all, m, &all->name[i], verb, &is))
			continue;
		r = run_addr2line(all, &is, which, n);
		close(is.fd);
		if (r < 0 && r != -ENOENT)
			warn(verb,
			     "addr2line could not read it in the time and memory that it has: call "
			     "sites in it have no names",
			     is.path);
	}
	if (r == -ENOENT)
		warn(verb,
		     "addr2line (binutils) cannot be run: call sites have the names of exported "
		     "functions only",
		     NULL);
	if (all->left)
		warn(verb,
		     "another user's file: its call sites have no names; if you trust such files "
		     "and the store, use sspapi report --all-symbols",
		     all->left);
	free(done);
	m->names = all;
	m->name_frame = fill;
}

static void free_names(struct names *all)
{
	for (uint32_t i = 0; all && i < all->n; i++) {
		free(all->name[i].symbol);
		free(all->name[i].line);
		for (uint32_t k = 0; k < all->name[i].n_into; k++) {
			free((char *)all->name[i].into[k].symbol);
			free((char *)all->name[i].into[k].line);
		}
		free(all->name[i].into);
		free((char *)all->name[i].module);
	}
	if (all)
		free(all->name);
	free(all);
}

void sp_symbols_update(struct sp_model *m, struct names **kept, const char *verb)
{
	struct names *seen_names = sp_check_alloc(calloc(1, sizeof(*seen_names)));
	bool all_known = *kept != NULL;

	collect(seen_names, m);
	for (uint32_t i = 0; i < seen_names->n && all_known; i++)
		all_known = find(*kept, &seen_names->name[i]) != NULL;
	free_names(seen_names);
	if (!all_known) {
		free_names(*kept);
		sp_symbols_add(m, verb, false);
		*kept = m->names;
	}
	m->names = *kept;
	m->name_frame = fill;
}
