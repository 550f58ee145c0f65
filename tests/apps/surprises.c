/*
 * surprises: what else a program does while its thread moves between CPUs.
 *
 *	surprises blocked	all signals are blocked while it moves
 *	surprises handler	it moves inside a handler that blocks all signals
 *	surprises altstack	it moves inside a handler on a small stack of its own
 *	surprises taken		it installs its own handler for SIGSTKFLT meanwhile
 *	surprises waits		it blocks all signals and waits for any while it moves
 *	surprises sandbox	who opens events from the start on is killed
 *	surprises sent		it sends itself SIGSTKFLT, without a handler
 *	surprises closes	it closes all descriptors above 2
 *	surprises forks		its child counts too
 *	surprises jumps		a handler jumps out of PAPI_read
 *	surprises threads N	N threads, one after the other, of which each moves
 *
 * Prints what was done where, as moves does, and what it sees of descriptors and signals.
 */
#include "handed.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static long on[1024];
static struct arena arena;
static volatile int handled;
static long long total;

static void work(int which, long pages)
{
	int cpu = pin(which);

	touch(&arena, pages);
	on[cpu] += pages;
}

static void both(void)
{
	work(0, 100);
	work(1, 300);
	work(0, 50);
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	closedir(d);
	return n - 3;
}

static void *thread(void *unused)
{
	struct counted *c = counted_new(0, NULL, 1);
	long long values[EVENTS];

	(void)unused;
	pin(0);
	make_set(c);
	prefault_stack();
	must("PAPI_start", PAPI_start(c->id));
	both();
	must("PAPI_stop", PAPI_stop(c->id, values));
	total += values[0];
	must("PAPI_cleanup_eventset", PAPI_cleanup_eventset(c->id));
	must("PAPI_destroy_eventset", PAPI_destroy_eventset(&c->id));
	munmap(c, sizeof(*c));
	PAPI_unregister_thread();
	return NULL;
}

static void in_handler(int sig)
{
	(void)sig;
	handled++;
	both();
}

static void only_counts(int sig)
{
	(void)sig;
	handled++;
}

static sigjmp_buf out;

static void jump(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

static void install(int sig, void (*handler)(int), int flags)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags}, old;

	if (flags != SA_NODEFER)
		sigfillset(&a.sa_mask);
	if (sigaction(sig, NULL, &old) || old.sa_handler != SIG_DFL || old.sa_flags)
		printf("not the default: %d\n", sig);
	if (sigaction(sig, &a, &old) || old.sa_handler != SIG_DFL || old.sa_flags)
		printf("the old one is not the default: %d\n", sig);
}

static void jumps(struct counted *c)
{
	struct itimerval t = {{0, 0}, {0, 1}}, none = {{0, 0}, {0, 0}};
	long long values[EVENTS];

	install(SIGALRM, jump, SA_NODEFER);
	for (volatile int i = 0; i < 200; i++) {
		if (sigsetjmp(out, 1))
			continue;
		t.it_value.tv_usec = 1 + i % 50;
		setitimer(ITIMER_REAL, &t, NULL);
		for (;;)
			PAPI_read(c->id, values);
	}
	setitimer(ITIMER_REAL, &none, NULL);
}

static void forks(void)
{
	int status;
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, &status, 0);
		printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
		return;
	}
	/* PAPI starts afresh in a child. */
	PAPI_library_init(PAPI_VER_CURRENT);
	arena_make(&arena, 10000);
	total = 0;
	memset(on, 0, sizeof(on));
	thread(NULL);
	for (int i = 0; i < 1024; i++)
		if (on[i])
			printf("touched cpu=%d pages=%ld\n", i, on[i]);
	printf("unsure pages=%d\nhanded sum=%lld\n", 100, total);
	fflush(stdout);
	_exit(0);
}

