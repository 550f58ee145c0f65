/* api-errors.c: sspapi_start that reports an error leaves no event set running, on the scripted
 * libpapi; TAP.  What fails is each function of PAPI that it asks, and memory.  Then calls that are
 * refused, and long lists of entries while others read and free their relation.
 */
#include <papi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fake/fake.h"
#include "../preload/sspapi.h"

static int tests, failed;

static void ok(int is, const char *what, const char *of, int rc, int state)
{
	tests++;
	failed += !is;
	printf("%sok %d - %s: %s (%d, state %d)\n", is ? "" : "not ", tests, of, what, rc, state);
}

static int made(const char *name)
{
	int es = PAPI_NULL;

	if (PAPI_create_eventset(&es) != PAPI_OK ||
	    (name && PAPI_add_named_event(es, name) != PAPI_OK))
		exit(2);
	return es;
}

static int state_of(int es)
{
	int state = 0;

	fake_fail_clear();
	PAPI_state(es, &state);
	return state;
}

/* An error means not running, and no relation; no error, that it runs. */
static void judge(const char *what, int es, int rc, sspapi_relation *rel)
{
	int state = state_of(es);

	ok(rc == PAPI_OK ? (state & PAPI_RUNNING) && rel
			 : !(state & PAPI_RUNNING) && (state & PAPI_STOPPED) && !rel,
	   "runs if and only if there is no error", what, rc, state);
	if (state & PAPI_RUNNING) {
		rc = sspapi_stop(rel, NULL, false, NULL);
		ok(rc == PAPI_OK, "and is stopped", what, rc, state_of(es));
	} else {
		/* It is as good as new. */
		rc = sspapi_start(es, &rel);
		ok(rc == PAPI_OK, "starts once the reason is gone", what, rc, state_of(es));
		sspapi_stop(rel, NULL, false, NULL);
	}
	sspapi_free(rel);
}

static void failing(const char *function, int after, const char *event)
{
	int es = made(event), rc;
	sspapi_relation *rel = NULL;

	fake_fail(function, PAPI_EMISC, after, -1);
	rc = sspapi_start(es, &rel);
	judge(function, es, rc, rel);
}

static void without_memory(void)
{
	struct rlimit was, none = { 0, RLIM_INFINITY };
	int es = made("EV_H"), rc;
	sspapi_relation *rel[400] = { NULL };
	int n = 0;

	getrlimit(RLIMIT_AS, &was);
	none.rlim_max = was.rlim_max;
	setrlimit(RLIMIT_AS, &none);
	/* There may be room for some. */
	while ((rc = sspapi_start(es, &rel[n])) == PAPI_OK && n < 399) {
		sspapi_stop(rel[n], NULL, false, NULL);
		n++;
	}
	setrlimit(RLIMIT_AS, &was);
	ok(rc == PAPI_ENOMEM || rc == PAPI_ENOSUPP, "an error in the end", "no memory", rc, n);
	judge("no memory", es, rc, rel[n]);
}

static void running_already(void)
{
	int es = made("EV_A"), other = made("EV_B"), rc, state;
	sspapi_relation *rel = NULL, *second = NULL;
	long long code_a;
	int code;

	PAPI_event_name_to_code("EV_A", &code);
	rc = sspapi_start(es, &rel);
	fake_count("EV_A", 5);
	rc = sspapi_start(es, &second);
	ok(rc == PAPI_EISRUN && !second && state_of(es) & PAPI_RUNNING, "refused, and runs on",
	   "the same set again", rc, state_of(es));
	rc = sspapi_start(other, &second);
	state = state_of(other);
	ok(rc == PAPI_EISRUN && !second && !(state & PAPI_RUNNING), "refused, and does not run",
	   "a second one of the component", rc, state);
	fake_count("EV_A", 7);
	rc = sspapi_stop(rel, NULL, false, NULL);
	code_a = sspapi_total(rel, code, -1);
	ok(rc == PAPI_OK && code_a == 12, "the first has all its counts", "after these", rc,
	   (int)code_a);
	sspapi_free(rel);
}

