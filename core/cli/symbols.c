/* symbols.c: see symbols.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "elf-file.h"
#include "symbols.h"

#define AT_ONCE	512u		/* addresses of one run */

struct name {
	uint32_t site, frame;
	uint64_t at;
	const char *module;		/* the store's */
	char build_id[80];
	char *symbol, *line;
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
	char *argv[AT_ONCE + 8] = { NULL, (char *)"-f", (char *)"-C", (char *)"-e", (char *)path };
	int out[2];

	memcpy(argv + 5, address, n * sizeof(*address));
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

/* Names of one module's frames: those at `which`. */
static bool ask(struct names *all, const char *path, const uint32_t *which, uint32_t n)
{
	static char text[AT_ONCE][24];
	char *address[AT_ONCE], function[4096], line[4096], *end;
	int status = 0;
	pid_t pid;
	FILE *in;

	for (uint32_t i = 0; i < n; i++) {
		snprintf(text[i], sizeof(text[i]), "0x%llx", (unsigned long long)all->name[which[i]].at);
		address[i] = text[i];
	}
	in = run(path, address, n, &pid);
	for (uint32_t i = 0; in && i < n && fgets(function, sizeof(function), in) && fgets(line, sizeof(line), in); i++) {
		all->name[which[i]].symbol = known(function);
		end = strrchr(line, ':');
		if (end && end[1] >= '1' && end[1] <= '9')
			all->name[which[i]].line = known(line);
	}
	if (in) {
		fclose(in);
		waitpid(pid, &status, 0);
	}
	return in && !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

static bool is_same_file(const struct name *is, const char *verb)
{
	char id[80];

	if (is->module[0] != '/' || !sp_elf_file_build_id(is->module, id, sizeof(id)))
		return false;
	if (strcmp(id, is->build_id) == 0)
		return true;
	sp_complain(0, verb, "not the file that ran (another build id): call sites in it have no names", is->module);
	return false;
}

void sp_symbols_add(struct sp_model *m, const char *verb)
{
	struct names *all = calloc(1, sizeof(*all));
	bool *done = NULL, works = true;
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
		if (is_same_file(&all->name[i], verb))
			works = ask(all, all->name[i].module, which, n);
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
	}
	if (all)
		free(all->name);
	free(all);
	m->names = NULL;
	m->name_frame = NULL;
}
