/*
 * walk: a PAPI program that knows how much it did on which CPU. Its steps are words on the command
 * line:
 *
 *	p2 u		pin to CPU 2; allowed on all CPUs again
 *	w5 f		work 5 units here; a twentieth of one
 *	s r t a z	start, read, read_ts, accum, reset
 *	e n		stop; stop with NULL
 *	!COMMAND	a shell, made before PAPI was initialised, runs that ($WALK is this
 *			process); waits for it
 *	P2 W5		as p, w, by a child process: the set is attached to it (-A)
 *	c2:5		a thread that works 5 units on CPU 2, waited for: inherited (-I)
 *	xr xe		as r, e, by a thread that did not start the set
 *	,		the next steps are another thread's, with a set of its own. Their steps take
 *			turns: under -icount each CPU's counters count the instructions of all CPUs
 *
 * options: -e EVENT,EVENT... -A attach -I inherit -H high level -m kernel|software multiplex -o N
 * overflow of the first event each N
 *
 * A unit is UNIT instructions of a loop in assembly (or as many rounds of it) and PAGES page
 * faults. Prints, for walk.pl, `did cpu=2 units=5` per CPU, for work while a set ran that a reading
 * includes; `unsure units=N` if the kernel may have moved the thread inside a unit; `handed event=E
 * value=V` of each reading; `overflows cpu=C calls=N` of the handler.
 */
#include "unit.h"
#include <papi.h>

#define CPUS 64
#define EVENTS 32
#define READINGS 256

struct walker {
	char **step;
	int steps, set, running, ended;
	struct arena arena;
	long pending[CPUS], did[CPUS], unsure; /* parts of units: not read yet, and read */
	int readings;
	long long values[EVENTS], last[EVENTS], handed[READINGS][EVENTS];
	pthread_t thread;
};

static char *event[EVENTS];
static int events, attach, inherit, high_level, overflow_each, threads;
static int overflows[CPUS];
static const char *multiplex;
static int shell_in, shell_out; /* the shell: commands go in, a byte comes out */
static int child_in, child_out;
static pid_t child;

/* The walker whose turn it is; one without further steps has none. */
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void must(const char *what, int code)
{
	if (code == PAPI_OK)
		return;
	printf("%s: %s (%d)\n", what, PAPI_strerror(code), code);
	exit(code == PAPI_ENOEVNT || code == PAPI_ECMP_DISABLED ? SKIPPED : 1);
}

/* ---- work ---- */

static void work(struct walker *w, int parts)
{
	int cpu = parts_of_unit(&w->arena, parts);

	if (!w->running)
		return;
	if (cpu < 0)
		w->unsure += parts;
	else
		w->pending[cpu] += parts;
}

