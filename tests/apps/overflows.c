/*
 * overflows: counts the calls of its overflow handlers per CPU and event.
 * usage: overflows moves|reads|two|handlers|crowd|far|threads|jumps|timer|child|exits|killed
 *
 * Prints for each event and CPU "called event=E cpu=C count=N", and the handler's arguments.
 */
#include "handed.h"

#include <setjmp.h>

#define SAID_ERRNO 4242
#define CPUS 1024

static const char *const names[] = { "perf::PAGE-FAULTS", "perf::MINOR-FAULTS",
				     "perf::TASK-CLOCK" };
static int code[3], calls[3][CPUS], by_b, wrong_errno, wrong_set, masked, sets[CPUS], n_sets;
static char *here;			/* an address on main's stack */
static __thread long depth;
static sigjmp_buf out;
static int jumps, exits, kills;

static void see(int id)
{
	sigset_t mask;
	int known = 0;

	wrong_errno += errno != SAID_ERRNO;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int i = 1; i < 64; i++)
		masked |= sigismember(&mask, i) == 1 ? i : 0;
	for (int i = 0; i < n_sets; i++)
		known |= sets[i] == id;
	wrong_set += !known;
	depth = here - (char *)__builtin_frame_address(0);
}

static void called_a(int id, void *at, long long vector, void *context)
{
	int index[8], n = 8, event, saved = errno, codes[8], k = 8, all = 0;
	int cpu = sched_getcpu();

	(void)at, (void)context;
	see(id);
	must("PAPI_get_overflow_event_index", PAPI_get_overflow_event_index(id, vector, index, &n));
	must("PAPI_list_events", PAPI_list_events(id, codes, &k));
	for (int i = 0; i < n; i++)
		for (event = 0; event < 3; event++)
			if (codes[index[i]] == code[event])
				all += __atomic_add_fetch(&calls[event][cpu], 1, __ATOMIC_RELAXED);
	errno = saved;
	if (jumps)
		siglongjmp(out, 1);
	if (exits && all == exits)
		_exit(3);
	if (kills && all == kills)
		raise(SIGKILL);
}

static void called_b(int id, void *at, long long vector, void *context)
{
	by_b++;
	called_a(id, at, vector, context);
}

static int new_set(int n)
{
	int id = new_event_set(), at;

	for (int i = 0; i < n; i++)
		must("PAPI_add_event", PAPI_add_event(id, code[i]));
	at = __atomic_fetch_add(&n_sets, 1, __ATOMIC_RELAXED);
	sets[at] = id;
	return id;
}

static void over(int id, int event, int each, PAPI_overflow_handler_t handler)
{
	may("PAPI_overflow", PAPI_overflow(id, code[event], each, 0, handler));
}

static void count(int id, struct arena *a, int first, int second)
{
	long long values[3] = { 0 };

	must("PAPI_start", PAPI_start(id));
	errno = SAID_ERRNO;
	touch(a, first);
	if (second) {
		pin(1);
		errno = SAID_ERRNO;
		touch(a, second);
	}
	must("PAPI_stop", PAPI_stop(id, values));
	pin(0);
	printf("counted %lld %lld\n", values[0], values[1]);
}

static void reads(struct arena *a)
{
	long long value;
	int id = new_set(1);

	over(id, 0, 300, called_a);
	must("PAPI_start", PAPI_start(id));
	touch(a, 100);
	must("PAPI_read", PAPI_read(id, &value));
	pin(1);
	touch(a, 100);
	must("PAPI_stop", PAPI_stop(id, &value));
	pin(0);
	printf("counted %lld\n", value);
}

static void handlers(struct arena *a)
{
	int id = new_set(1), other = new_set(1);

	over(id, 0, 100, called_a);
	over(other, 0, 50, called_a);
	count(id, a, 300, 0);
	over(id, 0, 100, called_b);
	count(id, a, 200, 0);
	printf("refused: %d %d\n", PAPI_overflow(id, code[2], 10, 0, called_a),
	       PAPI_overflow(id, code[0], -1, 0, called_a));
	count(id, a, 200, 0);
	must("PAPI_overflow", PAPI_overflow(id, code[0], 0, 0, called_b));
	count(id, a, 500, 0);
	count(other, a, 150, 100);
	drop_set(other);
	over(id, 0, 100, called_a);
	count(id, a, 100, 400);
}

/* Forty handlers, one after the other. */
#define ONE(i) \
	static void one_##i(int id, void *at, long long vector, void *context) \
	{ \
		by_b += i; \
		called_a(id, at, vector, context); \
	}
#define TEN(X, i) X(i##0) X(i##1) X(i##2) X(i##3) X(i##4) X(i##5) X(i##6) X(i##7) X(i##8) X(i##9)
#define NAME(i) one_##i,
TEN(ONE, 1) TEN(ONE, 2) TEN(ONE, 3) TEN(ONE, 4)

