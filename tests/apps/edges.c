/*
 * edges: a thread that moves in a window whose edges are not plain.
 *
 *	edges domain	PAPI_start opens the counters again, in another domain than before
 *	edges array	PAPI itself faults, when it writes its answer to an array that was never written to
 *	edges handler	a signal is handled between PAPI's answer and its return, and the handler faults
 *	edges zeroed	a handler reads the set when PAPI_reset has zeroed it, but has not returned; the thread has moved before
 *	edges looks	it is moved at each look at the counters by CPU
 *	edges interrupted	signals come faster than counters can be read
 *	edges removed	its last event is removed before; and it is read when it is stopped
 *	edges credit	it makes more sets than there is time for counters by CPU
 *	edges foreign	another thread reads the set while its own runs, before that one moves
 *	edges limit	it lowers its limit of descriptors below the numbers that ours would have
 *
 * Prints what was done where, as moves does. domain needs hw2sw where there are no hardware counters.
 */
#include "handed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <time.h>

#include "../preload/raw.h"

static long on[1024];
static struct counted *c;
static long long total, last;
static int zero;

static void took(long long value)
{
	total += value - last;
	last = value;
}

static void work(int which, long pages)
{
	int cpu = pin(which);

	touch(&c->arena, pages);
	on[cpu] += pages;
}

/* Faults of the kernel's, when it writes for us. */
static void work_inside(int which, int pages)
{
	int cpu = pin(which);

	for (int i = 0; i < pages; i++, c->arena.next += c->arena.page)
		if (read(zero, c->arena.next, 1) != 1)
			die("/dev/zero");
	on[cpu] += pages;
}

static void domain(void)
{
	PAPI_option_t o = {.domain = {.eventset = c->id, .domain = PAPI_DOM_USER | PAPI_DOM_KERNEL}};
	long long value;
	int ret = PAPI_set_opt(PAPI_DOMAIN, &o);

	if (ret != PAPI_OK)
		cannot("PAPI_DOMAIN", ret);
	for (int i = 0; i < 2; i++) {
		migrations_once();
		pin(0);
		must("PAPI_start", PAPI_start(c->id));
		last = 0;
		work(0, 100);
		work_inside(0, 30);
		work(1, 10);
		work_inside(1, 50);
		must("PAPI_stop", PAPI_stop(c->id, &value));
		took(value);
	}
}

/* A page for PAPI's answer, which nothing was written to. */
static long long *fresh(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(at, page, MADV_NOHUGEPAGE);
	return (long long *)at;
}

/* A fault of the array's after PAPI has read its counters: PAPI_read's is counted in the next window, PAPI_stop's and
 * PAPI_accum's in none. */
static void array(void)
{
	for (int i = 0; i < 30; i++) {
		long long *value = fresh(), rest;

		pin(0);
		must("PAPI_start", PAPI_start(c->id));
		last = 0;
		work(0, 20);
		work(1, 30);
		if (i % 3 == 0) {
			must("PAPI_stop", PAPI_stop(c->id, value));
			took(*value);
			continue;
		}
		on[sched_getcpu()]++;
		if (i % 3 == 1) {
			must("PAPI_read", PAPI_read(c->id, value));
			took(*value);
		} else {
			total += *(volatile long long *)value; /* a fault, too */
			must("PAPI_accum", PAPI_accum(c->id, value));
			took(*value);
			last = 0;
		}
		must("PAPI_stop", PAPI_stop(c->id, &rest));
		took(rest);
	}
}

static volatile int armed;

static void on_signal(int unused)
{
	(void)unused;
	touch(&c->arena, 10);
	on[sched_getcpu()] += 10;
}

/* libpapi's, by which it asks its counters. */
ssize_t read(int fd, void *to, size_t bytes)
{
	ssize_t got = syscall(SYS_read, fd, to, bytes);

	if (armed) {
		armed = 0;
		raise(SIGUSR1);
	}
	return got;
}

