/* vectors-api.c: plays sys-sage's sequences through sspapi.h on the scripted libpapi, with
 * scripted CPUs, and compares everything that can be asked after every operation.
 *
 *	vectors-api [-f] TOPOLOGY FILE.jsonl...	TAP
 *
 * -f: every other event is a floating-point counter, each count of which is a quarter.
 *
 * What is not compared, as tests/vectors/README.md says: where sys-sage fails to look a name
 * up (that is not done at a reading here), and what follows an ACCUM that it lost.  Of
 * sequences with two sets, the ledger.
 */
#include <papi.h>

#include "fake/fake.h"
#include "../preload/sspapi.h"
#include "vectors.h"

#define READINGS 512

/* The library asks the kernel's per-thread area for its CPU, or, without one, this. */
const unsigned int __rseq_size = 0;
static int scripted_cpu;

int sched_getcpu(void)
{
	return scripted_cpu;
}

static bool floats;

/* What is asked of event e, as a whole number. */
static long long number_of(int e, long long value)
{
	double d;

	if (!floats || e % 2)
		return value;
	memcpy(&d, &value, sizeof(d));
	return (long long)(d * 4) == d * 4 ? (long long)(d * 4) : -999999;
}

struct player {
	const json_t *seq;
	sspapi_component *root;
	sspapi_relation *rel;
	int n_events, n_sets, cpus;
	const char *event[EVENTS];
	int code[EVENTS], es[SETS], n[SETS], at[SETS][EVENTS];
	int current;			/* -1 */
	bool entries;			/* are compared */
	uint64_t ns[READINGS];
	int readings;
	long long total[EVENTS][16], last[EVENTS], count[EVENTS];
	bool running;
	char why[512];
};

#define WRONG(p, step, ...) do { \
	int at_ = snprintf((p)->why, sizeof((p)->why), "%s: op %d: ", text((p)->seq, "name"), step); \
	snprintf((p)->why + at_, sizeof((p)->why) - (size_t)at_, __VA_ARGS__); \
	return false; \
} while (0)

/* ---- what is so ---------------------------------------------------------- */

static bool same_list(struct player *p, int step, int e, int cpu, const json_t *want)
{
	struct sspapi_cpu_metrics got = { .n = 0 };
	int rc = sspapi_get_all_metrics(p->rel, p->code[e], cpu, &got);
	size_t i;
	const json_t *x;

	if (rc != PAPI_OK && (rc != PAPI_ENOEVNT || p->rel))
		WRONG(p, step, "sspapi_get_all_metrics gives %d", rc);
	if (got.n != json_array_size(want))
		WRONG(p, step, "%s on CPU %d: %zu entries, not %zu", p->event[e], cpu, got.n, json_array_size(want));
	json_array_foreach(want, i, x) {
		const struct sspapi_metric *m = &got.entries[i];

		if (m->timestamp != p->ns[json_integer_value(json_array_get(x, 0))] ||
		    number_of(e, m->value) != json_integer_value(json_array_get(x, 1)) ||
		    m->permanent != json_is_true(json_array_get(x, 2)))
			WRONG(p, step, "%s on CPU %d, entry %zu: %lld at %llu", p->event[e], cpu, i, m->value,
			      (unsigned long long)m->timestamp);
	}
	return true;
}

static bool same_event(struct player *p, int step, int e, const json_t *state)
{
	const json_t *lists = json_object_get(json_object_get(state, "entries"), p->event[e]);
	const json_t *percpu = json_object_get(json_object_get(state, "percpu"), p->event[e]);
	const json_t *hist = json_object_get(json_object_get(state, "hist"), p->event[e]), *x;
	long long total = json_integer_value(json_object_get(json_object_get(state, "total"), p->event[e]));
	char key[16];
	size_t i;

	if (number_of(e, sspapi_get_metric(p->rel, p->code[e], -1, 0)) != total)
		WRONG(p, step, "%s: %lld, not %lld", p->event[e],
		      number_of(e, sspapi_get_metric(p->rel, p->code[e], -1, 0)), total);
	for (int cpu = 0; cpu < p->cpus; cpu++) {
		snprintf(key, sizeof(key), "%d", cpu);
		if (!same_list(p, step, e, cpu, json_object_get(lists, key)))
			return false;
	}
	json_array_foreach(percpu, i, x)
		if (number_of(e, sspapi_get_metric(p->rel, p->code[e], (int)i, 0)) != json_integer_value(x) ||
		    number_of(e, sspapi_cpu_get_metric(sspapi_find_cpu(p->root, (int)i), p->code[e],
						       p->es[p->current], 0)) != json_integer_value(x))
			WRONG(p, step, "%s on CPU %zu is not %lld", p->event[e], i, (long long)json_integer_value(x));
	json_array_foreach(hist, i, x)
		if (number_of(e, sspapi_get_metric(p->rel, p->code[e], -1, p->ns[i])) != json_integer_value(x))
			WRONG(p, step, "%s at reading %zu: %lld, not %lld", p->event[e], i,
			      number_of(e, sspapi_get_metric(p->rel, p->code[e], -1, p->ns[i])),
			      (long long)json_integer_value(x));
	return true;
}

