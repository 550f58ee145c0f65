/* symbols.c: see symbols.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "elf-file.h"
#include "symbols.h"

#define AT_ONCE	512u		/* addresses of one run */

#define INLINED_MOST 16u		/* functions around one that was inlined */

struct name {
	uint32_t site, frame;
	uint64_t at;
	const char *module;		/* the store's */
	char build_id[80];
	char *symbol, *line;
	uint32_t n_into;
	struct sp_inlined *into;	/* [INLINED_MOST] */
};

struct names {
	struct name *name;		/* by site and frame */
	uint32_t n;
};

static void fill(void *arg, uint32_t site, uint32_t frame, struct sp_frame_seen *f)
{
	const struct names *all = arg;
	uint32_t lo = 0, hi = all->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct name *is = &all->name[mid];

		if (is->site == site && is->frame == frame) {
			f->symbol = is->symbol ? is->symbol : f->symbol;
			f->line = is->line ? is->line : f->line;
			f->into = is->into;
			f->n_into = is->n_into;
			return;
		}
		if (is->site < site || (is->site == site && is->frame < frame))
			lo = mid + 1;
		else
			hi = mid;
	}
}

static bool collect(struct names *all, const struct sp_model *m)
{
	struct sp_frame_seen f;
	uint32_t room = 0;

	for (uint32_t id = 1; id < m->n_callsites; id++)
		for (uint32_t i = 0; sp_model_frame(m, id, i, &f); i++) {
			if (all->n == room) {
				struct name *more = realloc(all->name, (room = room ? 2 * room : 256) * sizeof(*more));

				if (!more)
					return false;
				all->name = more;
			}
			all->name[all->n] = (struct name){ .site = id, .frame = i, .at = f.offset - 1, .module = f.module };
			memcpy(all->name[all->n++].build_id, f.build_id, sizeof(f.build_id));
		}
	return all->n > 0;
}

/* addr2line's standard output, of these addresses of the file; NULL: it cannot be run. */
static FILE *run(const char *path, char *const *address, uint32_t n, pid_t *pid)
{
	static const char *const tools[] = { "addr2line", "eu-addr2line" };
	char *argv[AT_ONCE + 8] = { NULL, (char *)"-a", (char *)"-f", (char *)"-i", (char *)"-C", (char *)"-e", (char *)path };
	int out[2];

	memcpy(argv + 7, address, n * sizeof(*address));
	if (pipe(out) < 0)
		return NULL;
	fflush(NULL);
	*pid = fork();
	if (*pid == 0) {
		int nothing = open("/dev/null", O_RDWR);

		dup2(nothing, 0);
		dup2(out[1], 1);
		dup2(nothing, 2);
		for (unsigned i = 0; i < SP_COUNT(tools); i++) {
			argv[0] = (char *)tools[i];
			execvp(argv[0], argv);
		}
		_exit(127);
	}
	close(out[1]);
	if (*pid < 0) {
		close(out[0]);
		return NULL;
	}
	return fdopen(out[0], "r");
}

static char *known(char *line)
{
	char *more = strstr(line, " (discriminator");

	line[strcspn(line, "\n")] = 0;
	if (more)
		*more = 0;
	return strncmp(line, "??", 2) == 0 || !*line ? NULL : strdup(line);
}

/* "file:line", or NULL: not known. */
static char *known_line(char *line)
{
	const char *end = strrchr(line, ':');

	return end && end[1] >= '1' && end[1] <= '9' ? known(line) : NULL;
}

/* A function that the code lies in: the innermost one first, then those that it was inlined
 * into.  In a stripped file a name without a line is that of any function before it. */
static void add_function(struct name *is, unsigned nth, char *function, char *line, bool stripped)
{
	struct sp_inlined *into;
	char *symbol = known(function), *at = known_line(line);

	if (nth == 0 && stripped && !at) {
		free(symbol);
	} else if (nth == 0) {
		is->symbol = symbol;
		is->line = at;
	} else {
		if (!is->into)
			is->into = calloc(INLINED_MOST, sizeof(*is->into));
		into = is->into && is->n_into < INLINED_MOST && symbol ? &is->into[is->n_into++] : NULL;
		if (!into) {
			free(symbol);
			free(at);
			return;
		}
		*into = (struct sp_inlined){ symbol, at };
	}
}

