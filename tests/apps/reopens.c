/*
 * reopens: PAPI_start opens the counters of a set again, because another set was used, in cases
 * that are hard to see. Each run touches 300 pages on the first CPU, 500 on the second.
 *	limit	an earlier start closed them, and was refused for lack of descriptors
 *	number	for another thread, which has the tid of the one that they were open for
 *	many	28 of them: seven events in four domains
 *	child	no start: a child of fork adds an event to its parent's set
 *	shared	for another CPU (PAPI_GRN_SYS), after another thread has read the set
 * usage: reopens MODE	number as root
 */
#include "handed.h"

#include <sys/resource.h>

#define DOMAINS 4

static struct counted *c;
static pid_t first;

static void run(void)
{
	long long value[EVENTS * 2];
	int cpu[] = {pin(0), 0};

	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 300);
	cpu[1] = pin(1);
	touch(&c->arena, 500);
	must("PAPI_stop", PAPI_stop(c->id, value));
	printf("handed cpu=%d event=%s value=300 by=PAPI_stop\n", cpu[0], c->name[0]);
	printf("handed cpu=%d event=%s value=500 by=PAPI_stop\n", cpu[1], c->name[0]);
	if (value[0] != 800)
		printf("wrong: %lld\n", value[0]);
}

static void limit(void)
{
	struct rlimit was, low;

	make_set(c);
	run();
	migrations_once();
	getrlimit(RLIMIT_NOFILE, &was);
	low = was;
	low.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &low);
	if (PAPI_start(c->id) == PAPI_OK)
		die("PAPI_start without descriptors");
	setrlimit(RLIMIT_NOFILE, &was);
	migrations_once();
	run();
}

static void *makes(void *arg)
{
	(void)arg;
	first = gettid();
	prefault();
	make_set(c);
	run();
	migrations_once();
	return NULL;
}

static void *goes_on(void *arg)
{
	(void)arg;
	if (gettid() != first)
		exit(SKIPPED);
	prefault();
	run();
	return NULL;
}

static void number(void)
{
	int last;

	run_thread(NULL, makes, NULL);
	while (!syscall(SYS_tgkill, getpid(), first, 0))	/* (joined, but not yet gone) */
		sched_yield();
	last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
	if (last < 0 || dprintf(last, "%d", (int)first - 1) < 0)
		exit(SKIPPED);
	close(last);
	run_thread(NULL, goes_on, NULL);
}

static void many(void)
{
	static const char *const events[] = { "PAGE-FAULTS",	  "MINOR-FAULTS",   "MAJOR-FAULTS",
					      "CONTEXT-SWITCHES", "CPU-MIGRATIONS", "TASK-CLOCK",
					      "CPU-CLOCK" };
	static const char *const domains[DOMAINS] = {":u=1", ":k=1:u=0", ":u=1:k=1", ":u=0:k=0"};

	c->id = core_set();
	for (size_t i = 0; i < DOMAINS * sizeof(events) / sizeof(*events); i++) {
		char name[64];

		snprintf(name, sizeof(name), "perf::%s%s", events[i / DOMAINS],
			 domains[i % DOMAINS]);
		if (i == 0)
			c->name[0] = strdup(name);
		may(name, PAPI_add_named_event(c->id, name));
	}
	for (int i = 0; i < 3; i++) {
		run();
		migrations_once();
	}
}

static void child(void)
{
	long long value[EVENTS];
	int status;

	make_set(c);
	pin(0);
	fflush(NULL);
	if (fork()) {
		wait(&status);
		exit(status != 0);
	}
	must("PAPI_add_named_event", PAPI_add_named_event(c->id, "perf::MINOR-FAULTS"));
	prefault();
	must("PAPI_start", PAPI_start(c->id));	/* the first store to a page after fork faults */
	touch(&c->arena, 1);
	must("PAPI_stop", PAPI_stop(c->id, value));
	printf("child %d\nhanded cpu=%d event=%s value=%lld by=PAPI_stop\n", (int)getpid(),
	       sched_getcpu(), c->name[0], value[0]);
	run();
	run();
}

static void *reads(void *arg)
{
	handed(c, "PAPI_read", (must("PAPI_read", PAPI_read(c->id, arg)), arg));
	return NULL;
}

static void sys(int which)
{
	PAPI_option_t o = {.granularity = {.granularity = PAPI_GRN_SYS}};

	pin(which);
	o.granularity.eventset = c->id;
	may("PAPI_GRANUL", PAPI_set_opt(PAPI_GRANUL, &o));
}

static void shared(void)
{
	long long value;

	c->id = core_set();
	sys(0);
	may("PAGE-FAULTS", PAPI_add_named_event(c->id, c->name[0]));
	for (int i = 0; i < 2; i++) {
		must("PAPI_start", PAPI_start(c->id));
		zeroed(c);
		touch(&c->arena, 500);
		if (!i)
			run_thread(NULL, reads, &value);
		must("PAPI_stop", PAPI_stop(c->id, &value));
		handed(c, "PAPI_stop", &value);
		sys(1);
		migrations_once();
	}
	for (int i = 0; i < c->readings; i++) {
		c->reading[i].cpu = nth_cpu(i == 2);
		printf("handed cpu=%d event=%s value=%lld by=%s\n", c->reading[i].cpu, c->name[0],
		       c->reading[i].value[0], c->reading[i].by);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*does)(void);
	} modes[] = { { "limit", limit },
		      { "number", number },
		      { "many", many },
		      { "child", child },
		      { "shared", shared } };

	papi_up_threads();
	c = counted_new(0, NULL, 4000);
	prefault();
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			modes[i].does();
	return 0;
}
