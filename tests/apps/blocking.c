/*
 * blocking: calls that wait, while a set runs: what they return, and whether it was too early.
 *
 *	blocking stay|before|inside|masked|entering
 *	blocking racing N
 *	blocking cancelled N
 *
 * The thread stays on its CPU; moves itself before each call; is moved by another thread
 * inside each call, masked: with a handler that blocks all signals; is moved
 * as it enters each call, where a page, say, keeps it before it sleeps. A line for each call: "NAME: RESULT ERRNO early|waited|late|woken, N handled".
 * racing: N polls, each moved and woken for nothing, and signalled at any moment of that.
 * cancelled: N threads in such a poll, at any moment; what is blocked then.
 */
#include "handed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#define MS 20
#define LONG_MS 400

static pid_t waiter;
static pthread_t waiting_thread;
static int moves_inside, ends[2], sockets[2], queue, full_queue, semaphores;
static volatile int next_cpu, waits, done, handled;
static const char *volatile doing;	/* by the helper, in the middle of the wait */
static pthread_t helper;

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static const struct timespec span = {0, MS * 1000000};

static struct timespec in_a_while(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += MS * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static int returned(int error)
{
	errno = error;
	return error ? -1 : 0;
}

static int do_nanosleep(void)
{
	return nanosleep(&span, NULL);
}

/* Returns as a signal comes; what is left is right. */
static int do_nanosleep_left(void)
{
	struct timespec t = {10, 0};
	int r = nanosleep(&t, &t);

	return r == -1 && t.tv_sec == 9 && t.tv_nsec > 0 ? r : 100;
}

static int do_sleep(void)
{
	return (int)sleep(1);
}

static int do_sleep_left(void)
{
	return (int)sleep(10);
}

static int do_usleep(void)
{
	return usleep(MS * 1000);
}

static int do_clock_nanosleep(void)
{
	return returned(clock_nanosleep(CLOCK_REALTIME, 0, &span, NULL));
}

static int do_clock_until(void)
{
	struct timespec t = in_a_while(CLOCK_MONOTONIC);

	return returned(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
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

	return ppoll(&p, 1, &span, NULL);
}

static int do_pselect(void)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(sockets[0], &in);
	return pselect(sockets[0] + 1, &in, NULL, NULL, &span, NULL) + FD_ISSET(sockets[0], &in);
}

/* What the compiler makes of them under _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

static int do_poll_chk(void)
{
	struct pollfd p = {.fd = sockets[0], .events = POLLPRI};

	return __poll_chk(&p, 1, MS, sizeof(p));
}

static int do_ppoll_chk(void)
{
	struct pollfd p = {.fd = sockets[0], .events = POLLPRI};

	return __ppoll_chk(&p, 1, &span, NULL, sizeof(p));
}

/* It was not the time that it waited for. */
static int do_poll_read(void)
{
	struct pollfd p = {.fd = ends[0], .events = POLLIN};

	return poll(&p, 1, 1000) * 2 + (p.revents == POLLIN);
}

/* A byte that comes wakes up who waits for urgent ones, for nothing. */
static int do_poll_urgent(void)
{
	struct pollfd p = {.fd = sockets[0], .events = POLLPRI};

	return poll(&p, 1, MS);
}

static int do_poll_a_while(void)
{
	return poll(NULL, 0, 10 * MS);
}

static int do_poll_long(void)
{
	struct pollfd p = {.fd = sockets[0], .events = POLLPRI};

	return poll(&p, 1, LONG_MS);
}

static int do_poll_ever(void)
{
	struct pollfd p = {.fd = sockets[0], .events = POLLPRI};

	return poll(&p, 1, -1);
}

static int do_ppoll_urgent(void)
{
	struct pollfd p = {.fd = sockets[0], .events = POLLPRI};
	sigset_t all;

	sigfillset(&all);
	return ppoll(&p, 1, &span, &all);
}

static int do_ppoll_masked(void)
{
	struct pollfd p = {.fd = sockets[0], .events = POLLPRI};
	sigset_t not_chld, before;
	int r;

	sigemptyset(&not_chld);
	sigaddset(&not_chld, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &not_chld, &before);
	r = ppoll(&p, 1, NULL, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* All but one signal is blocked while it waits. */
static const sigset_t *but_usr1(void)
{
	static sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGUSR1);
	return &set;
}

static const struct timespec long_span = {2, 0};

static int do_ppoll_but(void)
{
	return ppoll(NULL, 0, &long_span, but_usr1());
}

static int do_pselect_but(void)
{
	return pselect(0, NULL, NULL, NULL, &long_span, but_usr1());
}

static int do_select_urgent(void)
{
	struct timeval t = {0, MS * 1000};
	fd_set urgent;
	int r;

	FD_ZERO(&urgent);
	FD_SET(sockets[0], &urgent);
	r = select(sockets[0] + 1, NULL, NULL, &urgent, &t);
	return r == 0 && (t.tv_sec || t.tv_usec || FD_ISSET(sockets[0], &urgent)) ? 100 : r;
}

/* What is left is written back; a signal ended it. */
static int do_select_left(void)
{
	struct timeval t = {10, 0};
	fd_set urgent;
	int r;

	FD_ZERO(&urgent);
	FD_SET(sockets[0], &urgent);
	r = select(sockets[0] + 1, NULL, NULL, &urgent, &t);
	return r == -1 && t.tv_sec == 9 && t.tv_usec > 0 && FD_ISSET(sockets[0], &urgent) ? r : 100;
}

static int do_pselect_urgent(void)
{
	fd_set urgent;

	FD_ZERO(&urgent);
	FD_SET(sockets[0], &urgent);
	return pselect(sockets[0] + 1, NULL, NULL, &urgent, &span, NULL);
}

static int wait_epoll(int ms, const sigset_t *mask)
{
	static int fd = -1;
	struct epoll_event e = {.events = EPOLLPRI};

	if (fd < 0) {
		fd = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(fd, EPOLL_CTL_ADD, sockets[0], &e);
	}
	return mask ? epoll_pwait(fd, &e, 1, ms, mask) : epoll_wait(fd, &e, 1, ms);
}

static int do_epoll(void)
{
	return wait_epoll(MS, NULL);
}

static int do_epoll_ever(void)
{
	return wait_epoll(-1, NULL);
}

static int do_epoll_pwait(void)
{
	sigset_t none;

	sigemptyset(&none);
	return wait_epoll(MS, &none);
}

/* (where the libc or the kernel lacks it, it is the same with and without us) */
int epoll_pwait2(int, struct epoll_event *, int, const struct timespec *, const sigset_t *) __attribute__((weak));

static int do_epoll_pwait2(void)
{
	static int fd = -1;
	struct epoll_event e = {.events = EPOLLPRI};

	if (fd < 0) {
		fd = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(fd, EPOLL_CTL_ADD, sockets[0], &e);
	}
	return epoll_pwait2 ? epoll_pwait2(fd, &e, 1, &span, NULL) : -1;
}

static int do_epoll_pwait_but(void)
{
	return wait_epoll(2000, but_usr1());
}

static int do_epoll_pwait2_but(void)
{
	static int fd = -1;
	struct epoll_event e;

	if (fd < 0)
		fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_pwait2 ? epoll_pwait2(fd, &e, 1, &long_span, but_usr1()) : -1;
}

static int do_sem(void)
{
	struct timespec t = in_a_while(CLOCK_REALTIME);
	sem_t s;

	sem_init(&s, 0, 0);
	return sem_timedwait(&s, &t);
}

static int do_sem_clock(void)
{
	struct timespec t = in_a_while(CLOCK_MONOTONIC);
	sem_t s;

	sem_init(&s, 0, 0);
	return sem_clockwait(&s, CLOCK_MONOTONIC, &t);
}

static int do_sem_clock_long(void)
{
	struct timespec t = in_a_while(CLOCK_MONOTONIC);
	sem_t s;

	t.tv_sec += 2;
	sem_init(&s, 0, 0);
	return sem_clockwait(&s, CLOCK_MONOTONIC, &t);
}

static int do_cond(void)
{
	struct timespec t = in_a_while(CLOCK_REALTIME);
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	int r;

	pthread_mutex_lock(&m);
	r = pthread_cond_timedwait(&c, &m, &t);
	pthread_mutex_unlock(&m);
	return returned(r);
}

static int do_futex(void)
{
	int word = 0;

	return (int)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0);
}

static int do_read(void)
{
	char c;

	return (int)read(ends[0], &c, 1);
}

static int do_recv(void)
{
	char c;

	return (int)recv(sockets[0], &c, 1, 0);
}

static int wait_signal(const struct timespec *longest)
{
	sigset_t set, before;
	int r, error;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	r = sigtimedwait(&set, NULL, longest);
	error = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return r;
}

static int do_sigtimedwait(void)
{
	return wait_signal(&span);
}

static int do_sigtimedwait_sent(void)
{
	return wait_signal(&(struct timespec){2, 0});
}

/* It waits for all, and blocks only one of them. */
static int wait_signal_open(int (*wait)(const sigset_t *))
{
	sigset_t chld, all, before;
	int r, error;

	sigfillset(&all);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &chld, &before);
	r = wait(&all);
	error = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return r;
}

