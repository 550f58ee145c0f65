/*
 * reopen-target: shows for which target PAPI_start opens counters again. PAPI does that if the set
 * is not the one that was used last under its owner: the thread that made it, the thread it was
 * attached to, the CPU. Steps are words; a set is a letter; "T:" makes another thread do the step.
 *
 *	make=A add=A	a new set with a component; its event, page faults (B: migrations, 0)
 *	attach=A detach=A cpu=A cpu1=A inherit=A single=A user=A all=A	PAPI_set_opt
 *	over=A oversw=A overoff=A profil=A profilsw=A sprofil=A	PAPI_overflow, _profil, _sprofil
 *	multiplex=A empty=A unregister
 *	start=A read=A stop=A run=A	run: start and stop
 *	refused=A	a start that PAPI refuses, since another set of its owner runs
 *
 * Between a start and its stop main touches 100 pages, thread T 30, a child 7; by read(2) main
 * 1000, the child 2000, which count in the kernel. Prints for each stop of A the value that PAPI
 * returned, and the target that this number shows. Main and the child are on the first CPU, T is on
 * the second.
 * usage: reopen-target STEP...	needs hw2sw without hardware counters
 */
#include "handed.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#define PAGES 100000

static struct counted *set[2];
static struct arena arena, arena_of_t;
static int to[2], from[2], zero, cpu_of_main, cpu_of_t, quit;
static pid_t child;
static pthread_t thread;
static sem_t ask, done;
static const char *request;
static unsigned short buckets[64];

/* Makes the kernel touch pages. */
static void have_touched(struct arena *a, long pages)
{
	for (long i = 0; i < pages; i++, a->left--, a->next += a->page)
		if (read(zero, a->next, 1) != 1)
			die("/dev/zero");
}

