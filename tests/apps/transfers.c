/*
 * transfers: large ones, while a set runs, and another thread moves this one as it waits in them. A
 * line for each: "NAME: all|short|RESULT ERRNO, N handled".
 */
#include "handed.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#define BYTES (1 << 20)

static pid_t mover_of;
static pthread_t main_thread;
static volatile int done, handled;
static int ends[2];
static char ours[BYTES], theirs[BYTES];

enum kind { PIPE, STREAM, DATAGRAM };

static ssize_t do_write(void)
{
	return write(ends[1], ours, BYTES);
}

static ssize_t do_write_at_once(void)
{
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	return write(ends[1], ours, BYTES);
}

static ssize_t do_send(void)
{
	return send(ends[1], ours, BYTES, MSG_NOSIGNAL);
}

static ssize_t do_recv(void)
{
	return recv(ends[1], ours, BYTES, MSG_WAITALL);
}

static ssize_t do_recv_timed(void)
{
	struct timeval t = {0, 30000};

	setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	return recv(ends[1], ours, BYTES, MSG_WAITALL);
}

/* What the peer does each time: r reads, w writes, one datagram; and after some of these: s sends a signal, e
 * ends the connection, . nothing more. */
static const struct {
	const char *name;
	ssize_t (*call)(void);
	enum kind kind;
	const char *what;
} calls[] = {
    {"write to a pipe", do_write, PIPE, "r"},
    {"write to a pipe, signalled", do_write, PIPE, "rs"},
    {"write to a pipe, at once", do_write_at_once, PIPE, "r"},
    {"write to a pipe, closed", do_write, PIPE, "re"},
    {"write to a socket", do_write, STREAM, "r"},
    {"write to a socket, signalled", do_write, STREAM, "rs"},
    {"write to a socket, closed", do_write, STREAM, "re"},
    {"send", do_send, STREAM, "r"},
    {"send, signalled", do_send, STREAM, "rs"},
    {"recv of all", do_recv, STREAM, "w"},
    {"recv of all, signalled", do_recv, STREAM, "ws"},
    {"recv of all, closed", do_recv, STREAM, "we"},
    {"recv of all, timed", do_recv_timed, STREAM, "w."},
    {"recv of a datagram", do_recv, DATAGRAM, "w."},
};

static void on_signal(int number)
{
	(void)number;
	handled++;
}

static void move(int nth)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(nth_cpu(nth), &set);
	sched_setaffinity(mover_of, sizeof(set), &set);
}

static void *peer(void *row)
{
	const char *what = calls[(long)row].what;
	size_t bytes = calls[(long)row].kind == DATAGRAM ? 100 : BYTES / 16;

	for (int i = 0; !done; i++) {
		do
			usleep(1000);
		while (!done && !sleeping(mover_of));
		move(i);
		if (i == 3 && what[1] == 's')
			pthread_kill(main_thread, SIGUSR1);
		if (i == 3 && what[1] == 'e')
			close(ends[0]);
		if ((i == 3 && what[1]) || (i && calls[(long)row].kind == DATAGRAM)) {
			while (!done)
				usleep(1000);
			break;
		}
		if (what[0] == 'r' && read(ends[0], theirs, bytes) <= 0)
			break;
		if (what[0] == 'w' && send(ends[0], theirs, bytes, MSG_NOSIGNAL) < 0)
			break;
	}
	return NULL;
}

static void make_ends(enum kind kind)
{
	if (kind == PIPE ? pipe(ends) : socketpair(AF_UNIX, kind == STREAM ? SOCK_STREAM : SOCK_DGRAM, 0, ends))
		die("pipe");
}

/* What a kernel without it does is in the man page. */
static int can_write_at_once_to_a_pipe(void)
{
	struct iovec v = {ours, 1};
	int both[2], r;

	if (pipe(both))
		die("pipe");
	r = pwritev2(both[1], &v, 1, -1, RWF_NOWAIT) == 1;
	close(both[0]);
	close(both[1]);
	return r;
}

static void one(long row)
{
	struct timeval longest = {10, 0};
	pthread_t t;
	ssize_t r;
	int error;

	make_ends(calls[row].kind);
	if (calls[row].kind != PIPE && calls[row].what[1] != '.' && calls[row].what[0] == 'w')
		setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof(longest));
	done = handled = 0;
	move(1);
	pthread_create(&t, NULL, peer, (void *)row);
	errno = 0;
	r = calls[row].call();
	error = errno;
	if (calls[row].kind == DATAGRAM)
		printf("%s: %ld", calls[row].name, (long)r);
	else
		printf("%s: %s", calls[row].name, r == BYTES ? "all" : r > 0 ? "short" : "none");
	printf(" %s, %d handled\n", error ? strerrorname_np(error) : "0", handled);
	done = 1;
	if (calls[row].what[1] != 'e')
		shutdown(ends[1], SHUT_RDWR);
	close(ends[1]);
	pthread_join(t, NULL);
	if (calls[row].what[1] != 'e')
		close(ends[0]);
}

int main(void)
{
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct counted *c;
	long long values[EVENTS];

	papi_up();
	c = counted_new(0, NULL, 1);
	make_set(c);
	prefault();
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGPIPE, &a, NULL);
	mover_of = (pid_t)gettid();
	main_thread = pthread_self();
	must("PAPI_start", PAPI_start(c->id));
	for (long i = 0; i < (long)(sizeof(calls) / sizeof(calls[0])); i++)
		if (calls[i].kind != PIPE || can_write_at_once_to_a_pipe())
			one(i);
	must("PAPI_stop", PAPI_stop(c->id, values));
	return 0;
}
