/* program.c: finds and inspects a program's file; see program.h. */
#include <sys/xattr.h>

#include "../../base/elf-file.h"
#include "../../model/format-common.h"
#include "../probe/subprocess.h"
#include "../files/file.h"
#include "../tool/cmd.h"
#include "program.h"

#define SCRIPTS_MOST 4u			/* scripts may have scripts as interpreters */

/* ---- which file ---------------------------------------------------------- */

static int runnable(const char *path)
{
	struct stat s;

	if (stat(path, &s) < 0)
		return -errno;
	return S_ISREG(s.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

/* Finds a program like execvp(3): a name with a slash is a path, others are searched in PATH. */
static int find(const char *name, char path[PATH_MAX])
{
	const char *list = getenv("PATH");
	int r = -ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ? runnable(path)
								       : -ENAMETOOLONG;
	for (const char *p = list ? list : "/bin:/usr/bin"; r < 0; p++) {
		size_t n = strcspn(p, ":");

		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, p, n ? "/" : "./", name) <
			    PATH_MAX &&
		    runnable(path) != -ENOENT)
			r = runnable(path) == 0 ? 0 : r == -ENOENT ? -EACCES : r;
		p += n;
		if (!*p)
			break;
	}
	return r;
}

/* Reads the interpreter after "#!"; "/usr/bin/env NAME" gives NAME. */
static bool interpreter_of(const char *path, char name[PATH_MAX])
{
	char line[PATH_MAX + 2] = "", *word, *save;
	long n = sp_file_first(path, O_NOCTTY, line, sizeof(line) - 1);

	if (n < 0)
		return false;
	line[n] = 0;
	if (strncmp(line, "#!", 2) != 0) {
		strcpy(name, "/bin/sh");	/* as execvp does for an unknown file format */
		return !memchr(line, 0, (size_t)n);
	}
	line[strcspn(line, "\n")] = 0;
	word = strtok_r(line + 2, " \t", &save);	/* keeps a DOS line's \r, as the kernel
							 * does */
	if (word && strcmp(sp_base_name(word), "env") == 0)
		for (char *next = strtok_r(NULL, " \t", &save); next;
		     next = strtok_r(NULL, " \t", &save))
			if (*next != '-' && !strchr(next, '=')) {
				word = next;
				break;
			}
	snprintf(name, PATH_MAX, "%s", word ? word : "");
	return word != NULL;
}

/* ---- the loader's view ------------------------------------------------- */

/* Functions that load or start something; ld.so and libc, which define them, do not count. */
static const char *const starts[] = { "dlopen",	      "execve",	 "execv",   "execvp",
				      "execl",	      "execlp",	 "execvpe", "posix_spawn",
				      "posix_spawnp", "dlmopen", NULL };

static bool is_papi(const char *soname)
{
	return strncmp(sp_base_name(soname), "libpapi.so", 10) == 0;
}

/* Keeps the first one; missing: path is a name that was not found. */
static void found_papi(struct sp_program *p, const char *path, bool missing)
{
	if (*p->papi && !p->papi_missing)
		return;
	snprintf(p->papi, sizeof(p->papi), "%s", path);
	p->papi_missing = missing;
}

/* Inspects an object that the program links. */
static void read_linked(struct sp_program *p, const char *path)
{
	static const char *const init[] = { "PAPI_library_init", NULL };
	struct sp_elf_file f;

	if (sp_elf_file_open(&f, path) < 0)
		return;
	p->loads_or_starts |= sp_elf_file_has_name(&f, starts) &&
			      !sp_elf_file_defines(&f, "dlopen") &&
			      !sp_elf_file_defines(&f, "execve");
	if (!*p->papi_object && !is_papi(path) && sp_elf_file_has_name(&f, init) &&
	    sp_elf_file_defines(&f, init[0]))
		snprintf(p->papi_object, sizeof(p->papi_object), "%s", path);
	sp_elf_file_close(&f);
}

/* The command's own loader, and its arguments. */
struct question {
	char loader[256];
	const char *path, *preload;
};

static bool find_own_loader(char loader[256])
{
	struct sp_elf_file own;

	if (sp_elf_file_open(&own, "/proc/self/exe") < 0)
		return false;
	strcpy(loader, own.loader);
	sp_elf_file_close(&own);
	return *loader;
}

/* Lists a program's libraries. The loader maps them, but runs none of their code. */
static void query_loader(void *question, int to)
{
	const struct question *q = question;

	dup2(to, STDOUT_FILENO);
	setenv("LD_PRELOAD", q->preload, 1);
	setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);	/* as in ldd(1): --list stops at a
							 * missing library */
	execl(q->loader, q->loader, q->path, NULL);
}

/* "NAME => PATH (ADDRESS)", "NAME => not found", "PATH (ADDRESS)" */
static bool take_object(char *line, const char **name, const char **path)
{
	char *arrow = strstr(line, " => "), *address = strstr(line, " (0x");

	line += strspn(line, "\t");
	if (arrow || address)
		*(arrow ? arrow : address) = 0;
	if (address)
		*address = 0;
	*name = line;
	*path = arrow ? arrow + strlen(" => ") : line;
	return **path == '/';
}