/* One event for another: what PAPI hands out is no count of the relation's event. */
static void replaced(void)
{
	int es = made("EV_A"), a, b, rc;
	sspapi_relation *rel = NULL;
	long long value;

	PAPI_event_name_to_code("EV_A", &a);
	PAPI_event_name_to_code("EV_B", &b);
	sspapi_start(es, &rel);
	fake_count("EV_A", 5);
	sspapi_stop(rel, NULL, false, NULL);
	PAPI_remove_event(es, a);
	PAPI_add_event(es, b);
	PAPI_start(es);
	fake_count("EV_B", 77);
	rc = sspapi_read(rel, NULL, false, NULL);
	value = sspapi_get_metric(rel, a, -1, 0);
	ok(rc == PAPI_ENOEVST && value == 5, "a reading of the relation is refused",
	   "its event was replaced", rc, (int)value);
	rc = sspapi_stop(rel, NULL, false, NULL);
	ok(rc == PAPI_ENOEVST && state_of(es) & PAPI_RUNNING, "a stop, too",
	   "its event was replaced", rc, state_of(es));
	PAPI_stop(es, &value);
	PAPI_remove_event(es, b);
	PAPI_add_event(es, a);
	rc = sspapi_read(rel, NULL, false, NULL);
	ok(rc == PAPI_OK, "read again", "it has its event back", rc, state_of(es));
	sspapi_free(rel);
}

/* ---- long lists of entries ------------------------------------------------- */

#define MANY	200000
#define SOME	3000
#define SPOILT	1000000

static int ev_a, set_a;

/* A relation with `n` permanent entries: first, first + 1, ... */
static sspapi_relation *listed(long n, long long first)
{
	sspapi_relation *rel = NULL;
	cpu_set_t before, here;

	/* Entries are listed by CPU: a thread that the scheduler moves in between has them in
	 * another order. */
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	if (sspapi_start(set_a, &rel) != PAPI_OK)
		exit(2);
	fake_count_code(ev_a, first);
	for (long i = 0; i < n; i++) {
		sspapi_read(rel, NULL, true, NULL);
		fake_count_code(ev_a, 1);
	}
	sspapi_stop(rel, NULL, true, NULL);
	sched_setaffinity(0, sizeof(before), &before);
	return rel;
}

/* Freed relations are added together once there are many, and their memory is used again. */
static void spoil(int times)
{
	for (int i = 0; i < times; i++)
		sspapi_free(listed(i % 20 ? 1 : SOME / 4, SPOILT));
}

static sspapi_relation *shared;
static struct sspapi_cpu_metrics all;
static volatile int stop, asked, held, released;

/* In the thread that copies: if it is in the middle of it, it stays there. */
static void hold(int sig)
{
	struct timespec nap = { 0, 1000000 };

	(void)sig;
	if (all.n == MANY && all.entries[0].value && !all.entries[MANY - 1].value) {
		released = 0;
		held = 1;
		for (int i = 0; i < 100000 && !released; i++)
			nanosleep(&nap, NULL);
		held = 0;
	}
	asked = 0;
}

static void *copy_all(void *arg)
{
	struct sspapi_metric *to;

	while (!stop && sspapi_get_all_metrics(shared, ev_a, -1, &all) == PAPI_OK &&
	       all.n >= MANY) {
		to = (struct sspapi_metric *)all.entries;
		all.n = MANY;
		to[0].value = to[MANY - 1].value = 0;
	}
	return arg;
}