/* For each address: a line with it, then a pair of lines for each function. */
static void take_answers(struct names *all, FILE *in, const uint32_t *which, uint32_t n, bool stripped)
{
	char function[4096], line[4096];
	uint32_t i = UINT32_MAX;
	unsigned nth = 0;

	while (fgets(function, sizeof(function), in)) {
		if (strncmp(function, "0x", 2) == 0) {
			i++;
			nth = 0;
		} else if (!fgets(line, sizeof(line), in)) {
			break;
		} else if (i < n) {
			add_function(&all->name[which[i]], nth++, function, line, stripped);
		}
	}
}

/* Names of one module's frames: those at `which`. */
static bool ask(struct names *all, const char *path, const uint32_t *which, uint32_t n, bool stripped)
{
	static char text[AT_ONCE][24];
	char *address[AT_ONCE];
	int status = 0;
	pid_t pid;
	FILE *in;

	for (uint32_t i = 0; i < n; i++) {
		snprintf(text[i], sizeof(text[i]), "0x%llx", (unsigned long long)all->name[which[i]].at);
		address[i] = text[i];
	}
	in = run(path, address, n, &pid);
	if (!in)
		return false;
	take_answers(all, in, which, n, stripped);
	fclose(in);
	waitpid(pid, &status, 0);
	return !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

/* Without build ids: was the file there, as it is, before the process? */
static bool is_older(const struct sp_elf_file *f, const struct sp_model *m)
{
	struct stat s;

	return fstat(f->fd, &s) == 0 && (uint64_t)s.st_mtim.tv_sec < m->h.start_ns / 1000000000u &&
	       (uint64_t)s.st_ctim.tv_sec < m->h.start_ns / 1000000000u;
}

static bool is_same_file(const struct sp_model *m, const struct name *is, const char *verb, bool *stripped)
{
	struct sp_elf_file f;
	char id[80] = "";
	bool same;

	if (is->module[0] != '/' || sp_elf_file_open(&f, is->module) < 0)
		return false;
	sp_elf_file_build_id(&f, id, sizeof(id));
	same = strcmp(id, is->build_id) == 0;
	*stripped = !sp_elf_file_has_symbols(&f);
	if (same && !*id)
		same = is_older(&f, m);
	sp_elf_file_close(&f);
	if (!same)
		sp_complain(0, verb, *id || *is->build_id ?
			"not the file that ran (another build id): call sites in it have no names" :
			"changed since it ran, and has no build id: call sites in it have no names", is->module);
	return same;
}

void sp_symbols_add(struct sp_model *m, const char *verb)
{
	struct names *all = calloc(1, sizeof(*all));
	bool *done = NULL, works = true, stripped;
	uint32_t which[AT_ONCE];

	if (all && collect(all, m))
		done = calloc(all->n, sizeof(*done));
	for (uint32_t i = 0; done && works && i < all->n; i++) {
		uint32_t n = 0;

		if (done[i])
			continue;
		for (uint32_t k = i; k < all->n && n < AT_ONCE; k++)
			if (!done[k] && all->name[k].module == all->name[i].module) {
				done[k] = true;
				which[n++] = k;
			}
		if (is_same_file(m, &all->name[i], verb, &stripped))
			works = ask(all, all->name[i].module, which, n, stripped);
	}
	if (!works)
		sp_complain(0, verb, "addr2line (binutils) cannot be run: call sites have the names of exported functions only", NULL);
	free(done);
	m->names = all;
	m->name_frame = all ? fill : NULL;
}

void sp_symbols_forget(struct sp_model *m)
{
	struct names *all = m->names;

	for (uint32_t i = 0; all && i < all->n; i++) {
		free(all->name[i].symbol);
		free(all->name[i].line);
		for (uint32_t k = 0; k < all->name[i].n_into; k++) {
			free((char *)all->name[i].into[k].symbol);
			free((char *)all->name[i].into[k].line);
		}
		free(all->name[i].into);
	}
	if (all)
		free(all->name);
	free(all);
	m->names = NULL;
	m->name_frame = NULL;
}
