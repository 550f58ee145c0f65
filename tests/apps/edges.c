/*
 * edges: a thread that moves in a window with unusual edges.
 *
 *	domain		PAPI_start opens the counters again, in another domain
 *	array		PAPI faults, when it writes to an array that was never written before
 *	handler		a handler faults after PAPI has read its counters and before it returns
 *	zeroed		a handler reads the set inside PAPI_reset, after the reset; the thread has
 *			moved before
 *	looks		it is moved at each read of the shadow counters
 *	interrupted	signals arrive faster than counters can be read
 *	removed		its last event is removed before; the stopped set is read
 *	gap		an event is removed that is neither the first nor the last
 *	credit		it makes more sets than there is time for shadow counters
 *	foreign		another thread reads the set while its own runs, before that one moves
 *	stopped		another thread stops the set while its own runs
 *	running		PAPI_start of the running set, which PAPI refuses, after a move; and by
 *			another thread
 *	limit		it lowers its limit of descriptors below the numbers of our own
 *	moved EVENT...	it moves between two readings, and counts these
 *	sampled		it moves, and its set overflows
 *	late		it moves inside PAPI_start, and counts there
 *	nested		a handler moves, counts and reads the set, when PAPI has read its counters
 *			for the thread
 *	undone		a handler resets the set then
 *	disabled	PAPI's counter is switched off for a while, unknown to PAPI
 *	fallen		PAPI's counter is zeroed elsewhere, unknown to PAPI
 *	falls		the same again and again, of a thread that stays
 *	ended		another thread stops the set when its thread has ended, and many others have
 *			started and ended since
 *	follows		it is read on one CPU and then on the other
 *	wide		it moves to a CPU outside the process's first affinity mask (taskset)
 *	outside		another thread moves it to such a CPU, where it is read, and back
 *	returns		it moves there and back by itself, and is read then
 *	binds		it pins itself to such a CPU, and back
 *	cycles N [K]	N threads pin themselves so in turn; the K-th shadow counter on that CPU
 *			cannot be opened
 *	children	a child that inherits does
 *	refused		PAPI refuses to start another set of the thread, which counts on
 *	starved		shadow counters find no free hardware counter
 *	absent		the second CPU takes no counter (it came online later)
 *	absents		no CPU has such an event
 *
 * Prints what was done where, as moves does. Without hardware counters, domain and the last four
 * need hw2sw.
 * usage: edges MODE
 */
#include "moved.h"

#include <dirent.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/resource.h>

#include "../preload/raw.h"

static struct counted *c;
static long long last;
static int zero;

static void took(long long value)
{
	total += value - last;
	last = value;
}

static void work(int which, long pages)
{
	work_in(&c->arena, which, pages);
}

static void starts(int set)
{
	pin(0);
	must("PAPI_start", PAPI_start(set));
	last = 0;
}

static void reads(void)
{
	long long value;

	must("PAPI_read", PAPI_read(c->id, &value));
	took(value);
}

static void stops(int set)
{
	long long value;

	must("PAPI_stop", PAPI_stop(set, &value));
	took(value);
}

/* Ten windows in which it moves; @what is set while it reads; then it works on the new CPU. */
static void windows(volatile int *what, int which, long pages)
{
	for (int i = 0; i < 10; i++) {
		starts(c->id);
		work(0, 20);
		work(1, 30);
		*what = 1;
		reads();
		*what = 0;
		if (pages)
			work(which, pages);
		stops(c->id);
	}
}

/* Page faults inside the kernel, when it writes for the program. */
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
	PAPI_option_t o = { .domain = { .eventset = c->id,
					.domain = PAPI_DOM_USER | PAPI_DOM_KERNEL } };

	may("PAPI_DOMAIN", PAPI_set_opt(PAPI_DOMAIN, &o));
	for (int i = 0; i < 2; i++) {
		migrations_once();
		starts(c->id);
		work(0, 100);
		work_inside(0, 30);
		work(1, 10);
		work_inside(1, 50);
		stops(c->id);
	}
}

/*
 * A fault of the array after PAPI has read its counters: the next window has PAPI_read's, none has
 * PAPI_stop's and PAPI_accum's.
 */