static void be_the_child(void)
{
	struct arena own;
	char word;

	arena_make(&own, PAGES);
	close(to[1]);
	prefault();
	while (read(to[0], &word, 1) == 1) {
		touch(&own, 7);
		have_touched(&own, 2000);
		if (write(from[1], &word, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void on_overflow(int id, void *address, long long vector, void *context)
{
	(void)id, (void)address, (void)vector, (void)context;
}

static void option(const char *what, int option_number, PAPI_option_t *o)
{
	may(what, PAPI_set_opt(option_number, o));
}

static int code_of(const struct counted *c)
{
	int code;

	must("PAPI_event_name_to_code", PAPI_event_name_to_code(c->name[0], &code));
	return code;
}

static void make(struct counted *c)
{
	c->id = core_set();
}

/* Derives the counted target from the number. */
static void stopped(struct counted *c)
{
	long long value;
	int cpu;

	must("PAPI_stop", PAPI_stop(c->id, &value));
	if (c != set[0])
		return;
	cpu = value % 100 == 30 ? cpu_of_t : cpu_of_main;
	printf("handed cpu=%d event=%s value=%lld of=%s%s\n", cpu, c->name[0], value,
	       value % 10 == 7	     ? "child"
	       : value % 100 == 30   ? "T"
	       : value % 1000 == 100 ? "main"
				     : "nobody",
	       value >= 1000 ? " all" : "");
}

static int is_run(const char *step)
{
	return !strncmp(step, "run=", 4);
}

/* Steps that count, or need only the set. */
static int plain(const char *what, struct counted *c)
{
	PAPI_sprofil_t prof = {buckets, sizeof(buckets), (vptr_t)be_the_child, 65536};
	long long value;

	if (!strcmp(what, "start") || !strcmp(what, "run"))
		must("PAPI_start", PAPI_start(c->id));
	else if (!strcmp(what, "refused"))
		must("PAPI_start, refused",
		     PAPI_start(c->id) == PAPI_EISRUN ? PAPI_OK : PAPI_EMISC);
	else if (!strcmp(what, "read"))
		must("PAPI_read", PAPI_read(c->id, &value));
	else if (!strcmp(what, "stop"))
		stopped(c);
	else if (!strcmp(what, "make"))
		make(c);
	else if (!strcmp(what, "add"))
		add_events(c);
	else if (!strcmp(what, "empty"))
		must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(c->id));
	else if (!strcmp(what, "multiplex"))
		must("PAPI_set_multiplex", PAPI_set_multiplex(c->id));
	else if (!strcmp(what, "over"))
		must("PAPI_overflow", PAPI_overflow(c->id, code_of(c), 100000000, 0, on_overflow));
	else if (!strcmp(what, "oversw"))
		must("PAPI_overflow", PAPI_overflow(c->id, code_of(c), 100000000,
						    PAPI_OVERFLOW_FORCE_SW, on_overflow));
	else if (!strcmp(what, "overoff"))
		must("PAPI_overflow", PAPI_overflow(c->id, code_of(c), 0, 0, on_overflow));
	else if (!strcmp(what, "profil") || !strcmp(what, "profilsw"))
		must("PAPI_profil",
		     PAPI_profil(buckets, sizeof(buckets), prof.pr_off, 65536, c->id, code_of(c),
				 100000000, what[6] ? PAPI_PROFIL_FORCE_SW : PAPI_PROFIL_POSIX));
	else if (!strcmp(what, "sprofil"))
		must("PAPI_sprofil",
		     PAPI_sprofil(&prof, 1, c->id, code_of(c), 100000000, PAPI_PROFIL_POSIX));
	else
		return 0;
	return 1;
}

static void by_option(const char *what, int id)
{
	PAPI_option_t attach = {.attach = {.eventset = id, .tid = (unsigned long)child}};
	PAPI_option_t cpu = { .cpu = { .eventset = id,
				       .cpu_num = (unsigned)nth_cpu(!strcmp(what, "cpu1")) } };
	PAPI_option_t inherit = {.inherit = {.eventset = id, .inherit = PAPI_INHERIT_NONE}};
	PAPI_option_t domain = {.domain = {.eventset = id, .domain = PAPI_DOM_USER}};

	if (!strcmp(what, "attach")) {
		option("PAPI_ATTACH", PAPI_ATTACH, &attach);
	} else if (!strcmp(what, "detach")) {
		option("PAPI_DETACH", PAPI_DETACH, &attach);
	} else if (!strncmp(what, "cpu", 3)) {
		option("PAPI_CPU_ATTACH", PAPI_CPU_ATTACH, &cpu);
	} else if (!strcmp(what, "inherit") || !strcmp(what, "single")) {
		if (what[0] == 'i')
			inherit.inherit.inherit = PAPI_INHERIT_ALL;
		option("PAPI_INHERIT", PAPI_INHERIT, &inherit);
	} else if (!strcmp(what, "user") || !strcmp(what, "all")) {
		if (what[0] == 'a')
			domain.domain.domain |= PAPI_DOM_KERNEL;
		option("PAPI_DOMAIN", PAPI_DOMAIN, &domain);
	} else {
		die(what);
	}
}

static void step(const char *word)
{
	char what[32];
	const char *name = strchr(word, '=');

	if (!strcmp(word, "unregister")) {
		must("PAPI_unregister_thread", PAPI_unregister_thread());
		return;
	}
	if (!name || name - word >= (long)sizeof(what) || name[1] < 'A' || name[1] > 'B')
		die(word);
	snprintf(what, sizeof(what), "%.*s", (int)(name - word), word);
	if (!plain(what, set[name[1] - 'A']))
		by_option(what, set[name[1] - 'A']->id);
}

/* PAPI's timer may interrupt it. */
static void wait_for(sem_t *what)
{
	while (sem_wait(what) && errno == EINTR)
		;
}

static void *be_t(void *arg)
{
	cpu_of_t = pin(1);
	prefault();
	must("PAPI_register_thread", PAPI_register_thread());
	sem_post(&done);
	for (wait_for(&ask); !quit; wait_for(&ask)) {
		if (request)
			step(request);
		else
			touch(&arena_of_t, 30);
		sem_post(&done);
	}
	return arg;
}

/* NULL: touches pages. */
static void let_t(const char *word)
{
	request = word;
	sem_post(&ask);
	wait_for(&done);
}

static void let_all_touch(void)
{
	char word = 't';

	touch(&arena, 100);
	have_touched(&arena, 1000);
	let_t(NULL);
	if (write(to[1], &word, 1) != 1 || read(from[0], &word, 1) != 1)
		die("the child");
}

static void do_step(const char *word)
{
	int by_t = !strncmp(word, "T:", 2);
	const char *own = word + 2 * by_t;
	char stop[] = "stop=A";

	stop[5] = own[strlen(own) - 1];
	by_t ? let_t(own) : step(own);
	if (is_run(own) || !strncmp(own, "start=", 6))
		let_all_touch();
	if (is_run(own))
		by_t ? let_t(stop) : step(stop);
}

int main(int argc, char **argv)
{
	cpu_of_main = pin(0);
	zero = open("/dev/zero", O_RDONLY);
	if (zero < 0 || pipe(to) || pipe(from) || (child = fork()) < 0)
		die("fork");
	if (!child)
		be_the_child();
	arena_make(&arena, PAGES);
	arena_make(&arena_of_t, PAGES);
	for (int i = 0; i < 2; i++)
		set[i] = counted_new(i != 0, (char *[]){"perf::CPU-MIGRATIONS"}, 1);
	papi_up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	sem_init(&ask, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&thread, NULL, be_t, NULL);
	wait_for(&done);
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	prefault();
	let_all_touch();
	for (int i = 1; i < argc; i++)
		do_step(argv[i]);
	quit = 1;
	sem_post(&ask);
	pthread_join(thread, NULL);
	kill(child, SIGKILL);
	return 0;
}
