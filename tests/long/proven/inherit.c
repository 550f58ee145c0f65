/*
 * inherit.c: a set that counts its thread and all threads and forks that it starts, which end
 * meanwhile. They start and end on the first CPU, with an unknown number of faults there; on the
 * others each fault is logged before and after it happens.
 */
#include "proven.h"

#define KIDS 3
#define MOST_PAGES 300

/* Per CPU but the first: the numbers of faults that have begun, and happened. */
static struct tally {
	atomic_long begun[CPUS], done[CPUS];
} *tally;

struct kid {
	pthread_t thread;
	pid_t pid;
	unsigned seed;
	char *area;
};

static struct kid kid[KIDS];
static int set, forking, far_only, at;
static long faults_here;

/* ---- what they do ---------------- */

/* Enters the faults of a visit that were not the child's own. */
static void leave(int cpu, long begun, long own)
{
	long more = faults_of_thread() - begun - own;

	if (cpu && more > 0) {
		atomic_fetch_add(&tally->begun[cpu], more);
		atomic_fetch_add(&tally->done[cpu], more);
		atomic_fetch_add(&story->noise, more);
	}
}

static void visit(struct kid *k, int cpu, int from, int to)
{
	const long size = sysconf(_SC_PAGESIZE);
	long begun;

	go_to(cpu);
	begun = faults_of_thread();
	for (int i = from; i < to; i++) {
		atomic_fetch_add(&tally->begun[cpu], 1);
		*(volatile char *)(k->area + size * i) = 1;
		atomic_fetch_add(&tally->done[cpu], 1);
		if (rnd(30) == 0)
			spin(rnd(2000));
	}
	leave(cpu, begun, to - from);
}

/* Runs on the first CPU first; everything else is elsewhere. */
static void be_kid(struct kid *k)
{
	int pages = (int)(40 + k->seed % (MOST_PAGES - 40));

	rnd_seed(k->seed);
	for (int c = 0; c < cpus; c++)
		atomic_fetch_add(&tally->begun[c], 0);
	faults_count();
	if (forking)
		prefault();
	visit(k, cpus - 1, 0, 0);
	visit(k, 0, 0, 1);
	for (int i = 1, to; i < pages; i = to) {
		int cpu = (int)rnd(cpus);

		to = i + (int)rnd(40);
		to = to > pages ? pages : to;
		visit(k, far_only && !cpu ? cpus - 1 : cpu, i, to);
	}
	go_to(0);
	faults_end();
}

static void *be_thread(void *arg)
{
	be_kid(arg);
	return NULL;
}

/* ---- the thread that counts, and is counted ---------------- */

static void account(void)
{
	long now = faults_of_thread(), more = now - faults_here;

	faults_here = now;
	if (at) {
		atomic_fetch_add(&tally->begun[at], more);
		atomic_fetch_add(&tally->done[at], more);
	}
}

static void go(int cpu)
{
	account();
	at = cpu;
	go_to(cpu);
}

static void bear(struct kid *k)
{
	go(0);
	k->seed = rnd(1u << 30);
	k->area = new_memory(MOST_PAGES * sysconf(_SC_PAGESIZE));
	if (!forking) {
		if (pthread_create(&k->thread, NULL, be_thread, k))
			die("pthread_create");
	} else if (!(k->pid = fork())) {
		be_kid(k);
		_exit(0);
	}
}

static void bury(struct kid *k)
{
	int status = 0;

	go(0);
	if (forking ? waitpid(k->pid, &status, 0) != k->pid || status
		    : pthread_join(k->thread, NULL))
		die("a child");
	munmap(k->area, MOST_PAGES * sysconf(_SC_PAGESIZE));
	k->area = NULL;
}

/* ---- what is true ---------------- */

static long began_done[CPUS], began_begun[CPUS];	/* before, after the start */
static long last_most[CPUS], last_least[CPUS];		/* of the last value */
static long long earlier[CPUS];
static long long last;

static void window_ends(void)
{
	handed_out(0, fault_event, last);
	for (int k = 0; k < cpus; k++) {
		true_count(0, k, last_most[k], last_least[k]);
		earlier[k] += last_most[k];
		last_most[k] = last_least[k] = 0;
	}
	last = 0;
}

static void value(long long v, const long *done)
{
	long elsewhere = 0;

	last = v;
	for (int k = 1; k < cpus; k++) {
		last_most[k] = atomic_load(&tally->begun[k]) - began_done[k];
		last_most[k] = last_most[k] > v ? v : last_most[k];
		last_least[k] = done[k] > began_begun[k] ? done[k] - began_begun[k] : 0;
		elsewhere += last_least[k];
	}
	last_most[0] = v > elsewhere ? v - elsewhere : 0;
}

static void ask(void)
{
	long long proven[CPUS];

	if (proven_now(proven))
		for (int k = 0; k < cpus; k++)
			if (proven[k] > earlier[k] + last_most[k])
				printf("wrong: CPU %d: proven %lld, done at most %lld\n", cpu_of(k),
				       proven[k], earlier[k] + last_most[k]);
}

static void call(enum call c)
{
	long done[CPUS];
	long long v;

	account();
	for (int k = 0; k < cpus; k++)
		done[k] = atomic_load(&tally->done[k]);
	v = papi_call(set, c);
	account();
	if (c != START && c != RESET)
		value(v, done);
	ask();
	if (c == READ || c == READ_TS)
		return;
	window_ends();
	for (int k = 0; k < cpus; k++) {
		began_done[k] = done[k];
		began_begun[k] = atomic_load(&tally->begun[k]);
	}
}

/* ---- the run ---------------- */

static void step(void)
{
	struct kid *k = &kid[rnd(KIDS)];

	if (rnd(3) == 0)
		k->area ? bury(k) : bear(k);
	if (rnd(2))
		go((int)rnd(cpus));
	spin(rnd(20000));
	sched_yield();
	if (rnd(2))
		call((enum call[]){READ, READ, READ, READ_TS, ACCUM, RESET}[rnd(6)]);
}

static void inherited(void)
{
	tally = ready_memory(sizeof(*tally), MAP_SHARED);
	far_only = rnd(2);
	begin_papi();
	set = inherit_set();
	must(fault_event, PAPI_add_named_event(set, fault_event));
	prefault();
	go_to(0);
	faults_count();
	faults_here = faults_of_thread();
	handed_out(0, fault_event, 0);
	for (int i = 1 + (int)rnd(4); i > 0; i--) {
		if (rnd(3) == 0)
			for (int k = 0; k < KIDS; k++)
				if (!kid[k].area)
					bear(&kid[k]);
		call(START);
		for (int n = 5 + (int)rnd(40); n > 0; n--)
			step();
		call(STOP);
	}
	for (int k = 0; k < KIDS; k++)
		if (kid[k].area)
			bury(&kid[k]);
}

void inherit_threads(void)
{
	inherited();
}

void inherit_forks(void)
{
	forking = 1;
	inherited();
}
