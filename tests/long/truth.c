/*
 * truth: a client that takes random steps and knows the truth: how many page faults each of its
 * sets counted on each CPU, and which of them PAPI returned.
 * usage: truth SEED STEPS [MORE]
 * One thread has one set: pin, touch, read, accum, reset, start, stop. MORE are letters:
 *	t	three threads
 *	s	three sets per thread
 *	o	each thread also uses others' sets
 *	m	another thread moves them, while they wait
 *	q	sets are read, reset and written while they are stopped
 *	d	are emptied, destroyed, made again
 *	e	get and lose events
 *	a	are attached to a thread, detached
 * Prints the returned counts, per CPU except for clocks, as tests/long/proven does, and `wrong` if
 * PAPI returned something else.
 *
 * The threads step one after the other: a set's target is the thread that opened its counters, by a
 * rule of PAPI that depends on the order (tests/apps/reopen-target.c has it); the same seed is the
 * same run.
 */
#include "../apps/handed.h"

#include <semaphore.h>

#define THREADS 3
#define SETS 9
#define RECORDS (2 * THREADS)	/* PAPI's: of threads, and of targets, which have another number */
#define CPUS 1024
#define KINDS 3
#define MOST_PAGES 20

static const char *const kind[KINDS] = { "perf::PAGE-FAULTS", "perf::MINOR-FAULTS",
					 "perf::TASK-CLOCK" };
static int code[KINDS];

struct set {
	int id, n, event[KINDS];	/* event: of kind[], as PAPI has them */
	int record;			/* PAPI's record of the set */
	int whom;			/* the thread that is counted */
	int target;			/* the thread that it is attached to, or -1 */
	int running;
	long long last[KINDS];
	long pending[CPUS];		/* counted, and not returned */
};

struct worker {
	int i, cpu, quit;
	pid_t tid;
	pthread_t thread;
	sem_t ask, done;
	struct arena arena;
};

static struct set set[SETS], *touched_last[RECORDS];
static struct worker worker[THREADS];
static int threads, sets, own_ids, wrong;
static const char *more = "";
static long long truth[KINDS][CPUS], clock_sum;
static unsigned long state;

/* The worker's next step. */
static void (*step)(struct worker *w, struct set *s);

static unsigned rnd(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % n;
}

/* ---- the truth --------------------------------------------------------- */

static long forget(struct set *s)
{
	long sum = 0;

	for (int c = 0; c < CPUS; c++) {
		sum += s->pending[c];
		s->pending[c] = 0;
	}
	return sum;
}

static void zero(struct set *s)
{
	forget(s);
	memset(s->last, 0, sizeof(s->last));
}

/* PAPI returned @values, counted since the start or the last reset. */
static void hand_out(struct set *s, const char *by, const long long *values)
{
	for (int i = 0; i < s->n; i++)
		for (int c = 0; c < CPUS && s->event[i] < 2; c++)
			truth[s->event[i]][c] += s->pending[c];
	long sum = forget(s);

	for (int i = 0; i < s->n; i++) {
		long long got = values[i] - s->last[i];

		s->last[i] = values[i];
		if (s->event[i] == 2)
			clock_sum += got;
		else if (got != sum && !wrong++)
			printf("wrong: %s of set %d handed out %lld %s, %ld were touched\n", by,
			       s->id, got, kind[s->event[i]], sum);
	}
}

static int is_counted(const struct worker *w)
{
	for (int i = 0; i < sets; i++)
		if (set[i].running && set[i].whom == w->i)
			return 1;
	return 0;
}

/* @w opened the counters. */
static void opened(struct worker *w, struct set *s)
{
	s->whom = s->target < 0 ? w->i : s->target;
	touched_last[s->record] = s;
}

/* ---- steps: counting ------------------------------------------------------ */

static void do_touch(struct worker *w, struct set *s)
{
	int n = rnd(MOST_PAGES);

	(void)s;
	touch(&w->arena, n);
	for (int i = 0; i < sets; i++)
		if (set[i].running && set[i].whom == w->i)
			set[i].pending[w->cpu] += n;
}

static void do_pin(struct worker *w, struct set *s)
{
	(void)s;
	w->cpu = pin(rnd(1000));
}

/* Pins another thread, which waits. */
static void do_pin_other(struct worker *w, struct set *s)
{
	struct worker *other = &worker[rnd(threads)];
	cpu_set_t one;

	(void)w, (void)s;
	if (!strchr(more, 'm'))
		return;
	other->cpu = nth_cpu(rnd(1000));
	CPU_ZERO(&one);
	CPU_SET(other->cpu, &one);
	if (sched_setaffinity(other->tid, sizeof(one), &one))
		die("sched_setaffinity");
}

/*
 * The target of another thread's start is unknown while an attached set runs under the same record.
 */
static int is_unclear(const struct worker *w, const struct set *s)
{
	for (int i = 0; i < sets; i++)
		if (set[i].running && set[i].target >= 0 && set[i].record == s->record)
			return w->i != s->whom;
	return 0;
}

/*
 * A start that PAPI refuses, because another set of the same record runs, uses the set all the
 * same.
 */
