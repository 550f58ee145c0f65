/* vectors.c: plays sys-sage's sequences as PAPI calls on the scripted libpapi and checks the dumps.
 *
 *	vectors [--permanent] DIR FILE.jsonl...
 *	vectors --one NAME FILE.jsonl
 *
 * Each sequence runs in a process of its own (--one), two at a time, with
 * $VECTORS_PRELOAD preloaded.  That process checks what PAPI hands out against the
 * sequence and prints what must have been booked, by tests/vectors' rule:
 * a reading of x on CPU c books x - last on c; `last` is 0 after start, reset
 * and accum.  PAPI_stop(set, NULL) is a reading, too.  These lines are compared
 * with DIR/NAME.json, in TAP.
 * The CPUs are this machine's, bound to, and all readings temporary whatever the sequence's
 * flags are: the entries are told by the rules of tests/vectors (which, where the recorded
 * sequence is just that, must give what sys-sage left).
 * --permanent: with SSPAPI_READINGS=permanent, all readings are: a read or stop of x
 * appends x, an accum of x appends x and what the reading before it appended.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vectors.h"

#define ADDED_TO	1000		/* what accum finds in the application's array */

static int cpus[CPU_SETSIZE], n_cpus;

/* The CPUs that this process may use; a sequence's CPU c is cpus[c % n_cpus]. */
static void find_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity: %s", strerror(errno));
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			cpus[n_cpus++] = i;
}

static int real_cpu(int cpu)
{
	return cpus[cpu % n_cpus];
}

/* Takes what is 0 out of {event: {cpu: total}}: a dump may leave it out or not. */
static json_t *without_zeros(json_t *o)
{
	const char *event, *cpu;
	json_t *by_cpu, *x;
	void *next, *next_cpu;

	json_object_foreach_safe(o, next, event, by_cpu) {
		json_object_foreach_safe(by_cpu, next_cpu, cpu, x)
			if (json_is_integer(x) && !json_integer_value(x))
				json_object_del(by_cpu, cpu);
		if (!json_object_size(by_cpu))
			json_object_del(o, event);
	}
	return o;
}

/* ---- one sequence, in its own process ---------------------------------- */

struct player {
	struct sequence s;
	int cpu;					/* real, where this thread is */
	long long kept[EVENTS];				/* what the last reading appended */
	json_t *expect, *lists;				/* lists: {event: {cpu: [value, ...]}} */
	bool zero;					/* since the last reading: temporary entries are to go */
	long long entry[EVENTS][CPU_SETSIZE];		/* temporary ones, by real CPU */
	bool has[CPU_SETSIZE];
};