static int timed(const sigset_t *set)
{
	return sigtimedwait(set, NULL, &span);
}

static int for_info(const sigset_t *set)
{
	return sigwaitinfo(set, NULL);
}

static int for_number(const sigset_t *set)
{
	int number = 0;

	return sigwait(set, &number) ? -1 : number;
}

static int do_sigtimedwait_open(void)
{
	return wait_signal_open(timed);
}

static int do_sigwaitinfo_open(void)
{
	return wait_signal_open(for_info);
}

static int do_sigwait_open(void)
{
	return wait_signal_open(for_number);
}

static int do_sigsuspend(void)
{
	return sigsuspend(but_usr1());
}

static int do_pause(void)
{
	return pause();
}

static int do_semop(void)
{
	struct sembuf b = {0, -1, 0};

	return semtimedop(semaphores, &b, 1, &span);
}

static int do_semop_long(void)
{
	struct sembuf b = {0, -1, 0};

	return semtimedop(semaphores, &b, 1, &(struct timespec){2, 0});
}

static int do_semop_ever(void)
{
	struct sembuf b = {0, -1, 0};

	return semop(semaphores, &b, 1);
}

struct message {
	long type;
	char text[1];
};

static int do_msgrcv(void)
{
	struct message m;

	return (int)msgrcv(queue, &m, 1, 0, 0);
}