static void array(void)
{
	for (int i = 0; i < 30; i++) {
		/* never written */
		long long *value = (long long *)new_memory(c->arena.page);

		starts(c->id);
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
			total += *(volatile long long *)value; /* also faults */
			must("PAPI_accum", PAPI_accum(c->id, value));
			took(*value);
			last = 0;
		}
		stops(c->id);
	}
}

static volatile int armed;

static void on_signal(int unused)
{
	(void)unused;
	touch(&c->arena, 10);
	on[sched_getcpu()] += 10;
}

static __thread int reads_other;	/* reads while another thread counts */
static volatile long touches;	/* of that thread */

/* On a busy machine it may wait for a CPU as long as a whole reading takes. */
static void let_it_count(void)
{
	for (long before = touches; touches == before;)
		sched_yield();
}

/* Wraps libpapi's read of its counters. */
ssize_t read(int fd, void *to, size_t bytes)
{
	ssize_t got;

	if (reads_other)
		let_it_count();
	got = syscall(SYS_read, fd, to, bytes);
	if (reads_other)
		let_it_count();
	if (armed) {
		armed = 0;
		raise(SIGUSR1);
	}
	return got;
}

static void handler(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1); /* runs all of the handler once */
	on[sched_getcpu()] -= 10;
	windows(&armed, 0, 5);
}

static volatile int zeroes, enables, comes_back;
static int papis;		/* PAPI's counter */

static void on_zeroed(int unused)
{
	(void)unused;
	reads();
	work(1, 10);
	reads();
}

/* Wraps libpapi's reset of its counters. */
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
	if (request == PERF_EVENT_IOC_ENABLE)
		papis = fd;
	if (enables && request == PERF_EVENT_IOC_ENABLE && --enables == 0)
		work(1, 10);
	if (comes_back && request == PERF_EVENT_IOC_ENABLE && !enables)
		pin(0);
	return (int)ret;
}

static void zeroed_under(void)
{
	signal(SIGUSR1, on_zeroed);
	for (int i = 0; i < 10; i++) {
		starts(c->id);
		work(0, 20);
		reads();
		pin(1);
		zeroes = 1;
		must("PAPI_reset", PAPI_reset(c->id));
		stops(c->id);
	}
}

static void *start_again(void *arg)
{
	if (arg)
		(void)PAPI_start(c->id);
	return NULL;
}

/* Touches a page first, which faults. */
static void by_another(void *arg)
{
	run_thread(NULL, start_again, arg);
}

