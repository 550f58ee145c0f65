/*
 * anywhere: a handler that calls PAPI, at each instruction of one of main's calls (apps/anywhere.h). Each call has a
 * set of its own, of which a line says what PAPI handed out in all.
 * usage: anywhere read|stop|start|accum|reset [moved] [again] [nested] [all]
 *	moved	the thread is on another CPU than at the reading before
 *	again	the call was made from the same place before, three times
 *	nested	at each instruction of the handler another one comes on top of it, which does the same
 *	all	each kind of handler at each instruction; else they take turns
 */
#include "scene.h"
#include "apps/anywhere.h"

enum { READ, ACCUM, RESET, RESTART, STOP, START, HANDLERS };

static struct anywhere *shared;
static int set = PAPI_NULL;
static volatile long long happened;
static int stops, moved, again, nested;

static int runs(void)
{
	int state = 0;

	return PAPI_state(set, &state) == PAPI_OK && (state & PAPI_RUNNING);
}

/* If it runs, and nobody stops it meanwhile. (fake_count looks at each set that there is, and each call has one.) */
static void count(int n)
{
	sigset_t inner, was;

	sigemptyset(&inner);
	sigaddset(&inner, SIGUSR2);
	sigprocmask(SIG_BLOCK, &inner, &was);
	happened += runs() && fake_count_set(set, "EV_A", n) > 0 ? n : 0;
	sigprocmask(SIG_SETMASK, &was, NULL);
}

static int changes(int how)
{
	return how == STOP || how == START || how == RESTART;
}

static void act(int how)
{
	long long values[1] = {0};

	if (how == START && !runs())
		PAPI_start(set);
	count(4);
	if (how == ACCUM)
		PAPI_accum(set, values);
	else if (how == STOP || how == RESTART)
		PAPI_stop(set, values);
	else
		PAPI_read(set, values);
	if (how == RESET)
		PAPI_reset(set);
	if (how == RESTART && !runs())
		PAPI_start(set);
}

static void handler(int signal)
{
	int saved = errno, how = shared->handler, nests = nested && shared->inner >= 0;

	(void)signal;
	if (stops && how != START && changes(how))
		how = READ;	/* in the middle of PAPI's own stop that spoils PAPI */
	shared->returned = 0;
	shared->inside = nests;
	if (nests)
		anywhere_stop();
	act(how);
	shared->handled |= 1;
	shared->returned = 1;
	if (nests)
		anywhere_stop();
	errno = saved;
}

/* On top of that. */
static void inner(int signal)
{
	int saved = errno, how = shared->inner;

	(void)signal;
	act((stops || changes(shared->handler)) && changes(how) ? READ : how);
	shared->handled |= 2;
	errno = saved;
}

static __attribute__((noinline)) void one(const char *what, long long *values)
{
	if (!strcmp(what, "start"))
		PAPI_start(set);
	else if (!strcmp(what, "stop"))
		PAPI_stop(set, values);
	else if (!strcmp(what, "accum"))
		PAPI_accum(set, values);
	else if (!strcmp(what, "reset"))
		PAPI_reset(set);
	else
		PAPI_read(set, values);
}

static void call(const char *what)
{
	long long values[1] = {0};

	set = PAPI_NULL;
	happened = 0;
	set = set_with("EV_A");
	must("PAPI_start", PAPI_start(set));
	count(nested ? 30 : 3);		/* more than handlers do, so that the order can be told */
	must("PAPI_read", PAPI_read(set, values));
	for (int i = 0; again && i < 3; i++) {
		if (!strcmp(what, "start"))
			must("PAPI_stop", PAPI_stop(set, values));
		if (!strcmp(what, "reset"))
			must("PAPI_read", PAPI_read(set, values));
		one(what, values);
		if (!runs())
			must("PAPI_start", PAPI_start(set));
		count(5);	/* more than the handler's, so that the order can be told */
	}
	count(3);
	if (!strcmp(what, "start"))
		must("PAPI_stop", PAPI_stop(set, values));
	if (!strcmp(what, "reset"))
		must("PAPI_read", PAPI_read(set, values));
	if (moved)
		pin(1);
	shared->returned = 0;
	anywhere_stop();
	one(what, values);
	shared->returned = 1;
	printf("set %d handler %d instruction %d ", set, shared->handler, shared->at);
	if (nested)
		printf("on top %d instruction %d ", shared->inner, shared->inner_at);
	anywhere_stop();
	if (moved)
		pin(0);
	if (!runs())
		must("PAPI_start", PAPI_start(set));
	count(3);
	must("PAPI_read", PAPI_read(set, values));
	count(3);
	must("PAPI_stop", PAPI_stop(set, values));
	printf("handed %lld\n", happened);
}

/* What is done for a call site the first time takes thousands of instructions. */
static void acts_once(void)
{
	set = set_with("EV_A");
	for (int how = 0; how < HANDLERS; how++) {
		if (!runs())
			must("PAPI_start", PAPI_start(set));
		act(how == START ? STOP : how);
	}
	act(START);
	must("PAPI_stop", PAPI_stop(set, (long long[1]){0}));
}

static int client(const char *what, int fd)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	stops = !strcmp(what, "stop");
	signal(SIGUSR1, handler);
	signal(SIGUSR2, inner);
	up();
	pin(0);
	if (nested)
		acts_once();
	anywhere_stop();
	while (shared->handler >= 0)
		call(what);
	return 0;
}

#if defined(__x86_64__)
int main(int argc, char **argv)
{
	const char *fd = getenv("ANYWHERE");
	int all = 0;

	for (int i = 2; i < argc; i++) {
		moved |= !strcmp(argv[i], "moved");
		again |= !strcmp(argv[i], "again");
		nested |= !strcmp(argv[i], "nested");
		all |= !strcmp(argv[i], "all");
	}
	if (fd)
		return client(argv[1], atoi(fd));
	return anywhere_run(argv, HANDLERS, all, nested);
}
#else
int main(void)
{
	fprintf(stderr, "instructions are stepped on x86-64 only\n");
	return SKIPPED;
}
#endif
