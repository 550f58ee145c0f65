/*
 * ops: does to one event set what its arguments say, in order, on the scripted libpapi. (What
 * events there are, and of what components, FAKE_PAPI_SCRIPT says.)
 *	set=NAME,NAME makes it former the one before it mpx multiplexed by the kernel swmpx by PAPI
 *	cpu=N		the thread goes to the N-th CPU
 *	dom=N defdom=N PAPI_DOMAIN of the set; PAPI_set_domain other another set is used for a
 *	moment
 *	show=V,V	what PAPI hands out from now on; with a point: a double
 *	beside ... back what is between is done by another thread, with a set of its own, before
 *	this one goes on
 *	tell=FIFO hear=FIFO	waits until another process hears, or tells
 *	profil=N	PAPI_profil of its first event, with this threshold
 *	sleep=N  milliseconds clock=N the time of day is N ms behind the program's start until it
 *	says another inherit=N PAPI_INHERIT of the set add=NAME, remove=NAME an event comes or goes
 *	whole=N		counts all that runs on CPU N (granularity SYS)
 *	start stop quit (stop without values) read accum reset again (cleaned up, destroyed and made
 *	with the same events)
 * usage: ops WORD...
 */
#include <sys/syscall.h>

#include "scene.h"

static struct timespec began;
static long shown = -1;

/* In place of libc's, for libsspapi.so, too. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int e = (int)syscall(SYS_clock_gettime, clock, t);

	if (shown >= 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		*t = (struct timespec){ .tv_sec = began.tv_sec + shown / 1000,
					.tv_nsec = shown % 1000 * 1000000 };
	return e;
}

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
		values[n++] = strchr(p, '.') ? fake_fp64(strtod(p, NULL))
					     : (long long)strtoull(p, NULL, 0);
	fake_set_values(c->id, values, n);
	free(copy);
}

static void domain(int value)
{
	PAPI_option_t o = {.domain = {.eventset = c->id, .domain = value}};

	must("PAPI_DOMAIN", PAPI_set_opt(PAPI_DOMAIN, &o));
}

static void inherit(int value)
{
	PAPI_option_t o = {.inherit = {.eventset = c->id, .inherit = value}};

	must("PAPI_INHERIT", PAPI_set_opt(PAPI_INHERIT, &o));
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
	must("PAPI_profil", PAPI_profil(buckets, sizeof(buckets), (vptr_t)profile, 65536, c->id,
					code, threshold, PAPI_PROFIL_POSIX));
}

/* A FIFO is opened when both its ends are. */
static void meet(const char *fifo, int how)
{
	close(open(fifo, how));
}

#define STEP(name, ...) if (!strcmp(step, name)) { __VA_ARGS__; return; }

static void act(char *step)
{
	long long values[EVENTS] = {0};
	char *arg = strchr(step, '=');
	int n;

	if (arg)
		*arg++ = '\0';
	n = arg ? atoi(arg) : 0;
	STEP("set", make(arg))
	STEP("cpu", pin(n))
	STEP("show", show(arg))
	STEP("mpx", multiplex(PAPI_MULTIPLEX_DEFAULT))
	STEP("swmpx", multiplex(PAPI_MULTIPLEX_FORCE_SW))
	STEP("start", must(step, PAPI_start(c->id)))
	STEP("stop", must(step, PAPI_stop(c->id, values)))
	STEP("quit", must(step, PAPI_stop(c->id, NULL)))
	STEP("read", must(step, PAPI_read(c->id, values)))
	STEP("accum", must(step, PAPI_accum(c->id, values)))
	STEP("reset", must(step, PAPI_reset(c->id)))
	STEP("former", go_back())
	STEP("again", drop(c), make(names))
	STEP("dom", domain(n))
	STEP("defdom", must(step, PAPI_set_domain(n)))
	STEP("profil", profile(n))
	STEP("sleep", usleep((unsigned)n * 1000))
	STEP("clock", shown = n)
	STEP("inherit", inherit(n))
	STEP("add", must(step, PAPI_add_named_event(c->id, arg)))
	STEP("remove", must(step, PAPI_remove_named_event(c->id, arg)))
	STEP("whole", whole(n))
	STEP("other", use_another())
	STEP("tell", meet(arg, O_WRONLY))
	STEP("hear", meet(arg, O_RDONLY))
	die(step);
}

/* Up to the end or "back". */
static void *act_all(void *words)
{
	for (char **word = words; *word && strcmp(*word, "back") != 0; word++) {
		if (strcmp(*word, "beside") != 0) {
			act(*word);
			continue;
		}
		run_thread(NULL, act_all, word + 1);
		while (word[1] && strcmp(*word, "back") != 0)
			word++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	clock_gettime(CLOCK_REALTIME, &began);
	up_threads();
	pin(0);
	act_all(argv + (argc > 1));
	return 0;
}
