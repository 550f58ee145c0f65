/*
 * threads: N threads, pinned to the allowed CPUs in turn, each with its own event set and number of
 * pages: thread i touches 1000 + 100 i, twice. usage: threads [-n N] [event...]
 */
#include "calls.h"

struct worker {
	struct counted *counted;
	pthread_t thread;
	int i;
	pid_t tid;
};

static void count(struct counted *c, long pages)
{
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, pages);
	look(c);
	touch(&c->arena, pages);
	end(c);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = syscall(SYS_gettid);
	pin(w->i);
	must("PAPI_register_thread", PAPI_register_thread());
	make_set(w->counted);
	prefault();
	count(w->counted, 1000 + 100 * w->i);
	drop_set(w->counted->id);
	must("PAPI_unregister_thread", PAPI_unregister_thread());
	return NULL;
}

/* PAPI 7.0 may refuse a name that two threads look up for the first time at once. */
static void look_up_names(struct counted *c)
{
	int code;

	for (int i = 0; i < c->k; i++) {
		may(c->name[i], PAPI_event_name_to_code(c->name[i], &code));
	}
}

static int join(struct worker *w)
{
	char who[64];

	pthread_join(w->thread, NULL);
	snprintf(who, sizeof(who), " thread=%d tid=%d", w->i, w->tid);
	return print_handed(w->counted, who);
}

int main(int argc, char **argv)
{
	int n = 4, wrong = 0, opt;
	struct worker *w;

	while ((opt = getopt(argc, argv, "n:")) != -1)
		n = atoi(optarg);
	papi_up_threads();
	nth_cpu(0);
	w = calloc(n, sizeof(*w));
	for (int i = 0; i < n; i++) {
		w[i].i = i;
		w[i].counted = counted_new(argc - optind, argv + optind, 2 * (1000 + 100 * i));
	}
	look_up_names(w[0].counted);
	for (int i = 0; i < n; i++)
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	for (int i = 0; i < n; i++)
		wrong |= join(&w[i]);
	return wrong;
}
