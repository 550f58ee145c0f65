/*
 * demo: two threads multiply matrices and count with plain PAPI. "mover" starts on the first CPU,
 * reads, is moved to the second and continues; "stayer" is on the second all the time.
 * usage: demo [event...]
 */
#include "handed.h"

#define N 256

struct worker {
	const char *name;
	int first, then; /* the CPU at first, and later */
	int rounds[2];
	struct counted *counted;
	pthread_t thread;
	double sum;
};

static long matrix_pages(long page)
{
	return (N * N * sizeof(double) + page - 1) / page;
}

/* New memory: it faults when it is filled. */
static double *new_matrix(struct arena *a)
{
	double *m = (double *)a->next;
	long pages = matrix_pages(a->page);

	a->next += pages * a->page;
	a->left -= pages;
	a->touched += pages;
	return m;
}

static double multiply(struct arena *arena)
{
	double *a = new_matrix(arena), *b = new_matrix(arena), *c = new_matrix(arena);

	for (int i = 0; i < N * N; i++) {
		a[i] = i % 7;
		b[i] = i % 5;
		c[i] = 0; /* a read before would fault separately */
	}
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				c[i * N + j] += a[i * N + k] * b[k * N + j];
	return c[N * N - 1];
}

static void work(struct worker *w, int cpu, int rounds)
{
	pin(cpu);
	for (int i = 0; i < rounds; i++)
		w->sum += multiply(&w->counted->arena);
}

/* Each function calls PAPI once: the dump names the code between two of them. */
static __attribute__((noinline)) void begin(struct worker *w)
{
	pin(w->first);
	make_set(w->counted);
	prefault();
	must("PAPI_start", PAPI_start(w->counted->id));
}

static __attribute__((noinline)) void first_part(struct worker *w)
{
	long long values[EVENTS];

	work(w, w->first, w->rounds[0]);
	must("PAPI_read", PAPI_read(w->counted->id, values));
	handed(w->counted, "PAPI_read", values);
}

static __attribute__((noinline)) void second_part(struct worker *w)
{
	long long values[EVENTS];

	work(w, w->then, w->rounds[1]);
	must("PAPI_stop", PAPI_stop(w->counted->id, values));
	handed(w->counted, "PAPI_stop", values);
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct counted *c = w->counted;

	pthread_setname_np(pthread_self(), w->name);
	begin(w);
	first_part(w);
	second_part(w);
	drop_set(c->id);
	must("PAPI_unregister_thread", PAPI_unregister_thread());
	return NULL;
}

static int join(struct worker *w)
{
	char who[64];

	pthread_join(w->thread, NULL);
	snprintf(who, sizeof(who), " thread=%s", w->name);
	return print_handed(w->counted, who) || w->sum == 0;
}

int main(int argc, char **argv)
{
	struct worker w[2] = {
	    {.name = "mover", .first = 0, .then = 1, .rounds = {2, 6}},
	    {.name = "stayer", .first = 1, .then = 1, .rounds = {3, 1}},
	};
	int code;

	papi_up_threads();
	nth_cpu(0);
	for (int i = 0; i < 2; i++)
		w[i].counted = counted_new(argc - 1, argv + 1,
					   8 * 3 * matrix_pages(sysconf(_SC_PAGESIZE)));
	for (int i = 0; i < w[0].counted->k; i++)
		if (PAPI_event_name_to_code(w[0].counted->name[i], &code) != PAPI_OK)
			cannot(w[0].counted->name[i], PAPI_ENOEVNT);
	for (int i = 0; i < 2; i++)
		pthread_create(&w[i].thread, NULL, run, &w[i]);
	return join(&w[0]) | join(&w[1]);
}