static int do_msgsnd(void)
{
	return msgsnd(full_queue, &(struct message){.type = 1}, 1, 0);
}

static int do_mq(void)
{
	struct timespec t = in_a_while(CLOCK_REALTIME);
	static mqd_t mq = (mqd_t)-1;
	char name[64], c[1];

	if (mq == (mqd_t)-1) {
		snprintf(name, sizeof(name), "/sspapi-blocking.%d", getpid());
		mq = mq_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600, &(struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = 1});
		mq_unlink(name);
	}
	return (int)mq_timedreceive(mq, c, 1, NULL, &t);
}

/* What the helper does: p pokes the socket, m receives a message and sends one, u and c
 * send SIGUSR1, SIGCHLD (before and after ours, by number), s the first, whose handler then
 * takes longer than the call may; a comma is a pause. */
static const struct {
	const char *name;
	int (*call)(void);
	const char *what;
	int ms;				/* that it is to wait; 0: until something is done */
} calls[] = {
    {"nanosleep", do_nanosleep, "", MS},
    {"usleep", do_usleep, "", MS},
    {"clock_nanosleep", do_clock_nanosleep, "", MS},
    {"clock_nanosleep, until", do_clock_until, "", MS},
    {"poll", do_poll, "", MS},
    {"select", do_select, "", MS},
    {"ppoll", do_ppoll, "", MS},
    {"pselect", do_pselect, "", MS},
    {"epoll_wait", do_epoll, "", MS},
    {"epoll_pwait", do_epoll_pwait, "", MS},
    {"epoll_pwait2", do_epoll_pwait2, "", MS},
    {"sem_timedwait", do_sem, "", MS},
    {"pthread_cond_timedwait", do_cond, "", MS},
    {"futex", do_futex, "", MS},
    {"read", do_read, "", 0},
    {"recv", do_recv, "p", 0},
    {"sigtimedwait", do_sigtimedwait, "", MS},
    {"sigtimedwait, sent", do_sigtimedwait_sent, "u", 0},
    {"semtimedop", do_semop, "", MS},
    {"msgrcv", do_msgrcv, "m", 0},
    {"msgsnd", do_msgsnd, "m", 0},
    {"mq_timedreceive", do_mq, "", MS},
    {"pause", do_pause, "u", 0},
    {"poll, woken", do_poll_read, "", 0},
    {"poll, woken for nothing", do_poll_urgent, "p", MS},
    {"poll, woken for nothing, long", do_poll_long, "p", LONG_MS},
    {"__poll_chk", do_poll_chk, "", MS},
    {"__poll_chk, woken for nothing", do_poll_chk, "p", MS},
    {"__ppoll_chk", do_ppoll_chk, "", MS},
    {"__ppoll_chk, woken for nothing", do_ppoll_chk, "p", MS},
    {"poll, signalled", do_poll_ever, "u", 0},
    {"poll, signalled by a higher", do_poll_ever, "c", 0},
    {"poll, woken for nothing, then signalled", do_poll_ever, "p,u", 0},
    {"poll, woken for nothing, then signalled by a higher", do_poll_ever, "p,c", 0},
    {"ppoll, woken for nothing, all blocked", do_ppoll_urgent, "p", MS},
    {"ppoll, woken for nothing, then signalled, which it lets in", do_ppoll_masked, "p,c", 0},
    {"ppoll, signalled, which it lets in", do_ppoll_masked, "c", 0},
    {"select, woken for nothing", do_select_urgent, "p", MS},
    {"select, woken for nothing, then signalled", do_select_left, "p,u", 0},
    {"pselect, woken for nothing", do_pselect_urgent, "p", MS},
    {"epoll_wait, woken for nothing", do_epoll, "p", MS},
    {"epoll_wait, woken for nothing, then signalled", do_epoll_ever, "p,c", 0},
    {"epoll_pwait, woken for nothing", do_epoll_pwait, "p", MS},
    {"epoll_pwait2, woken for nothing", do_epoll_pwait2, "p", MS},
    {"ppoll, signalled, all others blocked", do_ppoll_but, "u", 0},
    {"ppoll, signalled, two blocked", do_ppoll_but, "cu", 0},
    {"ppoll, another signalled that is blocked", do_ppoll_but, "c", 2000},
    {"pselect, signalled, all others blocked", do_pselect_but, "u", 0},
    {"epoll_pwait, signalled, all others blocked", do_epoll_pwait_but, "u", 0},
    {"epoll_pwait2, signalled, all others blocked", do_epoll_pwait2_but, "u", 0},
    {"poll, signalled, whose handler takes longer", do_poll_a_while, "s", 0},
    {"nanosleep, signalled", do_nanosleep_left, "u", 0},
    {"sleep", do_sleep, "", 1000},
    {"sleep, signalled", do_sleep_left, "u", 0},
    {"sem_clockwait", do_sem_clock, "", MS},
    {"sem_clockwait, signalled", do_sem_clock_long, "u", 0},
    {"semtimedop, signalled", do_semop_long, "u", 0},
    {"semop, signalled", do_semop_ever, "u", 0},
    {"msgrcv, signalled", do_msgrcv, "u", 0},
    {"sigsuspend, signalled, all others blocked", do_sigsuspend, "u", 0},
    {"sigtimedwait, not all blocked", do_sigtimedwait_open, "", MS},
    {"sigwaitinfo, not all blocked", do_sigwaitinfo_open, "c", 0},
    {"sigwait, not all blocked", do_sigwait_open, "c", 0},
};

