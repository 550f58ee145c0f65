/*
 * dlsym: loads PAPI at run time, as scripting languages do.
 * usage: dlsym [local|global|default]
 *	local	RTLD_LOCAL, names looked up by the handle (the default)
 *	global	RTLD_GLOBAL, by the handle
 *	default	RTLD_GLOBAL, by RTLD_DEFAULT
 * It also checks that names which libpapi lacks stay missing, that a pending dlerror() survives
 * PAPI calls, and that everything works again after dlclose().
 */
#include "handed.h"

static char soname[32]; /* by the papi.h it was built with */

#define FUNCTIONS(X) \
	X(PAPI_library_init) \
	X(PAPI_create_eventset) \
	X(PAPI_add_named_event) X(PAPI_start) X(PAPI_read) X(PAPI_accum) X(PAPI_reset) \
		X(PAPI_stop) X(PAPI_cleanup_eventset) X(PAPI_destroy_eventset) X(PAPI_shutdown)

static struct {
#define X(name) __typeof__(name) *name;
	FUNCTIONS(X)
#undef X
} papi;

static int by_default, wrong;

static void *look_up(void *handle, const char *name)
{
	return dlsym(by_default ? RTLD_DEFAULT : handle, name);
}

static void check(int ok, const char *what)
{
	printf("%s: %s\n", ok ? "ok" : "wrong", what);
	wrong |= !ok;
}

static void *open_papi(int global)
{
	void *handle = dlopen(soname, RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
#define X(name) papi.name = (__typeof__(papi.name))look_up(handle, #name);
	FUNCTIONS(X)
#undef X
	if (!papi.PAPI_library_init || !papi.PAPI_shutdown) {
		fprintf(stderr, "dlsym: %s\n", dlerror());
		exit(1);
	}
	return handle;
}

static void missing(void *handle, const char *name)
{
	const char *text;
	void *found;

	dlerror();
	found = look_up(handle, name);
	text = dlerror();
	check(!found && text && strstr(text, name), name);
	if (text)
		printf("dlerror: %s\n", text);
}

/* libpapi's names have no versions: a lookup with a version fails. */
static void no_version(void *handle)
{
	const char *text;
	void *found;

	dlerror();
	found = dlvsym(by_default ? RTLD_DEFAULT : handle, "PAPI_start", "PAPI_7.0");
	text = dlerror();
	check(!found && text && strstr(text, "PAPI_7.0"), "dlvsym finds no version of PAPI_start");
	if (text)
		printf("dlerror: %s\n", text);
}

static void papi_must(const char *what, int ret)
{
	if (ret == PAPI_OK)
		return;
	fprintf(stderr, "%s: %d\n", what, ret);
	exit(1);
}

static void make(struct counted *c)
{
	if (papi.PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		exit(SKIPPED);
	c->id = PAPI_NULL;
	papi_must("PAPI_create_eventset", papi.PAPI_create_eventset(&c->id));
	if (papi.PAPI_add_named_event(c->id, DEFAULT_EVENT) != PAPI_OK)
		exit(SKIPPED);
	prefault();
}

static void count(struct counted *c, long pages)
{
	long long values[EVENTS] = {0}, before[EVENTS] = {0};

	papi_must("PAPI_start", papi.PAPI_start(c->id));
	zeroed(c);
	touch(&c->arena, pages);
	papi_must("PAPI_accum", papi.PAPI_accum(c->id, values));
	handed_accum(c, before, values);
	touch(&c->arena, pages);
	papi_must("PAPI_read", papi.PAPI_read(c->id, values));
	handed(c, "PAPI_read", values);
	touch(&c->arena, pages);
	papi_must("PAPI_stop", papi.PAPI_stop(c->id, values));
	handed(c, "PAPI_stop", values);
}

static void dlerror_survives(void *handle, struct counted *c)
{
	const char *text;

	dlerror();
	look_up(handle, "PAPI_no_such");
	count(c, 10);
	text = dlerror();
	check(text && strstr(text, "PAPI_no_such"), "a pending dlerror() outlives PAPI calls");
	check(!dlerror(), "and is told once");
}

static void one_life(struct counted *c, int global, long pages)
{
	void *handle = open_papi(global), *still;

	missing(handle, "PAPI_start_counters");
	missing(handle, "PAPI_no_such");
	no_version(handle);
	make(c);
	count(c, pages);
	dlerror_survives(handle, c);
	papi_must("PAPI_cleanup_eventset", papi.PAPI_cleanup_eventset(c->id));
	papi_must("PAPI_destroy_eventset", papi.PAPI_destroy_eventset(&c->id));
	papi.PAPI_shutdown();
	dlclose(handle);
	still = dlopen(soname, RTLD_NOLOAD | RTLD_LAZY);
	printf("dlclose: %s is %s\n", soname, still ? "still there" : "gone");
	if (still)
		dlclose(still);
}

int main(int argc, char **argv)
{
	struct counted *c = counted_new(0, NULL, 10000);
	int global = argc > 1 && strcmp(argv[1], "local");

	by_default = argc > 1 && !strcmp(argv[1], "default");
	/* PAPI 5 and older have only their major number. */
	snprintf(soname, sizeof(soname),
		 PAPI_VERSION_MAJOR(PAPI_VER_CURRENT) < 6 ? "libpapi.so.%d" : "libpapi.so.%d.%d",
		 PAPI_VERSION_MAJOR(PAPI_VER_CURRENT), PAPI_VERSION_MINOR(PAPI_VER_CURRENT));
	for (int i = 0; i < 2; i++) {
		pin(i);
		one_life(c, global, 100 + 900 * i);
	}
	return print_handed(c, "") | wrong;
}