static void pin(struct player *p, int cpu)
{
	cpu_set_t set;

	p->cpu = real_cpu(cpu);
	CPU_ZERO(&set);
	CPU_SET(p->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("%s: cannot go to CPU %d: %s", text(p->s.seq, "name"), p->cpu, strerror(errno));
}

static void count(const struct sequence *s, int event, long long n)
{
	fake_count(s->event[event], n);
}

static json_t *member(json_t *o, const char *key)
{
	json_t *m = json_object_get(o, key);

	if (!m) {
		m = json_object();
		json_object_set_new(o, key, m);
	}
	return m;
}

static void keep(struct player *p, const char *cpu, int i, long long x, bool accum)
{
	json_t *by_cpu = member(p->lists, p->s.event[p->s.at[p->s.current][i]]);
	json_t *list = json_object_get(by_cpu, cpu);

	if (!list) {
		list = json_array();
		json_object_set_new(by_cpu, cpu, list);
	}
	p->kept[i] = x + (accum ? p->kept[i] : 0);
	json_array_append_new(list, json_integer(p->kept[i]));
}

/* A1 to A6, all temporary. */
static void enter(struct player *p, const long long *x, bool accum)
{
	if (p->zero && !accum)
		memset(p->has, 0, sizeof(p->has));
	for (int i = 0; i < p->s.n[p->s.current]; i++) {
		long long *entry = p->entry[p->s.at[p->s.current][i]], others = 0;

		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			others += p->has[cpu] && cpu != p->cpu ? entry[cpu] : 0;
		entry[p->cpu] = accum ? (p->has[p->cpu] ? entry[p->cpu] : 0) + x[i] : x[i] - others;
	}
	p->has[p->cpu] = true;
	p->zero = accum;
}

static void book(struct player *p, const long long *values, bool accum)
{
	char cpu[16];

	snprintf(cpu, sizeof(cpu), "%d", p->cpu);
	enter(p, values, accum);
	for (int i = 0; i < p->s.n[p->s.current]; i++) {
		const char *name = p->s.event[p->s.at[p->s.current][i]];
		long long x = values[i] - p->s.last[i];
		json_t *by_cpu = member(p->expect, name);

		keep(p, cpu, i, values[i], accum);
		p->s.last[i] = values[i];
		x += json_integer_value(json_object_get(by_cpu, cpu));
		json_object_set_new(by_cpu, cpu, json_integer(x));
	}
}

/* read, accum, stop: the sequence says what PAPI hands out; nothing if it fails. */
static void reading(struct player *p, int step, const json_t *op)
{
	const json_t *want = json_object_get(op, "counters");
	const char *what = text(op, "op");
	long long values[EVENTS], base = 0;
	int es, rc;

	pin(p, number(op, "cpu"));
	work(&p->s, json_object_get(op, "work"), count);
	es = p->s.es[p->s.current < 0 ? 0 : p->s.current];
	if (!strcmp(what, "accum"))
		base = ADDED_TO;
	for (int i = 0; i < EVENTS; i++)
		values[i] = base;
	rc = !strcmp(what, "read") ? PAPI_read(es, values) :
	     !strcmp(what, "accum") ? PAPI_accum(es, values) : PAPI_stop(es, values);
	if ((rc == PAPI_OK) != (json_array_size(want) > 0))
		die("%s: op %d: PAPI_%s gives %d", text(p->s.seq, "name"), step, what, rc);
	if (rc != PAPI_OK)
		return;
	for (int i = 0; i < p->s.n[p->s.current]; i++) {
		values[i] -= base;
		if (values[i] != json_integer_value(json_array_get(want, (size_t)i)))
			die("%s: op %d: PAPI_%s hands out %lld as value %d", text(p->s.seq, "name"), step, what, values[i], i);
	}
	book(p, values, base);
	if (base)
		zeroed(&p->s);
	if (!strcmp(what, "stop"))
		p->s.running = false;
}

static void start(struct player *p, const json_t *op)
{
	int set = number(op, "es"), rc = PAPI_start(p->s.es[set]);

	if (rc == PAPI_EISRUN && p->s.running)
		return;
	if (rc != PAPI_OK)
		die("%s: PAPI_start gives %d", text(p->s.seq, "name"), rc);
	p->s.current = set;
	p->s.running = p->zero = true;
	zeroed(&p->s);
}

static void play_op(struct player *p, int step, const json_t *op)
{
	const char *what = text(op, "op");

	if (!strcmp(what, "start")) {
		start(p, op);
	} else if (!strcmp(what, "reset")) {
		if (PAPI_reset(p->s.es[p->s.current]) != PAPI_OK)
			die("%s: op %d: PAPI_reset fails", text(p->s.seq, "name"), step);
		zeroed(&p->s);
		p->zero = true;
	} else if (!strcmp(what, "papi_stop")) {
		if (PAPI_stop(p->s.es[p->s.current], NULL) != PAPI_OK)
			die("%s: op %d: PAPI_stop fails", text(p->s.seq, "name"), step);
		book(p, p->s.count, false);
		p->s.running = false;
	} else if (!strcmp(what, "work")) {
		pin(p, number(op, "cpu"));
		work(&p->s, json_object_get(op, "work"), count);
	} else if (!strcmp(what, "failnames")) {
		fail_names(op);
	} else {
		reading(p, step, op);
	}
}

/* {event: {cpu: [[value, permanent]]}} */
static json_t *temporary(const struct player *p)
{
	json_t *out = json_object();
	char key[16];

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		snprintf(key, sizeof(key), "%d", cpu);
		for (int i = 0; p->has[cpu] && i < p->s.n[p->s.current]; i++) {
			int e = p->s.at[p->s.current][i];

			json_object_set_new(member(out, p->s.event[e]), key, json_pack("[[I, b]]", (json_int_t)p->entry[e][cpu], 0));
		}
	}
	return out;
}

