/*
 * stress: does many things at once, for any setting of sspapi.
 *
 *	stress plain ROUNDS [SEED]
 *	stress interface ROUNDS [SEED]	by sspapi.h, if libsspapi is loaded
 *
 * Threads touch pages and read, accumulate, reset, stop and start their sets, each in its own
 * random order; main moves them between two CPUs and sends them signals, whose handler also reads
 * the set if it did not interrupt PAPI; and twice, while all sets run, main has a child that counts
 * for itself. Prints of each set "handed ... value=N pid=P", the sum of what PAPI returned.
 */
#include "handed.h"

#include "../../preload/sspapi.h"

#define WORKERS 4
#define BOTH 2
#define PAGES 200000

/* Defined only with libsspapi. */
#pragma weak sspapi_topology
#pragma weak sspapi_start
#pragma weak sspapi_read
#pragma weak sspapi_stop
#pragma weak sspapi_total
#pragma weak sspapi_exact
#pragma weak sspapi_relations
#pragma weak sspapi_find_cpus

static const char *const name[BOTH] = {"perf::PAGE-FAULTS", "perf::TASK-CLOCK"};
static int code[BOTH];

struct worker {
	pthread_t thread;
	pid_t tid;
	unsigned seed;
	int set;
	sspapi_relation *rel;
	struct arena arena, of_handler;
	long long last[BOTH], sum[BOTH];
	volatile sig_atomic_t busy, ends; /* busy: in PAPI, or using its values */
	long handled;
};

static struct worker worker[WORKERS];
static __thread struct worker *me;
static pthread_barrier_t all;
static sspapi_component *root;
static int interface, wrong, rounds;

static void took(struct worker *w, const long long *values)
{
	for (int e = 0; e < BOTH; e++) {
		w->sum[e] += values[e] - w->last[e];
		w->last[e] = values[e];
	}
}

static void from_zero(struct worker *w)
{
	memset(w->last, 0, sizeof(w->last));
}

static void on_signal(int number)
{
	long long values[BOTH];

	(void)number;
	if (!me || me->busy || me->ends)
		return;
	me->busy = 1;
	touch(&me->of_handler, 1);
	must("PAPI_read in a handler", PAPI_read(me->set, values));
	took(me, values);
	me->handled++;
	me->busy = 0;
}

static void plain(struct worker *w, unsigned dice)
{
	long long values[BOTH] = {0}, cycles;

	switch (dice) {
	case 0:
		must("PAPI_read_ts", PAPI_read_ts(w->set, values, &cycles));
		took(w, values);
		return;
	case 1:
		must("PAPI_accum", PAPI_accum(w->set, values));
		took(w, values);
		from_zero(w);
		return;
	case 2:
		must("PAPI_read", PAPI_read(w->set, values));
		took(w, values);
		must("PAPI_reset", PAPI_reset(w->set));
		from_zero(w);
		return;
	case 3:
		must("PAPI_stop", PAPI_stop(w->set, values));
		took(w, values);
		must("PAPI_start", PAPI_start(w->set));
		from_zero(w);
		return;
	case 4:
		/* Reading a stopped set returns its last values. */
		must("PAPI_stop", PAPI_stop(w->set, NULL));
		must("PAPI_read", PAPI_read(w->set, values));
		took(w, values);
		must("PAPI_start", PAPI_start(w->set));
		from_zero(w);
		return;
	default:
		must("PAPI_read", PAPI_read(w->set, values));
		took(w, values);
	}
}

static void one_round(struct worker *w)
{
	uint64_t when;

	touch(&w->arena, rand_r(&w->seed) % 20);
	if (rand_r(&w->seed) % 4 == 0)
		pin(rand_r(&w->seed) % 2);
	touch(&w->arena, rand_r(&w->seed) % 20);
	w->busy = 1;
	if (interface)
		must("sspapi_read", sspapi_read(w->rel, root, rand_r(&w->seed) % 2, &when));
	else
		plain(w, rand_r(&w->seed) % 10);
	w->busy = 0;
}

/*
 * Checks that the interface's sums are those of all CPUs (including one with counts and no entry,
 * which sspapi_find_cpus does not list), and PAPI's values of the stopped set.
 */
static void check_interface(struct worker *w, const long long *values)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	for (int e = 0; e < BOTH; e++) {
		long long sum = 0, total = sspapi_total(w->rel, code[e], -1);

		for (int cpu = 0; cpu < cpus; cpu++)
			sum += sspapi_total(w->rel, code[e], cpu);
		if (total != values[e] || sum != total ||
		    sspapi_exact(w->rel, code[e], -1) > total) {
			printf("wrong: %s: PAPI %lld, in all %lld, by CPU %lld\n", name[e],
			       values[e], total, sum);
			wrong = 1;
		}
	}
}