static void running(void)
{
	by_another(NULL);
	for (int i = 0; i < 6; i++) {
		starts(c->id);
		work(0, 50);
		reads();
		work(0, 100);
		pin(1);
		if (i % 2 == 0)
			(void)start_again(c);
		else
			by_another(c);
		work(1, 7);
		stops(c->id);
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

typedef long syscall_fn(long, ...);

static syscall_fn *next;		/* of hw2sw, or libc */
static int starves, absent = -1;	/* absent: on this CPU; 1024: on all */
static int failing = -1, failed, fails_at;
static char is_starved[65536];

/* Simulates a processor without free counters, or cores of two kinds. */
static long open_event(const struct perf_event_attr *attr, long pid, long cpu, long leader,
		       long flags)
{
	int copy = attr && attr->type == PERF_TYPE_HARDWARE && cpu >= 0;
	long fd;

	if (copy && (cpu == absent || absent == 1024)) {
		errno = absent == 1024 ? ENOENT : ENODEV;
		return -1;
	}
	if (cpu >= 0 && cpu == failing && ++failed == fails_at) {
		errno = ENOMEM;
		return -1;
	}
	fd = next(SYS_perf_event_open, attr, pid, cpu, leader, flags);
	if (fd >= 0 && fd < 65536)
		is_starved[fd] = copy && starves;
	return fd;
}

/* Wraps sspapi's reads of its shadow counters; PAPI reads its own by read(). */
long syscall(long number, ...)
{
	long a[6], r;

	SIX_WORDS(a, number);
	if (looking && number == SYS_read)
		to_the_other();
	if (next && number == SYS_perf_event_open)
		return open_event((const struct perf_event_attr *)a[0], a[1], (int)a[2], a[3],
				  a[4]);
	r = raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_fcntl && r >= 0 && r < 65536 && a[0] < 65536)
		is_starved[r] = is_starved[a[0]];
	if (number == SYS_read && r > 24 && a[0] < 65536 && is_starved[a[0]])
		memset((uint64_t *)a[1] + 2, 0, (size_t)r - 16); /* never ran */
	return returned(r);
}

static void moved_in_looks(void)
{
	windows(&looking, 0, 0);
	fprintf(stderr, "moves %d\n", looks);
}

static timer_t timer;
static volatile int ticks;

static void soon(void)
{
	struct itimerspec t = {{0, 0}, {0, 8000}};

	timer_settime(timer, 0, &t, NULL);
}

/*
 * Fires faster than any machine reads its counters; stops after a while, in case that is too fast
 * to get here.
 */
static void on_tick(int unused)
{
	(void)unused;
	if (ticks-- > 0)
		soon();
}

static void interrupted(void)
{
	struct sigevent by = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};

	if (timer_create(CLOCK_MONOTONIC, &by, &timer))
		die("timer_create");
	signal(SIGUSR1, on_tick);
	raise(SIGUSR1); /* runs all of the handler once */
	for (int i = 0; i < 20; i++) {
		starts(c->id);
		work(0, 20);
		work(1, 30);
		ticks = 400;
		soon();
		reads();
		work(0, 10);
		ticks = 400;
		soon();
		stops(c->id);
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
	starts(c->id);
	work(0, 100);
	work(1, 300);
	stops(c->id);
	pin(0);
	must("PAPI_read", PAPI_read(c->id, &value));
}

static void gap(void)
{
	const char *name[] = {"perf::TASK-CLOCK", "perf::MINOR-FAULTS"};
	long long value[2];

	for (int i = 0; i < 2; i++)
		must(name[i], PAPI_add_named_event(c->id, name[i]));
	must(name[0], PAPI_remove_named_event(c->id, name[0]));
	starts(c->id);
	work(0, 100);
	work(1, 300);
	must("PAPI_stop", PAPI_stop(c->id, value));
	took(value[0]);
}

static void credit(void)
{
	for (int i = 0; i < 1000; i++) {
		make_set(c);
		starts(c->id);
		work(0, 1);
		work(1, 1);
		stops(c->id);
		drop_set(c->id);
	}
}

static void limit(void)
{
	struct rlimit few = {256, 256};

	if (setrlimit(RLIMIT_NOFILE, &few))
		die("setrlimit");
	must("PAPI_start", PAPI_start(c->id));
	work(0, 100);
	work(1, 300);
	stops(c->id);
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

static void *reader(void *stop)
{
	pin(1);
	reads_other = 1;
	for (int i = 0; i < 20; i++) {
		await(2 * i + 1);
		if (stop)
			stops(c->id);
		else
			reads();
		go(2 * i + 2);
	}
	return NULL;
}

/* Touches pages during another thread's reading: before it or after it, but always on this CPU. */
static void touch_until(int what)
{
	int cpu = sched_getcpu();

	while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != what) {
		*(volatile char *)c->arena.next = 1;
		madvise(c->arena.next, c->arena.page, MADV_DONTNEED);
		on[cpu]++;
		touches++;
	}
}

static void foreign(void)
{
	pthread_t t;

	pthread_create(&t, NULL, reader, NULL);
	starts(c->id);
	for (int i = 0; i < 20; i++) {
		pin(0);
		go(2 * i + 1);
		touch_until(2 * i + 2);
		work(1, 1);
		reads();
	}
	stops(c->id);
	pthread_join(t, NULL);
}

static void stopped(void)
{
	pthread_t t;

	pthread_create(&t, NULL, reader, c);
	for (int i = 0; i < 20; i++) {
		starts(c->id);
		go(2 * i + 1);
		touch_until(2 * i + 2);
	}
	pthread_join(t, NULL);
}

static long long ours[64];

/* Moves without a reading in between. */
static void count_moved(int set)
{
	starts(set);
	work(0, 100);
	work(1, 300);
	must("PAPI_stop", PAPI_stop(set, ours));
	took(ours[0]);
}

static void on_overflow(int id, void *at, long long vector, void *context)
{
	(void)id, (void)at, (void)vector, (void)context;
}

static void sampled(void)
{
	int code;

	must("PAPI_event_name_to_code", PAPI_event_name_to_code("perf::PAGE-FAULTS", &code));
	must("PAPI_overflow", PAPI_overflow(c->id, code, 100000, 0, on_overflow));
	count_moved(c->id);
}

static void late(void)
{
	pin(0);
	enables = 1;
	must("PAPI_start", PAPI_start(c->id));
	work(1, 20);
	stops(c->id);
}

static void *reads_once(void *unused)
{
	reads();
	return unused;
}

/*
 * PAPI_start opens the counters of another target, and the set changes its relation only when PAPI
 * has started it: another thread uses it meanwhile.
 */
static void rebound(void)
{
	int other = set_with("perf::CPU-MIGRATIONS");
	long long value;

	may("PAPI_attach", PAPI_attach(c->id, (unsigned long)gettid()));
	must("PAPI_attach", PAPI_attach(other, (unsigned long)gettid()));
	by_another(NULL);
	starts(c->id);
	run_thread(NULL, reads_once, NULL);
	stops(c->id);
	must("PAPI_detach", PAPI_detach(c->id));
	must("PAPI_start", PAPI_start(other));
	must("PAPI_stop", PAPI_stop(other, &value));
	last = 0;
	enables = 2;		/* (PAPI tries them first) */
	comes_back = 1;
	must("PAPI_start", PAPI_start(c->id));
	work(0, 20);
	stops(c->id);
}

static void on_nested(int unused)
{
	(void)unused;
	work(0, 10);
	reads();
}

static void nested(void)
{
	signal(SIGUSR1, on_nested);
	windows(&armed, 1, 5);
}

static void on_undone(int unused)
{
	(void)unused;
	must("PAPI_reset", PAPI_reset(c->id));
}

static void undone(void)
{
	signal(SIGUSR1, on_undone);
	starts(c->id);
	work(0, 20);
	armed = 1;
	reads();
	armed = 0;
	last = 0;
	work(0, 5);
	reads();
	stops(c->id);
}

/* Does what a library in the same process may do. */
static void disabled(void)
{
	starts(c->id);
	work(0, 20);
	pin(1);
	syscall(SYS_ioctl, papis, PERF_EVENT_IOC_DISABLE, 0);
	touch(&c->arena, 30);
	syscall(SYS_ioctl, papis, PERF_EVENT_IOC_ENABLE, 0);
	work(1, 5);
	stops(c->id);
}

static void fallen(void)
{
	starts(c->id);
	work(0, 100);
	reads();
	pin(1);
	syscall(SYS_ioctl, papis, PERF_EVENT_IOC_RESET, 0);
	last = 0;
	work(1, 30);
	reads();
	work(0, 5);
	stops(c->id);
}

static void touches_here(int pages)
{
	touch(&c->arena, pages);
	on[nth_cpu(0)] += pages;
}

static void falls(void)
{
	starts(c->id);
	for (int i = 0; i < 200; i++) {
		touches_here(i % 20 ? 3 : 1);
		reads();
		if (i % 20 == 19) {
			syscall(SYS_ioctl, papis, PERF_EVENT_IOC_RESET, 0);
			last = 0;
		}
	}
	for (int i = 0; i < 20; i++) {
		long long added = 0;

		touches_here(2);
		reads();
		syscall(SYS_ioctl, papis, PERF_EVENT_IOC_RESET, 0);
		last = 0;
		touches_here(1);
		must("PAPI_accum", PAPI_accum(c->id, &added));
		took(added);
		last = 0;
	}
	stops(c->id);
}

static void *counts_and_ends(void *unused)
{
	(void)unused;
	pin(0);
	make_set(c);
	must("PAPI_start", PAPI_start(c->id));
	work(0, 20);
	reads();
	work(1, 30);
	return NULL;
}

static void *counts_nothing(void *unused)
{
	int set = set_with(DEFAULT_EVENT);
	long long value;

	must("PAPI_start", PAPI_start(set));
	must("PAPI_stop", PAPI_stop(set, &value));
	return unused;
}

static void ended(void)
{
	run_thread(NULL, counts_and_ends, NULL);
	for (int i = 0; i < 100; i++)
		run_thread(NULL, counts_nothing, NULL);
	stops(c->id);
}

/* Returns a CPU outside the first affinity mask. */
static cpu_set_t another(int *cpu)
{
	cpu_set_t set;

	*cpu = nth_cpu(0) == 0;
	CPU_ZERO(&set);
	CPU_SET(*cpu, &set);
	return set;
}

static void touch_on(int cpu, long pages)
{
	touch(&c->arena, pages);
	on[cpu] += pages;
}

static void go_wide(void)
{
	int cpu;
	cpu_set_t set = another(&cpu);

	if (syscall(SYS_sched_setaffinity, 0, sizeof(set), &set) < 0) {
		perror("only one CPU");
		exit(SKIPPED);
	}
	touch_on(cpu, 300);
}

static void no_such(int r, int error)
{
	if (r != -1 || errno != error)
		die("sched_setaffinity of what cannot be");
	errno = 0;
}

/* Pins itself as OpenMP runtimes do. */
static void binds(void)
{
	int first = nth_cpu(0), cpu;
	cpu_set_t set = another(&cpu), back;

	CPU_ZERO(&back);
	CPU_SET(first, &back);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setaffinity(0, sizeof(back), &back))
		exit(SKIPPED);
	must("PAPI_start", PAPI_start(c->id));
	touch_on(first, 100);
	no_such(sched_setaffinity(0, sizeof(set), (cpu_set_t *)8), EFAULT);
	no_such(sched_setaffinity(0, 0, &set), EINVAL);
	no_such(sched_setaffinity(INT_MAX, sizeof(set), &set), ESRCH);
	touch_on(first, 10);
	if (sched_setaffinity(0, sizeof(set), &set) || errno)
		die("sched_setaffinity");
	touch_on(cpu, 300);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), (cpu_set_t *)8) != EFAULT ||
	    pthread_setaffinity_np(pthread_self(), sizeof(back), &back) || errno)
		die("pthread_setaffinity_np");
	touch_on(first, 50);
	reads();
	touch_on(first, 7);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		die("pthread_setaffinity_np");
	touch_on(cpu, 5);
	stops(c->id);
}