static void crowd(struct arena *a)
{
	static const PAPI_overflow_handler_t all[] = { TEN(NAME, 1) TEN(NAME, 2) TEN(NAME, 3)
							       TEN(NAME, 4) };
	int id = new_set(1);

	for (int i = 0; i < 40; i++) {
		over(id, 0, 10, all[i]);
		count(id, a, 10, 0);
	}
}

/* The last of more event sets than are recorded. */
static void far(struct arena *a)
{
	int id = PAPI_NULL;

	while (id < 1 << 16)
		id = new_event_set();
	must("PAPI_add_event", PAPI_add_event(id, code[0]));
	over(id, 0, 10, called_a);
	count(id, a, 50, 0);
}

static void *thread(void *arg)
{
	int id = new_set(1), i = (int)(long)arg;
	struct arena a;

	arena_make(&a, 2000);
	pin(i % 2);
	over(id, 0, 10, called_a);
	for (int k = 0; k < 5; k++) {
		must("PAPI_start", PAPI_start(id));
		errno = SAID_ERRNO;
		touch(&a, 100 + 10 * i);
		must("PAPI_stop", PAPI_stop(id, NULL));
	}
	return NULL;
}

static void threads(void)
{
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	run_threads(8, thread);
}

static void jump(struct arena *a)
{
	volatile int id = new_set(1), n = 0;

	jumps = 1;
	over(id, 0, 100, called_a);
	while (n++ < 5) {
		must("PAPI_start", PAPI_start(id));
		errno = SAID_ERRNO;
		if (!sigsetjmp(out, 1))
			touch(a, 150);
		must("PAPI_stop", PAPI_stop(id, NULL));
	}
}

/* Uses PAPI's timer, which may be late. */
static void timer(void)
{
	int id = new_set(3);
	may("PAPI_overflow", PAPI_overflow(id, code[2], 1000000, PAPI_OVERFLOW_FORCE_SW, called_a));
	must("PAPI_start", PAPI_start(id));
	errno = SAID_ERRNO;
	for (int cpu = 0; cpu < 2; cpu++, pin(cpu % 2), errno = SAID_ERRNO)
		while (__atomic_load_n(&calls[2][nth_cpu(cpu)], __ATOMIC_RELAXED) <
		       5 * (nth_cpu(0) == nth_cpu(1) ? cpu + 1 : 1))
			;
	must("PAPI_stop", PAPI_stop(id, NULL));
}

/*
 * The child's sets are its parent's, with their handlers; PAPI opens the counters of a started set
 * again.
 */
static void child(struct arena *a)
{
	int id = new_set(1), other = new_set(1), status = 0;

	over(id, 0, 100, called_a);
	count(id, a, 200, 0);
	fflush(NULL);
	if (!fork()) {
		memset(calls, 0, sizeof(calls));
		count(other, a, 100, 0);
		count(id, a, 300, 0);
		printf("in the child: %d\n", calls[0][0]);
		exit(0);
	}
	wait(&status);
	printf("the child: %d\n", status);
	count(id, a, 100, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "moves";
	struct arena a;
	int id;

	here = (char *)&a;
	papi_up();
	for (int i = 0; i < 3; i++)
		must("PAPI_event_name_to_code", PAPI_event_name_to_code(names[i], &code[i]));
	arena_make(&a, 3000);
	prefault();
	pin(0);
	exits = strcmp(what, "exits") ? 0 : 4;
	kills = strcmp(what, "killed") ? 0 : 7;
	if (!strcmp(what, "handlers")) {
		handlers(&a);
	} else if (!strcmp(what, "reads")) {
		reads(&a);
	} else if (!strcmp(what, "crowd")) {
		crowd(&a);
	} else if (!strcmp(what, "far")) {
		far(&a);
	} else if (!strcmp(what, "threads")) {
		threads();
	} else if (!strcmp(what, "jumps")) {
		jump(&a);
	} else if (!strcmp(what, "timer")) {
		timer();
	} else if (!strcmp(what, "child")) {
		child(&a);
	} else {
		id = new_set(2);
		over(id, 0, 100, called_a);
		if (!strcmp(what, "two"))
			over(id, 1, 150, called_a);
		count(id, &a, 1050, 800);
	}
	for (int e = 0; e < 3; e++)
		for (int cpu = 0; cpu < CPUS; cpu++)
			if (calls[e][cpu])
				printf("called event=%s cpu=%d count=%d\n", names[e], cpu,
				       calls[e][cpu]);
	printf("by b %d; wrong errno %d, wrong set %d; masked %d\n", by_b, wrong_errno, wrong_set,
	       masked);
	fprintf(stderr, "depth=%ld\n", depth);
	return 0;
}
