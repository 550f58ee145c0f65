/* vectors.c: plays sys-sage's sequences on the scripted libpapi, with scripted CPUs, and compares
 * everything that can be asked after every operation.
 *
 *	vectors [-f | -p] TOPOLOGY FILE.jsonl...	TAP
 *
 * The sequences are played through sspapi.h; with -f, every other event is a floating-point
 * counter, each count of which is a quarter; with -p, by plain PAPI calls, whose readings are all
 * temporary or, with SSPAPI_READINGS=permanent, all permanent. Of such a run, entries are compared
 * where the recorded sequence is just that.
 *
 * What is not compared, by the rules of tests/relation.md: where sys-sage fails to look a name
 * up (that is not done at a reading here), and what follows an ACCUM that it lost.  Of
 * sequences with two sets, the totals.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>
#include <papi.h>

#include "../preload/sspapi.h"
#include "fake/fake.h"

#define EVENTS		8
#define SETS		4
#define CPUS		10			/* that the sequences name: 0 to 7, and 9 */
#define READINGS	512
#define RELATIONS	1000
#define ADDED_TO	1000		/* what accum finds in the application's array */

static _Noreturn __attribute__((format(printf, 1, 2))) void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("# vectors: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static int number(const json_t *o, const char *key)
{
	return (int)json_integer_value(json_object_get(o, key));
}

static json_t *load(const char *path)
{
	FILE *f = fopen(path, "re");
	json_t *list = json_array(), *seq;
	char *line = NULL;
	size_t room = 0;
	json_error_t error;

	if (!f)
		die("'%s': %s", path, strerror(errno));
	while (getline(&line, &room, f) > 0) {
		seq = json_loads(line, 0, &error);
		if (!seq)
			die("'%s': %s", path, error.text);
		json_array_append_new(list, seq);
	}
	free(line);
	fclose(f);
	return list;
}

/* The library asks the kernel's per-thread area for its CPU, or, without one, this. */
const unsigned int __rseq_size = 0;
static int scripted_cpu;

int sched_getcpu(void)
{
	return scripted_cpu;
}

static bool floats, plain, permanent;	/* permanent: so are all readings of plain calls */
static sspapi_component *root;

/* What is asked of event e, as a whole number. */
static long long number_of(int e, long long value)
{
	double d;

	if (!floats || e % 2)
		return value;
	memcpy(&d, &value, sizeof(d));
	return (long long)(d * 4) == d * 4 ? (long long)(d * 4) : -999999;
}

/* A sequence that is played: its sets, and what PAPI has counted for the one started last. */
struct player {
	const json_t *seq;
	int n_events, n_sets, cpus;
	const char *event[EVENTS];
	int code[EVENTS];
	int es[SETS], n[SETS], at[SETS][EVENTS];	/* at: index into event[] */
	int current;					/* the set started last; -1 */
	bool running;
	long long count[EVENTS];			/* of the set, since the last zeroing */
	long long last[EVENTS];				/* handed out since the last zeroing */
	sspapi_relation *rel, *all[RELATIONS];		/* of the set started last, and of all
							 * sets */
	int before, relations;				/* how many of all are of other sequences;
							 * of all */
	bool entries;					/* are compared */
	uint64_t ns[READINGS];
	int readings;
	long long total[EVENTS][CPUS];
	char why[512];
};

#define WRONG(p, step, ...) \
	do { \
		int at_ = snprintf((p)->why, sizeof((p)->why), \
				   "%s: op %d: ", text((p)->seq, "name"), step); \
		snprintf((p)->why + at_, sizeof((p)->why) - (size_t)at_, __VA_ARGS__); \
		return false; \
	} while (0)

static void zeroed(struct player *p)
{
	memset(p->last, 0, sizeof(p->last));
	memset(p->count, 0, sizeof(p->count));
}

/* Goes to the operation's CPU, and counts what it says. */
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

static void fail_names(const json_t *op)
{
	fake_fail_clear();
	if (number(op, "on"))
		fake_fail("PAPI_event_code_to_name", PAPI_ENOEVNT, 0, -1);
}

static void make_set(struct player *p, int set)
{
	const json_t *names = json_array_get(json_object_get(p->seq, "sets"), (size_t)set);

	p->es[set] = PAPI_NULL;
	p->n[set] = (int)json_array_size(names);
	if (PAPI_create_eventset(&p->es[set]) != PAPI_OK)
		die("PAPI_create_eventset fails");
	for (int i = 0; i < p->n[set]; i++) {
		const char *name = json_string_value(json_array_get(names, (size_t)i));

		for (int e = 0; e < p->n_events; e++)
			if (!strcmp(p->event[e], name))
				p->at[set][i] = e;
		if (PAPI_add_named_event(p->es[set], name) != PAPI_OK)
			die("%s: cannot add '%s'", text(p->seq, "name"), name);
	}
}

/* The events first: what they are is said before a set has them. */
static void make_sets(struct player *p)
{
	const json_t *events = json_object_get(p->seq, "events");

	p->n_events = (int)json_array_size(events);
	p->n_sets = (int)json_array_size(json_object_get(p->seq, "sets"));
	if (p->n_events > EVENTS || p->n_sets > SETS)
		die("%s: too many events or sets", text(p->seq, "name"));
	for (int e = 0; e < p->n_events; e++) {
		p->event[e] = json_string_value(json_array_get(events, (size_t)e));
		if (floats)
			fake_event(p->event[e],
				   &(struct fake_event){ .data_type = e % 2 ? PAPI_DATATYPE_INT64
									    : PAPI_DATATYPE_FP64 });
		if (PAPI_event_name_to_code(p->event[e], &p->code[e]) != PAPI_OK)
			die("no event '%s'", p->event[e]);
	}
	for (int set = 0; set < p->n_sets; set++)
		make_set(p, set);
}

/* Which relations there are, and which is the one of the set started last: a plain call tells
 * nobody. */
static void find_relations(struct player *p)
{
	p->relations = RELATIONS;
	if (sspapi_relations(p->all, &p->relations) != PAPI_OK || p->relations > RELATIONS)
		die("%d relations", p->relations);
	for (int i = p->before; plain && i < p->relations; i++)
		if (sspapi_current_event_set(p->all[i]) == p->es[p->current])
			p->rel = p->all[i];
}

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
		WRONG(p, step, "%s on CPU %d: %zu entries, not %zu", p->event[e], cpu, got.n,
		      json_array_size(want));
	json_array_foreach(want, i, x) {
		const struct sspapi_metric *m = &got.entries[i];

		if (m->timestamp != p->ns[json_integer_value(json_array_get(x, 0))] ||
		    number_of(e, m->value) != json_integer_value(json_array_get(x, 1)) ||
		    m->permanent != json_is_true(json_array_get(x, 2)))
			WRONG(p, step, "%s on CPU %d, entry %zu: %lld at %llu", p->event[e], cpu, i,
			      m->value, (unsigned long long)m->timestamp);
	}
	return true;
}