/* Returns the number of open counters, PAPI's and sspapi's. */
static int open_counters(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *d;
	char to[32];
	int n = 0;

	while (dir && (d = readdir(dir)) != NULL)
		n += readlinkat(dirfd(dir), d->d_name, to, sizeof(to)) >= 22 &&
		     !memcmp(to, "anon_inode:[perf_event", 22);
	closedir(dir);
	return n;
}

static int to_cycle = 1, open_most;

static void *cycle(void *unused)
{
	int set = set_with_all(2, (const char *const[]){DEFAULT_EVENT, "perf::MINOR-FAULTS"}), cpu;
	cpu_set_t there = another(&cpu);
	long long value[2];

	must("PAPI_start", PAPI_start(set));
	touch_on(nth_cpu(0), 3);
	if (sched_setaffinity(0, sizeof(there), &there))
		exit(SKIPPED);
	touch_on(cpu, 2);
	must("PAPI_stop", PAPI_stop(set, value));
	total += value[0];
	must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(set));
	must("PAPI_destroy_eventset", PAPI_destroy_eventset(&set));
	must("PAPI_unregister_thread", PAPI_unregister_thread());
	return unused;
}

static void cycles(void)
{
	for (int i = 0; i < to_cycle; i++) {
		int n;

		run_thread(NULL, cycle, NULL);
		n = open_counters();
		open_most = n > open_most ? n : open_most;
	}
	printf("counters=%d\n", open_most);
}

