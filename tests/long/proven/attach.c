/*
 * attach.c: sets that are attached to a thread or a process, which continues, sleeps, is unpinned,
 * forks, or ends.
 */
#include "proven.h"

#include <sys/prctl.h>

enum how { RUNS, SLEEPS, FORKS, ENDS };

static struct walker target;
static enum how how;
static pid_t tid, child;
static pthread_t thread;
static unsigned seed;
static int is_pinned;

/* ---- the target ---------------- */

/* Runs elsewhere, uncounted. */
static void be_forked(int elsewhere)
{
	struct arena a;

	go_to(elsewhere);
	arena_make(&a, 64);
	touch(&a, rnd(64));
	_exit(0);
}

/* Pages that the parent writes after a fork fault once more, at any time. */
static void forks(void)
{
	static int children;

	atomic_fetch_add(&story->batch, 1);
	if (rnd(20) == 0) {
		pid_t pid = fork();

		if (!pid)
			be_forked((target.only + 1) % cpus);
		children += pid > 0;
	}
	walker_touch(&target);
	while (children && waitpid(-1, NULL, children < 3 ? WNOHANG : 0) > 0)
		children--;
	walker_catch_up(&target);
	if (rnd(10) == 0) {
		walker_go(&target, (int)rnd(cpus));
		walker_go(&target, target.only);
	}
	walker_catch_up(&target);
	atomic_fetch_add(&story->batch, 1);
}

static void sleeps(void)
{
	unsigned served = atomic_load(&story->done);

	futex_wait(&story->ask, served);
	if (!atomic_load(&story->end))
		walk(&target, rnd(300));
	atomic_store(&story->done, served + 1);
	futex_wake(&story->done);
}

static void be_target(void)
{
	rnd_seed(seed);
	rnd(2);
	walker_make(&target, rnd(3) || how == FORKS || is_pinned ? (int)rnd(cpus) : -1);
	target.stays = target.wide = is_pinned;
	atomic_store(&story->tid, (unsigned)syscall(SYS_gettid));
	futex_wake(&story->tid);
	if (how == ENDS)
		futex_wait(&story->ask, 0);
	for (int left = 200 + (int)rnd(20000);
	     !atomic_load(&story->end) && (how != ENDS || left > 0); left--)
		if (how == SLEEPS)
			sleeps();
		else if (how == FORKS)
			forks();
		else
			walk(&target, 1);
	walker_end(&target);
}

static void *be_thread(void *arg)
{
	be_target();
	return arg;
}

static void make_target(void)
{
	seed = rnd(1u << 30);
	if (how == RUNS || how == SLEEPS ? rnd(3) == 0 : 0) {
		pthread_create(&thread, NULL, be_thread, NULL);
	} else if (!(child = fork())) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_target();
		syscall(SYS_exit_group, 0);	/* no code after this */
	}
	futex_wait(&story->tid, 0);
	tid = (pid_t)atomic_load(&story->tid);
}

static void end_target(void)
{
	int status = 0;

	atomic_store(&story->end, 1);
	atomic_fetch_add(&story->ask, 1);
	futex_wake(&story->ask);
	if (child && waitpid(child, &status, 0) != child && how != ENDS)
		die("waitpid");
	if (!child)
		pthread_join(thread, NULL);
	if (status)
		die("the target");
}

/* ---- the reader ---------------- */

static int set, has_ended;

static void call(enum call c)
{
	unsigned least = least_now();
	long long value = papi_call(set, c);

	entered(c, least, value, most_now());
	value_asked();
}

/* Lets the target do something, or end. */
static void let(unsigned most)
{
	unsigned from = atomic_load(&story->n), n = rnd(most);

	reader_moves();
	if (how == SLEEPS) {
		unsigned request = atomic_fetch_add(&story->ask, 1);

		futex_wake(&story->ask);
		futex_wait(&story->done, request);
		until_asleep(tid);
		return;
	}
	while (!has_ended && atomic_load(&story->n) - from < n) {
		siginfo_t info = {0};

		if (how == ENDS)
			has_ended =
				!waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) &&
				info.si_pid == child;
		sched_yield();
	}
	quiet |= has_ended;
	spin(rnd(2000));
}

static void free_it(void)
{
	if (atomic_load(&story->freed))
		return;
	allow(tid, 0, cpus);
	atomic_store(&story->freed, 1);
}

/* Counts until the set is stopped. */
static void count_once(void)
{
	unsigned most = rnd_scale();

	call(START);
	if (how == ENDS) {
		atomic_store(&story->ask, 1);
		futex_wake(&story->ask);
	}
	for (int i = 1 + (int)rnd(30); i > 0; i--) {
		let(most);
		if (is_pinned && rnd(3) == 0)
			free_it();
		call((enum call[]){READ, READ, READ_TS, ACCUM, READ, RESET}[rnd(6)]);
	}
	let(most);
	call(STOP);
}

static void attached(enum how what)
{
	how = what;
	make_target();
	begin_papi();
	quiet = how == SLEEPS;
	if (quiet)
		until_asleep(tid);
	set = set_with(fault_event);
	int ret = PAPI_attach(set, (unsigned long)tid);
	if (ret != PAPI_OK)
		cannot("PAPI_attach", ret);
	for (int i = 1 + (int)rnd(20); i > 0 && !has_ended; i--)
		count_once();
	end_target();
}

void attach_runs(void)
{
	attached(RUNS);
}

void attach_sleeps(void)
{
	attached(SLEEPS);
}

void attach_freed(void)
{
	is_pinned = 1;
	attached(RUNS);
}

void attach_forks(void)
{
	attached(FORKS);
}

void attach_ends(void)
{
	attached(ENDS);
}