static bool same_event(struct player *p, int step, int e, const json_t *state)
{
	const json_t *lists = json_object_get(json_object_get(state, "entries"), p->event[e]);
	const json_t *percpu = json_object_get(json_object_get(state, "percpu"), p->event[e]);
	const json_t *hist = json_object_get(json_object_get(state, "hist"), p->event[e]), *x;
	long long total =
		json_integer_value(json_object_get(json_object_get(state, "total"), p->event[e]));
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
	json_array_foreach(percpu, i,
			   x) if (number_of(e, sspapi_get_metric(p->rel, p->code[e], (int)i, 0)) !=
					  json_integer_value(x) ||
				  number_of(e, sspapi_cpu_get_metric(sspapi_find_cpu(root, (int)i),
								     p->code[e], p->es[p->current],
								     0)) != json_integer_value(x))
		WRONG(p, step, "%s on CPU %zu is not %lld", p->event[e], i,
		      (long long)json_integer_value(x));
	json_array_foreach(hist, i, x) if (number_of(e, sspapi_get_metric(p->rel, p->code[e], -1,
									  p->ns[i])) !=
					   json_integer_value(x))
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

/* The totals, by the rule of tests/relation.md, over all relations of the sequence; and their sum,
 * so that the other CPUs, which are not asked, have none. */
static bool same_totals(struct player *p, int step)
{
	for (int e = 0; e < p->n_events; e++) {
		long long sum = 0;

		for (int cpu = 0; cpu < CPUS; cpu++) {
			long long got = 0;

			if (!p->total[e][cpu])
				continue;
			for (int i = p->before; i < p->relations; i++)
				got += number_of(e, sspapi_total(p->all[i], p->code[e], cpu));
			sum += got;
			if (got != p->total[e][cpu])
				WRONG(p, step, "the totals have %lld of %s on CPU %d, not %lld",
				      got, p->event[e], cpu, p->total[e][cpu]);
		}
		for (int i = p->before; i < p->relations; i++)
			sum -= number_of(e, sspapi_total(p->all[i], p->code[e], -1));
		if (sum)
			WRONG(p, step, "the totals' sum of %s", p->event[e]);
	}
	return true;
}

static bool same(struct player *p, int step, const json_t *state)
{
	find_relations(p);
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

static void book(struct player *p, int cpu, const long long *x)
{
	for (int i = 0; i < p->n[p->current]; i++) {
		p->total[p->at[p->current][i]][cpu] += x[i] - p->last[i];
		p->last[i] = x[i];
	}
}

/* What PAPI hands out is what the sequence says. */
static int plain_reading(struct player *p, const char *what, const json_t *want)
{
	const long long base = strcmp(what, "accum") ? 0 : ADDED_TO;
	int es = p->es[p->current], rc;
	long long x[EVENTS];

	for (int i = 0; i < EVENTS; i++)
		x[i] = base;
	rc = !strcmp(what, "read") ? PAPI_read(es, x) : base ? PAPI_accum(es, x) : PAPI_stop(es, x);
	for (int i = 0; rc == PAPI_OK && i < p->n[p->current]; i++)
		if (x[i] - base != json_integer_value(json_array_get(want, (size_t)i)))
			die("%s: PAPI_%s hands out %lld as value %d", text(p->seq, "name"), what,
			    x[i] - base, i);
	return rc;
}

/* The time of the newest entry. */
static uint64_t newest(struct player *p)
{
	struct sspapi_cpu_metrics all = { .n = 0 };

	find_relations(p);
	sspapi_get_all_metrics(p->rel, p->code[p->at[p->current][0]], -1, &all);
	return all.n ? all.entries[all.n - 1].timestamp : 0;
}

static int reading(struct player *p, const json_t *op, const json_t *state)
{
	const json_t *want = json_object_get(op, "counters");
	bool keep = json_is_true(json_object_get(op, "permanent"));
	const char *what = text(op, "op");
	long long x[EVENTS];
	uint64_t ns = 0;
	int rc;

	work(p, op);
	rc = plain ? plain_reading(p, what, want) :
	     !strcmp(what, "read") ? sspapi_read(p->rel, root, keep, &ns) :
	     !strcmp(what, "accum") ? sspapi_accum(p->rel, root, keep, &ns) :
				      sspapi_stop(p->rel, root, keep, &ns);
	if (number(state, "reading") >= 0 && p->readings < READINGS)
		p->ns[p->readings++] = plain ? newest(p) : ns;
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
	int set = number(op, "es"),
	    rc = plain ? PAPI_start(p->es[set]) : sspapi_start(p->es[set], &p->rel);

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
		rc = plain ? PAPI_reset(p->es[p->current]) : sspapi_reset(p->rel);
		zeroed(p);
	} else if (!strcmp(what, "papi_stop")) {
		rc = PAPI_stop(p->es[p->current], NULL);
		book(p, scripted_cpu, p->count);
		p->running = false;
	} else if (!strcmp(what, "work")) {
		work(p, op);
	} else if (!strcmp(what, "failnames")) {
		p->entries = false;
		fail_names(op);
	} else {
		rc = reading(p, op, state);
	}
	return rc;
}

/* The sets of plain calls stay: another set of the same number and events would go on in their
 * relation. */
static void end(struct player *p)
{
	fake_fail_clear();
	if (!plain)
		sspapi_free(p->rel);
	for (int s = 0; s < p->n_sets; s++) {
		PAPI_stop(p->es[s], NULL);
		if (plain)
			continue;
		PAPI_cleanup_eventset(p->es[s]);
		PAPI_destroy_eventset(&p->es[s]);
	}
}

/* Can the entries of plain calls be those that sys-sage has left? Not where it failed, or did not
 * see a stop. */
static bool plain_has_entries(const json_t *seq)
{
	const json_t *op, *keeps;
	size_t i;

	json_array_foreach(json_object_get(seq, "ops"), i, op) {
		keeps = json_object_get(op, "permanent");
		if ((keeps && json_is_true(keeps) != permanent) ||
		    !strcmp(text(op, "op"), "papi_stop"))
			return false;
	}
	return strcmp(text(seq, "class"), "error") != 0;
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
		if (rc != number(state, "rc") && (p->entries || (p->n_sets > 1 && !plain)))
			WRONG(p, (int)i, "%s gives %d, not %d", text(op, "op"), rc,
			      number(state, "rc"));
		if (!same(p, (int)i, state))
			return false;
	}
	return true;
}