static void do_start(struct worker *w, struct set *s)
{
	struct set *before = touched_last[s->record];
	int ret;

	if (s->running || is_unclear(w, s))
		return;
	ret = PAPI_start(s->id);
	touched_last[s->record] = s;
	if (ret == PAPI_EISRUN)
		return;
	must("PAPI_start", ret);
	if (before != s)
		opened(w, s);
	zero(s);
	s->running = 1;
}

static void do_stop(struct worker *w, struct set *s)
{
	long long values[KINDS];

	(void)w;
	if (!s->running)
		return;
	if (rnd(2)) {
		must("PAPI_stop", PAPI_stop(s->id, values));
	} else {
		must("PAPI_stop", PAPI_stop(s->id, NULL));
		must("PAPI_read", PAPI_read(s->id, values));	/* would have been returned */
	}
	hand_out(s, "PAPI_stop", values);
	touched_last[s->record] = s;
	s->running = 0;
}

static void do_read(struct worker *w, struct set *s)
{
	long long values[KINDS], cycles;

	(void)w;
	if (!s->running)
		return;
	must("PAPI_read", rnd(2) ? PAPI_read(s->id, values) : PAPI_read_ts(s->id, values, &cycles));
	hand_out(s, "PAPI_read", values);
	touched_last[s->record] = s;
}

static void do_accum(struct worker *w, struct set *s)
{
	long long values[KINDS] = {0}, before = rnd(1000);

	(void)w;
	if (!s->running)
		return;
	for (int i = 0; i < s->n; i++)
		values[i] = before;
	must("PAPI_accum", PAPI_accum(s->id, values));
	for (int i = 0; i < s->n; i++)
		values[i] -= before;
	hand_out(s, "PAPI_accum", values);
	zero(s);
	touched_last[s->record] = s;
}

static void do_reset(struct worker *w, struct set *s)
{
	(void)w;
	if (!s->running)
		return;
	must("PAPI_reset", PAPI_reset(s->id));
	zero(s);
	touched_last[s->record] = s;
}

/* PAPI's saved values, which it returned before. */
static void do_ask_stopped(struct worker *w, struct set *s)
{
	long long values[KINDS] = {0};

	(void)w;
	if (s->running || !strchr(more, 'q'))
		return;
	switch (rnd(3)) {
	case 0:
		must("PAPI_read, stopped", PAPI_read(s->id, values));
		break;
	case 1:
		must("PAPI_accum, stopped", PAPI_accum(s->id, values));
		break;
	default:
		must("PAPI_reset, stopped", PAPI_reset(s->id));
	}
}

/* PAPI refuses it while the set runs, and otherwise forgets it. */
static void do_write(struct worker *w, struct set *s)
{
	long long values[64] = {12345, 67890};
	int ret;

	(void)w;
	if (!strchr(more, 'q'))
		return;
	ret = PAPI_write(s->id, values);
	if ((ret == PAPI_OK) == s->running)
		printf("wrong: PAPI_write: %d\n", ret), wrong++;
}

/* ---- steps: building; while no set counts it: PAPI's malloc faults -------- */

static void add(struct worker *w, struct set *s, int k)
{
	must(kind[k], PAPI_add_event(s->id, code[k]));
	s->event[s->n++] = k;
	opened(w, s);
}

/* First uses of PAPI's memory and ours fault: these are taken as done, since the thread stays. */
static void adopt(struct worker *w, struct set *s, const long long *values)
{
	s->pending[w->cpu] = s->event[0] < 2 ? values[0] - s->last[0] : 0;
	hand_out(s, "the first use", values);
}

static void warm(struct worker *w, struct set *s)
{
	long long values[KINDS] = {0};
	int ret = PAPI_start(s->id);

	opened(w, s);
	if (ret == PAPI_EISRUN)
		return;
	must("PAPI_start", ret);
	zero(s);
	must("PAPI_read", PAPI_read(s->id, values));
	adopt(w, s, values);
	must("PAPI_reset", PAPI_reset(s->id));
	zero(s);
	must("PAPI_stop", PAPI_stop(s->id, values));
	adopt(w, s, values);
	zero(s);
}

static void fill(struct worker *w, struct set *s)
{
	s->n = 0;
	s->target = -1;
	add(w, s, rnd(2));
	if (rnd(2))
		add(w, s, 2);
	warm(w, s);
}

static void make(struct worker *w, struct set *s)
{
	s->id = PAPI_NULL;
	s->record = w->i;
	must("PAPI_create_eventset", PAPI_create_eventset(&s->id));
	fill(w, s);
}

static void do_make_again(struct worker *w, struct set *s)
{
	if (s->running)
		return;
	must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(s->id));
	touched_last[s->record] = s;
	if (s->target < 0 && rnd(2)) {
		fill(w, s);
		return;
	}
	must("PAPI_destroy_eventset", PAPI_destroy_eventset(&s->id));
	make(w, s);
}

