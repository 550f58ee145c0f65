/*
 * ops: does to one event set what its arguments say, in order, on the scripted libpapi. (What events there
 * are, and of what components, FAKE_PAPI_SCRIPT says.)
 *	set=NAME,NAME	makes it	former	the one before it	mpx	multiplexed by the kernel	swmpx	by PAPI
 *	cpu=N		the thread goes to the N-th CPU
 *	dom=N defdom=N	PAPI_DOMAIN of the set; PAPI_set_domain	other	another set is used for a moment
 *	show=V,V	what PAPI hands out from now on; with a point: a double
 *	beside ... back	what is between is done by another thread, with a set of its own, before this one goes on
 *	tell=FIFO hear=FIFO	waits until another process hears, or tells
 *	profil=N	PAPI_profil of its first event, with this threshold
 *	whole=N		counts all that runs on CPU N (granularity SYS)
 *	start stop read accum reset again (cleaned up, destroyed and made with the same events)
 * usage: ops WORD...
 */
#include "scene.h"

static __thread struct counted *c, *former;
static __thread const char *names;

static void make(const char *list)
{
	char *word[EVENTS], *save;
	int n = 0;

	names = list;
	former = c;
	for (char *p = strtok_r(strdup(list), ",", &save); p; p = strtok_r(NULL, ",", &save))
		word[n++] = p;
	c = made(counted_new(n, word, 1));
}

static void go_back(void)
{
	struct counted *now = c;

	c = former;
	former = now;
}

static void multiplex(int flags)
{
	PAPI_option_t o = {.multiplex = {.eventset = c->id, .flags = flags}};

	must("PAPI_multiplex_init", PAPI_multiplex_init());
	must("PAPI_MULTIPLEX", PAPI_set_opt(PAPI_MULTIPLEX, &o));
}

static void show(const char *list)
{
	long long values[EVENTS];
	char *copy = strdup(list), *save;
	int n = 0;

	for (char *p = strtok_r(copy, ",", &save); p; p = strtok_r(NULL, ",", &save))
		values[n++] = strchr(p, '.') ? fake_fp64(strtod(p, NULL)) : (long long)strtoull(p, NULL, 0);
	fake_set_values(c->id, values, n);
	free(copy);
}

static void domain(int value)
{
	PAPI_option_t o = {.domain = {.eventset = c->id, .domain = value}};

	must("PAPI_DOMAIN", PAPI_set_opt(PAPI_DOMAIN, &o));
}

static void whole(int cpu)
{
	PAPI_option_t o = {.granularity = {.eventset = c->id, .granularity = PAPI_GRN_SYS}};

	must("PAPI_GRANUL", PAPI_set_opt(PAPI_GRANUL, &o));
	o = (PAPI_option_t){.cpu = {.eventset = c->id, .cpu_num = (unsigned)cpu}};
	must("PAPI_CPU_ATTACH", PAPI_set_opt(PAPI_CPU_ATTACH, &o));
}

static void use_another(void)
{
	struct counted *o = SET("EV_H");
	long long value;

	must("PAPI_start", PAPI_start(o->id));
	must("PAPI_stop", PAPI_stop(o->id, &value));
	drop(o);
}

static void profile(int threshold)
{
	static unsigned short buckets[64];
	int code, n = 1;

	must("PAPI_list_events", PAPI_list_events(c->id, &code, &n));
	must("PAPI_profil", PAPI_profil(buckets, sizeof(buckets), (vptr_t)profile, 65536, c->id, code, threshold, PAPI_PROFIL_POSIX));
}

/* A FIFO is opened when both its ends are. */
static void meet(const char *fifo, int how)
{
	close(open(fifo, how));
}

static void act(const char *word)
{
	long long values[EVENTS] = {0};

	if (!strncmp(word, "set=", 4))
		make(word + 4);
	else if (!strncmp(word, "cpu=", 4))
		pin(atoi(word + 4));
	else if (!strncmp(word, "show=", 5))
		show(word + 5);
	else if (!strcmp(word, "mpx"))
		multiplex(PAPI_MULTIPLEX_DEFAULT);
	else if (!strcmp(word, "swmpx"))
		multiplex(PAPI_MULTIPLEX_FORCE_SW);
	else if (!strcmp(word, "start"))
		must(word, PAPI_start(c->id));
	else if (!strcmp(word, "stop"))
		must(word, PAPI_stop(c->id, values));
	else if (!strcmp(word, "read"))
		must(word, PAPI_read(c->id, values));
	else if (!strcmp(word, "accum"))
		must(word, PAPI_accum(c->id, values));
	else if (!strcmp(word, "reset"))
		must(word, PAPI_reset(c->id));
	else if (!strcmp(word, "former"))
		go_back();
	else if (!strcmp(word, "again"))
		drop(c), make(names);
	else if (!strncmp(word, "dom=", 4))
		domain(atoi(word + 4));
	else if (!strncmp(word, "defdom=", 7))
		must(word, PAPI_set_domain(atoi(word + 7)));
	else if (!strncmp(word, "profil=", 7))
		profile(atoi(word + 7));
	else if (!strncmp(word, "whole=", 6))
		whole(atoi(word + 6));
	else if (!strcmp(word, "other"))
		use_another();
	else if (!strncmp(word, "tell=", 5))
		meet(word + 5, O_WRONLY);
	else if (!strncmp(word, "hear=", 5))
		meet(word + 5, O_RDONLY);
	else
		die(word);
}

/* Up to the end or "back". */
static void *act_all(void *words)
{
	for (char **word = words; *word && strcmp(*word, "back") != 0; word++) {
		pthread_t thread;

		if (strcmp(*word, "beside") != 0) {
			act(*word);
			continue;
		}
		if (pthread_create(&thread, NULL, act_all, word + 1) || pthread_join(thread, NULL))
			die(*word);
		while (word[1] && strcmp(*word, "back") != 0)
			word++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	up_threads();
	pin(0);
	act_all(argv + (argc > 1));
	return 0;
}
