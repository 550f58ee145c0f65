/* program.c: finds a program's file and reads what the loader would do with it; see program.h. */
#include <sys/xattr.h>

#include "../../model/view-common.h"
#include "../files/file.h"
#include "../tool/cmd.h"
#include "library-path.h"
#include "program.h"

#define OBJECTS_MOST 512u
#define SCRIPTS_MOST 4u			/* a script's interpreter may be a script */

/* ---- which file ---------------------------------------------------------- */

static int runnable(const char *path)
{
	struct stat s;

	if (stat(path, &s) < 0)
		return -errno;
	return S_ISREG(s.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

/* As execvp(3): a name with a slash is a path, others are looked for in PATH. */
static int find(const char *name, char path[PATH_MAX])
{
	const char *list = getenv("PATH");
	int r = -ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ? runnable(path) : -ENAMETOOLONG;
	for (const char *p = list ? list : "/bin:/usr/bin"; r < 0; p++) {
		size_t n = strcspn(p, ":");

		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, p, n ? "/" : "./", name) < PATH_MAX && runnable(path) != -ENOENT)
			r = runnable(path) == 0 ? 0 : r == -ENOENT ? -EACCES : r;
		p += n;
		if (!*p)
			break;
	}
	return r;
}

/* The interpreter's name behind "#!": "/usr/bin/env NAME" means NAME. */
static bool interpreter_of(const char *path, char name[PATH_MAX])
{
	char line[PATH_MAX + 2] = "", *word, *save;
	long n = sp_file_first(path, O_NOCTTY, line, sizeof(line) - 1);

	if (n < 0)
		return false;
	line[n] = 0;
	if (strncmp(line, "#!", 2) != 0) {
		strcpy(name, "/bin/sh");	/* execvp's own answer to a file of no known form */
		return !memchr(line, 0, (size_t)n);
	}
	line[strcspn(line, "\n")] = 0;
	word = strtok_r(line + 2, " \t", &save);	/* with a DOS line's \r, as the kernel */
	if (word && strcmp(sp_base_name(word), "env") == 0)
		for (char *next = strtok_r(NULL, " \t", &save); next; next = strtok_r(NULL, " \t", &save))
			if (*next != '-' && !strchr(next, '=')) {
				word = next;
				break;
			}
	snprintf(name, PATH_MAX, "%s", word ? word : "");
	return word != NULL;
}

/* ---- what the loader will do with it -------------------------------------- */

struct object {
	char *path;
	char *rpath;			/* of those through which it is needed; NULL: none */
	bool preloaded;
};

/* (ld.so and libc, which define them, load and start nothing by themselves.) */
static const char *const starts[] = { "dlopen", "execve", "execv", "execvp", "execl", "execlp", "execvpe",
				      "posix_spawn", "posix_spawnp", "dlmopen", NULL };

struct closure {
	struct sp_program *program;
	struct object at[OBJECTS_MOST];
	unsigned n;
};

static bool is_papi(const char *soname)
{
	return strncmp(sp_base_name(soname), "libpapi.so", 10) == 0;
}

static void add(struct closure *c, const char *path, const char *rpath)
{
	struct object *o = &c->at[c->n];

	for (unsigned i = 0; i < c->n; i++)
		if (strcmp(c->at[i].path, path) == 0)
			return;
	if (c->n == OBJECTS_MOST || !(o->path = strdup(path)))
		return;
	o->rpath = rpath ? strdup(rpath) : NULL;
	c->n++;
}

/* The first one; missing: path is the name that is not found. */
static void found_papi(struct sp_program *p, const char *path, bool missing)
{
	if (*p->papi && !p->papi_missing)
		return;
	snprintf(p->papi, sizeof(p->papi), "%s", path);
	p->papi_missing = missing;
}

