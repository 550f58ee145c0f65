/* topo-getenv.c: libc functions that libhwloc is to find here and not in libc.
 *
 * Only for libsspapi-topo.so, loaded with RTLD_LOCAL|RTLD_DEEPBIND: libhwloc then
 * looks here first, and nobody but it and its libraries does.  If the application
 * had libhwloc loaded before us, that one is used and none of this takes effect.
 */
#undef _FORTIFY_SOURCE			/* it makes macros of what is defined here */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo-inside.h"

/* So as not to meet libc's own declarations, whose attributes differ by version. */
SP_TOPO_EXPORT char *sp_getenv(const char *name) __asm__("getenv");
SP_TOPO_EXPORT int sp_putenv(char *variable) __asm__("putenv");
SP_TOPO_EXPORT char *sp_strdup(const char *s) __asm__("strdup");
SP_TOPO_EXPORT int sp_asprintf(char **out, const char *format, ...) __asm__("asprintf");
SP_TOPO_EXPORT int sp_asprintf_chk(char **out, int flag, const char *format,
				   ...) __asm__("__asprintf_chk");
SP_TOPO_EXPORT _Noreturn void sp_assert_fail(const char *what, const char *file, unsigned line,
			      const char *function) __asm__("__assert_fail");

static int ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* Of another machine, for the application's own hwloc: here they would pass for this one.
 * With HWLOC_THISSYSTEM=1, which says that they are of this one, they are heard. */
static bool is_of_another(const char *name)
{
	static const char *const names[] = { "THISSYSTEM", "XMLFILE",	 "SYNTHETIC",
					     "FSROOT",	   "CPUID_PATH", "DUMPED_HWDATA_DIR" };
	const char *same = secure_getenv("HWLOC_THISSYSTEM");
	bool another = false;

	for (size_t i = 0; i < SP_COUNT(names); i++)
		another = another || !strcmp(name, names[i]);
	return another && !(same && atoi(same));
}

/* hwloc's plugins bring libOpenCL, X11 and libxml2 into the application, and no call
 * switches them off; nor may hwloc print on the application's standard error, abort it in
 * a self-check, or search with components that HWLOC_COMPONENTS names for another hwloc.
 * All other variables are the user's.
 *
 * Through secure_getenv, which reads the environment inside libc: `environ` as a
 * DEEPBIND library sees it is libc's own, and NULL where the program has a copy of it. */
char *sp_getenv(const char *name)
{
	if (!strncmp(name, "HWLOC_", 6)) {
		if (!strcmp(name, "HWLOC_PLUGINS_PATH"))
			return (char *)"/dev/null/no-plugins";
		if (!strcmp(name, "HWLOC_HIDE_ERRORS"))
			return (char *)"2";
		if (is_of_another(name + 6) || ends(name, "_VERBOSE") ||
		    !strncmp(name, "HWLOC_DEBUG_", 12) || !strcmp(name, "HWLOC_COMPONENTS"))
			return NULL;
	}
	return secure_getenv(name);
}

/* hwloc with Level Zero sets ZES_ENABLE_SYSMAN when it is loaded: in the application's environment,
 * and as a pointer into itself, which dangles once it is unloaded. */
int sp_putenv(char *variable)
{
	(void)variable;
	return 0;
}

/* What libc allocates inside itself comes from the application's malloc where it
 * has one of its own (jemalloc, tcmalloc, a profiler); the free() that a DEEPBIND
 * library finds is libc's.  So all that hwloc gets from libc to free is made here,
 * with the malloc of that free. */
char *sp_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = malloc(n);

	return copy ? memcpy(copy, s, n) : NULL;
}

static int print(char **out, const char *format, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	*out = n < 0 ? NULL : malloc((size_t)n + 1);
	return *out ? vsnprintf(*out, (size_t)n + 1, format, args) : -1;
}

int sp_asprintf(char **out, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = print(out, format, args);
	va_end(args);
	return n;
}

int sp_asprintf_chk(char **out, int flag, const char *format, ...)
{
	va_list args;
	int n;

	(void)flag;
	va_start(args, format);
	n = print(out, format, args);
	va_end(args);
	return n;
}

/* An XML file that trips an assertion of hwloc is a bad file, not the end of the
 * application.  What hwloc held then is leaked: it cannot be trusted any more. */
void sp_assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
	(void)what, (void)file, (void)line, (void)function;
	if (sp_topo_abort_jump)
		longjmp(*sp_topo_abort_jump, 1);
	abort();
}
