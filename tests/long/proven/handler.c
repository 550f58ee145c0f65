/*
 * handler.c: a thread that counts itself, and a handler of a timer's signal that touches, moves and
 * reads at any moment, and stops and starts the set between the thread's calls (inside them its
 * values are in no sum); half of the signals arrive in the middle of a PAPI_read.
 */
#include "proven.h"

static struct walker self, visitor;
static int set;
static volatile int is_on, in_list, in_walk, in_handler;
static volatile int on_top;		/* nested in a call that it must not interrupt */
static volatile int in_call;		/* of the thread */
static volatile unsigned windows;
static timer_t timer;

/*
 * Makes a call; false if its value was not entered, because a handler has ended the window: then it
 * is unknown who has it.
 */
static int call_once(enum call c)
{
	unsigned least, window;
	long long value;
	int same;

	on_top = c != READ && c != READ_TS;
	least = least_now();
	window = windows;
	in_call += !in_handler;
	value = papi_call(set, c);
	in_call -= !in_handler;
	in_list = 1;
	same = windows == window;
	if (same)
		entered(c, least, value, most_now());
	if (same && in_handler && in_call)
		value_is_nested();
	in_list = 0;
	windows += on_top;
	on_top = 0;
	return same;
}

/* Enters the last value of each window as well. */
static void call(enum call c)
{
	while (!call_once(c))
		;
	if (in_handler)
		return;
	in_list = 1;
	self_asked(&self);
	in_list = 0;
}

static void act(int top)
{
	if (rnd(2))
		walker_go(&visitor, (int)rnd(cpus));
	for (int i = in_walk ? 0 : (int)rnd(4); i > 0; i--)
		walker_touch(&visitor);
	if (!top && rnd(2))
		call(READ);
	if (!top && !in_call && rnd(6) == 0) {
		call(STOP);
		call(START);
	}
	if (rnd(2))
		walker_go(&visitor, (int)rnd(cpus));
}

/* Begins on the thread's CPU, and ends there at least if the thread has begun to touch. */
static void on_signal(int number)
{
	int saved = errno, top = on_top;

	(void)number;
	if (in_list || in_handler || !is_on)
		return;
	in_handler = 1;
	visitor.at = self.at;
	act(top);
	if (!in_walk && rnd(2))
		self.at = visitor.at;
	else
		go_to(self.at);
	on_top = top;
	in_handler = 0;
	errno = saved;
}

static void strike(void)
{
	if (!in_handler && is_on && rnd(4) == 0)
		raise(SIGUSR1);
}

static void make_timer(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		die("timer_create");
}

static void count_once(void)
{
	struct itimerspec soon = {.it_value = {.tv_nsec = 1}};

	call(START);
	is_on = 1;
	for (int i = 1 + (int)rnd(100); i > 0; i--) {
		in_walk = 1;
		walk(&self, (int)rnd(30));
		in_walk = 0;
		soon.it_value.tv_nsec = 1000 + rnd(rnd(2) ? 10000 : 50000);
		timer_settime(timer, 0, &soon, NULL);
		for (int n = (int)rnd(4); n > 0; n--)
			call(READ);
		call((enum call[]){READ, READ, READ_TS, ACCUM, READ, RESET}[rnd(6)]);
	}
	is_on = 0;
	call(STOP);
}

void handlers(void)
{
	begin_papi();
	set = set_with(fault_event);
	for (int i = 0; i < 2; i++) {
		papi_call(set, START);
		for (enum call c = READ; c <= STOP; c++)
			papi_call(set, c);
	}
	make_timer();
	walker_make(&visitor, -1);
	walker_make(&self, rnd(2) ? -1 : (int)rnd(cpus));
	self.narrow = 1;
	inside = strike;
	for (int i = 1 + (int)rnd(6); i > 0; i--)
		count_once();
	inside = NULL;
	walker_end(&self);
}
