/*
 * handover: event sets that change threads or relations: one that is started by another thread than
 * the counted one; one that two relations ran, of which the older is read; one whose event was
 * replaced. The results are the same linked before libpapi and after it, where sspapi does not see
 * the program's PAPI calls, except the CPU of the first one's counts, which then is the caller's.
 */
#include "own.h"

static volatile int turn;

static void wait_for(int whose)
{
	while (turn != whose)
		sched_yield();
}

static void *start_it(void *arg)
{
	struct own *o = arg;
	int cpu = pin(1);

	must("PAPI_register_thread", PAPI_register_thread());
	prefault();
	wait_for(1);
	own_start(o);
	turn = 2;
	wait_for(3);
	must("sspapi_read", sspapi_read(o->rel, NULL, false, NULL));
	own_reading(o, "sspapi_read", PAPI_OK, sspapi_latest_cpu(o->rel));
	turn = 4;
	wait_for(5);
	must("sspapi_stop", sspapi_stop(o->rel, NULL, false, NULL));
	own_reading(o, "sspapi_stop", PAPI_OK, sspapi_latest_cpu(o->rel));
	if (cpu != nth_cpu(0))
		expect(o, "what is proven on the CPU that it was not counted on",
		       sspapi_exact(o->rel, o->code, cpu), 0);
	return NULL;
}

static int started_by_another(void)
{
	struct own *o = own_new(200);
	pthread_t thread;

	pthread_create(&thread, NULL, start_it, o);
	prefault();
	turn = 1;
	wait_for(2);
	touch(&o->c->arena, 60);
	turn = 3;
	wait_for(4);
	touch(&o->c->arena, 40);
	turn = 5;
	pthread_join(thread, NULL);
	return own_end(o, "");
}

static int run_by_two(void)
{
	struct own *o = own_new(200);
	sspapi_relation *first;
	int cpu = nth_cpu(0), other = 0, n = 0, room = 8, sets[8];
	sspapi_component *pu = sspapi_find_cpu(sspapi_topology(NULL), cpu);

	prefault();
	own_start(o);
	touch(&o->c->arena, 20);
	own_reading(o, "sspapi_stop", sspapi_stop(o->rel, NULL, false, NULL), cpu);
	first = o->rel;
	o->rel = NULL;
	own_start(o);
	touch(&o->c->arena, 30);
	own_reading(o, "sspapi_stop", sspapi_stop(o->rel, NULL, false, NULL), cpu);
	expect(o, "sspapi_read of the first relation", sspapi_read(first, NULL, false, NULL),
	       PAPI_OK);
	expect(o, "the set's values as the first relation has them",
	       sspapi_get_metric(first, o->code, -1, 0), 30);
	expect(o, "the first relation's total", sspapi_total(first, o->code, -1), 20);
	expect(o, "the second relation's total", sspapi_total(o->rel, o->code, -1), 30);
	sspapi_cpu_find_event_sets(pu, NULL, &n);
	sspapi_cpu_find_event_sets(pu, sets, &room);
	expect(o, "the number of event sets on the CPU, asked for without room", n, room);

	must("PAPI_event_name_to_code", PAPI_event_name_to_code("perf::CPU-MIGRATIONS", &other));
	must("PAPI_remove_event", PAPI_remove_event(o->c->id, o->code));
	must("PAPI_add_event", PAPI_add_event(o->c->id, other));
	expect(o, "sspapi_read of a set with another event", sspapi_read(o->rel, NULL, false, NULL),
	       PAPI_ENOEVST);
	must("PAPI_remove_event", PAPI_remove_event(o->c->id, other));
	must("PAPI_add_event", PAPI_add_event(o->c->id, o->code));
	expect(o, "sspapi_read once it has its event again", sspapi_read(o->rel, NULL, false, NULL),
	       PAPI_OK);
	return print_handed(o->c, "") | o->wrong;
}

int main(void)
{
	papi_up_threads();
	pin(0);
	return started_by_another() | run_by_two();
}
