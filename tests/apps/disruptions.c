/*
 * disruptions: disturbs sspapi while a thread moves between CPUs.
 *
 *	disruptions sandbox	perf_event_open kills the process, from the start on
 *	disruptions alone	creating a thread kills the process, before the set has events
 *	disruptions closes	it closes all descriptors that it did not open
 *	disruptions forks		its child also counts
 *	disruptions jumps		a handler jumps out of PAPI_read
 *	disruptions unregisters	it unregisters libc's restartable sequences
 *	disruptions disables	it turns its perf events off, and counts on
 *	disruptions threads N	N threads, one after the other, of which each moves
 *
 * Prints what was done where, as moves does, and its descriptors and signals.
 */
#include "moved.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stddef.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ
#endif
#include <sys/prctl.h>
#include <sys/time.h>

static struct arena arena;
static struct counted *c;
static long n;			/* the argument */

static void both(void)
{
	work_in(&arena, 0, 100);
	work_in(&arena, 1, 300);
	work_in(&arena, 0, 50);
}

/* Descriptors below LOW are the program's, which it checks; sspapi's are higher. */
#define LOW 256

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		n += *e->d_name != '.' && atoi(e->d_name) < LOW;
	closedir(d);
	return n - 1;
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
	drop_set(c->id);
	munmap(c, sizeof(*c));
	PAPI_unregister_thread();
	return NULL;
}

static sigjmp_buf out;

static void jump(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

static void jumps(void)
{
	struct itimerval t = {{0, 0}, {0, 1}}, none = {{0, 0}, {0, 0}};
	struct sigaction a = {.sa_handler = jump, .sa_flags = SA_NODEFER};
	long long values[EVENTS];

	sigaction(SIGALRM, &a, NULL);
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

/* Page faults besides the load's: creating a thread, handling a signal. */
static void unsure(int pages)
{
	printf("unsure pages=%d\n", pages);
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
	/* PAPI starts anew in a child. */
	PAPI_library_init(PAPI_VER_CURRENT);
	arena_make(&arena, 10000);
	nothing_yet();
	thread(NULL);
	unsure(100);
	print_moved();
	fflush(stdout);
	_exit(0);
}

static void sandbox(unsigned call)
{
	struct sock_filter f[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {sizeof(f) / sizeof(f[0]), f};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		printf("no seccomp\n");
}

static void unregisters(void)
{
#ifdef HAVE_RSEQ
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	if (__rseq_size)
		printf("unregistered: %ld\n", syscall(SYS_rseq, area, 32, 1, 0x53053053));
#endif
	both();
}

static void stop_it(void)
{
	long long values[EVENTS];

	must("PAPI_stop", PAPI_stop(c->id, values));
	total += values[0];
}

static void again(void)
{
	stop_it();
	must("PAPI_start", PAPI_start(c->id));
}

static void disables(void)
{
	both();
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	again();
	both();
	for (int i = 0; i < 3; i++) {	/* PAPI's own are enabled: counted */
		again();
		both();
	}
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	again();
	both();
}

static void closes(void)
{
	for (int fd = 3; fd < 65536; fd++)
		if (fcntl(fd, F_GETFD) >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC) {
			if (fd < LOW)
				printf("a descriptor was there: %d\n", fd);
			close(fd);
		}
}

static const struct {
	const char *name;
	void (*run)(void);
} surprises[] = {
    {"closes", closes}, {"forks", forks}, {"jumps", jumps}, {"unregisters", unregisters},
    {"disables", disables},
};

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "closes";

	n = argc > 2 ? atol(argv[2]) : 0;
	papi_up_threads();
	arena_make(&arena, 10000 + n * 450);
	c = counted_new(0, NULL, 1);
	pin(0);
	if (!strcmp(how, "alone"))
		sandbox(SYS_clone);
	make_set(c);
	prefault();
	nothing_yet();
	printf("descriptors %d\n", descriptors());
	fflush(stdout);
	if (!strcmp(how, "threads")) {
		for (long i = 0; i < n; i++)
			run_thread(NULL, thread, NULL);
	} else {
		if (!strcmp(how, "sandbox"))
			sandbox(SYS_perf_event_open);
		must("PAPI_start", PAPI_start(c->id));
		for (size_t i = 0; i < sizeof(surprises) / sizeof(*surprises); i++)
			if (!strcmp(how, surprises[i].name))
				surprises[i].run();
		both();
		stop_it();
	}
	printf("descriptors %d\n", descriptors());
	if (!strcmp(how, "forks")) /* writing after a fork faults, too */
		unsure(100);
	print_moved();
	return 0;
}