static void unpin(void)
{
	cpu_set_t set;

	memset(&set, -1, sizeof(set));
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* ---- others that work ---- */

static void tell(int in, int out, const void *what, size_t n)
{
	char done;

	if (write(in, what, n) != (ssize_t)n || read(out, &done, 1) != 1)
		die("walk: the other process");
}

/* Makes a process before all else, which works on command; returns the pipes to it. */
static pid_t helper(int *in, int *out, void (*serve)(int, int))
{
	int to[2], from[2];
	pid_t pid;

	if (pipe(to) || pipe(from))
		die("pipe");
	pid = fork();
	if (!pid) {
		close(to[1]);
		close(from[0]);
		serve(to[0], from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	*in = to[1];
	*out = from[0];
	return pid;
}

static void serve_commands(int in, int out)
{
	char command[512];
	ssize_t n;

	while ((n = read(in, command, sizeof(command) - 1)) > 0) {
		command[n] = '\0';
		if (system(command) || write(out, "", 1) != 1)
			_exit(1);
	}
}

static void serve_work(int in, int out)
{
	struct arena arena;
	char order[32];

	arena_make(&arena, 100000);
	prefault();
	while (read(in, order, sizeof(order)) == sizeof(order)) {
		if (order[0] == 'P')
			pin_to(atoi(order + 1));
		for (int i = atoi(order + 1); order[0] == 'W' && i > 0; i--)
			unit(&arena);
		if (write(out, "", 1) != 1)
			_exit(1);
	}
}

static int child_cpu;

static void tell_child(struct walker *w, const char *step)
{
	char order[32] = "";

	strncpy(order, step, sizeof(order) - 1);
	tell(child_in, child_out, order, sizeof(order));
	if (order[0] == 'P')
		child_cpu = atoi(order + 1);
	else if (w->running)
		w->pending[child_cpu] += PAGES * atol(order + 1);
}

static void *work_elsewhere(void *arg)
{
	int cpu = ((int *)arg)[0], units = ((int *)arg)[1];
	struct arena arena;

	pin_to(cpu);
	arena_make(&arena, units * PAGES);
	while (units-- > 0)
		unit(&arena);
	return NULL;
}

static void thread_works(struct walker *w, const char *step)
{
	int order[2];
	pthread_t thread;

	if (sscanf(step, "%d:%d", &order[0], &order[1]) != 2)
		die(step);
	pthread_create(&thread, NULL, work_elsewhere, order);
	pthread_join(thread, NULL);
	if (w->running)
		w->pending[order[0]] += PAGES * order[1];
}

/* ---- PAPI ---- */

static void overflowed(int set, void *at, long long vector, void *context)
{
	(void)set, (void)at, (void)vector, (void)context;
	__atomic_fetch_add(&overflows[sched_getcpu() % CPUS], 1, __ATOMIC_RELAXED);
}

static void set_options(struct walker *w)
{
	PAPI_option_t o;

	memset(&o, 0, sizeof(o));
	if (multiplex) {
		o.multiplex.eventset = w->set;
		o.multiplex.flags = *multiplex == 's' ? PAPI_MULTIPLEX_FORCE_SW : 0;
		must("PAPI_MULTIPLEX", PAPI_set_opt(PAPI_MULTIPLEX, &o));
	}
	if (inherit) {
		o.inherit.eventset = w->set;
		o.inherit.inherit = PAPI_INHERIT_ALL;
		must("PAPI_INHERIT", PAPI_set_opt(PAPI_INHERIT, &o));
	}
}

static void make_set(struct walker *w)
{
	int code;

	if (high_level)
		return;
	w->set = PAPI_NULL;
	must("PAPI_create_eventset", PAPI_create_eventset(&w->set));
	must("PAPI_assign_eventset_component", PAPI_assign_eventset_component(w->set, 0));
	set_options(w);
	for (int i = 0; i < events; i++)
		must(event[i], PAPI_add_named_event(w->set, event[i]));
	if (attach)
		must("PAPI_attach", PAPI_attach(w->set, child));
	if (!overflow_each)
		return;
	must(event[0], PAPI_event_name_to_code(event[0], &code));
	must("PAPI_overflow", PAPI_overflow(w->set, code, overflow_each, 0, overflowed));
}

/* A reading includes everything since the last. */
static void taken(struct walker *w, const long long *values)
{
	for (int cpu = 0; cpu < CPUS; cpu++) {
		w->did[cpu] += w->pending[cpu];
		w->pending[cpu] = 0;
	}
	if (!values)
		return;
	for (int i = 0; i < events; i++) {
		w->handed[w->readings % READINGS][i] = values[i] - w->last[i];
		w->last[i] = values[i];
	}
	w->readings++;
}

static void zeroed(struct walker *w)
{
	memset(w->last, 0, sizeof(w->last));
	memset(w->pending, 0, sizeof(w->pending));
}

/* Counts since the start, of which readings returned a part before. */
static void accumulate(struct walker *w)
{
	long long values[EVENTS] = {0};

	must("PAPI_accum", PAPI_accum(w->set, values));
	taken(w, values);
	zeroed(w);
}

static void papi(struct walker *w, char what)
{
	long long cycles;

	switch (what) {
	case 's':
		zeroed(w);
		must("PAPI_start", high_level ? PAPI_hl_region_begin("walk") : PAPI_start(w->set));
		w->running = 1;
		return;
	case 'z':
		must("PAPI_reset", PAPI_reset(w->set));
		zeroed(w);
		return;
	case 'a':
		accumulate(w);
		return;
	case 'n':
		must("PAPI_stop(NULL)", PAPI_stop(w->set, NULL));
		break;
	case 'r':
		must("PAPI_read", high_level ? PAPI_hl_read("walk") : PAPI_read(w->set, w->values));
		break;
	case 't':
		must("PAPI_read_ts", PAPI_read_ts(w->set, w->values, &cycles));
		break;
	default:
		must("PAPI_stop",
		     high_level ? PAPI_hl_region_end("walk") : PAPI_stop(w->set, w->values));
	}
	taken(w, high_level || what == 'n' ? NULL : w->values);
	w->running = w->running && what != 'e' && what != 'n';
}

struct visit {
	struct walker *w;
	char what;
};

static void *visit(void *arg)
{
	struct visit *v = arg;

	papi(v->w, v->what);
	return NULL;
}

/* The set's own thread waits meanwhile. */
static void by_another(struct walker *w, char what)
{
	struct visit v = {.w = w, .what = what};
	pthread_t thread;

	pthread_create(&thread, NULL, visit, &v);
	pthread_join(thread, NULL);
}

static void step(struct walker *w, const char *s)
{
	switch (*s) {
	case 'p':
		pin_to(atoi(s + 1));
		break;
	case 'u':
		unpin();
		break;
	case 'w':
		for (long i = atol(s + 1); i > 0; i--)
			work(w, PAGES);
		break;
	case 'f':
		work(w, 1);
		break;
	case 'P':
	case 'W':
		tell_child(w, s);
		break;
	case 'c':
		thread_works(w, s + 1);
		break;
	case 'x':
		by_another(w, s[1]);
		break;
	case '!':
		tell(shell_in, shell_out, s + 1, strlen(s + 1));
		break;
	default:
		papi(w, *s);
	}
}

static struct walker *all;

static void take_turn(const struct walker *w)
{
	pthread_mutex_lock(&turns);
	while (&all[turn] != w)
		pthread_cond_wait(&turned, &turns);
	pthread_mutex_unlock(&turns);
}

static void give_turn(struct walker *w)
{
	pthread_mutex_lock(&turns);
	do
		turn = (turn + 1) % threads;
	while (all[turn].ended && &all[turn] != w);
	pthread_cond_broadcast(&turned);
	pthread_mutex_unlock(&turns);
}

static void *walk(void *arg)
{
	struct walker *w = arg;
	int i = 0;

	take_turn(w);
	arena_make(&w->arena, 100000);
	/* Move to the CPU of the first steps: the set is made there. */
	for (; i < w->steps && *w->step[i] == 'p'; i++)
		step(w, w->step[i]);
	make_set(w);
	prefault();
	for (; i < w->steps; i++) {
		give_turn(w);
		take_turn(w);
		step(w, w->step[i]);
	}
	w->ended = 1;
	give_turn(w);
	return NULL;
}

/* ---- the command line ---- */

static void options(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "+e:m:o:AIH")) != -1) {
		attach |= opt == 'A';
		inherit |= opt == 'I';
		high_level |= opt == 'H';
		if (opt == 'm')
			multiplex = optarg;
		if (opt == 'o')
			overflow_each = atoi(optarg);
		if (opt == 'e')
			for (char *e = strtok(optarg, ","); e && events < EVENTS;
			     e = strtok(NULL, ","))
				event[events++] = e;
	}
}