static volatile int slow;

static void on_signal(int number)
{
	long until = now_us() + 15000 * MS;

	(void)number;
	while (slow && now_us() < until)
		;
	slow = 0;
	handled++;
}

static void act(const char *what)
{
	struct message m = {.type = 1};

	for (; *what; what++) {
		if (*what == 'p' && write(sockets[1], "x", 1) != 1)
			die("write");
		if (*what == 'm' && (msgrcv(full_queue, &m, 1, 0, IPC_NOWAIT) < 0 || msgsnd(queue, &m, 1, IPC_NOWAIT) < 0))
			die("messages");
		if (*what == 's')
			slow = 1;
		if (*what == 'u' || *what == 's' || *what == 'c')
			pthread_kill(waiting_thread, *what == 'c' ? SIGCHLD : SIGUSR1);
		if (*what == ',')
			usleep(MS * 200);
	}
}

/* ---- as it enters a call ------------------------------------------------------ */

/* Keeps the waiter before the call that it has entered, and moves it there. */
static volatile int listener, kept;

static void *keep(void *unused)
{
	struct seccomp_notif n;
	struct seccomp_notif_resp go_on = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	int seen = 0;

	for (;;) {
		memset(&n, 0, sizeof(n));
		if (!listener || ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n)) {
			usleep(1000);
			continue;
		}
		if (seen != waits) {
			cpu_set_t set;

			seen = waits;
			CPU_ZERO(&set);
			CPU_SET(next_cpu, &set);
			sched_setaffinity(waiter, sizeof(set), &set);
		}
		go_on.id = n.id;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &go_on);
		kept = seen;
	}
	return unused;
}