static bool same_cpus(struct player *p, int step, const json_t *want)
{
	int cpus[32], n = 32;

	if (sspapi_find_cpus(p->rel, cpus, &n) != PAPI_OK || (size_t)n != json_array_size(want))
		WRONG(p, step, "%d CPUs, not %zu", n, json_array_size(want));
	for (int i = 0; i < n; i++)
		if (cpus[i] != json_integer_value(json_array_get(want, (size_t)i)))
			WRONG(p, step, "CPU %d", cpus[i]);
	return true;
}

/* The ledger, by the rule of tests/vectors/README.md; and its sum. */
static bool same_totals(struct player *p, int step)
{
	for (int e = 0; e < p->n_events && p->rel; e++) {
		long long sum = 0;

		for (int cpu = 0; cpu < 16; cpu++) {
			long long got = number_of(e, sspapi_total(p->rel, p->code[e], cpu));

			sum += got;
			if (got != p->total[e][cpu])
				WRONG(p, step, "the ledger has %lld of %s on CPU %d, not %lld", got, p->event[e], cpu,
				      p->total[e][cpu]);
		}
		if (number_of(e, sspapi_total(p->rel, p->code[e], -1)) != sum)
			WRONG(p, step, "the ledger's sum of %s", p->event[e]);
	}
	return true;
}

static bool same(struct player *p, int step, const json_t *state)
{
	if (!same_totals(p, step))
		return false;
	if (!p->entries || !p->rel)
		return true;
	for (int e = 0; e < p->n_events; e++)
		if (!same_event(p, step, e, state))
			return false;
	return same_cpus(p, step, json_object_get(state, "cpus"));
}

/* ---- what is done ---------------------------------------------------------- */

static void work(struct player *p, const json_t *op)
{
	const json_t *list = json_object_get(op, "work");

	scripted_cpu = number(op, "cpu");
	for (size_t e = 0; e < json_array_size(list); e++) {
		long long n = json_integer_value(json_array_get(list, e));

		if (n && floats && e % 2 == 0)
			fake_count_fp64(p->event[e], (double)n / 4);
		else if (n)
			fake_count(p->event[e], n);
		for (int i = 0; p->running && i < p->n[p->current]; i++)
			if (p->at[p->current][i] == (int)e)
				p->count[i] += n;
	}
}

static void zeroed(struct player *p)
{
	memset(p->last, 0, sizeof(p->last));
	memset(p->count, 0, sizeof(p->count));
}

static void book(struct player *p, int cpu, const long long *x)
{
	for (int i = 0; i < p->n[p->current]; i++) {
		p->total[p->at[p->current][i]][cpu] += x[i] - p->last[i];
		p->last[i] = x[i];
	}
}

static int reading(struct player *p, const json_t *op, const json_t *state)
{
	const json_t *want = json_object_get(op, "counters");
	bool permanent = json_is_true(json_object_get(op, "permanent"));
	const char *what = text(op, "op");
	long long x[EVENTS];
	uint64_t ns = 0;
	int rc;

	work(p, op);
	rc = !strcmp(what, "read") ? sspapi_read(p->rel, p->root, permanent, &ns) :
	     !strcmp(what, "accum") ? sspapi_accum(p->rel, p->root, permanent, &ns) :
				      sspapi_stop(p->rel, p->root, permanent, &ns);
	if (number(state, "reading") >= 0 && p->readings < READINGS)
		p->ns[p->readings++] = ns;
	if (!json_array_size(want))
		return rc;
	for (size_t i = 0; i < json_array_size(want); i++)
		x[i] = json_integer_value(json_array_get(want, i));
	book(p, number(op, "cpu"), x);
	if (!strcmp(what, "accum"))
		zeroed(p);
	if (!strcmp(what, "stop"))
		p->running = false;
	return rc;
}

static int start(struct player *p, const json_t *op)
{
	int set = number(op, "es"), rc = sspapi_start(p->es[set], &p->rel);

	if (rc != PAPI_OK)
		return rc;
	p->current = set;
	p->running = true;
	zeroed(p);
	return rc;
}