static void take_linked(void *program, char *line)
{
	struct sp_program *p = program;
	const char *name, *path;
	bool there = take_object(line, &name, &path);

	if (is_papi(name))
		found_papi(p, there ? path : name, !there);
	if (there)
		read_linked(p, path);
}

/* names: receives names without a path, which the loader finds. */
static void inspect_preloaded(struct sp_program *p, char *names)
{
	char *list = sp_check_alloc(strdup(getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "")),
	     *save;

	for (char *path = strtok_r(list, ": ", &save); path; path = strtok_r(NULL, ": ", &save)) {
		if (is_papi(path) && !strchr(path, '/'))
			names = stpcpy(stpcpy(names, path), " ");
		else if (is_papi(path) && access(path, R_OK) == 0)
			found_papi(p, path, false);
	}
	free(list);
}

/* ---- inspection -------------------------------------------------------- */

static void read_set_id(struct sp_program *p, const char *path)
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

/* Compares loaders by base name, since packages install the same loader in several places, and
 * by file, for LSB's second name. */
static bool same_loader(const char *a, const char *b)
{
	struct stat s, t;

	return strcmp(sp_base_name(a), sp_base_name(b)) == 0 ||
	       (stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_dev == t.st_dev &&
		s.st_ino == t.st_ino);
}

static void read_file_facts(struct sp_program *p, const struct sp_elf_file *f)
{
	struct question q = { .path = p->path, .preload = "" };
	bool known = find_own_loader(q.loader);

	p->kind = f->foreign	   ? SP_PROGRAM_FOREIGN
		  : f->interpreter ? SP_PROGRAM_DYNAMIC
				   : SP_PROGRAM_STATIC;
	if (f->foreign)
		return;
	if (known && *f->loader && !same_loader(q.loader, f->loader))
		strcpy(p->loader, f->loader);
	p->loads_or_starts = sp_elf_file_has_name(f, starts);
	p->static_papi = sp_elf_file_defines(f, "PAPI_library_init");
	if (p->kind == SP_PROGRAM_DYNAMIC) {
		char *names = sp_check_alloc(
			calloc(1, strlen(getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "") +
					  sizeof(" ")));

		inspect_preloaded(p, names);
		q.preload = names;
		if (known && !f->audited)
			sp_run_in_child(query_loader, &q, take_linked, p);
		free(names);
	}
	p->names_papi = *p->papi || *p->papi_object || sp_elf_file_contains(f, "libpapi");
}

int sp_program_inspect(struct sp_program *p, const char *name)
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
	read_set_id(p, p->path);
	p->unread = r == -EACCES;
	if (p->unread)
		return 0;
	if (r < 0)
		return r;
	read_file_facts(p, &f);
	sp_elf_file_close(&f);
	return 0;
}

/* Lets AddressSanitizer's runtime start although a library precedes it. It ends such a program,
 * since that library might have an allocator; ours have none. A variable is used, since shells
 * and launchers pass it on to such programs. Putting the runtime first in LD_PRELOAD would also
 * load it, with its leak check, into all children. */
void sp_program_precede_asan(void)
{
	static const char permit[] = "verify_asan_link_order=0";
	const char *old = getenv("ASAN_OPTIONS");
	size_t n = old ? strlen(old) : 0, m = sizeof(permit) - 1;
	char *both;

	if (n >= m && strcmp(old + n - m, permit) == 0 &&
	    (n == m || strchr(":, \t\r\n", old[n - m - 1])))
		return;			/* the last setting counts */
	if (asprintf(&both, "%s%s%s", n ? old : "", n ? ":" : "", permit) > 0)
		setenv("ASAN_OPTIONS", both, 1);
}

const char *sp_program_why(const struct sp_program *p, int error, char *text, size_t room)
{
	if (!*p->missing)
		return error == -ENOEXEC ? "neither a program nor a script" : strerror(-error);
	snprintf(text, room,
		 "its first line names an interpreter that cannot be run, '%s' (%s): install it, "
		 "or fix the line",
		 p->missing, strerror(-error));
	return text;
}

static void take_papi(void *to, char *line)
{
	const char *name, *path;

	if (take_object(line, &name, &path) && is_papi(name) && !*(char *)to)
		snprintf(to, PATH_MAX, "%s", path);
}

/* Resolves it as if this command had it preloaded. */
void sp_program_libpapi(char path[PATH_MAX])
{
	char own[PATH_MAX];
	struct question q = {
		.path = realpath("/proc/self/exe", own),
		.preload = "libpapi.so libpapi.so.7.3 libpapi.so.7.2 libpapi.so.7.1 libpapi.so.7.0 "
			   "libpapi.so.6.0 libpapi.so.5"
	};

	if (!*path && q.path && find_own_loader(q.loader))
		sp_run_in_child(query_loader, &q, take_papi, path);
}

int sp_not_started(const char *verb, const char *name, int error)
{
	static struct sp_program p;
	static char text[PATH_MAX + 300];
	const char *why = strerror(error);
	int r = sp_program_inspect(&p, name);

	if (*p.missing || r == -error)
		why = sp_program_why(&p, r, text, sizeof(text));
	else if (error == ENOENT && r == 0)
		why = "its loader does not exist (readelf -l shows its name): install it, or "
		      "rebuild the program";
	return sp_complain(error == ENOENT ? 127 : 126, verb, why, name);
}