static int play(const char *name, const char *path)
{
	json_t *list = load(path, named, name), *line;
	struct player p = { .s.current = -1, .expect = json_object(), .lists = json_object() };
	size_t i;
	const json_t *op;

	p.s.seq = json_array_get(list, 0);
	if (!p.s.seq)
		die("'%s': no sequence '%s'", path, name);
	if (PAPI_library_init(fake_version() << 16) < 0)
		die("PAPI_library_init fails");
	pin(&p, 0);
	make_sets(&p.s, NULL);
	json_array_foreach(json_object_get(p.s.seq, "ops"), i, op)
		play_op(&p, (int)i, op);
	line = json_pack("{s:s, s:o, s:o, s:o}", "name", name, "expect", without_zeros(p.expect), "lists", p.lists,
			 "temporary", temporary(&p));
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(line);
	json_decref(list);
	return 0;
}

/* ---- all of them, two at a time ---------------------------------------- */

static const char *dir;
static bool permanent;

/* There is no relation in a PAPI call that one could lack. */
static bool chosen(const json_t *seq, const void *arg)
{
	return !named(seq, arg);
}

struct job {
	pid_t pid;
	int fd;				/* its stdout */
	size_t index;
};

static void preload(const char *name)
{
	const char *old = getenv("LD_PRELOAD");
	char value[8192];

	snprintf(value, sizeof(value), "%s%s%s", old ? old : "", old ? ":" : "", getenv("VECTORS_PRELOAD"));
	setenv("LD_PRELOAD", value, 1);
	snprintf(value, sizeof(value), "%s/%s.json", dir, name);
	setenv("SSPAPI_OUTPUT", value, 1);
	setenv("SSPAPI_FORMAT", "json", 1);
	if (permanent)
		setenv("SSPAPI_READINGS", "permanent", 1);
}

