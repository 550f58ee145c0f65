/*
 * domains: counts the same event in user code, in the kernel, and in both. In each run the program
 * touches 100 pages, and read(2) touches 30. Prints a line per run: the value returned, and the
 * domain (PAPI_DOM_* added) that it shows.
 *
 *	set		PAPI_DOMAIN before the event is added: user, kernel, both
 *	default		PAPI_set_domain before the set gets its component: user, kernel, both
 *	component	PAPI_set_cmp_domain, the same
 *	defdom		PAPI_DEFDOM, the same
 *	late		PAPI_DOMAIN with the counters open: user twice; then another set is used,
 *			and PAPI_start opens them again: both
 *
 * usage: domains MODE	needs hw2sw without hardware counters
 */
#include "handed.h"

static const char *mode;
static struct counted *c;
static int zero;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

/* An ordinary user may not count the kernel, from perf_event_paranoid 2 on. */
static void allowed(const char *what, int ret)
{
	if (ret == PAPI_EINVAL_DOM)
		cannot(what, ret);
	must(what, ret);
}

static void set_domain(int set, int value)
{
	PAPI_option_t o = {.domain = {.eventset = set, .domain = value}};

	allowed("PAPI_DOMAIN", PAPI_set_opt(PAPI_DOMAIN, &o));
}

static void set_default(int value)
{
	PAPI_option_t o = {.defdomain = {.def_cidx = 0, .domain = value}};

	if (is("default"))
		allowed("PAPI_set_domain", PAPI_set_domain(value));
	if (is("component"))
		allowed("PAPI_set_cmp_domain", PAPI_set_cmp_domain(value, 0));
	if (is("defdom"))
		allowed("PAPI_DEFDOM", PAPI_set_opt(PAPI_DEFDOM, &o));
}

static void make(int domain)
{
	if (domain)
		set_default(domain);
	c->id = core_set();
	if (domain && is("set"))
		set_domain(c->id, domain);
	may(c->name[0], PAPI_add_named_event(c->id, c->name[0]));
}

static void drop(void)
{
	drop_set(c->id);
}

static void run(int domain)
{
	long long value,
		want = (domain & PAPI_DOM_USER ? 100 : 0) + (domain & PAPI_DOM_KERNEL ? 30 : 0);
	may("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 100);
	for (int i = 0; i < 30; i++, c->arena.next += c->arena.page)
		if (read(zero, c->arena.next, 1) != 1)
			die("/dev/zero");
	must("PAPI_stop", PAPI_stop(c->id, &value));
	printf("handed cpu=%d event=%s value=%lld domain=%d\n", sched_getcpu(), c->name[0], value,
	       domain);
	if (value != want)
		printf("wrong: %lld\n", want);
}

static void late(void)
{
	make(0);
	run(PAPI_DOM_USER);
	set_domain(c->id, PAPI_DOM_USER | PAPI_DOM_KERNEL);
	run(PAPI_DOM_USER);
	migrations_once();
	run(PAPI_DOM_USER | PAPI_DOM_KERNEL);
}

static void each(void)
{
	static const int domains[] = { PAPI_DOM_USER, PAPI_DOM_KERNEL,
				       PAPI_DOM_USER | PAPI_DOM_KERNEL };

	for (int i = 0; i < 3; i++) {
		make(domains[i]);
		run(domains[i]);
		drop();
	}
}

int main(int argc, char **argv)
{
	mode = argc > 1 ? argv[1] : "set";
	papi_up();
	c = counted_new(0, NULL, 1000);
	pin(0);
	zero = open("/dev/zero", O_RDONLY);
	prefault();
	if (read(zero, &(char){0}, 1) != 1)
		die("/dev/zero");
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	if (is("late"))
		late();
	else
		each();
	return 0;
}
