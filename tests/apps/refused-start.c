/*
 * refused-start: a set that two threads use, and whose starts PAPI refuses while another set of its
 * owner runs. Each refused start once moved it to the caller's relation, which had other values. 
 * The owner is main, which counts on the second CPU; the other thread reads the set, cannot start
 * it and accumulates it while it is stopped. Prints the pages touched per CPU, and what PAPI
 * returned.
 */
#include "moved.h"

static pthread_barrier_t turn;
static void (*step)(void);	/* the other thread's next step; NULL: it ends */
static struct counted *c, *other;

static void meet(void)
{
	pthread_barrier_wait(&turn);
}

static void *be_other(void *arg)
{
	must("PAPI_register_thread", PAPI_register_thread());
	pin(0);
	for (;;) {
		meet();
		if (!step)
			return arg;
		step();
		meet();
	}
}

static void let(void (*what)(void))
{
	step = what;
	meet();
	if (what)
		meet();
}

static void hand_out(int set, int (*call)(int, long long *))
{
	static long long last;
	long long values[EVENTS] = {0};

	must("a reading", call(set, values));
	total += values[0] - last;
	last = call == PAPI_stop ? 0 : values[0];
}

static void read_it(void)
{
	hand_out(c->id, PAPI_read);
}

static void cannot_start(void)
{
	if (PAPI_start(c->id) != PAPI_EISRUN)
		die("PAPI_start while another set runs");
}

static void use_stopped(int (*call)(int, long long *))
{
	long long values[EVENTS] = {0};

	must("a stopped set", call(c->id, values));
}

static void accumulate_stopped(void)
{
	use_stopped(PAPI_accum);
}

/* Touches code and data whose first use faults. */
static void use(int pages)
{
	must("PAPI_start", PAPI_start(c->id));
	work_in(&c->arena, 1, pages);
	let(read_it);
	hand_out(c->id, PAPI_stop);
	must("PAPI_start", PAPI_start(other->id));
	let(cannot_start);
	let(accumulate_stopped);
	pin(0);
	cannot_start();
	cannot_start();
	use_stopped(PAPI_read);
	pin(1);
	accumulate_stopped();
	hand_out(other->id, PAPI_stop);
}

int main(void)
{
	pthread_t t;

	papi_up_threads();
	c = counted_new(0, NULL, 1000);
	other = counted_new(0, NULL, 1);
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&t, NULL, be_other, NULL);
	make_set(c);
	make_set(other);
	prefault();
	use(20);
	must("PAPI_start", PAPI_start(c->id));
	for (int pages = 1; pages < 10; pages += 4) {
		work_in(&c->arena, 1, pages);
		pin(0);
		read_it();
	}
	hand_out(c->id, PAPI_stop);
	let(NULL);
	pthread_join(t, NULL);
	print_moved();
	return 0;
}
