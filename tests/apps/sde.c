/*
 * sde: software-defined events: counters of the program's own that libsde hands to PAPI. libsde is
 * opened, not linked, so that this builds without it. usage: sde  100 of one counter on the first
 * CPU, 50 on the second
 *	sde kinds one of each kind that libsde has, in one set: the same. LATE is registered after
 *	its name was added, AFTER only when its set has run once.
 */
#include "calls.h"

#define DELTA 0x00
#define INSTANT 0x10
enum type { LONG, INT, DOUBLE, FLOAT };

static void *libsde, *lib;
static long long hits;
static int small;
static double real, level, late, after;
static float brief;
static double given = 3.5;

/* Returns one of libsde's functions. */
static void *its(const char *name)
{
	void *f = libsde ? dlsym(libsde, name) : NULL;

	if (!f) {
		fprintf(stderr, "cannot count here: no libsde\n");
		exit(SKIPPED);
	}
	return f;
}

static void open_library(void)
{
	libsde = dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL);
	lib = ((void *(*)(const char *))its("papi_sde_init"))("LIB");
}

static void more(const char *name, int mode, enum type type, void *counter)
{
	((int (*)(void *, const char *, int, int, void *))its(
		"papi_sde_register_counter"))(lib, name, mode, type, counter);
}

static long long called(void *with)
{
	long long bits;

	memcpy(&bits, with, sizeof(bits));
	return bits;
}

static int in_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int new_set(int n, char **name)
{
	int id = new_event_set();

	for (int i = 0; i < n; i++)
		if (PAPI_add_named_event(id, name[i]) != PAPI_OK) {
			fprintf(stderr, "cannot count here: PAPI has no component sde\n");
			exit(SKIPPED);
		}
	return id;
}

static void run_after(int id)
{
	long long value;

	must("PAPI_start", PAPI_start(id));
	after += 1.5;
	must("PAPI_stop", PAPI_stop(id, &value));
}

static int kinds(void)
{
	char *name[] = { "sde:::LIB::HITS",	"sde:::LIB::SMALL",    "sde:::LIB::REAL",
			 "sde:::LIB::BRIEF",	"sde:::LIB::LEVEL",    "sde:::LIB::CALLED",
			 "sde:::LIB::MADE",	"sde:::LIB::GROUP",    "sde:::LIB::LIST",
			 "sde:::LIB::LIST:CNT", "sde:::LIB::LIST:MED", "sde:::LIB::BAG",
			 "sde:::LIB::LATE" },
	     *unknown = "sde:::LIB::AFTER";
	long long value[13];
	void *made, *list, *bag;
	int id, other, element = 7;

	more("HITS", DELTA, LONG, &hits);
	more("SMALL", DELTA, INT, &small);
	more("REAL", DELTA, DOUBLE, &real);
	more("BRIEF", DELTA, FLOAT, &brief);
	more("LEVEL", INSTANT, DOUBLE, &level);
	((int (*)(void *, const char *, int, int, long long (*)(void *), void *))its(
		"papi_sde_register_counter_cb"))(lib, "CALLED", INSTANT, DOUBLE, called, &given);
	((int (*)(void *, const char *, int, void **))its("papi_sde_create_counter"))(lib, "MADE",
										      DELTA, &made);
	((int (*)(void *, const char *, const char *, uint32_t))its(
		"papi_sde_add_counter_to_group"))(lib, "REAL", "GROUP", 0);
	((int (*)(void *, const char *, size_t, int (*)(const void *, const void *), void **))its(
		"papi_sde_create_recorder"))(lib, "LIST", sizeof(int), in_order, &list);
	((int (*)(void *, const char *, void **))its("papi_sde_create_counting_set"))(lib, "BAG",
										      &bag);
	((int (*)(void *, size_t, const void *))its("papi_sde_record"))(list, sizeof(int),
									&element);
	((int (*)(void *, size_t, size_t, const void *, uint32_t))its(
		"papi_sde_counting_set_insert"))(bag, sizeof(int), sizeof(int), &element, 0);
	id = new_set(13, name);
	other = new_set(1, &unknown);
	more("LATE", DELTA, DOUBLE, &late);
	hits = small = 7;		/* before the start: not counted */
	pin(0);
	must("PAPI_start", PAPI_start(id));
	for (int cpu = 0; cpu < 2; cpu++) {
		pin(cpu);
		hits += cpu ? 50 : 100;
		small += 2;
		real += 0.25;
		brief += 0.5F;
		level = cpu + 0.125;
		late += 1.5;
		((int (*)(void *, long long))its("papi_sde_inc_counter"))(made, 10);
		must("PAPI_read", PAPI_read(id, value));
	}
	must("PAPI_stop", PAPI_stop(id, value));
	run_after(other);
	more("AFTER", DELTA, DOUBLE, &after);
	drop_set(other);
	run_after(new_set(1, &unknown));
	return value[0] != 150;
}

int main(int argc, char **argv)
{
	char *name = "sde:::LIB::HITS";
	struct counted *c;
	long long value;

	open_library();
	papi_up();
	if (argc > 1 && strcmp(argv[1], "kinds") == 0)
		return kinds();
	more("HITS", DELTA, LONG, &hits);
	c = counted_new(1, &name, 1);
	c->id = new_set(1, &name);
	hits = 7;			/* before the start: not counted */
	pin(0);
	begin(c);
	hits += 100;
	must("PAPI_read", PAPI_read(c->id, &value));
	handed(c, "PAPI_read", &value);
	pin(1);
	hits += 50;
	must("PAPI_stop", PAPI_stop(c->id, &value));
	handed(c, "PAPI_stop", &value);
	print_handed(c, "");
	return value != 150;
}