/* While another thread stands still in the copy of all entries. */
static void unhindered(void)
{
	struct timespec nap = { 0, 1000000 };
	pthread_t thread;
	int times = 0, reads = 0;

	signal(SIGUSR1, hold);
	shared = listed(MANY, 1);
	sspapi_start(set_a, &shared);
	pthread_create(&thread, NULL, copy_all, NULL);
	while (times < 10 && reads == 100 * times) {
		asked = 1;
		pthread_kill(thread, SIGUSR1);
		while (asked && !held)
			nanosleep(&nap, NULL);
		times += held;
		for (int i = 0; i < 100 && held; i++) {
			sspapi_read(shared, NULL, false, NULL);
			reads += held;
		}
		released = 1;
		while (asked)
			nanosleep(&nap, NULL);
	}
	stop = 1;
	pthread_join(thread, NULL);
	sspapi_stop(shared, NULL, false, NULL);
	ok(times == 10 && reads == 1000,
	   "are taken while another thread is in the middle of copying all entries", "readings",
	   times, reads);
	sspapi_free(shared);
}

/* Prints into this: the first piece frees the relation. */
static long lines, spoilt, refused;

static ssize_t piece(void *cookie, const char *text, size_t n)
{
	static char line[256];
	static size_t used;
	unsigned long long ns;
	long long value;

	(void)cookie;
	if (!lines) {
		sspapi_free(shared);
		refused = sspapi_read(shared, NULL, false, NULL) == PAPI_EINVAL;
		spoil(100);
	}
	for (size_t i = 0; i < n; i++) {
		line[used++] = text[i];
		line[used] = 0;
		if (text[i] != '\n' && used < sizeof(line) - 1)
			continue;
		used = 0;
		if (sscanf(line, " %llu %lld permanent", &ns, &value) == 2)
			spoilt += value != ++lines;
	}
	return (ssize_t)n;
}

static void printed_while_freed(void)
{
	FILE *out = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = piece });

	shared = listed(SOME, 1);
	spoil(2);
	sspapi_print_metrics(shared, -1, out);
	fclose(out);
	ok(lines == SOME + 1 && !spoilt && refused, "are printed to the end",
	   "entries of a relation that is freed", (int)lines, (int)spoilt);
	ok(sspapi_read(shared, NULL, false, NULL) == PAPI_EINVAL, "is gone",
	   "and then the relation", 0, 0);
}

static int copies;

