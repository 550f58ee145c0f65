/*
 * blocked: system calls that wait, in a thread that counts and is moved every 0.3 ms: do they come back as they do
 * to a thread that stays, and are they ended by a signal as often?
 *
 *	blocked N	each call N times by libc and N times by syscall(2), without signals; then the same with one
 *			signal to the process for each, sent when the call waits, whose handler has no SA_RESTART
 *
 * Each call is let go, or the signal sent, only when its thread sleeps in it and has been moved since: so what it
 * comes back with is no chance's. Prints for each call how many came back whole, short, with EINTR, otherwise.
 */
#include "handed.h"

#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#define LARGE (1 << 18)	/* more than a pipe or a socket holds */
#define PIECES 16

static int in[2], out[2], pair[2], listener, client = -1, file, holder, ring = -1;
static struct sockaddr_un here = {.sun_family = AF_UNIX};
static char buffer[LARGE];
static struct iovec pieces[PIECES];
static struct msghdr message = {.msg_iov = pieces, .msg_iovlen = PIECES};
static sem_t semaphore;
static uint32_t word;
static pid_t self, child;
static atomic_int asked, answered, settled, moved, signals, over;
static int raw, with_signal;

/* ---- the calls: what they come back with --------------------------------------------- */

static long one(long r)
{
	return r < 0 ? r : 1;
}

static long do_read(void)
{
	return raw ? syscall(SYS_read, in[0], buffer, 1) : read(in[0], buffer, 1);
}

static long do_recv(void)
{
	return raw ? syscall(SYS_recvfrom, pair[0], buffer, 1, 0, NULL, NULL) : recv(pair[0], buffer, 1, 0);
}

static long do_accept(void)
{
	long fd = raw ? syscall(SYS_accept, listener, NULL, NULL) : accept(listener, NULL, NULL);

	return fd < 0 ? fd : one(close((int)fd));
}

static long do_waitpid(void)
{
	int status;
	long pid = raw ? syscall(SYS_wait4, child, &status, WUNTRACED, NULL) : waitpid(child, &status, WUNTRACED);

	return pid < 0 ? pid : pid == child && WIFSTOPPED(status);
}

static long do_sem_wait(void)
{
	if (!raw)
		return one(sem_wait(&semaphore));
	__atomic_store_n(&word, 0, __ATOMIC_SEQ_CST);
	return one(syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0));
}

static long do_poll(void)
{
	struct pollfd p = {.fd = in[0], .events = POLLIN};
	long n = raw ? syscall(SYS_ppoll, &p, 1, NULL, NULL, 0) : poll(&p, 1, -1);

	return n == 1 ? read(in[0], buffer, 1) : n;
}

/* Ends by itself, or has a minute. */
static long do_nanosleep(void)
{
	struct timespec t = {with_signal ? 60 : 0, 1000000}, left = {0};
	long r = raw ? syscall(SYS_nanosleep, &t, &left) : nanosleep(&t, &left);

	return r < 0 && left.tv_sec < 30 ? -2 : one(r);
}

static long do_setlkw(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	long r = raw ? syscall(SYS_fcntl, file, F_SETLKW, &lock) : fcntl(file, F_SETLKW, &lock);

	lock.l_type = F_UNLCK;
	return r < 0 ? r : one(fcntl(file, F_SETLK, &lock));
}

static long do_writev(void)
{
	return raw ? syscall(SYS_writev, out[1], pieces, PIECES) : writev(out[1], pieces, PIECES);
}

static long do_sendmsg(void)
{
	return raw ? syscall(SYS_sendmsg, pair[0], &message, 0) : sendmsg(pair[0], &message, 0);
}

/* One read waits in the ring until a byte comes. */
static struct {
	struct io_uring_params p;
	char *sq, *cq;
	struct io_uring_sqe *sqe;
	int waits;
} uring;

static int *at(char *base, unsigned offset)
{
	return (int *)(base + offset);
}