static void handler(void)
{
	long long value;

	signal(SIGUSR1, on_signal);
	raise(SIGUSR1); /* all of it has run once */
	on[sched_getcpu()] -= 10;
	for (int i = 0; i < 10; i++) {
		pin(0);
		must("PAPI_start", PAPI_start(c->id));
		last = 0;
		work(0, 20);
		work(1, 30);
		armed = 1;
		must("PAPI_read", PAPI_read(c->id, &value));
		took(value);
		work(0, 5);
		must("PAPI_stop", PAPI_stop(c->id, &value));
		took(value);
	}
}

static volatile int zeroes;

static void on_zeroed(int unused)
{
	long long value;

	(void)unused;
	must("PAPI_read", PAPI_read(c->id, &value));
	took(value);
	work(1, 10);
	must("PAPI_read", PAPI_read(c->id, &value));
	took(value);
}

/* libpapi's, by which it zeroes its counters. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	long arg, ret;

	va_start(ap, request);
	arg = va_arg(ap, long);
	va_end(ap);
	ret = syscall(SYS_ioctl, fd, request, arg);
	if (zeroes && request == PERF_EVENT_IOC_RESET) {
		zeroes = 0;
		last = 0;
		raise(SIGUSR1);
	}
	return (int)ret;
}

static void zeroed_under(void)
{
	long long value;

	signal(SIGUSR1, on_zeroed);
	for (int i = 0; i < 10; i++) {
		pin(0);
		must("PAPI_start", PAPI_start(c->id));
		last = 0;
		work(0, 20);
		must("PAPI_read", PAPI_read(c->id, &value));
		took(value);
		pin(1);
		zeroes = 1;
		must("PAPI_reset", PAPI_reset(c->id));
		must("PAPI_stop", PAPI_stop(c->id, &value));
		took(value);
	}
}

static volatile int looks, looking;

static void to_the_other(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(nth_cpu(looks++ & 1), &one);
	raw(SYS_sched_setaffinity, 0, sizeof(one), (long)&one, 0, 0, 0);
}

/* sspapi's, by which it reads counters of its own; PAPI's are read by read. */
long syscall(long number, ...)
{
	long a[6];

	SIX_WORDS(a, number);
	if (looking && number == SYS_read)
		to_the_other();
	return returned(raw(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

static void moved_in_looks(void)
{
	long long value;

	for (int i = 0; i < 10; i++) {
		pin(0);
		must("PAPI_start", PAPI_start(c->id));
		last = 0;
		work(0, 20);
		work(1, 30);
		looking = 1;
		must("PAPI_read", PAPI_read(c->id, &value));
		looking = 0;
		took(value);
		must("PAPI_stop", PAPI_stop(c->id, &value));
		took(value);
	}
	fprintf(stderr, "moves %d\n", looks);
}

static timer_t timer;
static volatile int ticks;

static void soon(void)
{
	struct itimerspec t = {{0, 0}, {0, 8000}};

	timer_settime(timer, 0, &t, NULL);
}

/* Faster than any machine reads its counters; and not for ever, where it takes longer than that to come here. */
static void on_tick(int unused)
{
	(void)unused;
	if (ticks-- > 0)
		soon();
}

static void interrupted(void)
{
	struct sigevent by = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	long long value;

	if (timer_create(CLOCK_MONOTONIC, &by, &timer))
		die("timer_create");
	signal(SIGUSR1, on_tick);
	raise(SIGUSR1); /* all of it has run once */
	for (int i = 0; i < 20; i++) {
		pin(0);
		must("PAPI_start", PAPI_start(c->id));
		last = 0;
		work(0, 20);
		work(1, 30);
		ticks = 400;
		soon();
		must("PAPI_read", PAPI_read(c->id, &value));
		took(value);
		work(0, 10);
		ticks = 400;
		soon();
		must("PAPI_stop", PAPI_stop(c->id, &value));
		took(value);
		while (ticks > 0)
			;
	}
}

static void removed(void)
{
	const char *name = "perf::TASK-CLOCK";
	long long value;

	must(name, PAPI_add_named_event(c->id, name));
	must(name, PAPI_remove_named_event(c->id, name));
	pin(0);
	must("PAPI_start", PAPI_start(c->id));
	work(0, 100);
	work(1, 300);
	must("PAPI_stop", PAPI_stop(c->id, &value));
	took(value);
	pin(0);
	must("PAPI_read", PAPI_read(c->id, &value));
}

static void credit(void)
{
	long long value;

	for (int i = 0; i < 1000; i++) {
		make_set(c);
		pin(0);
		must("PAPI_start", PAPI_start(c->id));
		last = 0;
		work(0, 1);
		work(1, 1);
		must("PAPI_stop", PAPI_stop(c->id, &value));
		took(value);
		must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(c->id));
		must("PAPI_destroy_eventset", PAPI_destroy_eventset(&c->id));
	}
}

static void limit(void)
{
	struct rlimit few = {256, 256};
	long long value;

	if (setrlimit(RLIMIT_NOFILE, &few))
		die("setrlimit");
	must("PAPI_start", PAPI_start(c->id));
	work(0, 100);
	work(1, 300);
	must("PAPI_stop", PAPI_stop(c->id, &value));
	took(value);
}

static volatile int step;

static void await(int what)
{
	while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != what)
		;
}

static void go(int what)
{
	__atomic_store_n(&step, what, __ATOMIC_RELEASE);
}

static void *reader(void *unused)
{
	long long value;

	(void)unused;
	pin(1);
	for (int i = 0; i < 20; i++) {
		await(2 * i + 1);
		must("PAPI_read", PAPI_read(c->id, &value));
		took(value);
		go(2 * i + 2);
	}
	return NULL;
}

/* What it touches while it waits for the other's reading is before it or after it, but always here. */
static void touch_until(int what)
{
	int cpu = sched_getcpu();

	while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != what) {
		*(volatile char *)c->arena.next = 1;
		madvise(c->arena.next, c->arena.page, MADV_DONTNEED);
		on[cpu]++;
	}
}