static struct job begin(const char *path, const char *name, size_t index)
{
	struct job j = { .index = index };
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	j.fd = fd[0];
	j.pid = fork();
	if (j.pid < 0)
		die("fork: %s", strerror(errno));
	if (!j.pid) {
		dup2(fd[1], 1);
		preload(name);
		execl("/proc/self/exe", "vectors", "--one", name, path, (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	return j;
}

/* The child's line is short enough for the pipe to hold it until the child ended. */
static void end(struct job *j, json_t *lines)
{
	char line[65536];
	ssize_t n, at = 0;
	int status;
	json_t *o = NULL;

	while ((n = read(j->fd, line + at, sizeof(line) - (size_t)at)) > 0)
		at += n;
	close(j->fd);
	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!status)
		o = json_loadb(line, (size_t)at, 0, NULL);
	if (!o)
		o = json_pack("{s:i}", "status", status);
	json_array_set_new(lines, j->index, o);
}

/* What each sequence printed, in the order of the sequences. */
static json_t *run(const char *path, const json_t *list)
{
	size_t n = json_array_size(list);
	json_t *lines = json_array();
	struct job last = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct job j;

		json_array_append_new(lines, json_null());
		j = begin(path, text(json_array_get(list, i), "name"), i);
		if (i)
			end(&last, lines);
		last = j;
	}
	if (n)
		end(&last, lines);
	return lines;
}

/* ---- the dump ---------------------------------------------------------- */

static const char *event_name(const json_t *dump, const json_t *id)
{
	size_t i;
	const json_t *e;

	json_array_foreach(json_object_get(dump, "events"), i, e)
		if (json_equal(json_object_get(e, "id"), (json_t *)id))
			return text(e, "name");
	return "?";
}

static void cpu_key(char *to, size_t room, const json_t *cpu)
{
	if (json_is_integer(cpu))
		snprintf(to, room, "%d", (int)json_integer_value(cpu));
	else
		snprintf(to, room, "null");
}

/* {event: {cpu: total}} over all relations. */
static json_t *totals(const json_t *dump)
{
	json_t *out = json_object();
	const json_t *r, *c, *x;
	size_t i, k, e;
	char cpu[16];

	json_array_foreach(json_object_get(dump, "relations"), i, r)
		json_array_foreach(json_object_get(r, "cpus"), k, c) {
			cpu_key(cpu, sizeof(cpu), json_object_get(c, "cpu"));
			json_array_foreach(json_object_get(c, "total"), e, x) {
				const json_t *id = json_array_get(json_object_get(r, "events"), e);
				json_t *by_cpu;

				by_cpu = member(out, event_name(dump, id));
				json_object_set_new(by_cpu, cpu, json_integer(json_integer_value(x) +
						    json_integer_value(json_object_get(by_cpu, cpu))));
			}
		}
	return without_zeros(out);
}

/* An entry as it is compared: [value, permanent]; where all are permanent the value alone, if its time is after
 * that of the one before it. */
static json_t *entry_of(const json_t *x, json_int_t *ns)
{
	json_t *value = json_object_get(x, "value"), *kept = json_object_get(x, "permanent");
	bool right = json_is_true(kept) && json_integer_value(json_object_get(x, "ns")) > *ns;

	*ns = json_integer_value(json_object_get(x, "ns"));
	if (!permanent)
		return json_pack("[O, O]", value, kept);
	return json_incref(right ? value : (json_t *)x);
}

/* {event: {cpu: [entry, ...]}}, of the dump and of the sequence's last state. */
static json_t *entries_of_dump(const json_t *dump)
{
	json_t *out = json_object();
	const json_t *r, *e, *x;
	size_t i, k, l;
	char cpu[16];

	json_array_foreach(json_object_get(dump, "relations"), i, r)
		json_array_foreach(json_object_get(r, "entries"), k, e) {
			json_t *list = json_array();
			json_int_t ns = 0;

			cpu_key(cpu, sizeof(cpu), json_object_get(e, "cpu"));
			json_array_foreach(json_object_get(e, "list"), l, x)
				json_array_append_new(list, entry_of(x, &ns));
			json_object_set_new(member(out, event_name(dump, json_object_get(e, "event"))), cpu, list);
		}
	return out;
}

static json_t *entries_of_state(const json_t *seq)
{
	const json_t *states = json_object_get(seq, "states");
	const json_t *last = json_array_get(states, json_array_size(states) - 1);
	json_t *out = json_object(), *by_cpu, *list;
	const char *event, *cpu;
	char key[16];
	size_t i;
	const json_t *x;

	json_object_foreach(json_object_get(last, "entries"), event, by_cpu)
		json_object_foreach(by_cpu, cpu, list) {
			json_t *copy = json_array();

			json_array_foreach(list, i, x)
				json_array_append_new(copy, json_pack("[O, O]", json_array_get(x, 1), json_array_get(x, 2)));
			snprintf(key, sizeof(key), "%d", real_cpu(atoi(cpu)));
			json_object_set_new(member(out, event), key, copy);
		}
	return out;
}

/* Can the dump's entries be those of the sequence?  Not where it kept readings,
 * where sys-sage failed or did not see a stop, nor where two CPUs became one. */
static bool has_entries(const json_t *seq)
{
	int stands_for[CPU_SETSIZE];
	const json_t *op;
	size_t i;

	if (json_array_size(json_object_get(seq, "sets")) != 1 || !strcmp(text(seq, "class"), "error"))
		return false;
	for (i = 0; i < CPU_SETSIZE; i++)
		stands_for[i] = -1;
	json_array_foreach(json_object_get(seq, "ops"), i, op) {
		int cpu = number(op, "cpu"), real = real_cpu(cpu);

		if (json_is_true(json_object_get(op, "permanent")) || !strcmp(text(op, "op"), "papi_stop"))
			return false;
		if (!json_object_get(op, "cpu"))
			continue;
		if (stands_for[real] >= 0 && stands_for[real] != cpu)
			return false;
		stands_for[real] = cpu;
	}
	return true;
}

/* ---- the verdict ------------------------------------------------------- */

#define DIFFERENCES 10		/* shown, of one file */

static int tests, failed, shown;

static void differ(const char *name, const char *what, const json_t *want, const json_t *got)
{
	char *w, *g;

	if (++shown > DIFFERENCES)
		return;
	w = json_dumps(want, JSON_COMPACT | JSON_SORT_KEYS);
	g = json_dumps(got, JSON_COMPACT | JSON_SORT_KEYS);
	printf("# %s: %s: expected %s, dumped %s\n", name, what, w, g);
	free(w);
	free(g);
}

struct verdict {
	int totals, entries, bad_totals, bad_entries;
};

static void compare(const json_t *seq, const json_t *line, struct verdict *v)
{
	const char *name = text(seq, "name");
	json_t *dump = NULL, *got, *want;
	bool entries = json_array_size(json_object_get(seq, "sets")) == 1;
	json_error_t error = { .text = "did not get that far" };
	char path[8192];

	v->totals++;
	v->entries += entries;
	snprintf(path, sizeof(path), "%s/%s.json", dir, name);
	if (json_object_get(line, "expect"))
		dump = json_load_file(path, 0, &error);
	if (!dump) {
		if (++shown <= DIFFERENCES)
			printf("# %s: status 0x%x, '%s': %s\n", name, number(line, "status"), path, error.text);
		v->bad_totals++;
		v->bad_entries += entries;
		return;
	}
	got = totals(dump);
	if (!json_equal(json_object_get(line, "expect"), got)) {
		v->bad_totals++;
		differ(name, "totals", json_object_get(line, "expect"), got);
	}
	json_decref(got);
	if (entries) {
		got = entries_of_dump(dump);
		want = json_deep_copy(json_object_get(line, permanent ? "lists" : "temporary"));
		if (!json_equal(want, got)) {
			v->bad_entries++;
			differ(name, "entries", want, got);
		}
		json_decref(got);
		got = entries_of_state(seq);
		if (!permanent && has_entries(seq) && !json_equal(want, got)) {
			v->bad_entries++;
			differ(name, "sys-sage's own", got, want);
		}
		json_decref(got);
		json_decref(want);
	}
	json_decref(dump);
}

static void tap(bool ok, const char *path, int n, const char *what)
{
	const char *base = strrchr(path, '/');

	failed += !ok;
	if (shown > DIFFERENCES)
		printf("# and %d more\n", shown - DIFFERENCES);
	shown = 0;
	printf("%sok %d - %s: %s of %d sequences\n", ok ? "" : "not ", ++tests, base ? base + 1 : path, what, n);
	fflush(stdout);
}

static void one_file(const char *path)
{
	json_t *list = load(path, chosen, "x_read_before_start"), *lines = run(path, list);
	struct verdict v = { 0 };
	const json_t *seq;
	size_t i;

	json_array_foreach(list, i, seq)
		compare(seq, json_array_get(lines, i), &v);
	tap(!v.bad_totals && v.totals, path, v.totals, "the totals");
	tap(!v.bad_entries, path, v.entries, permanent ? "all readings, permanent" : "sys-sage's entries");
	json_decref(list);
	json_decref(lines);
}

int main(int argc, char **argv)
{
	int i = 1;

	find_cpus();
	if (argc == 4 && !strcmp(argv[1], "--one"))
		return play(argv[2], argv[3]);
	permanent = argc > 1 && !strcmp(argv[1], "--permanent");
	i += permanent;
	if (argc < i + 2 || !getenv("VECTORS_PRELOAD"))
		die("usage: VECTORS_PRELOAD=LIBRARY vectors [--permanent] DIR FILE...");
	dir = argv[i++];
	if (mkdir(dir, 0777))
		die("'%s': %s", dir, strerror(errno));
	printf("1..%d\n", 2 * (argc - i));
	fflush(stdout);
	for (; i < argc; i++)
		one_file(argv[i]);
	return failed ? 1 : 0;
}