static long do_uring(void)
{
	int *tail = at(uring.sq, uring.p.sq_off.tail), *head = at(uring.cq, uring.p.cq_off.head);

	if (!uring.waits) {
		*uring.sqe = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = in[0], .off = -1ull,
						   .addr = (uintptr_t)buffer, .len = 1};
		at(uring.sq, uring.p.sq_off.array)[*tail & 1] = 0;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		if (syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0) != 1)
			return -2;
		uring.waits = 1;
	}
	if (syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -1;
	if (__atomic_load_n(at(uring.cq, uring.p.cq_off.tail), __ATOMIC_ACQUIRE) == *head)
		return 0;
	uring.waits = 0;
	struct io_uring_cqe *done = (struct io_uring_cqe *)(uring.cq + uring.p.cq_off.cqes);

	return done[(*head)++ & at(uring.cq, uring.p.cq_off.ring_mask)[0]].res;
}

/* ---- what lets them go ------------------------------------------------------------------- */

static void nap(void)
{
	usleep(20);
}

static void must_be(long got, long wanted, const char *what)
{
	if (got != wanted)
		die(what);
}

static void give_byte(void)
{
	must_be(write(in[1], "x", 1), 1, "write");
}

static void send_byte(void)
{
	must_be(send(pair[1], "x", 1, 0), 1, "send");
}

static void do_connect(void)
{
	if (client >= 0)
		close(client);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	must_be(connect(client, (struct sockaddr *)&here, sizeof(here)), 0, "connect");
}

static void stop_child(void)
{
	kill(child, SIGSTOP);
}

static void cont_child(void)
{
	kill(child, SIGCONT);
}

static void post(void)
{
	if (!raw) {
		sem_post(&semaphore);
		return;
	}
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void nothing(void)
{
}

/* A lock of an open file conflicts with a process's, its own, too. */
static void hold(int type)
{
	struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_len = 1};

	must_be(fcntl(holder, F_OFD_SETLKW, &lock), 0, "F_OFD_SETLKW");
}

static void let_lock(void)
{
	hold(F_UNLCK);
}

static void take_lock(void)
{
	hold(F_WRLCK);
}

/* Until the call is back, and then what it left. */
static void drain(int fd)
{
	static char sink[4096];
	int back;

	do {
		back = atomic_load(&answered) == atomic_load(&asked);
		while (read(fd, sink, sizeof(sink)) > 0)
			;
		nap();
	} while (!back);
}

static void drain_pipe(void)
{
	drain(out[0]);
}

static void drain_pair(void)
{
	drain(pair[1]);
}

/* `whole`: what it comes back with if nothing is in the way; `go` lets it; `after`: when it is back. */
static const struct call {
	const char *name;
	long (*call)(void);
	void (*go)(void), (*after)(void);
	long whole;
} calls[] = {
	{"read", do_read, give_byte, nothing, 1},
	{"recv", do_recv, send_byte, nothing, 1},
	{"accept", do_accept, do_connect, nothing, 1},
	{"waitpid", do_waitpid, stop_child, cont_child, 1},
	{"sem_wait", do_sem_wait, post, nothing, 1},
	{"poll", do_poll, give_byte, nothing, 1},
	{"nanosleep", do_nanosleep, nothing, nothing, 1},
	{"F_SETLKW", do_setlkw, let_lock, take_lock, 1},
	{"writev", do_writev, drain_pipe, drain_pipe, LARGE},
	{"sendmsg", do_sendmsg, drain_pair, drain_pair, LARGE},
	{"io_uring_enter", do_uring, give_byte, nothing, 1}, /* last: with signals a read stays in the ring */
};
#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

/* ---- the threads ----------------------------------------------------------------------------- */

static void move_it(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(nth_cpu(atomic_fetch_add(&moved, 1) % 2), &set);
	sched_setaffinity(self, sizeof(set), &set);
}

static void *move(void *arg)
{
	while (!atomic_load(&over)) {
		move_it();
		usleep(300);
	}
	return arg;
}

static int sleeps(int stat)
{
	char text[64] = "", *end;

	must_be(pread(stat, text, sizeof(text) - 1, 0) > 0, 1, "stat");
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

static int is_back(void)
{
	return atomic_load(&answered) == atomic_load(&asked);
}

static const struct call *current;

/* One whose EINTR does not reach the program sleeps again. */
static void interrupt(int stat)
{
	int before = atomic_load(&signals), again = 0;

	kill(self, SIGUSR1);
	for (; !is_back() && !again; nap())
		again = atomic_load(&signals) > before && sleeps(stat) && !is_back();
	if (again)
		current->go();
}

/* Ends each call, when it has been moved: at its beginning, and while it sleeps. */
static void *end_them(void *arg)
{
	char path[64];
	int stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)self);
	stat = open(path, O_RDONLY | O_CLOEXEC);
	take_lock();
	for (int k = 1, was; !atomic_load(&over); k += was) {
		was = atomic_load(&asked) >= k;
		if (!was) {
			nap();
			continue;
		}
		move_it();
		while (!is_back() && !sleeps(stat))
			nap();
		for (int from = atomic_load(&moved); !is_back() && atomic_load(&moved) - from < 2;)
			nap();
		with_signal ? interrupt(stat) : current->go();
		while (!is_back())
			nap();
		current->after();
		atomic_store(&settled, k);
	}
	close(stat);
	return arg;
}

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signals, 1);
}