/* What an object that the program links does for it. */
static void look_linked(struct sp_program *p, const struct sp_elf_file *f, const struct object *o)
{
	static const char *const init[] = { "PAPI_library_init", NULL };

	p->loads_or_starts |= sp_elf_file_has_name(f, starts) && !sp_elf_file_defines(f, "dlopen") && !sp_elf_file_defines(f, "execve");
	if (!*p->holds_papi && !o->preloaded && !is_papi(o->path) && sp_elf_file_has_name(f, init) && sp_elf_file_defines(f, init[0]))
		snprintf(p->holds_papi, sizeof(p->holds_papi), "%s", o->path);
}

/* What object number i needs, and the closure grows by it. */
static void follow(struct closure *c, unsigned i)
{
	char rpath[PATH_MAX], runpath[PATH_MAX], origin[PATH_MAX], soname[PATH_MAX], path[PATH_MAX], *slash;
	struct sp_search by = { .origin = origin };
	struct sp_elf_file f;

	if (sp_elf_file_open(&f, c->at[i].path) < 0)
		return;
	if (i)
		look_linked(c->program, &f, &c->at[i]);
	if (!realpath(c->at[i].path, origin))
		strcpy(origin, c->at[i].path);
	slash = strrchr(origin, '/');
	*(slash ? slash : origin) = 0;
	sp_elf_file_text(&f, f.rpath, rpath, sizeof(rpath));
	sp_elf_file_text(&f, f.runpath, runpath, sizeof(runpath));
	by.runpath = *runpath ? runpath : NULL;
	by.rpath = *rpath ? rpath : c->at[i].rpath;
	for (unsigned k = 0; k < f.n_needed; k++) {
		bool there;

		sp_elf_file_text(&f, f.needed[k], soname, sizeof(soname));
		there = *soname && sp_library_find(soname, &by, path);
		if (is_papi(soname))
			found_papi(c->program, there ? path : soname, !there);
		if (there)
			add(c, path, by.rpath);
	}
	sp_elf_file_close(&f);
}

static void add_preloaded(struct closure *c)
{
	char *list = getenv("LD_PRELOAD") ? strdup(getenv("LD_PRELOAD")) : NULL, *save;
	struct sp_search none = { 0 };

	for (char *p = list ? strtok_r(list, ": ", &save) : NULL; p; p = strtok_r(NULL, ": ", &save)) {
		char path[PATH_MAX];
		unsigned n;

		if (!sp_library_find(p, &none, path))
			continue;
		if (is_papi(path))
			found_papi(c->program, path, false);
		n = c->n;
		add(c, path, NULL);
		if (c->n > n)
			c->at[n].preloaded = true;
	}
	free(list);
}

static void close_over(struct sp_program *p)
{
	struct closure *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->program = p;
	add(c, p->path, NULL);
	add_preloaded(c);
	for (unsigned i = 0; i < c->n; i++)
		follow(c, i);
	for (unsigned i = 0; i < c->n; i++) {
		free(c->at[i].path);
		free(c->at[i].rpath);
	}
	free(c);
}

/* ---- looking ----------------------------------------------------------------- */

static void look_set_id(struct sp_program *p, const char *path)
{
	struct stat s;

	if (stat(path, &s) < 0)
		return;
	if ((s.st_mode & S_ISUID) || (s.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP)) {
		p->set_id = true;
		p->set_id_other = ((s.st_mode & S_ISUID) && s.st_uid != getuid()) ||
				  ((s.st_mode & S_ISGID) && s.st_gid != getgid());
	}
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		p->set_id = p->set_id_other = true;
}

/* By their names, as systems and packages have the same loader in many places; or two names of one file (LSB's). */
static bool same_loader(const char *a, const char *b)
{
	struct stat s, t;

	return strcmp(sp_base_name(a), sp_base_name(b)) == 0 ||
	       (stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino);
}

/* Ours is that of this command. */
static void look_loader(struct sp_program *p, const struct sp_elf_file *f)
{
	struct sp_elf_file own;

	if (!*f->loader || sp_elf_file_open(&own, "/proc/self/exe") < 0)
		return;
	if (*own.loader && !same_loader(own.loader, f->loader))
		strcpy(p->loader, f->loader);
	sp_elf_file_close(&own);
}