static void foreign(void)
{
	pthread_t t;
	long long value;

	pthread_create(&t, NULL, reader, NULL);
	pin(0);
	must("PAPI_start", PAPI_start(c->id));
	for (int i = 0; i < 20; i++) {
		pin(0);
		go(2 * i + 1);
		touch_until(2 * i + 2);
		work(1, 1);
		must("PAPI_read", PAPI_read(c->id, &value));
		took(value);
	}
	must("PAPI_stop", PAPI_stop(c->id, &value));
	took(value);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	papi_up();
	if (PAPI_thread_init((unsigned long (*)(void))pthread_self) != PAPI_OK)
		return SKIPPED;
	c = counted_new(0, NULL, 3000);
	zero = open("/dev/zero", O_RDONLY);
	pin(0);
	make_set(c);
	prefault();
	look_at((char *)on, (char *)(on + 1024), 4096);
	memset(on, 0, sizeof(on));
	if (read(zero, &(char){0}, 1) != 1)
		die("/dev/zero");
	if (!strcmp(how, "domain"))
		domain();
	else if (!strcmp(how, "array"))
		array();
	else if (!strcmp(how, "handler"))
		handler();
	else if (!strcmp(how, "zeroed"))
		zeroed_under();
	else if (!strcmp(how, "looks"))
		moved_in_looks();
	else if (!strcmp(how, "interrupted"))
		interrupted();
	else if (!strcmp(how, "removed"))
		removed();
	else if (!strcmp(how, "credit"))
		credit();
	else if (!strcmp(how, "limit"))
		limit();
	else
		foreign();
	for (int i = 0; i < 1024; i++)
		if (on[i])
			printf("touched cpu=%d pages=%ld\n", i, on[i]);
	printf("handed sum=%lld\n", total);
	return 0;
}