/* ---- the table ----------------------------------------------------------------------------------- */

static void row(const struct call *c, int n, int set)
{
	int whole = 0, shorter = 0, ended = 0, other = 0, before = atomic_load(&signals);
	long long value;

	current = c;
	for (int i = 0; i < n; i++) {
		long r;

		atomic_fetch_add(&asked, 1);
		r = c->call();
		ended += r == -1 && errno == EINTR;
		atomic_fetch_add(&answered, 1);
		whole += r == c->whole;
		shorter += r > 0 && r < c->whole;
		other += r == 0 || r < -1 || r > c->whole || (r == -1 && errno != EINTR);
		must("PAPI_read", PAPI_read(set, &value));
		while (atomic_load(&settled) < atomic_load(&asked))
			nap();
	}
	printf("%s%s%s: %d whole, %d short, %d EINTR, %d otherwise, %d handled\n", c->name, raw ? ", raw" : "",
	       with_signal ? ", signals" : "", whole, shorter, ended, other, atomic_load(&signals) - before);
}

static void rows(int n, int set)
{
	for (with_signal = 0; with_signal < 2; with_signal++)
		for (int i = 0; i < CALLS; i++)
			for (raw = calls[i].call == do_uring; raw < 2; raw++)
				if (calls[i].call != do_uring || ring >= 0)
					row(&calls[i], n, set);
}

static void *mapped(size_t bytes, long offset)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

/* Where there is none, or an old one, its row is not there. */
static void make_ring(void)
{
	ring = (int)syscall(SYS_io_uring_setup, 2, &uring.p);
	if (ring < 0 || !(uring.p.features & IORING_FEAT_SINGLE_MMAP)) {
		ring = -1;
		return;
	}
	uring.sq = uring.cq = mapped(uring.p.cq_off.cqes + uring.p.cq_entries * sizeof(struct io_uring_cqe) +
				     uring.p.sq_entries * sizeof(int), IORING_OFF_SQ_RING);
	uring.sqe = mapped(sizeof(struct io_uring_sqe), IORING_OFF_SQES);
}

static void make_all(void)
{
	char name[] = "/tmp/sspapi-blocked.XXXXXX";

	file = mkstemp(name);
	holder = open(name, O_RDWR | O_CLOEXEC);
	unlink(name);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(here.sun_path + 1, sizeof(here.sun_path) - 1, "sspapi-blocked-%d", (int)self);
	if (file < 0 || holder < 0 || pipe(in) || pipe(out) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    bind(listener, (struct sockaddr *)&here, sizeof(here)) || listen(listener, 4096))
		die("blocked");
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(pair[1], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < PIECES; i++)
		pieces[i] = (struct iovec){buffer + i * (LARGE / PIECES), LARGE / PIECES};
	sem_init(&semaphore, 0, 0);
	make_ring();
	child = fork();
	if (child < 0)
		die("fork");
	if (!child && !prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == self)
		for (;;)
			pause();
	if (!child)
		_exit(0);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t mover, ender;
	struct counted *c;
	long long value;
	sigset_t all, none;

	self = getpid();
	make_all();
	papi_up();
	c = counted_new(0, NULL, 1);
	make_set(c);
	nth_cpu(0);
	sigaction(SIGUSR1, &action, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &none);
	pthread_create(&mover, NULL, move, NULL);
	pthread_create(&ender, NULL, end_them, NULL);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	must("PAPI_start", PAPI_start(c->id));
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	rows(argc > 1 ? atoi(argv[1]) : 30, c->id);
	must("PAPI_stop", PAPI_stop(c->id, &value));
	atomic_store(&over, 1);
	pthread_join(mover, NULL);
	pthread_join(ender, NULL);
	kill(child, SIGKILL);
	return 0;
}
