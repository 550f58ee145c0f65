/*
 * shared-sets: sets that more than one thread uses. Thread A, on the first CPU,
 * makes the set; main is on the second. Both touch pages: A 100, main 200.
 * The oracle's cpu is that of the counted thread, which PAPI selects:
 *	opener		A made it, main starts and stops it: A is counted
 *	reopened	the same, after A used another set of its own: main is counted
 *	refused		the same, after main could not add an event to it: main is counted
 *	reader		A made and started it, main reads and stops it: A is counted
 *	ended		as reader, but A has ended when main stops it
 *	inherit		PAPI_INHERIT: main made it, then makes A: both are counted
 * usage: shared-sets MODE	inherit needs hw2sw without hardware counters
 */
#include "handed.h"
#include <pthread.h>

static struct counted *counted, *another;
static struct arena arena_of_a;
static pthread_barrier_t turn;
static const char *mode;
static int cpu_of_a, cpu_of_main;
static int tid_of_a;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

/* The thread that starts the set is counted. */
static int is_opened_anew(void)
{
	return is("reopened") || is("refused");
}

static void meet(void)
{
	pthread_barrier_wait(&turn);
}

/* Counts of a thread that still runs while another one reads them are not proven. */
static void await_sleep_of_a(void)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid_of_a);
	while (state != 'S') {
		FILE *f = fopen(path, "r");

		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 'S';
		if (f)
			fclose(f);
	}
}

static void *thread_a(void *arg)
{
	long long values[EVENTS];

	(void)arg;
	tid_of_a = (int)syscall(SYS_gettid);
	cpu_of_a = pin(0);
	if (!is("inherit"))
		make_set(counted);
	if (is("reopened")) {
		make_set(another);
		must("PAPI_start", PAPI_start(another->id));
		must("PAPI_stop", PAPI_stop(another->id, values));
	}
	prefault();
	if (is("reader") || is("ended"))
		must("PAPI_start", PAPI_start(counted->id));
	meet(); /* made, and perhaps running */
	meet(); /* running */
	touch(&arena_of_a, 100);
	if (is("ended"))
		return NULL;
	meet(); /* touched */
	meet(); /* read, stopped */
	return NULL;
}

static void inherit(struct counted *c)
{
	PAPI_option_t option;

	c->id = core_set();
	memset(&option, 0, sizeof(option));
	option.inherit.eventset = c->id;
	option.inherit.inherit = PAPI_INHERIT_ALL;
	may("PAPI_INHERIT", PAPI_set_opt(PAPI_INHERIT, &option));
	add_events(c);
}

/* @pages: touched by the counted thread since the last reading. */
static void take(const char *by, const long long *values, long pages)
{
	counted->arena.touched = counted->last_touched + pages;
	handed(counted, by, values);
	counted->reading[counted->readings - 1].cpu = is_opened_anew() ? cpu_of_main : cpu_of_a;
}

static void read_and_stop(pthread_t a)
{
	long long values[EVENTS];
	long pages = is_opened_anew() ? 200 : 100;

	if (is("ended")) {
		must("PAPI_read", PAPI_read(counted->id, values));
		take("PAPI_read", values, 0);
		meet();
		pthread_join(a, NULL);
	} else {
		meet();
		touch(&counted->arena, 200);
		meet();
		if (!is_opened_anew())
			await_sleep_of_a();
		must("PAPI_read", PAPI_read(counted->id, values));
		take("PAPI_read", values, pages);
		pages = 0;
	}
	must("PAPI_stop", PAPI_stop(counted->id, values));
	take("PAPI_stop", values, pages);
	if (!is("ended"))
		meet();
}

/* The start-up faults of A are included: only the sum of all is known. */
static int both(pthread_t *a)
{
	long long values[EVENTS];

	inherit(counted);
	prefault();
	must("PAPI_start", PAPI_start(counted->id));
	pthread_create(a, NULL, thread_a, NULL);
	meet();
	meet();
	touch(&counted->arena, 200);
	meet();
	must("PAPI_read", PAPI_read(counted->id, values));
	printf("handed cpu=%d event=%s value=%lld by=PAPI_read\n", cpu_of_main, counted->name[0],
	       values[0]);
	handed(counted, "PAPI_read", values);
	must("PAPI_stop", PAPI_stop(counted->id, values));
	printf("handed cpu=%d event=%s value=%lld by=PAPI_stop\n", cpu_of_main, counted->name[0],
	       values[0] - counted->last[0]);
	meet();
	pthread_join(*a, NULL);
	return values[0] < 300;
}

int main(int argc, char **argv)
{
	pthread_t a;

	mode = argc > 1 ? argv[1] : "opener";
	nth_cpu(0);
	papi_up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	counted = counted_new(0, NULL, 1000);
	another = counted_new(0, NULL, 1);
	arena_make(&arena_of_a, 1000);
	pthread_barrier_init(&turn, NULL, 2);
	cpu_of_main = pin(1);
	if (is("inherit"))
		return both(&a);
	pthread_create(&a, NULL, thread_a, NULL);
	prefault();
	meet();
	/* (with a CPU number that no machine has) */
	if (is("refused") &&
	    PAPI_add_named_event(counted->id, "perf::MINOR-FAULTS:cpu=65535") == PAPI_OK)
		die("an event of no CPU was added");
	if (is("opener") || is_opened_anew())
		must("PAPI_start", PAPI_start(counted->id));
	read_and_stop(a);
	if (!is("ended"))
		pthread_join(a, NULL);
	return print_handed(counted, "");
}