/* Whoever waits for all signals sees those that somebody sent. */
static void waits(int (*mask)(int, const sigset_t *, sigset_t *))
{
	struct signalfd_siginfo info;
	sigset_t all, before, pending;
	int fd, n = 0;

	sigfillset(&all);
	mask(SIG_BLOCK, &all, &before);
	both();
	sigpending(&pending);
	for (int i = 1; i < NSIG; i++)
		n += sigismember(&pending, i) == 1;
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	printf("%d pending, read %ld\n", n, (long)read(fd, &info, sizeof(info)));
	close(fd);
	both();
	printf("waited for %d\n", sigtimedwait(&all, NULL, &(struct timespec){0, 1000000}));
	raise(SIGUSR2);
	both();
	printf("waited for %d\n", sigtimedwait(&all, NULL, &(struct timespec){1, 0}));
	mask(SIG_SETMASK, &before, NULL);
}

static void sandbox(void)
{
	struct sock_filter f[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {sizeof(f) / sizeof(f[0]), f};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		printf("no seccomp\n");
}

static void surprise(const char *how, struct counted *c)
{
	long long earlier[EVENTS];
	char stack[8192 + 4096];
	sigset_t all, before;

	sigfillset(&all);
	if (!strcmp(how, "blocked")) {
		pthread_sigmask(SIG_SETMASK, &all, &before);
		both();
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	} else if (!strcmp(how, "waits")) {
		waits(pthread_sigmask);
		both();
		waits(sigprocmask);
	} else if (!strcmp(how, "handler")) {
		install(SIGUSR1, in_handler, 0);
		raise(SIGUSR1);
	} else if (!strcmp(how, "altstack")) {
		stack_t s = {.ss_sp = stack, .ss_size = sizeof(stack)}, none = {.ss_flags = SS_DISABLE};
		struct sigaction a = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};

		sigaltstack(&s, NULL);
		sigaction(SIGUSR1, &a, NULL);
		raise(SIGUSR1);
		sigaltstack(&none, NULL);
	} else if (!strcmp(how, "taken")) {
		install(SIGSTKFLT, only_counts, 0);
		both();
		raise(SIGSTKFLT);
		must("PAPI_stop", PAPI_stop(c->id, earlier));
		must("PAPI_start", PAPI_start(c->id));
		both();
		printf("handled %d\n", handled);
		total += earlier[0];
	} else if (!strcmp(how, "sent")) {
		raise(SIGSTKFLT);
	} else if (!strcmp(how, "closes")) {
		for (int fd = 3; fd < 1024; fd++)
			if (fcntl(fd, F_GETFD) >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC)
				printf("a descriptor was there: %d\n", fd);
	} else if (!strcmp(how, "forks")) {
		forks();
	} else if (!strcmp(how, "jumps")) {
		jumps(c);
	}
	both();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "blocked";
	long n = argc > 2 ? atol(argv[2]) : 0;
	long long values[EVENTS];
	struct counted *c;

	papi_up();
	if (PAPI_thread_init((unsigned long (*)(void))pthread_self) != PAPI_OK)
		return SKIPPED;
	arena_make(&arena, 10000 + n * 450);
	c = counted_new(0, NULL, 1);
	pin(0);
	make_set(c);
	prefault();
	look_at((char *)on, (char *)(on + 1024), 4096);
	memset(on, 0, sizeof(on));
	printf("descriptors %d\n", descriptors());
	fflush(stdout);
	if (!strcmp(how, "threads")) {
		for (long i = 0; i < n; i++) {
			pthread_t t;

			if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
				die("pthread_create");
		}
	} else {
		if (!strcmp(how, "sandbox"))
			sandbox();
		must("PAPI_start", PAPI_start(c->id));
		surprise(how, c);
		must("PAPI_stop", PAPI_stop(c->id, values));
		total += values[0];
	}
	printf("descriptors %d\n", descriptors());
	for (int i = 0; i < 1024; i++)
		if (on[i])
			printf("touched cpu=%d pages=%ld\n", i, on[i]);
	if (!strcmp(how, "forks")) /* what the parent writes to first after a fork faults, too */
		printf("unsure pages=100\n");
	printf("handed sum=%lld\n", total);
	return 0;
}