static void look_file(struct sp_program *p, const struct sp_elf_file *f)
{
	p->kind = f->foreign ? SP_PROGRAM_FOREIGN : f->interpreter ? SP_PROGRAM_DYNAMIC : SP_PROGRAM_STATIC;
	if (f->foreign)
		return;
	look_loader(p, f);
	p->loads_or_starts = sp_elf_file_has_name(f, starts);
	p->static_papi = sp_elf_file_defines(f, "PAPI_library_init");
	if (p->kind == SP_PROGRAM_DYNAMIC)
		close_over(p);
	p->names_papi = *p->papi || *p->holds_papi || sp_elf_file_holds(f, "libpapi");
}

int sp_program_look(struct sp_program *p, const char *name)
{
	char next[PATH_MAX];
	struct sp_elf_file f;
	int r;

	memset(p, 0, sizeof(*p));
	snprintf(next, sizeof(next), "%s", name);
	for (unsigned i = 0; i < SCRIPTS_MOST; i++) {
		r = find(next, p->path);
		if (r < 0) {
			if (*p->script)
				strcpy(p->missing, next);
			return r;
		}
		r = sp_elf_file_open(&f, p->path);
		if (r != -ENOEXEC)
			break;
		if (!*p->script)
			strcpy(p->script, p->path);
		if (!interpreter_of(p->path, next))
			return -ENOEXEC;
	}
	look_set_id(p, p->path);
	p->unread = r == -EACCES;
	if (p->unread)
		return 0;
	if (r < 0)
		return r;
	look_file(p, &f);
	sp_elf_file_close(&f);
	return 0;
}

/* AddressSanitizer's runtime ends a program in which it is not the first library: one before it might have an allocator. Ours
 * have none. By a variable, not by its place in LD_PRELOAD: shells and launchers that start such a program pass it on, and no
 * child of the program gets a runtime that checks for leaks in it. */
void sp_program_precede_asan(void)
{
	static const char permit[] = "verify_asan_link_order=0";
	const char *old = getenv("ASAN_OPTIONS");
	size_t n = old ? strlen(old) : 0, m = sizeof(permit) - 1;
	char *both;

	if (n >= m && strcmp(old + n - m, permit) == 0 && (n == m || strchr(":, \t\r\n", old[n - m - 1])))
		return;			/* the last one holds */
	if (asprintf(&both, "%s%s%s", n ? old : "", n ? ":" : "", permit) > 0)
		setenv("ASAN_OPTIONS", both, 1);
}

const char *sp_program_why(const struct sp_program *p, int error, char *text, size_t room)
{
	if (!*p->missing)
		return error == -ENOEXEC ? "neither a program nor a script" : strerror(-error);
	snprintf(text, room, "its first line names an interpreter that cannot be run, '%s' (%s): install it, or fix the line", p->missing,
		 strerror(-error));
	return text;
}

void sp_program_libpapi(char path[PATH_MAX])
{
	static const char *const names[] = { "libpapi.so", "libpapi.so.7.3", "libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0",
					     "libpapi.so.6.0", "libpapi.so.5" };
	const struct sp_search none = { 0 };

	for (unsigned i = 0; !*path && i < SP_COUNT(names); i++)
		if (!sp_library_find(names[i], &none, path))
			*path = 0;
}

int sp_not_started(const char *verb, const char *name, int error)
{
	static struct sp_program p;
	static char text[PATH_MAX + 300];
	const char *why = strerror(error);
	int r = sp_program_look(&p, name);

	if (*p.missing || r == -error)
		why = sp_program_why(&p, r, text, sizeof(text));
	else if (error == ENOENT && r == 0)
		why = "the loader that it names is not there (readelf -l tells which): install it, or build the program anew";
	return sp_complain(error == ENOENT ? 127 : 126, verb, why, name);
}
