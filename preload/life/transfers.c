/* transfers.c: stands in front of write, send and recv, for SSPAPI_ATTRIBUTION=exact.
 *
 * A signal cuts them short once something was transferred, whatever SA_RESTART says.  Where ours
 * alone has (waits.c), they go on with the rest as if none had come: in parts that do not wait, and
 * with ppoll between them, which lets the application's signals in.  One of these then ends them, as
 * ever, with what there is so far.  recv: only if it is to wait for all, which is of streams.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../core/sys.h"
#include "waits.h"

ssize_t __recv_chk(int fd, void *buffer, size_t n, size_t room, int flags);

static struct {
	ssize_t (*write)(int, const void *, size_t);
	ssize_t (*send)(int, const void *, size_t, int);
	ssize_t (*recv)(int, void *, size_t, int);
	ssize_t (*recv_chk)(int, void *, size_t, size_t, int);
	int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
} next;

static SP_COLD void find_all(void)
{
	static const char *const names[] = { "write", "send", "recv", "__recv_chk", "ppoll" };

	_Static_assert(sizeof(next) == SP_COUNT(names) * sizeof(void *), "one each");
	sp_wait_find((void **)&next, names, SP_COUNT(names));
}

/* Before anybody, in a handler perhaps, needs them: they are looked for under the loader's lock. */
__attribute__((constructor)) static void find(void)
{
	find_all();
}

/* One part, without waiting; or -errno.  Who was cut short meets no SIGPIPE from a socket, but from a pipe. */
static long write_part(int fd, char *bytes, size_t n)
{
	struct iovec v = { bytes, n };
	long r = sp_sys(SYS_sendto, fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);

	return r != -ENOTSOCK ? r : sp_sys(SYS_pwritev2, fd, &v, 1, -1l, -1l, RWF_NOWAIT);
}

static long recv_part(int fd, char *bytes, size_t n)
{
	return sp_sys(SYS_recvfrom, fd, bytes, n, MSG_DONTWAIT, NULL, NULL);
}

/* A pipe or a stream, on which a call waits as long as it takes? */
static bool waits_for_all(int fd, int timeout, bool *pipe)
{
	struct timeval t = { 0 };
	int type = 0;
	socklen_t n = sizeof(t), m = sizeof(type);
	long flags = sp_sys(SYS_fcntl, fd, F_GETFL);
	struct stat s;

	if (flags < 0 || (flags & O_NONBLOCK) || fstat(fd, &s) < 0)
		return false;
	*pipe = S_ISFIFO(s.st_mode);
	if (*pipe)
		return true;
	return S_ISSOCK(s.st_mode) && sp_sys(SYS_getsockopt, fd, SOL_SOCKET, timeout, &t, &n) == 0 && !t.tv_sec &&
	       !t.tv_usec && sp_sys(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &m) == 0 && type == SOCK_STREAM;
}

typedef long part(int fd, char *bytes, size_t n);

/* Of n bytes, r are done.  All that are in the end. */
static size_t go_on(struct sp_waiting *w, int fd, char *bytes, size_t r, size_t n, part *one)
{
	struct pollfd p = { .fd = fd, .events = one == recv_part ? POLLIN : POLLOUT };
	bool pipe;

	if (!waits_for_all(fd, one == recv_part ? SO_RCVTIMEO : SO_SNDTIMEO, &pipe))
		return r;
	while (r < n && (pipe || !(p.revents & POLLERR))) {	/* a socket's error is for the next call to say */
		long more = one(fd, bytes + r, n - r);

		if (more > 0) {
			r += (size_t)more;
			continue;
		}
		if ((more != -EAGAIN && more != -EINTR) || sp_wait_another(w))
			break;
		w->sp.alone = false;
		if (next.ppoll(&p, 1, NULL, MASK(*w)) < 0 && (errno != EINTR || !w->sp.alone))
			break;
	}
	return r;
}

static bool cut_short(struct sp_waiting *w, ssize_t r, size_t n)
{
	return r > 0 && (size_t)r < n && w->sp.alone && !sp_wait_another(w);
}

/* first, and the rest of it. */
#define TRANSFER(fd, bytes, n, first, one) ({ \
	struct sp_waiting w_; \
	ssize_t r_; \
	sp_wait_begin(&w_, -1, 0); \
	w_.sp.most = (n); \
	pthread_cleanup_push(sp_wait_end, &w_); \
	r_ = (first); \
	if (cut_short(&w_, r_, (n))) { \
		r_ = (ssize_t)go_on(&w_, (fd), (char *)(uintptr_t)(bytes), (size_t)r_, (n), (one)); \
		errno = w_.error; \
	} \
	pthread_cleanup_pop(1); \
	r_; \
})

static SP_COLD ssize_t write_exact(int fd, const void *bytes, size_t n)
{
	return TRANSFER(fd, bytes, n, NEXT(write)(fd, bytes, n), write_part);
}

EXPORT ssize_t write(int fd, const void *bytes, size_t n)
{
	return AS_EVER ? NEXT(write)(fd, bytes, n) : write_exact(fd, bytes, n);
}

static SP_COLD ssize_t send_exact(int fd, const void *bytes, size_t n, int flags)
{
	return TRANSFER(fd, bytes, n, NEXT(send)(fd, bytes, n, flags), write_part);
}

EXPORT ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
	return AS_EVER || (flags & ~MSG_NOSIGNAL) ? NEXT(send)(fd, bytes, n, flags) : send_exact(fd, bytes, n, flags);
}

static SP_COLD ssize_t recv_exact(int fd, void *bytes, size_t n)
{
	return TRANSFER(fd, bytes, n, NEXT(recv)(fd, bytes, n, MSG_WAITALL), recv_part);
}

EXPORT ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
	return AS_EVER || flags != MSG_WAITALL ? NEXT(recv)(fd, bytes, n, flags) : recv_exact(fd, bytes, n);
}

EXPORT ssize_t __recv_chk(int fd, void *bytes, size_t n, size_t room, int flags)
{
	return AS_EVER || flags != MSG_WAITALL || n > room ? NEXT(recv_chk)(fd, bytes, n, room, flags) :
							     recv_exact(fd, bytes, n);
}
