/*
 * handler.c: a thread that counts itself, and a handler of a timer's signal that touches, moves, reads, stops and starts
 * the set, on top of whatever the thread does: of a PAPI_read, too.
 */
#include "proven.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

static struct walker self, visitor;
static int set;
static volatile int is_on, in_list, in_walk, in_handler;
static volatile int on_top;		/* of a call that it may not be in the middle of */
static volatile unsigned windows;
static timer_t timer;

static void note(enum call c, unsigned least, long long value, unsigned most)
{
	in_list = 1;
	entered(c, least, value, most);
	in_list = 0;
}

/* A value of a window that a handler has ended meanwhile is not entered: that handler's was later. */
static void call(enum call c)
{
	unsigned least = least_now(), window = windows;
	long long value;

	on_top = c != READ && c != READ_TS;
	value = papi_call(set, c);
	if (windows == window)
		note(c, least, value, most_now());
	if (c != READ && c != READ_TS)
		windows++;
	on_top = 0;
}

static void act(int top)
{
	if (rnd(2))
		walker_go(&visitor, (int)rnd(cpus));
	for (int i = in_walk ? 0 : (int)rnd(4); i > 0; i--)
		walker_touch(&visitor);
	if (!top && rnd(2))
		call(READ);
	if (!top && rnd(6) == 0) {
		call(STOP);
		call(START);
	}
	if (rnd(2))
		walker_go(&visitor, (int)rnd(cpus));
}

/* It begins and ends where the thread is, and not in the middle of the log. */
static void on_signal(int number)
{
	int saved = errno, top = on_top;

	(void)number;
	if (in_list || in_handler || !is_on)
		return;
	in_handler = 1;
	visitor.at = self.at;
	act(top);
	go_to(self.at);
	on_top = top;
	in_handler = 0;
	errno = saved;
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
	for (int i = 1 + (int)rnd(30); i > 0; i--) {
		in_walk = 1;
		walk(&self, (int)rnd(30));
		in_walk = 0;
		soon.it_value.tv_nsec = 1000 + rnd(20000);
		timer_settime(timer, 0, &soon, NULL);
		for (int n = (int)rnd(20); n > 0; n--)
			call(READ);
		call((enum call[]){READ, READ, READ_TS, ACCUM, READ, RESET}[rnd(6)]);
	}
	is_on = 0;
	call(STOP);
}

void handlers(void)
{
	begin_papi();
	set = set_of(fault_event);
	for (int i = 0; i < 2; i++) {
		papi_call(set, START);
		for (enum call c = READ; c <= STOP; c++)
			papi_call(set, c);
	}
	make_timer();
	walker_make(&visitor, -1);
	walker_make(&self, rnd(2) ? -1 : (int)rnd(cpus));
	self.narrow = 1;
	for (int i = 1 + (int)rnd(6); i > 0; i--)
		count_once();
	walker_end(&self);
}
