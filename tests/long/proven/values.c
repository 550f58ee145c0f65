/* values.c: compares PAPI's values of the walker's faults with the log's count on each CPU. */
#include "proven.h"

#define VALUES 8192

/* Declared by sspapi.h; NULL if it is not loaded. */
extern int sspapi_relations(void **rels, int *n) __attribute__((weak));
extern long long sspapi_exact(const void *rel, int event, int cpu) __attribute__((weak));

static struct value {
	enum call how;
	unsigned least, most;		/* the walker's faults at the call */
	long long value;
	int is_queried, nested;
	long long proven[CPUS];
} *values;

static unsigned n_values;
int nothing_can_be_proven;
static long long only_nested;	/* returned to no other thread */

/* PAPI's values since the set began to count. */
struct window {
	unsigned from, last;		/* values[]: its first; the last returned, or the base */
	unsigned lo, hi;		/* where in the log it began */
};

void values_make(void)
{
	values = ready_memory(VALUES * sizeof(*values), MAP_PRIVATE);
}

long long papi_call(int set, enum call how)
{
	long long value = 0, cycles;

	switch (how) {
	case START:
		must("PAPI_start", PAPI_start(set));
		break;
	case READ:
		must("PAPI_read", PAPI_read(set, &value));
		break;
	case READ_TS:
		must("PAPI_read_ts", PAPI_read_ts(set, &value, &cycles));
		break;
	case ACCUM:
		must("PAPI_accum", PAPI_accum(set, &value));
		break;
	case RESET:
		must("PAPI_reset", PAPI_reset(set));
		break;
	case STOP:
		must("PAPI_stop", PAPI_stop(set, &value));
	}
	return value;
}

/* The last one entered may not have happened yet. */
unsigned least_now(void)
{
	unsigned n = atomic_load(&story->n);

	return n && !quiet ? n - 1 : n;
}

unsigned most_now(void)
{
	unsigned batch = atomic_load(&story->batch);

	while (batch & 1 && atomic_load(&story->batch) == batch)
		sched_yield();
	return atomic_load(&story->n);
}

void entered(enum call how, unsigned least, long long value, unsigned most)
{
	unsigned n = __atomic_fetch_add(&n_values, 1, __ATOMIC_SEQ_CST);

	if (n >= VALUES)
		die("values");
	values[n] = (struct value){.how = how, .least = least, .most = most, .value = value};
}

int proven_now(long long *by_cpu)
{
	void *rels[16];
	int n = 16;

	if (!sspapi_relations || !sspapi_exact || sspapi_relations(rels, &n) != PAPI_OK || n > 16)
		return 0;
	memset(by_cpu, 0, cpus * sizeof(*by_cpu));
	for (int i = 0; i < n; i++)
		for (int k = 0; k < cpus; k++)
			by_cpu[k] += sspapi_exact(rels[i], fault_code, cpu_of(k));
	return 1;
}

void value_is_nested(void)
{
	values[n_values - 1].nested = 1;
}

void value_asked(void)
{
	struct value *v = &values[n_values - 1];

	v->is_queried = proven_now(v->proven);
}

void self_asked(struct walker *w)
{
	if (rnd(4))
		return;
	value_asked();
	walker_catch_up(w);
}

/* ---- checked at the end ---------------- */

static unsigned *before[CPUS];		/* faults on that CPU, of the first N */
static unsigned n_faults;

static void sum_up(void)
{
	n_faults = atomic_load(&story->n);
	for (int k = 0; k < cpus; k++) {
		before[k] = calloc(n_faults + 1, sizeof(**before));
		for (unsigned i = 0; i < n_faults; i++)
			before[k][i + 1] =
				before[k][i] + (story->cpu[i] == k || story->cpu[i] == UNSURE);
	}
}

static unsigned upto(unsigned n)
{
	return n < n_faults ? n : n_faults;
}

/* Returns the most of @value faults on CPU @k, for any possible beginning of the window. */
static long long most_there(const struct window *w, int k, long long value)
{
	long long most = 0;

	if (nothing_can_be_proven)
		return 0;
	for (unsigned s = upto(w->lo); s <= upto(w->hi); s++) {
		long long there = (long long)before[k][upto(s + (unsigned)value)] - before[k][s];

		most = there > most ? there : most;
	}
	return most + atomic_load(&story->noise);
}

/*
 * Returns what certainly happened after the call that began it and before the one that returned the
 * last value.
 */
static long long least_there(const struct window *w, int k)
{
	unsigned from = upto(values[w->from].most), to = upto(values[w->last].least);
	long long n = 0;

	for (unsigned i = from; i < to; i++)
		n += story->cpu[i] == k;
	return n;
}

static int has_value(enum call how)
{
	return how != START && how != RESET;
}

static int begins(enum call how)
{
	return how == START || how == RESET || how == ACCUM;
}

/*
 * Finds the window's beginning by its values: each is the number of faults then minus that at the
 * beginning.
 */
static void place(struct window *w, unsigned end)
{
	long long lo = values[w->from].least, hi = values[w->from].most;

	for (unsigned i = w->from + 1; i < end; i++) {
		const struct value *v = &values[i];

		if (!has_value(v->how))
			continue;
		lo = (long long)v->least - v->value > lo ? (long long)v->least - v->value : lo;
		hi = (long long)v->most - v->value < hi ? (long long)v->most - v->value : hi;
		if (w->last == w->from || v->value >= values[w->last].value)
			w->last = i;
	}
	if (lo > hi) {			/* others' faults: which are whose is unknown */
		long long swap = lo;

		atomic_fetch_add(&story->noise, lo - hi);
		lo = hi, hi = swap;
	}
	w->lo = lo < 0 ? 0 : (unsigned)lo;
	w->hi = hi < 0 ? 0 : (unsigned)hi;
}

/* A handler may be given more than the call that it interrupted returns later. */
static void look_at_asked(const struct window *w, unsigned end, const long long *earlier)
{
	long long value = 0;

	for (unsigned i = w->from + 1; i < end; i++) {
		value = values[i].value > value ? values[i].value : value;
		for (int k = 0; values[i].is_queried && k < cpus; k++)
			if (values[i].proven[k] > earlier[k] + most_there(w, k, value))
				printf("wrong: value %u: CPU %d: proven %lld, done at most %lld\n",
				       i, cpu_of(k), values[i].proven[k],
				       earlier[k] + most_there(w, k, value));
	}
}

static void window_report(unsigned from, unsigned end)
{
	static long long earlier[CPUS];
	struct window w = {.from = from, .last = from};
	long long most = 0;

	place(&w, end);
	look_at_asked(&w, end, earlier);
	if (w.last == w.from)
		return;
	handed_out(0, fault_event, values[w.last].value);
	for (unsigned i = from + 1; i < end; i++)
		most = !values[i].nested && values[i].value > most ? values[i].value : most;
	only_nested += values[w.last].value - most;
	for (int k = 0; k < cpus; k++) {
		most = most_there(&w, k, values[w.last].value);

		true_count(0, k, most, least_there(&w, k));
		earlier[k] += most;
	}
}

/*
 * A window lasts from the call that begins it to the next that begins one, which may also return
 * values.
 */
void values_report(void)
{
	unsigned end;

	if (!n_values)
		return;
	sum_up();
	handed_out(0, fault_event, 0);
	for (unsigned i = 0; i < n_values; i = end) {
		for (end = i + 1; end < n_values && !begins(values[end].how); end++)
			;
		window_report(i, end + (end < n_values && has_value(values[end].how)));
	}
	printf("nested event=%s sum=%lld\n", fault_event, only_nested);
}
