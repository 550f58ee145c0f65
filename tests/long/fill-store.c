/*
 * fill-store: fills a store with the sets of many threads.
 * usage: fill-store SETS THREADS [EVENTS [SIGNAL]]
 * Each thread makes SETS event sets, one after the other, all alive, counts 3 EV_A (and 0 of other
 * events) in each, and ends; then it prints the `handed` lines, summed. A first set is made and
 * read before all others: its EV_C must never be lost.
 */
#include "scenes/scene.h"

static int n_sets, n_events;
static long long handed_a;

static void *work(void *arg)
{
	static const char *const names[] = {"EV_A", "EV_B", "EV_D", "EV_E", "EV_F", "EV_G", "EV_H"};

	(void)arg;
	pin(0);
	must("PAPI_register_thread", PAPI_register_thread());
	for (int i = 0; i < n_sets; i++) {
		int id = set_with_all(n_events, names);
		long long v[8];

		must("PAPI_start", PAPI_start(id));
		fake_count("EV_A", 3);
		must("PAPI_stop", PAPI_stop(id, v));
		__atomic_fetch_add(&handed_a, v[0], __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const first[] = {"EV_C"};
	int n = argc > 2 ? atoi(argv[2]) : 1, id, code;
	pthread_t t[64];
	long long v[1];

	n_sets = atoi(argv[1]);
	n_events = argc > 3 ? atoi(argv[3]) : 1;
	up_threads();
	for (int i = 0; i < 8; i++)
		PAPI_event_name_to_code((char[]){'E', 'V', '_', 'A' + i, 0}, &code);
	pin(0);
	id = set_with_all(1, first);
	must("PAPI_start", PAPI_start(id));
	fake_count("EV_C", 1000);
	must("PAPI_stop", PAPI_stop(id, v));
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
	printf("handed cpu=%d event=EV_C value=%lld\n", nth_cpu(0), v[0]);
	printf("handed cpu=%d event=EV_A value=%lld\n", nth_cpu(0), handed_a);
	fflush(stdout);
	if (argc > 4)
		raise(atoi(argv[4]));
	return 3;
}
