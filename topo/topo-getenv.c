/* topo-getenv.c: functions that libhwloc calls in place of those in libc.
 *
 * Only for libsspapi-topo.so, which is loaded with RTLD_LOCAL|RTLD_DEEPBIND: only libhwloc and its
 * libraries find these functions. If the application had already loaded libhwloc, that one is used
 * and these functions have no effect.
 */
#undef _FORTIFY_SOURCE			/* it makes macros of functions defined here */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo-inside.h"

/* Use other names in C, to avoid conflicts with libc's declarations, whose attributes differ
 * between versions. */
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

/* Returns whether the variable describes another machine, for the application's own hwloc.
 * HWLOC_THISSYSTEM=1 declares that it describes this one. */
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

/* Hide some HWLOC_ variables. Plugins would load libOpenCL, X11 and libxml2 into the application,
 * and only this variable disables them. hwloc must not print on the application's standard error,
 * abort it in a self-check, or use components that HWLOC_COMPONENTS names for another hwloc.
 *
 * Use secure_getenv, which reads the environment inside libc: in a DEEPBIND library `environ` is
 * libc's own, which is NULL if the program has a copy of it.
 */
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

/* Ignore putenv: hwloc with Level Zero sets ZES_ENABLE_SYSMAN when it is loaded, in the
 * application's environment, and as a pointer that dangles once hwloc is unloaded. */
int sp_putenv(char *variable)
{
	(void)variable;
	return 0;
}

/* Allocate with the malloc that belongs to hwloc's free(), which in a DEEPBIND library is libc's.
 * libc's own strdup and asprintf would use the application's malloc (jemalloc, tcmalloc, a
 * profiler). */
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

/* Leave hwloc if an XML file fails one of its assertions, instead of aborting the application.
 * hwloc's memory is leaked, since its state is inconsistent. */
void sp_assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
	(void)what, (void)file, (void)line, (void)function;
	if (sp_topo_abort_jump)
		longjmp(*sp_topo_abort_jump, 1);
	abort();
}