static void keep_as_it_enters(void)
{
	static const int waiting[] = {
#ifdef SYS_poll
		SYS_poll, SYS_select, SYS_epoll_wait, SYS_pause,
#endif
		SYS_ppoll, SYS_pselect6, SYS_epoll_pwait, SYS_nanosleep, SYS_clock_nanosleep, SYS_rt_sigsuspend,
		SYS_rt_sigtimedwait, SYS_semop, SYS_semtimedop, SYS_msgsnd, SYS_msgrcv, SYS_futex,
	};
	enum { N = sizeof(waiting) / sizeof(waiting[0]) };
	struct sock_filter f[N + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	struct sock_fprog p = {N + 3, f};
	pthread_t keeper;
	long fd;

	pthread_create(&keeper, NULL, keep, NULL);	/* which has no filter itself */
	for (unsigned i = 0; i < N; i++)
		f[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, waiting[i], N - i, 0);
	f[N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	f[N + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &p);
	if (fd < 0) {
		fprintf(stderr, "no seccomp listener: %s\n", strerror(errno));
		exit(SKIPPED);
	}
	listener = (int)fd;
}

/* In the middle of each wait: moves the waiter, and what else is to be; at its end, writes
 * for the one who reads. */
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
		/* on a busy machine, where it may have slept before */
		for (int i = 0; i < 100 && waits == seen && listener && kept != seen; i++)
			usleep(1000);
		for (int i = 0; i < 100 && !sleeping(waiter); i++)
			usleep(1000);
		if (moves_inside) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(next_cpu, &set);
			sched_setaffinity(waiter, sizeof(set), &set);
		}
		act(doing);
		usleep(MS * 600);
		if (write(ends[1], "x", 1) != 1)
			die("write");
	}
	return NULL;
}

/* Nothing is left for the next call. */
static void clear(void)
{
	struct message m;
	char rest[64];

	while (recv(sockets[0], rest, sizeof(rest), MSG_DONTWAIT) > 0)
		;
	while (msgrcv(queue, &m, 1, 0, IPC_NOWAIT) >= 0)
		;
	m.type = 1;
	while (msgsnd(full_queue, &m, 1, IPC_NOWAIT) == 0)
		;
}

static void make_queues(void)
{
	struct msqid_ds s;

	queue = msgget(IPC_PRIVATE, 0600);
	full_queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	if (queue < 0 || full_queue < 0 || semaphores < 0 || msgctl(full_queue, IPC_STAT, &s))
		die("queues");
	s.msg_qbytes = 8;
	if (msgctl(full_queue, IPC_SET, &s))
		die("msgctl");
}

static void remove_queues(void)
{
	msgctl(queue, IPC_RMID, NULL);
	msgctl(full_queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
}

/* ---- in no order ------------------------------------------------------------ */

static void move_waiter(int nth)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(nth_cpu(nth), &set);
	sched_setaffinity(waiter, sizeof(set), &set);
}

static void pause_ns(long ns)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &to);
	while ((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec < ns);
}

static void *disturb(void *unused)
{
	unsigned seed = 1;
	int seen = 0;

	(void)unused;
	while (!done) {
		if (waits == seen)
			continue;
		seen = waits;
		while (!sleeping(waiter))
			;
		move_waiter(seen & 1);
		if (write(sockets[1], "x", 1) != 1)
			die("write");
		pause_ns(25000 + rand_r(&seed) % 120 * 500);	/* as it wakes up */
		pthread_kill(waiting_thread, SIGUSR1);
	}
	return NULL;
}