static int play_op(struct player *p, const json_t *op, const json_t *state)
{
	const char *what = text(op, "op");
	int rc = 0;

	if (!strcmp(what, "start"))
		return start(p, op);
	if (!strcmp(what, "reset")) {
		rc = sspapi_reset(p->rel);
		zeroed(p);
	} else if (!strcmp(what, "papi_stop")) {
		rc = PAPI_stop(p->es[p->current], NULL);
		book(p, scripted_cpu, p->count);
		p->running = false;
	} else if (!strcmp(what, "work")) {
		work(p, op);
	} else if (!strcmp(what, "failnames")) {
		p->entries = false;
		fake_fail_clear();
		if (number(op, "on"))
			fake_fail("PAPI_event_code_to_name", PAPI_ENOEVNT, 0, -1);
	} else {
		rc = reading(p, op, state);
	}
	return rc;
}

static void make_sets(struct player *p)
{
	const json_t *sets = json_object_get(p->seq, "sets"), *events = json_object_get(p->seq, "events");

	p->n_events = (int)json_array_size(events);
	p->n_sets = (int)json_array_size(sets);
	for (int e = 0; e < p->n_events; e++) {
		p->event[e] = json_string_value(json_array_get(events, (size_t)e));
		if (floats)
			fake_event(p->event[e], &(struct fake_event){ .data_type = e % 2 ? PAPI_DATATYPE_INT64 :
											   PAPI_DATATYPE_FP64 });
		if (PAPI_event_name_to_code(p->event[e], &p->code[e]) != PAPI_OK)
			die("no event '%s'", p->event[e]);
	}
	for (int s = 0; s < p->n_sets; s++) {
		const json_t *set = json_array_get(sets, (size_t)s);

		p->es[s] = PAPI_NULL;
		p->n[s] = (int)json_array_size(set);
		if (PAPI_create_eventset(&p->es[s]) != PAPI_OK)
			die("PAPI_create_eventset fails");
		for (int i = 0; i < p->n[s]; i++) {
			const char *name = json_string_value(json_array_get(set, (size_t)i));

			for (int e = 0; e < p->n_events; e++)
				if (!strcmp(p->event[e], name))
					p->at[s][i] = e;
			if (PAPI_add_named_event(p->es[s], name) != PAPI_OK)
				die("cannot add '%s'", name);
		}
	}
}

static void end(struct player *p)
{
	fake_fail_clear();
	sspapi_free(p->rel);
	for (int s = 0; s < p->n_sets; s++) {
		PAPI_stop(p->es[s], NULL);
		PAPI_cleanup_eventset(p->es[s]);
		PAPI_destroy_eventset(&p->es[s]);
	}
}

static bool play(struct player *p)
{
	const json_t *op, *state;
	size_t i;

	make_sets(p);
	scripted_cpu = 0;
	json_array_foreach(json_object_get(p->seq, "ops"), i, op) {
		int rc;

		state = json_array_get(json_object_get(p->seq, "states"), i);
		rc = play_op(p, op, state);
		if (!strcmp(text(p->seq, "name"), "x_accum_cpu_unknown_then_read") && i > 2)
			p->entries = false;	/* -70 in sys-sage */
		if (rc != number(state, "rc") && (p->entries || p->n_sets > 1))
			WRONG(p, (int)i, "%s gives %d, not %d", text(op, "op"), rc, number(state, "rc"));
		if (!same(p, (int)i, state))
			return false;
	}
	return true;
}

static bool all(const json_t *seq, const void *arg)
{
	(void)seq;
	(void)arg;
	return true;
}

static bool file(const char *path, sspapi_component *root, int test)
{
	const char *base = strrchr(path, '/');
	json_t *list = load(path, all, NULL);
	const json_t *seq;
	size_t i, bad = 0;

	json_array_foreach(list, i, seq) {
		struct player p = { .seq = seq, .root = root, .cpus = number(seq, "ncpus"), .current = -1 };

		p.entries = json_array_size(json_object_get(seq, "sets")) == 1;
		if (!play(&p) && bad++ < 10)
			printf("# %s\n", p.why);
		end(&p);
	}
	printf("%sok %d - %s: %zu sequences through sspapi.h\n", bad ? "not " : "", test, base ? base + 1 : path,
	       json_array_size(list));
	json_decref(list);
	return !bad;
}

int main(int argc, char **argv)
{
	sspapi_component *root;
	bool good = true;

	floats = argc > 1 && !strcmp(argv[1], "-f");
	argc -= floats;
	argv += floats;
	root = argc > 2 ? sspapi_topology(argv[1]) : NULL;
	if (!root)
		die("usage: vectors-api TOPOLOGY FILE.jsonl...");
	if (PAPI_library_init(fake_version() << 16) < 0)
		die("PAPI_library_init fails");
	printf("1..%d\n", argc - 2);
	for (int i = 2; i < argc; i++)
		good = file(argv[i], root, i - 1) && good;
	return good ? 0 : 1;
}
