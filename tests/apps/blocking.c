/*
 * blocking: calls that wait, while a set runs: what they return, and whether it was too early.
 *
 *	blocking stay|before|inside
 *
 * The thread stays on its CPU; moves itself before each call; is moved by another thread
 * inside each call. A line for each call: "NAME RESULT ERRNO early|waited".
 */
#include "handed.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

#define MS 20

static pid_t waiter;
static int moves_inside, ends[2];
static volatile int next_cpu, waits, done;
static pthread_t helper;

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int do_nanosleep(void)
{
	return nanosleep(&(struct timespec){0, MS * 1000000}, NULL);
}

static int do_usleep(void)
{
	return usleep(MS * 1000);
}

static int do_poll(void)
{
	return poll(NULL, 0, MS);
}

static int do_select(void)
{
	return select(0, NULL, NULL, NULL, &(struct timeval){0, MS * 1000});
}

static int do_ppoll(void)
{
	struct pollfd p = {.fd = -1, .events = POLLIN};

	return ppoll(&p, 1, &(struct timespec){0, MS * 1000000}, NULL);
}

static int do_pselect(void)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	return pselect(0, &in, NULL, NULL, &(struct timespec){0, MS * 1000000}, NULL) + FD_ISSET(ends[0], &in);
}

/* It was not the time that it waited for. */
static int do_poll_read(void)
{
	struct pollfd p = {.fd = ends[0], .events = POLLIN};

	return poll(&p, 1, 1000) * 2 + (p.revents == POLLIN);
}

static int do_epoll(void)
{
	static int fd = -1;
	struct epoll_event e;

	if (fd < 0)
		fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_wait(fd, &e, 1, MS);
}

static int do_sem(void)
{
	struct timespec t;
	sem_t s;

	sem_init(&s, 0, 0);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += MS * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return sem_timedwait(&s, &t);
}

static int do_futex(void)
{
	int word = 0;

	return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &(struct timespec){0, MS * 1000000}, NULL, 0);
}

static int do_read(void)
{
	char c;

	return (int)read(ends[0], &c, 1);
}

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
    {"nanosleep", do_nanosleep}, {"usleep", do_usleep},	       {"poll", do_poll},   {"select", do_select},
    {"epoll_wait", do_epoll},	 {"sem_timedwait", do_sem}, {"futex", do_futex}, {"read", do_read},
    {"ppoll", do_ppoll},	 {"pselect", do_pselect}, {"poll, woken", do_poll_read},
};

/* In the middle of each wait: moves the waiter; at its end, writes for the one who reads. */
static void *help(void *unused)
{
	int seen = 0;

	(void)unused;
	while (!done) {
		if (waits == seen) {
			usleep(200);
			continue;
		}
		seen = waits;
		usleep(MS * 500);
		if (moves_inside) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(next_cpu, &set);
			sched_setaffinity(waiter, sizeof(set), &set);
		}
		usleep(MS * 600);
		if (write(ends[1], "x", 1) != 1)
			die("write");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "stay";
	struct counted *c;
	long long values[EVENTS];
	char rest;

	papi_up();
	c = counted_new(0, NULL, 1);
	make_set(c);
	prefault();
	pin(0);
	if (pipe(ends))
		die("pipe");
	moves_inside = !strcmp(how, "inside");
	waiter = (pid_t)gettid();
	pthread_create(&helper, NULL, help, NULL);
	must("PAPI_start", PAPI_start(c->id));
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int result, error;
		long before;

		next_cpu = nth_cpu((int)i + 1);
		if (!strcmp(how, "before"))
			pin((int)i + 1);
		errno = 0;
		before = now_us();
		waits++;
		result = calls[i].call();
		error = errno;
		printf("%s %d %s %s\n", calls[i].name, result, error ? strerrorname_np(error) : "0",
		       now_us() - before < MS * 1000 - 1000 ? "early" : "waited");
		/* the helper is to be ready for the next one */
		if (calls[i].call != do_read || result != 1)
			while (read(ends[0], &rest, 1) != 1)
				;
	}
	must("PAPI_stop", PAPI_stop(c->id, values));
	done = 1;
	pthread_join(helper, NULL);
	return 0;
}