/* A handler that has run while poll waited has ended it. */
static void race(struct counted *c, int n)
{
	int slept_on = 0;
	long long values[EVENTS];
	char rest[64];

	pthread_create(&helper, NULL, disturb, NULL);
	must("PAPI_start", PAPI_start(c->id));
	for (int i = 0; i < n; i++) {
		struct pollfd p = {.fd = sockets[0], .events = POLLPRI};

		handled = 0;
		waits++;
		slept_on += poll(&p, 1, 1000) == 0;
		while (!handled)
			;
		while (recv(sockets[0], rest, sizeof(rest), MSG_DONTWAIT) > 0)
			;
	}
	must("PAPI_stop", PAPI_stop(c->id, values));
	done = 1;
	pthread_join(helper, NULL);
	printf("%d of %d polls slept on after a handler\n", slept_on, n);
}

static int blocked_ones;

static void count_blocked(void *unused)
{
	sigset_t set;

	(void)unused;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	for (int i = 1; i < NSIG; i++)
		blocked_ones += (i < 32 || i > 33) && sigismember(&set, i) == 1;
}

static void *poll_ever(void *unused)
{
	struct counted *c = counted_new(0, NULL, 1);
	struct pollfd p = {.fd = sockets[0], .events = POLLPRI};

	make_set(c);
	pin(0);
	waiter = (pid_t)gettid();
	must("PAPI_start", PAPI_start(c->id));
	pthread_cleanup_push(count_blocked, NULL);
	waits = 1;
	poll(&p, 1, -1);
	pthread_cleanup_pop(0);
	return unused;
}

/* Where a thread is cancelled, its handlers run with its own mask. */
static void cancel(int n)
{
	unsigned seed = 1;

	for (int i = 0; i < n; i++) {
		waits = 0;
		pthread_create(&helper, NULL, poll_ever, NULL);
		while (!waits || !sleeping(waiter))
			;
		move_waiter(1);
		if (write(sockets[1], "x", 1) != 1)
			die("write");
		pause_ns(rand_r(&seed) % 120 * 500);
		pthread_cancel(helper);
		pthread_join(helper, NULL);
		clear();
	}
	printf("%d of %d cancelled: %d signals were blocked\n", n, n, blocked_ones);
}

static const char *when(long us, int ms)
{
	return !ms ? "woken" : us < ms * 1000 - 1000 ? "early" : us > ms * 1000 + 250000 ? "late" : "waited";
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "stay";
	struct sigaction a = {.sa_handler = on_signal};
	struct counted *c;
	long long values[EVENTS];
	char rest;

	papi_up();
	c = counted_new(0, NULL, 1);
	make_set(c);
	prefault();
	pin(0);
	if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		die("pipe");
	make_queues();
	clear();
	if (!strcmp(how, "masked"))
		sigfillset(&a.sa_mask);
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGCHLD, &a, NULL);
	moves_inside = !strcmp(how, "inside") || !strcmp(how, "masked");
	waiter = (pid_t)gettid();
	waiting_thread = pthread_self();
	if (!strcmp(how, "racing")) {
		race(c, argc > 2 ? atoi(argv[2]) : 1000);
		remove_queues();
		return 0;
	}
	if (!strcmp(how, "cancelled")) {
		cancel(argc > 2 ? atoi(argv[2]) : 100);
		remove_queues();
		return 0;
	}
	pthread_create(&helper, NULL, help, NULL);
	if (!strcmp(how, "entering"))
		keep_as_it_enters();
	must("PAPI_start", PAPI_start(c->id));
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int result, error, tries = 4;
		const char *length;

		do {
			long before;

			next_cpu = nth_cpu((int)i + tries);
			if (!strcmp(how, "before"))
				pin((int)i + tries);
			doing = calls[i].what;
			handled = 0;
			errno = 0;
			before = now_us();
			waits++;
			result = calls[i].call();
			error = errno;
			length = when(now_us() - before, calls[i].ms);
			/* the helper is to be ready for the next one */
			if (calls[i].call != do_read || result != 1)
				while (read(ends[0], &rest, 1) != 1)
					;
			clear();
			/* on a busy machine, once; by a mistake in what is left, each time */
		} while (!strcmp(length, "late") && --tries);
		printf("%s: %d %s %s, %d handled\n", calls[i].name, result, error ? strerrorname_np(error) : "0", length,
		       handled);
	}
	must("PAPI_stop", PAPI_stop(c->id, values));
	done = 1;
	pthread_join(helper, NULL);
	remove_queues();
	return 0;
}