static void *copy_shared(void *arg)
{
	struct sspapi_cpu_metrics m;
	sspapi_relation *rel;
	long *wrong = arg;

	while ((rel = __atomic_load_n(&shared, __ATOMIC_ACQUIRE)) != NULL) {
		if (sspapi_get_all_metrics(rel, ev_a, -1, &m) != PAPI_OK || m.n < SOME)
			continue;	/* it is freed, or another one */
		for (size_t i = 0; i < m.n && m.entries[i].permanent; i++)
			*wrong += m.entries[i].value != (long long)i + 1;
		__atomic_fetch_add(&copies, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void copied_while_freed(void)
{
	pthread_t thread[2];
	sspapi_relation *rel;
	long wrong[2] = { 0 };

	shared = listed(SOME, 1);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, copy_shared, &wrong[i]);
	for (int i = 0; i < 100; i++) {
		rel = shared;
		__atomic_store_n(&shared, listed(SOME, 1), __ATOMIC_RELEASE);
		sspapi_free(rel);
		spoil(10);
	}
	rel = shared;
	__atomic_store_n(&shared, NULL, __ATOMIC_RELEASE);
	sspapi_free(rel);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	ok(copies && !wrong[0] && !wrong[1], "are copied as they were",
	   "entries of relations that are freed", (int)(wrong[0] + wrong[1]), copies);
}

static void long_lists(void)
{
	set_a = made("EV_A");
	PAPI_event_name_to_code("EV_A", &ev_a);
	for (int i = 0; i < 4200; i++)		/* from 4096 on they are added together */
		sspapi_free(listed(1, SPOILT));
	unhindered();
	printed_while_freed();
	copied_while_freed();
}

/* Several sets on one relation: all entries by time; each that runs is read by itself. */
static void several(void)
{
	static const char *const names[] = { "EV_C", "EV_C", "other:::X" };
	sspapi_relation *rel = NULL;
	struct sspapi_cpu_metrics all;
	int es[3], code, x, sorted = 1, rc;

	fake_event("other:::X", &(struct fake_event){ .component = "sde" });
	for (int i = 0; i < 3; i++)
		es[i] = made(names[i]);
	PAPI_event_name_to_code("EV_C", &code);
	PAPI_event_name_to_code("other:::X", &x);
	for (int i = 0; i < 4; i++) {		/* one set after the other, twice */
		sspapi_start(es[i % 2], &rel);
		fake_count("EV_C", 10 + i);
		sspapi_stop(rel, NULL, true, NULL);
	}
	rc = sspapi_get_all_metrics(rel, code, -1, &all);
	for (size_t i = 1; i < all.n; i++)
		sorted = sorted && all.entries[i].timestamp > all.entries[i - 1].timestamp;
	ok(rc == PAPI_OK && all.n == 4 && sorted, "are listed by time",
	   "entries of two sets with one event", (int)all.n, sorted);
	ok(sspapi_total(rel, code, -1) == 46, "are summed", "counts of two sets with one event",
	   (int)sspapi_total(rel, code, -1), 0);
	sspapi_start(es[0], &rel);
	for (size_t i = 0; i < all.n; i++)	/* the last of this set, too, which has been started
						 * again since */
		sorted = sorted && sspapi_get_metric(rel, code, -1, all.entries[i].timestamp) ==
					   all.entries[i].value;
	ok(sorted, "are found by their times", "entries of two sets with one event", (int)all.n, 0);
	sspapi_start(es[2], &rel);
	fake_count("EV_C", 5);
	fake_count("other:::X", 3);
	rc = sspapi_read_set(rel, es[0], NULL, false, NULL);
	ok(rc == PAPI_OK && sspapi_total(rel, code, -1) == 51 && !sspapi_total(rel, x, -1),
	   "is read by itself", "one of two sets that run", rc, state_of(es[0]));
	fake_count("EV_C", 2);
	rc = sspapi_reset_set(rel, es[0]);
	fake_count("EV_C", 4);
	ok(rc == PAPI_OK && sspapi_accum_set(rel, es[0], NULL, false, NULL) == PAPI_OK &&
		   sspapi_total(rel, code, -1) == 55,
	   "is reset and accumulated by itself", "one of two sets that run",
	   (int)sspapi_total(rel, code, -1), 0);
	rc = sspapi_stop_set(rel, es[0], NULL, false, NULL);
	ok(rc == PAPI_OK && !(state_of(es[0]) & PAPI_RUNNING) && (state_of(es[2]) & PAPI_RUNNING),
	   "is stopped by itself", "one of two sets that run", rc, state_of(es[2]));
	rc = sspapi_stop(rel, NULL, false, NULL);
	ok(rc == PAPI_OK && sspapi_total(rel, x, -1) == 3, "is the one of the plain functions",
	   "the set that was started last", rc, 0);
	rc = sspapi_read_set(rel, made("EV_D"), NULL, false, NULL);
	ok(rc == PAPI_EINVAL, "is refused", "a set that was not started on it", rc, 0);
	ok(sspapi_read_set(rel, -7, NULL, false, NULL) == PAPI_EINVAL &&
		   sspapi_reset_set(NULL, es[0]) == PAPI_EINVAL,
	   "is refused", "what is no set, what is no relation", 0, 0);
	sspapi_free(rel);
}

/* Parents, children and ancestors agree, all the way down; how many PUs there are. */
static int walk(sspapi_component *c, int *wrong)
{
	sspapi_component *list[64];
	struct sspapi_info is = { 0 };
	int n = 64, pus = 0;

	*wrong += sspapi_component_info(c, &is) != PAPI_OK ||
		  sspapi_children(c, list, &n) != PAPI_OK || n > 64 ||
		  sspapi_ancestor(c, is.type) != c || sspapi_find(c, is.type, is.os_index) != c;
	for (int i = 0; i < n && i < 64; i++) {
		*wrong += sspapi_parent(list[i]) != c;
		pus += walk(list[i], wrong);
	}
	return pus + !strcmp(is.type, "PU");
}

static void walked(void)
{
	sspapi_component *root = sspapi_topology("synthetic:pack:2 [numa(memory=1GB)] core:2 pu:2"),
			 *list[1];
	sspapi_component *pu = sspapi_find_cpu(root, 5), *numa = sspapi_ancestor(pu, "numanode");
	struct sspapi_info is = { 0 };
	int wrong = 0, n = 1, pus = root ? walk(root, &wrong) : -1;

	ok(pus == 8 && !wrong, "is walked", "a synthetic machine", pus, wrong);
	ok(root && !sspapi_parent(root) && sspapi_children(root, list, &n) == PAPI_OK && n == 2,
	   "has two packages", "the root", n, 0);
	sspapi_component_info(numa, &is);
	ok(numa && !strcmp(is.type, "NUMANode") && is.os_index == 1 && is.size >= 1000000000,
	   "is beside the package", "a PU's memory", is.os_index, 0);
	ok(sspapi_find_cpu(numa, 5) == pu && !sspapi_find_cpu(numa, 1), "has its package's PUs",
	   "memory", 0, 0);
	ok(!sspapi_find(root, "Core", 77) && !sspapi_ancestor(root, "PU") &&
		   !sspapi_find(root, NULL, 0),
	   "is NULL", "what is not there", 0, 0);
	ok(!sspapi_parent(NULL) && !sspapi_ancestor((sspapi_component *)&wrong, "PU") &&
		   sspapi_children(root, NULL, &n) == PAPI_EINVAL &&
		   sspapi_component_info(root, NULL) == PAPI_EINVAL &&
		   sspapi_component_info(NULL, &is) == PAPI_EINVAL,
	   "is refused", "what is no component", 0, 0);
}

static int prints(const sspapi_component *c, int set,
		  void (*print)(const sspapi_component *, int, FILE *), const char *what)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	int is;

	print(c, set, out);
	fclose(out);
	is = strstr(text, what) != NULL;
	free(text);
	return is;
}

/* What a PU and a subtree are asked for, of a reading on this CPU. */
static void asked_by_place(void)
{
	sspapi_component *root = sspapi_topology(NULL), *pu;
	sspapi_relation *rel = NULL;
	cpu_set_t set, before;
	int es = made("EV_G"), other = made("EV_A");

	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
	pu = sspapi_find_cpu(root, sched_getcpu());
	sspapi_start(es, &rel);
	fake_count("EV_G", 4711);
	sspapi_stop(rel, NULL, true, NULL);
	ok(sspapi_cpu_get_relation(pu, es) == rel && !sspapi_cpu_get_relation(pu, other),
	   "is the set's", "the relation on a CPU", es, 0);
	ok(!sspapi_cpu_get_relation(root, es), "is none", "the relation on what is no CPU", 0, 0);
	ok(prints(pu, es, sspapi_cpu_print_metrics, "4711") &&
		   !prints(pu, other, sspapi_cpu_print_metrics, "4711"),
	   "are printed", "a CPU's entries", es, 0);
	ok(prints(root, es, sspapi_subtree_print_metrics, "4711") &&
		   !prints(root, other, sspapi_subtree_print_metrics, "4711"),
	   "are printed", "the machine's entries", es, 0);
	sspapi_free(rel);
	sched_setaffinity(0, sizeof(before), &before);
}

/* What a package counts as a whole is the package's and the machine's, and no core's; all sets and
 * threads together. */
static void summed(void)
{
	sspapi_component *root = sspapi_topology(NULL), *package = sspapi_find(root, "Package", 0);
	int energy, es = PAPI_NULL, code;
	long long v[1], before;

	fake_event("PKG_ENERGY:PACKAGE0", &(struct fake_event){ .component = "rapl" });
	es = made("PKG_ENERGY:PACKAGE0");
	PAPI_event_name_to_code("PKG_ENERGY:PACKAGE0", &energy);
	PAPI_event_name_to_code("EV_H", &code);
	PAPI_start(es);
	fake_count("PKG_ENERGY:PACKAGE0", 70);
	PAPI_stop(es, v);
	ok(sspapi_subtree_total(root, energy) == v[0] &&
		   (!package || sspapi_subtree_total(package, energy) == v[0]),
	   "is the package's", "what a package counts", (int)v[0], 0);
	ok(sspapi_subtree_total(sspapi_find_cpu(root, sched_getcpu()), energy) == 0, "is no CPU's",
	   "what a package counts", 0, 0);
	for (int i = 0; i < 2; i++) {
		es = made("EV_H");
		before = sspapi_subtree_total(root, code);
		PAPI_start(es);
		fake_count("EV_H", 9);
		PAPI_stop(es, v);
		ok(v[0] == 9 && sspapi_subtree_total(root, code) == before + 9, "are summed",
		   "all sets", (int)before, 0);
	}
	ok(sspapi_subtree_exact(root, code) <= sspapi_subtree_total(root, code),
	   "is no more than all", "what is proven", 0, 0);
	/* Another tree, by its PUs. */
	ok(sspapi_subtree_total(sspapi_topology("synthetic:core:64 pu:16"), code) == 18,
	   "is summed by CPU", "another tree", 0, 0);
	ok(sspapi_subtree_total(root, 12345) == 0 && sspapi_subtree_total(NULL, code) == 0, "is 0",
	   "an event that there is not", 0, 0);
}

/* Detached, it counts its target until PAPI_start opens it anew, for the caller: another part of
 * the relation. */
static void opened_anew(void)
{
	int es = made("EV_A"), other = made("EV_H"), code, rc;
	unsigned long tid = (unsigned long)syscall(SYS_gettid);
	sspapi_relation *rel = NULL;
	long long v[1], before;

	PAPI_event_name_to_code("EV_A", &code);
	PAPI_attach(es, tid);
	sspapi_start(es, &rel);
	sspapi_stop(rel, NULL, false, NULL);
	PAPI_detach(es);
	PAPI_attach(other, tid);	/* the one touched last is another one */
	rc = sspapi_start(es, &rel);
	fake_count_set(es, "EV_A", 5);
	ok(rc == PAPI_OK && sspapi_stop(rel, NULL, false, NULL) == PAPI_OK, "is stopped",
	   "a set that its start opened anew", rc, state_of(es));
	before = sspapi_total(rel, code, -1);
	PAPI_start(es);
	fake_count_set(es, "EV_A", 9);
	PAPI_stop(es, v);
	ok(before == 5 && sspapi_total(rel, code, -1) == before, "is in the relation no more",
	   "and started without it", (int)before, state_of(es));
	sspapi_free(rel);
}

int main(void)
{
	static const char *const asked[] = { "PAPI_start",
					     "PAPI_state",
					     "PAPI_num_events",
					     "PAPI_list_events",
					     "PAPI_get_event_info",
					     "PAPI_event_code_to_name",
					     "PAPI_get_event_component",
					     "PAPI_get_opt",
					     "PAPI_get_component_info" };
	int es, rc;
	sspapi_relation *rel = NULL;

	if (PAPI_library_init(fake_version() << 16) < 0)
		return 2;
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		for (int after = 0; after < 2; after++) {
			char event[] = "EV_B";

			event[3] = (char)('B' + i % 6);
			failing(asked[i], after, event);
		}
	es = made(NULL);
	rc = sspapi_start(es, &rel);
	ok(rc == PAPI_EINVAL && !rel, "PAPI_EINVAL", "a set without events", rc, state_of(es));
	running_already();
	replaced();
	opened_anew();
	several();
	walked();
	asked_by_place();
	summed();
	long_lists();
	without_memory();
	printf("1..%d\n", tests);
	return failed != 0;
}
