/*
 * counted: a program without PAPI whose threads and processes know their page faults: each prints
 * "tid T faults F" at its end, from getrusage(). usage: counted pages P | threads N P | together N
 * P (none ends before all have begun; at most 64) | c11 N P | closed N P | wait N P FIFO | forks N
 * P | execs N P | texec P | vfork P | daemon P FIFO | kill P | term
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <threads.h>

#include "touch.h"

static long pages;
static __thread long before;	/* page faults before main(), which the loader caused */

static long faults(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_minflt + r.ru_majflt;
}

/* A process that executes the program again passes on the faults before its first main(). */
static void begin(void)
{
	char text[48];
	int pid;

	before = faults();
	if (getenv("COUNTED_BEFORE") && sscanf(getenv("COUNTED_BEFORE"), "%d", &pid) == 1 &&
	    pid == getpid())
		sscanf(getenv("COUNTED_BEFORE"), "%*d:%ld", &before);
	snprintf(text, sizeof(text), "%d:%ld", (int)getpid(), before);
	setenv("COUNTED_BEFORE", text, 1);
}

static void work(void)
{
	struct arena a;
	char line[64];
	int n;

	if (pages) {
		arena_make(&a, pages);
		touch(&a, pages);
	}
	n = snprintf(line, sizeof(line), "tid %ld faults %ld before %ld\n",
		     (long)syscall(SYS_gettid), faults(), before);
	if (write(1, line, (size_t)n) != n)
		_exit(1);
}

static pthread_barrier_t *together;

static void *thread(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%ld", (long)number);
	prctl(PR_SET_NAME, name);
	work();
	if (together)
		pthread_barrier_wait(together);
	return NULL;
}

static void threads(int n)
{
	pthread_t at[64];

	for (long i = 0; i < n; i++) {
		if (pthread_create(&at[i % 64], NULL, thread, (void *)i))
			exit(1);
		for (long j = i / 64 * 64; (i % 64 == 63 || i == n - 1) && j <= i; j++)
			pthread_join(at[j % 64], NULL);
	}
}

static void threads_together(int n)
{
	static pthread_barrier_t all;

	if (n > 64 || pthread_barrier_init(&all, NULL, (unsigned)n))
		exit(1);
	together = &all;
	threads(n);
}

static int thread_c11(void *number)
{
	thread(number);
	return 3;
}

static void threads_c11(int n)
{
	for (long i = 0; i < n; i++) {
		thrd_t at;
		int r = 0;

		if (thrd_create(&at, thread_c11, (void *)i) != thrd_success ||
		    thrd_join(at, &r) != thrd_success || r != 3)
			exit(1);
	}
}

/* Begins as daemons do: closes all inherited descriptors and uses other numbers. */
static void close_all(void)
{
	for (int i = 3; i < 1024; i++)
		close(i);
	for (int i = 3; i < 1024; i++)
		dup2(1, i);
}

/* Waits until the FIFO is opened. */
static void wait_for(const char *fifo)
{
	if (write(1, "ready\n", 6) != 6)
		exit(1);
	close(open(fifo, O_RDONLY));
}

static void forks(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			before = 0;
			work();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			exit(1);
	}
}

static void *touch_and_exec(void *argv)
{
	struct arena a;

	arena_make(&a, pages);
	touch(&a, pages);
	if (argv)
		execv("/proc/self/exe", argv);
	return NULL;
}

/* The first thread touches its pages; another one does so too, and executes a program that does. */
static void exec_in_thread(char **argv)
{
	pthread_t thread;

	touch_and_exec(NULL);
	if (pthread_create(&thread, NULL, touch_and_exec, argv) || pthread_join(thread, NULL))
		exit(1);
}

static void start(char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

/* Leaves a grandchild, which lives until the FIFO is opened. */
static void leave_behind(const char *fifo)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		exit(1);
	if (fork() == 0) {
		if (fork())
			_exit(0);
		before = 0;
		work();
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		close(ready[1]);
		close(1);
		close(2);
		close(open(fifo, O_RDONLY));
		_exit(0);
	}
	wait(NULL);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
}

static void on_term(int signal)
{
	(void)signal;
	_exit(42);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int n = argc > 3 ? atoi(argv[2]) : 0;
	char less[16];

	begin();
	pages = argc > 2 ? atol(argv[argc > 3 && strcmp(mode, "daemon") ? 3 : 2]) : 0;
	if (!strcmp(mode, "wait"))
		wait_for(argv[4]);
	if (!strcmp(mode, "closed"))
		close_all();
	if (!strcmp(mode, "c11"))
		threads_c11(n);
	else if (!strcmp(mode, "together"))
		threads_together(n);
	else if (!strcmp(mode, "threads") || !strcmp(mode, "closed") || !strcmp(mode, "wait"))
		threads(n);
	else if (!strcmp(mode, "forks"))
		forks(n);
	else if (!strcmp(mode, "texec"))
		exec_in_thread((char *[]){ argv[0], "pages", argv[2], NULL });
	else if (!strcmp(mode, "vfork"))
		start((char *[]){ argv[0], "pages", argv[2], NULL });
	else if (!strcmp(mode, "daemon"))
		leave_behind(argv[3]);
	if (!strcmp(mode, "execs") && n > 0) {
		snprintf(less, sizeof(less), "%d", n - 1);
		execv("/proc/self/exe", (char *[]){ argv[0], "execs", less, argv[3], NULL });
		return 1;
	}
	if (!strcmp(mode, "term")) {
		signal(SIGTERM, on_term);
		if (write(1, "ready\n", 6) != 6)
			return 1;
		for (;;)
			pause();
	}
	work();
	if (!strcmp(mode, "kill"))
		raise(SIGKILL);
	return 7;
}
