/* vectors-api.c: plays sys-sage's sequences through sspapi.h on the scripted libpapi, with
 * scripted CPUs, and compares everything that can be asked after every operation.
 *
 *	vectors-api [-f] TOPOLOGY FILE.jsonl...	TAP
 *
 * -f: every other event is a floating-point counter, each count of which is a quarter.
 *
 * What is not compared, as tests/vectors/README.md says: where sys-sage fails to look a name
 * up (that is not done at a reading here), and what follows an ACCUM that it lost.  Of
 * sequences with two sets, the totals.
 */
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
	struct sequence s;
	sspapi_component *root;
	sspapi_relation *rel;
	int cpus, code[EVENTS];
	bool entries;			/* are compared */
	uint64_t ns[READINGS];
	int readings;
	long long total[EVENTS][16];
	char why[512];
};

#define WRONG(p, step, ...) do { \
	int at_ = snprintf((p)->why, sizeof((p)->why), "%s: op %d: ", text((p)->s.seq, "name"), step); \
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
		WRONG(p, step, "%s on CPU %d: %zu entries, not %zu", p->s.event[e], cpu, got.n, json_array_size(want));
	json_array_foreach(want, i, x) {
		const struct sspapi_metric *m = &got.entries[i];

		if (m->timestamp != p->ns[json_integer_value(json_array_get(x, 0))] ||
		    number_of(e, m->value) != json_integer_value(json_array_get(x, 1)) ||
		    m->permanent != json_is_true(json_array_get(x, 2)))
			WRONG(p, step, "%s on CPU %d, entry %zu: %lld at %llu", p->s.event[e], cpu, i, m->value,
			      (unsigned long long)m->timestamp);
	}
	return true;
}