static void wide(void)
{
	must("PAPI_start", PAPI_start(c->id));
	work(0, 100);
	go_wide();
	stops(c->id);
}

static volatile int sent_to = -1;

static void *sends(void *tid)
{
	for (int to; (to = sent_to) != -2; sched_yield()) {
		cpu_set_t set;

		if (to < 0)
			continue;
		CPU_ZERO(&set);
		CPU_SET((size_t)to, &set);
		if (sched_setaffinity((pid_t)(long)tid, sizeof(set), &set))
			exit(SKIPPED);
		sent_to = -1;
	}
	return NULL;
}

static void is_sent_to(int cpu)
{
	sent_to = cpu;
	while (sent_to == cpu)
		sched_yield();
}

/* sspapi does not follow a thread that was preempted meanwhile. */
static long preempted(void)
{
	struct rusage now;

	getrusage(RUSAGE_THREAD, &now);
	return now.ru_nivcsw;
}

static void not_preempted_since(long times)
{
	if (preempted() == times)
		return;
	fputs("preempted meanwhile\n", stderr);
	exit(SKIPPED);
}

static void outside(void)
{
	int first = nth_cpu(0), cpu;
	pthread_t sender;
	long times;

	(void)another(&cpu);
	pthread_create(&sender, NULL, sends, (void *)(long)gettid());
	is_sent_to(first);
	must("PAPI_start", PAPI_start(c->id));
	touch_on(first, 100);
	is_sent_to(cpu);
	touch_on(cpu, 300);
	times = preempted();
	reads();
	not_preempted_since(times);
	touch_on(cpu, 200);
	is_sent_to(first);
	touch_on(first, 50);
	stops(c->id);
	sent_to = -2;
	pthread_join(sender, NULL);
}

