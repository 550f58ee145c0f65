/*
 * signals: a timer's handler calls PAPI for the set that main uses, in the
 * middle of whatever main does. Main lets EV_A happen, counts how much, and
 * reads. In the end all that happened must have been handed out once: that is
 * the line that it prints, with how much of it only calls inside main's own may
 * have been handed. usage: signals MODE [milliseconds | /FILE: until that is there]
 *	read accum restart reset	what the handler does (restart: stop and start;
 *					reset: read, then reset)
 *	mixed				these in turns
 *	jump				the handler reads and jumps out of main's PAPI_read
 *	threads				mixed, four threads, each with a timer and a set of its own
 *	gap no timer: with tests/preload/gap.c a handler reads after PAPI
 *					has answered main's PAPI_read, and main's next call is
 *					PAPI_reset
 */
#include "now.h"
#include <setjmp.h>
#include <sys/time.h>

/* With libtsan a booking of sspapi's takes as long as the shorter one: more handlers would come on
 * top of it than there is room for. */
#define PERIOD_NS (dlsym(RTLD_DEFAULT, "__tsan_init") ? 400000 : 40000)

struct user {
	int set, turn;
	volatile sig_atomic_t ready, reading, handling;
	volatile long happened, handlers, jumps, zeroings;
	volatile long long base, nested;	/* what main was handed since the last zeroing; what
						 * only handlers were */
	sigjmp_buf back;
	timer_t timer;
};

static __thread struct user *me;
static const char *mode, *file;
static long milliseconds = 400;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

static void quiet(const char *what, int ret)
{
	if (ret == PAPI_OK)
		return;
	dprintf(2, "%s in a handler: %d\n", what, ret);
	_exit(1);
}

/* A handler was handed `value`, and PAPI counts from zero: of that main's calls have `base`, and up
 * to a few counts more are not told from those before. */
static void handler_zeroed(struct user *u, long long value)
{
	if (u->reading)
		u->nested += (value > u->base ? value - u->base : 0) + 6;
	u->base = 0;
	u->zeroings++;
}

static void handler(int signal)
{
	long long values[4] = {0};
	struct user *u = me;
	int saved = errno;

	(void)signal;
	if (!u || !u->ready || u->handling)	/* libtsan, unlike the kernel, may call it on top of
						 * itself */
		return;
	u->handling = 1;
	u->handlers++;
	switch (is("mixed") || is("threads") ? u->turn++ % 4
		: is("accum")		     ? 1
		: is("restart")		     ? 2
		: is("reset")		     ? 3
					     : 0) {
	case 0:
		quiet("PAPI_read", PAPI_read(u->set, values));
		break;
	case 1:
		quiet("PAPI_accum", PAPI_accum(u->set, values));
		handler_zeroed(u, values[0]);
		break;
	case 2:
		quiet("PAPI_stop", PAPI_stop(u->set, values));
		quiet("PAPI_start", PAPI_start(u->set));
		handler_zeroed(u, values[0]);
		break;
	case 3:
		quiet("PAPI_read", PAPI_read(u->set, values));
		quiet("PAPI_reset", PAPI_reset(u->set));
		handler_zeroed(u, values[0]);
		break;
	}
	errno = saved;
	u->handling = 0;
	if (is("jump") && u->reading) {
		u->jumps++;
		siglongjmp(u->back, 1);
	}
}

/* A timer for the calling thread alone. */
static void start_timer(struct user *u)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
	struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &u->timer) ||
	    timer_settime(u->timer, 0, &period, NULL))
		die("timer");
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Kept apart from its caller's variables, which siglongjmp would spoil. */
static void read_or_jump(struct user *u)
{
	const long zeroings = u->zeroings;
	long long values[4];

	if (sigsetjmp(u->back, 1) == 0) {
		u->reading = 1;
		must("PAPI_read", PAPI_read(u->set, values));
		u->base = values[0];
		if (u->zeroings != zeroings)	/* a handler's came later than PAPI's answer */
			u->base = 0;
	}
	u->reading = 0;
}

/* libtsan hands signals on later, all blocked meanwhile; one that comes just then makes it keep
 * them blocked (it has one place for the mask before, and handlers of handlers): once in a thousand
 * runs no alarm came any more. */
static void heed_alarms(void)
{
	sigset_t alarms;

	if (!dlsym(RTLD_DEFAULT, "__tsan_init"))
		return;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
}

/* On a busy machine the time may be over before a handler has come. */
static int goes_on(const struct user *u, double until)
{
	return (file ? access(file, F_OK) != 0 : now_s() < until) || u->handlers < 100 ||
	       (is("jump") && !u->jumps);
}

static void work(struct user *u, double until)
{
	while (goes_on(u, until)) {
		heed_alarms();
		for (int i = 0; i < 20; i++) {
			fake_count_set(u->set, "EV_A", 3);
			u->happened += 3;
			read_or_jump(u);
		}
	}
}

static void *use(void *arg)
{
	struct user *u = arg;
	long long values[4];
	sigset_t alarms;

	u->set = now_set();
	me = u;
	must("PAPI_start", PAPI_start(u->set));
	u->ready = 1;
	start_timer(u);
	work(u, now_s() + milliseconds / 1e3);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	must("PAPI_stop", PAPI_stop(u->set, values));
	told_nested(u->happened, u->nested);
	return NULL;
}

static void in_the_gap(int signal)
{
	static int inside;
	long long values[4];
	int saved = errno;

	(void)signal;
	if (inside++)
		return;
	fake_count_set(me->set, "EV_A", 4);
	me->happened += 4;
	me->handlers++;
	quiet("PAPI_read", PAPI_read(me->set, values));
	inside = 0;
	errno = saved;
}

static int gap(struct user *u)
{
	struct sigaction action = {.sa_handler = in_the_gap, .sa_flags = SA_NODEFER};
	long long values[4];

	u->set = now_set();
	me = u;
	sigaction(SIGURG, &action, NULL);
	must("PAPI_start", PAPI_start(u->set));
	for (int i = 0; i < 10; i++) {
		fake_count_set(u->set, "EV_A", 3);
		u->happened += 3;
		must("PAPI_read", PAPI_read(u->set, values));
		must("PAPI_reset", PAPI_reset(u->set));
	}
	must("PAPI_stop", PAPI_stop(u->set, values));
	told_nested(u->happened, 4 * u->handlers);	/* main reads less, and resets */
	fprintf(stderr, "handlers %ld jumps 0\n", u->handlers);
	return u->handlers != 10;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handler};
	static struct user users[4];
	pthread_t t[4];
	int n;

	mode = argc > 1 ? argv[1] : "read";
	if (argc > 2 && argv[2][0] == '/')
		file = argv[2];
	else if (argc > 2)
		milliseconds = atol(argv[2]);
	nth_cpu(0);
	up_threads();
	if (is("gap"))
		return gap(&users[0]);
	sigaction(SIGALRM, &action, NULL);
	n = is("threads") ? 4 : 1;
	for (int i = 1; i < n; i++)
		pthread_create(&t[i], NULL, use, &users[i]);
	use(&users[0]);
	for (int i = 1; i < n; i++)
		pthread_join(t[i], NULL);
	fprintf(stderr, "handlers %ld jumps %ld\n", users[0].handlers, users[0].jumps);
	return users[0].handlers < 100;
}