static void stop(struct worker *w)
{
	long long values[BOTH];
	uint64_t when;

	w->busy = 1;
	if (interface) {
		must("sspapi_stop", sspapi_stop(w->rel, root, false, &when));
		must("PAPI_read", PAPI_read(w->set, values));
		check_interface(w, values);
	} else {
		must("PAPI_stop", PAPI_stop(w->set, values));
	}
	took(w, values);
	w->ends = 1;
	w->busy = 0;
}

static void tell(const char *by, const long long *sum)
{
	for (int e = 0; e < BOTH; e++)
		printf("handed cpu=any event=%s value=%lld by=%s pid=%d\n", name[e], sum[e], by,
		       getpid());
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = gettid();
	w->busy = 1;
	me = w;
	w->set = set_with_all(BOTH, name);
	prefault_stack();
	if (interface)
		must("sspapi_start", sspapi_start(w->set, &w->rel));
	else
		must("PAPI_start", PAPI_start(w->set));
	w->busy = 0;
	for (int third = 0; third < 3; third++) {
		if (third) { /* main's child is created in between */
			pthread_barrier_wait(&all);
			pthread_barrier_wait(&all);
		}
		for (int i = 0; i < rounds / 3; i++)
			one_round(w);
	}
	while (!w->handled) /* main may not have had a CPU until now */
		one_round(w);
	stop(w);
	return NULL;
}

/* The child has its own PAPI, set and counts, and queries all relations. */
static void child(unsigned seed)
{
	struct worker w = {.seed = seed};
	sspapi_relation *rels[64];
	int n = 64;

	papi_up();
	arena_make(&w.arena, PAGES);
	interface = 0;
	w.set = set_with_all(BOTH, name);
	must("PAPI_start", PAPI_start(w.set));
	for (int i = 0; i < 30; i++)
		one_round(&w);
	if (sspapi_relations)
		must("sspapi_relations", sspapi_relations(rels, &n));
	stop(&w);
	tell("child", w.sum);
	exit(0);
}

static void bear(unsigned seed)
{
	int status = 0;
	pid_t pid;

	pthread_barrier_wait(&all);
	pid = fork();
	if (pid == 0)
		child(seed);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		printf("wrong: a child ended with %#x\n", status);
		wrong = 1;
	}
	pthread_barrier_wait(&all);
}

static int any_works(void)
{
	int n = 0;

	for (int i = 0; i < WORKERS; i++)
		n += !worker[i].ends;
	return n;
}

static void move_and_signal(unsigned *seed)
{
	for (int i = 0; i < WORKERS; i++) {
		cpu_set_t set;
		int how = rand_r(seed) % 3;

		CPU_ZERO(&set);
		for (int c = 0; c < 2; c++)
			if (how != c)
				CPU_SET(nth_cpu(c), &set);
		if (worker[i].tid)
			sched_setaffinity(worker[i].tid, sizeof(set), &set);
		if (!worker[i].ends && rand_r(seed) % 2)
			pthread_kill(worker[i].thread, SIGUSR1);
	}
	usleep(200);
}

static void *mover(void *arg)
{
	unsigned seed = *(unsigned *)arg;

	while (any_works())
		move_and_signal(&seed);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	unsigned seed = argc > 3 ? atoi(argv[3]) : 1;
	pthread_t moves;
	long handled = 0;

	interface = argc > 1 && !strcmp(argv[1], "interface");
	rounds = argc > 2 ? atoi(argv[2]) : 300;
	nth_cpu(0);
	papi_up_threads();
	for (int e = 0; e < BOTH; e++)
		may(name[e], PAPI_event_name_to_code((char *)name[e], &code[e]));
	if (interface && !(root = sspapi_topology(NULL)))
		die("sspapi_topology");
	sigaction(SIGUSR1, &a, NULL);
	pthread_barrier_init(&all, NULL, WORKERS + 1);
	for (int i = 0; i < WORKERS; i++) {
		worker[i].seed = seed + i;
		arena_make(&worker[i].arena, PAGES);
		arena_make(&worker[i].of_handler, PAGES);
	}
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]))
			die("pthread_create");
	if (pthread_create(&moves, NULL, mover, &seed))
		die("pthread_create");
	bear(seed + 100);
	bear(seed + 101);
	pthread_join(moves, NULL);
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(worker[i].thread, NULL);
		tell("thread", worker[i].sum);
		handled += worker[i].handled;
	}
	if (!handled) {
		printf("wrong: no handler read anything\n");
		wrong = 1;
	}
	return wrong;
}