static void returns(void)
{
	int first = nth_cpu(0);
	long times = preempted();

	must("PAPI_start", PAPI_start(c->id));
	work(0, 100);
	go_wide();
	pin(0);
	touch_on(first, 50);
	stops(c->id);
	not_preempted_since(times);
}

static void follows(void)
{
	starts(c->id);
	work(0, 100);
	work(1, 300);
	reads();
	work(1, 200);
	work(0, 50);
	reads();
	work(0, 70);
	work(1, 5);
	stops(c->id);
}

static void children(void)
{
	int set = inherit_set();
	pid_t pid;

	must("PAPI_add_named_event", PAPI_add_named_event(set, "perf::PAGE-FAULTS"));
	must("PAPI_start", PAPI_start(set));
	pid = fork();
	if (!pid) {
		go_wide();
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, NULL, 0);
	stops(set);
}

#define HARDWARE "perf::INSTRUCTIONS"

static void refused(void)
{
	int set = set_with(HARDWARE), other = set_with(HARDWARE);
	for (int i = 0; i < 2; i++) {
		starts(set);
		work(0, 20);
		if (PAPI_start(other) == PAPI_OK)
			die("another set was started");
		work(1, 30);
		stops(set);
	}
}

static void in_hardware(void)
{
	int set = set_with(HARDWARE);

	for (int i = 0; i < 40; i++)
		count_moved(set);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
    {"domain", domain}, {"array", array}, {"handler", handler}, {"zeroed", zeroed_under},
    {"looks", moved_in_looks},
    {"interrupted", interrupted}, {"removed", removed}, {"gap", gap}, {"credit", credit},
    {"limit", limit}, {"foreign", foreign},
    {"stopped", stopped},
    {"running", running}, {"sampled", sampled}, {"late", late},
    {"rebound", rebound}, {"nested", nested}, {"disabled", disabled}, {"fallen", fallen},
    {"falls", falls}, {"undone", undone},
    {"ended", ended}, {"wide", wide}, {"outside", outside}, {"returns", returns},
    {"binds", binds}, {"cycles", cycles}, {"follows", follows},
    {"children", children}, {"refused", refused}, {"starved", in_hardware}, {"absent", in_hardware},
    {"absents", in_hardware},
};

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	next = (syscall_fn *)dlsym(RTLD_NEXT, "syscall");
	starves = !strcmp(how, "starved");
	absent = !strcmp(how, "absent") ? nth_cpu(1) : !strcmp(how, "absents") ? 1024 : -1;
	to_cycle = argc > 2 && !strcmp(how, "cycles") ? atoi(argv[2]) : 1;
	fails_at = argc > 3 && !strcmp(how, "cycles") ? atoi(argv[3]) : 0;
	if (fails_at)
		(void)another(&failing);
	papi_up_threads();
	c = counted_new(0, NULL, 30000);
	zero = open("/dev/zero", O_RDONLY);
	pin(0);
	make_set(c);
	prefault();
	nothing_yet();
	if (read(zero, &(char){0}, 1) != 1)
		die("/dev/zero");
	if (!strcmp(how, "moved"))
		count_moved(set_with_all(argc - 2, (const char *const *)argv + 2));
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(how, modes[i].name))
			modes[i].run();
	print_moved();
	return 0;
}