static bool same_event(struct player *p, int step, int e, const json_t *state)
{
	const json_t *lists = json_object_get(json_object_get(state, "entries"), p->s.event[e]);
	const json_t *percpu = json_object_get(json_object_get(state, "percpu"), p->s.event[e]);
	const json_t *hist = json_object_get(json_object_get(state, "hist"), p->s.event[e]), *x;
	long long total = json_integer_value(json_object_get(json_object_get(state, "total"), p->s.event[e]));
	char key[16];
	size_t i;

	if (number_of(e, sspapi_get_metric(p->rel, p->code[e], -1, 0)) != total)
		WRONG(p, step, "%s: %lld, not %lld", p->s.event[e],
		      number_of(e, sspapi_get_metric(p->rel, p->code[e], -1, 0)), total);
	for (int cpu = 0; cpu < p->cpus; cpu++) {
		snprintf(key, sizeof(key), "%d", cpu);
		if (!same_list(p, step, e, cpu, json_object_get(lists, key)))
			return false;
	}
	json_array_foreach(percpu, i, x)
		if (number_of(e, sspapi_get_metric(p->rel, p->code[e], (int)i, 0)) != json_integer_value(x) ||
		    number_of(e, sspapi_cpu_get_metric(sspapi_find_cpu(p->root, (int)i), p->code[e],
						       p->s.es[p->s.current], 0)) != json_integer_value(x))
			WRONG(p, step, "%s on CPU %zu is not %lld", p->s.event[e], i, (long long)json_integer_value(x));
	json_array_foreach(hist, i, x)
		if (number_of(e, sspapi_get_metric(p->rel, p->code[e], -1, p->ns[i])) != json_integer_value(x))
			WRONG(p, step, "%s at reading %zu: %lld, not %lld", p->s.event[e], i,
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

/* The totals, by the rule of tests/vectors/README.md; and its sum. */
static bool same_totals(struct player *p, int step)
{
	for (int e = 0; e < p->s.n_events && p->rel; e++) {
		long long sum = 0;

		for (int cpu = 0; cpu < 16; cpu++) {
			long long got = number_of(e, sspapi_total(p->rel, p->code[e], cpu));

			sum += got;
			if (got != p->total[e][cpu])
				WRONG(p, step, "the totals have %lld of %s on CPU %d, not %lld", got, p->s.event[e], cpu,
				      p->total[e][cpu]);
		}
		if (number_of(e, sspapi_total(p->rel, p->code[e], -1)) != sum)
			WRONG(p, step, "the totals' sum of %s", p->s.event[e]);
	}
	return true;
}

static bool same(struct player *p, int step, const json_t *state)
{
	if (!same_totals(p, step))
		return false;
	if (!p->entries || !p->rel)
		return true;
	for (int e = 0; e < p->s.n_events; e++)
		if (!same_event(p, step, e, state))
			return false;
	return same_cpus(p, step, json_object_get(state, "cpus"));
}

/* ---- what is done ---------------------------------------------------------- */

static void count(const struct sequence *s, int event, long long n)
{
	if (floats && event % 2 == 0)
		fake_count_fp64(s->event[event], (double)n / 4);
	else
		fake_count(s->event[event], n);
}

static void work_at(struct player *p, const json_t *op)
{
	scripted_cpu = number(op, "cpu");
	work(&p->s, json_object_get(op, "work"), count);
}

static void book(struct player *p, int cpu, const long long *x)
{
	for (int i = 0; i < p->s.n[p->s.current]; i++) {
		p->total[p->s.at[p->s.current][i]][cpu] += x[i] - p->s.last[i];
		p->s.last[i] = x[i];
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

	work_at(p, op);
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
		zeroed(&p->s);
	if (!strcmp(what, "stop"))
		p->s.running = false;
	return rc;
}

static int start(struct player *p, const json_t *op)
{
	int set = number(op, "es"), rc = sspapi_start(p->s.es[set], &p->rel);

	if (rc != PAPI_OK)
		return rc;
	p->s.current = set;
	p->s.running = true;
	zeroed(&p->s);
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
		zeroed(&p->s);
	} else if (!strcmp(what, "papi_stop")) {
		rc = PAPI_stop(p->s.es[p->s.current], NULL);
		book(p, scripted_cpu, p->s.count);
		p->s.running = false;
	} else if (!strcmp(what, "work")) {
		work_at(p, op);
	} else if (!strcmp(what, "failnames")) {
		p->entries = false;
		fail_names(op);
	} else {
		rc = reading(p, op, state);
	}
	return rc;
}

static void meet(struct sequence *s, int event)
{
	struct player *p = (struct player *)s;

	if (floats)
		fake_event(s->event[event], &(struct fake_event){ .data_type = event % 2 ? PAPI_DATATYPE_INT64 : PAPI_DATATYPE_FP64 });
	if (PAPI_event_name_to_code(s->event[event], &p->code[event]) != PAPI_OK)
		die("no event '%s'", s->event[event]);
}

static void end(struct player *p)
{
	fake_fail_clear();
	sspapi_free(p->rel);
	for (int s = 0; s < p->s.n_sets; s++) {
		PAPI_stop(p->s.es[s], NULL);
		PAPI_cleanup_eventset(p->s.es[s]);
		PAPI_destroy_eventset(&p->s.es[s]);
	}
}

static bool play(struct player *p)
{
	const json_t *op, *state;
	size_t i;

	make_sets(&p->s, meet);
	scripted_cpu = 0;
	json_array_foreach(json_object_get(p->s.seq, "ops"), i, op) {
		int rc;

		state = json_array_get(json_object_get(p->s.seq, "states"), i);
		rc = play_op(p, op, state);
		if (!strcmp(text(p->s.seq, "name"), "x_accum_cpu_unknown_then_read") && i > 2)
			p->entries = false;	/* -70 in sys-sage */
		if (rc != number(state, "rc") && (p->entries || p->s.n_sets > 1))
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
		struct player p = { .s = { .seq = seq, .current = -1 }, .root = root, .cpus = number(seq, "ncpus") };

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