static bool file(const char *path, int test)
{
	const char *base = strrchr(path, '/');
	json_t *list = load(path);
	const json_t *seq;
	size_t i, bad = 0, entries = 0;

	json_array_foreach(list, i, seq) {
		struct player p = { .seq = seq, .current = -1, .cpus = number(seq, "ncpus") };

		if (plain && !strcmp(text(seq, "name"), "x_read_before_start"))
			continue;	/* no plain call has a relation that it could lack */
		sspapi_relations(NULL, &p.before);
		p.entries = json_array_size(json_object_get(seq, "sets")) == 1 &&
			    (!plain || plain_has_entries(seq));
		entries += p.entries;
		if (!play(&p) && bad++ < 10)
			printf("# %s\n", p.why);
		end(&p);
	}
	printf("%sok %d - %s: %zu sequences, %zu of them with their entries\n",
	       bad || !entries ? "not " : "", test, base ? base + 1 : path, json_array_size(list),
	       entries);
	json_decref(list);
	return !bad;
}

int main(int argc, char **argv)
{
	bool good = true;

	floats = argc > 1 && !strcmp(argv[1], "-f");
	plain = argc > 1 && !strcmp(argv[1], "-p");
	permanent = getenv("SSPAPI_READINGS") != NULL;
	argc -= floats || plain;
	argv += floats || plain;
	root = argc > 2 ? sspapi_topology(argv[1]) : NULL;
	if (!root)
		die("usage: vectors [-f | -p] TOPOLOGY FILE.jsonl...");
	if (PAPI_library_init(fake_version() << 16) < 0)
		die("PAPI_library_init fails");
	printf("1..%d\n", argc - 2);
	for (int i = 2; i < argc; i++)
		good = file(argv[i], i - 1) && good;
	return good ? 0 : 1;
}