static struct walker *walkers(int n, char **word)
{
	struct walker *w = calloc(n + 1, sizeof(*w));

	threads = 1;
	w[0].step = word;
	for (int i = 0; i < n; i++) {
		if (strcmp(word[i], ",")) {
			w[threads - 1].steps++;
			continue;
		}
		w[threads++].step = &word[i + 1];
	}
	return w;
}

static void report(const struct walker *w)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (w->did[cpu])
			printf("did cpu=%d units=%g\n", cpu, 1. * w->did[cpu] / PAGES);
	if (w->unsure)
		printf("unsure units=%g\n", 1. * w->unsure / PAGES);
	for (int r = 0; r < w->readings && r < READINGS; r++)
		for (int i = 0; i < events; i++)
			printf("handed event=%s value=%lld\n", event[i], w->handed[r][i]);
}

static void up(void)
{
	int ret, code;

	if (attach)
		child = helper(&child_in, &child_out, serve_work);
	ret = PAPI_library_init(PAPI_VER_CURRENT);
	if (ret != PAPI_VER_CURRENT) {
		printf("PAPI_library_init: %s\n", PAPI_strerror(ret));
		exit(SKIPPED);
	}
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	if (multiplex)
		must("PAPI_multiplex_init", PAPI_multiplex_init());
	/* PAPI 7.0 may refuse a name that two threads look up for the first time at once. */
	for (int i = 0; i < events; i++)
		must(event[i], PAPI_event_name_to_code(event[i], &code));
}

int main(int argc, char **argv)
{
	char own[16];
	struct walker *w;

	snprintf(own, sizeof(own), "%d", getpid());
	setenv("WALK", own, 1);
	options(argc, argv);
	w = walkers(argc - optind, argv + optind);
	/* The shell does not use PAPI, nor needs the preloaded objects. */
	helper(&shell_in, &shell_out, serve_commands);
	up();
	all = w;
	for (int i = 1; i < threads; i++)
		pthread_create(&w[i].thread, NULL, walk, &w[i]);
	walk(&w[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(w[i].thread, NULL);
	for (int i = 0; i < threads; i++)
		report(&w[i]);
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (overflows[cpu])
			printf("overflows cpu=%d calls=%d\n", cpu, overflows[cpu]);
	if (child) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return 0;
}
