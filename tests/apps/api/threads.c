/*
 * threads: sys-sage's example of several threads: each counts in a relation of its own, pinned to a
 * CPU or not, while the main thread queries all of them; then they are found by component.
 * usage: threads [N]
 */
#include "own.h"

#define ROUNDS 20
static sspapi_relation *made[64];
static sspapi_component *root[64];
static pthread_barrier_t all;

static void *work(void *arg)
{
	struct own *o = arg;
	int i = o->wrong, cpu = pin(i);

	o->wrong = 0;
	pthread_barrier_wait(&all);
	root[i] = sspapi_topology(NULL);
	must("PAPI_register_thread", PAPI_register_thread());
	must("PAPI_create_eventset", PAPI_create_eventset(&o->c->id));
	add_events(o->c);
	prefault();
	own_start(o);
	__atomic_store_n(&made[i], o->rel, __ATOMIC_RELEASE);
	for (int round = 0; round < ROUNDS; round++) {
		touch(&o->c->arena, 10 + i);
		own_reading(o, "sspapi_read", sspapi_read(o->rel, NULL, round % 3 == 0, NULL), cpu);
	}
	own_reading(o, "sspapi_stop", sspapi_stop(o->rel, NULL, false, NULL), cpu);
	drop_set(o->c->id);
	return NULL;
}

/* Another thread's relation never decreases while it counts. */
static long long watch(int n, int code)
{
	long long sum = 0, before = 0;

	for (int times = 0; times < 2000; times++) {
		sum = 0;
		for (int i = 0; i < n; i++) {
			sspapi_relation *rel = __atomic_load_n(&made[i], __ATOMIC_ACQUIRE);

			sum += rel ? sspapi_total(rel, code, -1) : 0;
		}
		if (sum < before)
			printf("wrong: the sum was %lld, is %lld\n", before, sum);
		before = sum;
	}
	return sum;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4, wrong = 0, room = 64;
	sspapi_relation *found[64];
	pthread_t thread[64];
	struct own *o[64];

	papi_up_threads();
	nth_cpu(0);
	for (int i = 0; i < n; i++) {
		o[i] = own_new(ROUNDS * (10 + i));
		o[i]->wrong = i;
		must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(o[i]->c->id));
		must("PAPI_destroy_eventset", PAPI_destroy_eventset(&o[i]->c->id));
	}
	pthread_barrier_init(&all, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, work, o[i]);
	watch(n, o[0]->code);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	must("sspapi_subtree_find_relations",
	     sspapi_subtree_find_relations(sspapi_topology(NULL), found, &room));
	expect(o[0], "the relations of the machine", room, n);
	for (int i = 0; i < n; i++) {
		expect(o[i], "a root that another thread does not have", root[i] != root[0], 0);
		o[i]->c->id = sspapi_current_event_set(o[i]->rel);
		wrong |= own_end(o[i], "");
	}
	return wrong;
}
