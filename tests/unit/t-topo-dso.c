/* t-topo-dso.c: libsspapi-topo.so as an application gets it. (Beside another malloc or hwloc:
 * 83-mallocs.t.)
 *
 * Linked with -ldl and nothing of topo or hwloc.  The DSO is $SP_TOPO_SO, or
 * $B/libsspapi-topo.so; without it, or in a sanitized build (whose run time refuses
 * RTLD_DEEPBIND), all tests are skipped.
 */
#include "test.h"

#include <dlfcn.h>

#include "../../topo/topo.h"

static int (*load)(struct sp_topo *t, const char *source, char *why, size_t why_bytes);
static void (*unload)(struct sp_topo *t);
static struct sp_topo t;
static char why[256];

/* Each in a process of its own, since hwloc is loaded once a process. */
static void in_child(void (*what)(void))
{
	int status = -1, fds[2];
	char said[256] = "";
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	child = fork();
	if (!child) {
		for (int number = 1; number < 32; number++)
			signal(number, SIG_DFL);	/* cmocka's would go on with the next test
							 * in here */
		dup2(fds[1], 2);
		what();
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], said, sizeof(said) - 1);	/* ends with the child */
	close(fds[0]);
	waitpid(child, &status, 0);
	if (status || n)
		print_error("status %x, printed: %s\n", status, said);
	assert_int_equal(status, 0);
	assert_int_equal(n, 0);
}

#define OR_FAIL(true) ((true) ? (void)0 : _exit(__LINE__ & 0x7f ?: 1))

/* The user's own settings of hwloc are heard, though this program, which names environ,
 * has a copy of it that a DEEPBIND library does not see. */
static void environment_run(void)
{
	OR_FAIL(environ);
	setenv("HWLOC_SYNTHETIC", "pack:3 core:2 pu:2", 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	OR_FAIL(!load(&t, NULL, why, sizeof(why)));
	OR_FAIL(t.n_cpus == 12);
	unload(&t);
	for (int same = 0; same < 2; same++) {	/* what an application's hwloc is to see for this
						 * machine is not this machine */
		if (same)
			setenv("HWLOC_THISSYSTEM", "0", 1);
		else
			unsetenv("HWLOC_THISSYSTEM");
		setenv("HWLOC_XMLFILE", "tests/topo/holes.xml", 1);
		OR_FAIL(!load(&t, NULL, why, sizeof(why)));
		OR_FAIL(t.n - 1 != 12 && t.n_cpus < 8191);
		OR_FAIL(t.n_cpus >= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
		unload(&t);
	}
}

static void environment_is_heard(void **state)
{
	in_child(environment_run);
}

/* But what would make it talk or abort is for the application's own hwloc. */
static void quiet_run(void)
{
	static const char *const loud[] = { "HWLOC_XML_VERBOSE",	"HWLOC_PLUGINS_VERBOSE",
					    "HWLOC_COMPONENTS_VERBOSE", "HWLOC_SYNTHETIC_VERBOSE",
					    "HWLOC_GROUPING_VERBOSE",	"HWLOC_DEBUG_VERBOSE",
					    "HWLOC_DEBUG_CHECK" };

	for (size_t i = 0; i < SP_COUNT(loud); i++)
		setenv(loud[i], "1", 1);
	OR_FAIL(!load(&t, NULL, why, sizeof(why)));
	unload(&t);
	OR_FAIL(load(&t, "tests/topo/no-numa.xml", why, sizeof(why)) == -EINVAL);
	OR_FAIL(load(&t, "synthetic:nonsense", why, sizeof(why)) == -EINVAL);
}

static void quiet(void **state)
{
	in_child(quiet_run);
}

/* A file that goes past our checks (hwloc opens this one itself) and trips an assertion. */
static void assertion_run(void)
{
	setenv("HWLOC_XMLFILE", "tests/topo/pu-root.xml", 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	OR_FAIL(load(&t, NULL, why, sizeof(why)) == -ENODATA);
	OR_FAIL(*why && !t.n);
	unsetenv("HWLOC_XMLFILE");
	OR_FAIL(!load(&t, NULL, why, sizeof(why)));
	unload(&t);
}

static void failed_assertion(void **state)
{
	in_child(assertion_run);
}

static bool open_dso(void)
{
	const char *path = getenv("SP_TOPO_SO"), *b = getenv("B");
	char built[4096];
	void *dso = NULL;

	snprintf(built, sizeof(built), "%s/libsspapi-topo.so", b ? b : "build");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	dso = dlopen(path ? path : built, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#else
#endif
	if (dso) {
		*(void **)&load = dlsym(dso, "sp_topo_load");
		*(void **)&unload = dlsym(dso, "sp_topo_free");
	}
	return load && unload;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(environment_is_heard),
		cmocka_unit_test(quiet),
		cmocka_unit_test(failed_assertion),
	};

	unsetenv("HWLOC_HIDE_ERRORS");
	if (!open_dso())		/* cmocka 1.1.5 writes a skip as a failure */
		return puts("1..0 # SKIP no libsspapi-topo.so, or a sanitized build") < 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