/* Removes the last one: after removing another, PAPI returns wrong values for those behind it. */
static void do_add_or_remove(struct worker *w, struct set *s)
{
	int k = rnd(KINDS);

	if (s->running)
		return;
	for (int i = 0; i < s->n; i++)
		if (s->event[i] == k)
			k = -1;
	if (k >= 0) {
		add(w, s, k);
	} else if (s->n > 1) {
		must("PAPI_remove_event", PAPI_remove_event(s->id, code[s->event[--s->n]]));
		opened(w, s);
	}
}

/*
 * Attaches it to itself or another thread; makes it again after detaching, since PAPI keeps it
 * under its target.
 */
static void do_attach(struct worker *w, struct set *s)
{
	int target = rnd(threads);

	if (s->running)
		return;
	if (s->target >= 0) {
		must("PAPI_detach", PAPI_detach(s->id));
		do_make_again(w, s);
		return;
	}
	must("PAPI_attach", PAPI_attach(s->id, worker[target].tid));
	touched_last[s->record] = s;
	s->target = s->whom = target;
	s->record = own_ids ? THREADS + target : target;
}

static void do_build(struct worker *w, struct set *s)
{
	static const struct {
		char letter;
		void (*how)(struct worker *, struct set *);
	} kinds[] = {{'d', do_make_again}, {'e', do_add_or_remove}, {'a', do_attach}};
	int k = rnd(3);

	if (strchr(more, kinds[k].letter) && !is_counted(w))
		kinds[k].how(w, s);
}

/* ---- the run -------------------------------------------------------------- */

static struct set *asked_set;

static void *be_worker(void *arg)
{
	struct worker *w = arg;

	w->tid = (pid_t)syscall(SYS_gettid);
	prefault();
	do_pin(w, NULL);
	must("PAPI_register_thread", PAPI_register_thread());
	sem_post(&w->done);
	for (;;) {
		while (sem_wait(&w->ask))
			;
		if (w->quit)
			return NULL;
		step(w, asked_set);
		sem_post(&w->done);
	}
}

static void wait_done(struct worker *w)
{
	while (sem_wait(&w->done))
		;
}

/* The first one is main. */
static void let(struct worker *w, struct set *s, void (*what)(struct worker *w, struct set *s))
{
	step = what;
	asked_set = s;
	if (!w->i) {
		step(w, s);
		return;
	}
	sem_post(&w->ask);
	wait_done(w);
}

static void random_step(void)
{
	static void (*const steps[])(struct worker *, struct set *) = {
	    do_pin,  do_pin,  do_touch, do_touch,     do_touch,	      do_read,	do_accum, do_reset,
	    do_stop, do_start, do_start, do_pin_other, do_ask_stopped, do_write, do_build};
	int i = rnd(threads), own = rnd(4) || !strchr(more, 'o');
	int s = own ? i + threads * (int)rnd(sets / threads) : (int)rnd(sets);

	let(&worker[i], &set[s], steps[rnd(*more ? 15 : 11)]);
}

static unsigned long tid_of_caller(void)
{
	return (unsigned long)syscall(SYS_gettid);
}

static void begin(long steps)
{
	threads = strchr(more, 't') ? THREADS : 1;
	sets = threads * (strchr(more, 's') ? SETS / THREADS : 1);
	own_ids = rnd(2);
	papi_up();
	must("PAPI_thread_init", PAPI_thread_init(own_ids ? pthread_self : tid_of_caller));
	for (int k = 0; k < KINDS; k++) {
		may(kind[k], PAPI_event_name_to_code(kind[k], &code[k]));
	}
	for (int i = 0; i < threads; i++) {
		struct worker *w = &worker[i];

		w->i = i;
		arena_make(&w->arena, steps * MOST_PAGES);
		sem_init(&w->ask, 0, 0);
		sem_init(&w->done, 0, 0);
		if (i) {
			pthread_create(&w->thread, NULL, be_worker, w);
			wait_done(w);
		} else {
			w->tid = (pid_t)syscall(SYS_gettid);
			do_pin(w, NULL);
		}
	}
	prefault();
	for (int i = 0; i < sets; i++)
		let(&worker[i % threads], &set[i], make);
}

static void end(void)
{
	for (int i = 0; i < sets; i++)
		let(&worker[i % threads], &set[i], do_stop);
	for (int i = 1; i < threads; i++) {
		worker[i].quit = 1;
		sem_post(&worker[i].ask);
		pthread_join(worker[i].thread, NULL);
	}
	for (int k = 0; k < 2; k++) {
		long long sum = 0;

		for (int c = 0; c < CPUS; c++) {
			sum += truth[k][c];
			if (truth[k][c])
				printf("truth cpu=%d event=%s most=%lld least=%lld\n", c, kind[k],
				       truth[k][c], truth[k][c]);
		}
		printf("handed event=%s sum=%lld\n", kind[k], sum);
	}
	printf("handed event=%s sum=%lld\n", kind[2], clock_sum);
}

int main(int argc, char **argv)
{
	long steps = argc > 2 ? atol(argv[2]) : 0;

	if (steps < 1)
		return 2;
	if (argc > 3)
		more = argv[3];
	state = (strtoul(argv[1], NULL, 10) + 1) * 0x9e3779b97f4a7c15ul;
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	begin(steps);
	for (long i = 0; i < steps; i++)
		random_step();
	end();
	return wrong != 0;
}
