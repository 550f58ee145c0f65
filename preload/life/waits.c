/* waits.c: stands in front of poll, select and epoll_wait, for SSPAPI_ATTRIBUTION=exact.
 *
 * A thread that wakes up in one of them on another CPU has our signal, and the kernel then
 * says EINTR, whatever SA_RESTART says: where the time is over (poll, select), and where it
 * was woken for nothing and would have slept on (another thread has taken what there was).
 * The call is made again: with no time to wait, or with the rest of it.
 *
 * A signal of the application's own must end it as ever.  It does where its handler ran
 * before ours (moves.c tells).  From the end of ours on the others are blocked, and those
 * that come are let in by the second call, which is one that sets the mask.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

#include "../../core/sys.h"
#include "waits.h"

#define LONGEST (9000000000ull)		/* s; who waits longer waits for ever */

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room);
int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *timeout, const sigset_t *mask);

static struct {
	int (*poll)(struct pollfd *, nfds_t, int);
	int (*poll_chk)(struct pollfd *, nfds_t, int, size_t);
	int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	int (*ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
	int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
	int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
	int (*epoll_wait)(int, struct epoll_event *, int, int);
	int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
	int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
} next;

static SP_COLD void find_all(void)
{
	static const char *const names[] = { "poll", "__poll_chk", "ppoll", "__ppoll_chk", "select", "pselect",
					     "epoll_wait", "epoll_pwait", "epoll_pwait2" };

	_Static_assert(sizeof(next) == SP_COUNT(names) * sizeof(void *), "one each");
	sp_wait_find((void **)&next, names, SP_COUNT(names));
}

/* Before anybody, in a handler perhaps, needs them: they are looked for under the loader's lock. */
__attribute__((constructor)) static void find(void)
{
	find_all();
}

void sp_wait_find(void **to, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!to[i])
			to[i] = sp_real_next(names[i]);
}

uint64_t sp_wait_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SP_SECOND + (uint64_t)t.tv_nsec;
}

void sp_wait_begin(struct sp_waiting *w, long long s, long long ns)
{
	w->sp.self = &w->sp;
	w->sp.alone = w->sp.unsure = w->sp.held = false;
	w->sp.most = 0;
	w->until = SP_EVER;
	w->error = errno;
	w->during = NULL;
	if (s >= 0 && s < (long long)LONGEST && ns >= 0 && ns < (long long)(LONGEST * SP_SECOND))
		w->until = sp_wait_now() + (uint64_t)s * SP_SECOND + (uint64_t)ns;
	sp_order();
	sp_put(&sp_self.wait, &w->sp);
}

static void sp_wait_begin_ms(struct sp_waiting *w, int ms)
{
	sp_wait_begin(w, ms < 0 ? -1 : 0, ms * 1000000ll);
}

void sp_wait_begin_timespec(struct sp_waiting *w, const struct timespec *t, const sigset_t *mask)
{
	sp_wait_begin(w, t ? t->tv_sec : -1, t ? t->tv_nsec : 0);
	w->during = sp_moves_let_in(mask, &w->copy);
}

static void sp_wait_begin_timeval(struct sp_waiting *w, const struct timeval *t)
{
	sp_wait_begin(w, t ? t->tv_sec : -1, t ? t->tv_usec * 1000ll : 0);
}

void sp_wait_unblock(struct sp_waiting *w)
{
	if (w->sp.held)
		(void)sp_sys(SYS_rt_sigprocmask, SIG_SETMASK, &w->sp.mask.bits, NULL, sizeof(w->sp.mask.bits));
	w->sp.held = false;
}

void sp_wait_end(void *wait)
{
	struct sp_waiting *w = wait;

	sp_put(&sp_self.wait, NULL);
	sp_order();
	w->sp.self = NULL;
	sp_wait_unblock(w);
}

bool sp_wait_another(const struct sp_waiting *w)
{
	uint64_t pending = 0, blocked = w->sp.mask.bits;

	if (w->during)
		memcpy(&blocked, w->during, sizeof(blocked));
	return sp_sys(SYS_rt_sigpending, &pending, sizeof(pending)) < 0 || sp_moves_ends(pending & ~blocked);
}

enum sp_how sp_wait_again(struct sp_waiting *w, int r)
{
	bool alone = w->sp.alone, unsure = w->sp.unsure;
	uint64_t at;

	w->sp.alone = w->sp.unsure = false;
	if (r != -1 || errno != EINTR || !(alone || unsure))
		return SP_NOT;
	at = w->until != SP_EVER ? sp_wait_now() : 0;
	if (alone ? sp_wait_another(w) : at < w->until)
		return SP_NOT;
	errno = w->error;
	if (at >= w->until)
		return SP_AT_ONCE;
	w->rest = (struct timespec){ (time_t)((w->until - at) / SP_SECOND), (long)((w->until - at) % SP_SECOND) };
	return SP_FOR_THE_REST;
}

#define LEFT_MS(w) ((w).until == SP_EVER ? -1 : (int)(((w).rest.tv_sec * 1000 + ((w).rest.tv_nsec + 999999) / 1000000)))

static const struct timespec none;

static SP_COLD int poll_exact(struct pollfd *fds, nfds_t n, int timeout)
{
	struct sp_waiting w;

	sp_wait_begin_ms(&w, timeout);
	return WAIT(w, NEXT(poll)(fds, n, timeout), next.poll(fds, n, 0), next.ppoll(fds, n, LEFT(w), MASK(w)));
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	return AS_EVER ? NEXT(poll)(fds, n, timeout) : poll_exact(fds, n, timeout);
}

static SP_COLD int poll_chk_exact(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	struct sp_waiting w;

	sp_wait_begin_ms(&w, timeout);
	return WAIT(w, NEXT(poll_chk)(fds, n, timeout, room), next.poll(fds, n, 0), next.ppoll(fds, n, LEFT(w), MASK(w)));
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	return AS_EVER ? NEXT(poll_chk)(fds, n, timeout, room) : poll_chk_exact(fds, n, timeout, room);
}

static SP_COLD int ppoll_exact(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct sp_waiting w;

	sp_wait_begin_timespec(&w, timeout, mask);
	return WAIT(w, NEXT(ppoll)(fds, n, timeout, w.during), next.ppoll(fds, n, &none, w.during),
		    next.ppoll(fds, n, LEFT(w), MASK(w)));
}

EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	return AS_EVER ? NEXT(ppoll)(fds, n, timeout, mask) : ppoll_exact(fds, n, timeout, mask);
}

static SP_COLD int ppoll_chk_exact(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
				   size_t room)
{
	struct sp_waiting w;

	sp_wait_begin_timespec(&w, timeout, mask);
	return WAIT(w, NEXT(ppoll_chk)(fds, n, timeout, w.during, room), next.ppoll(fds, n, &none, w.during),
		    next.ppoll(fds, n, LEFT(w), MASK(w)));
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room)
{
	return AS_EVER ? NEXT(ppoll_chk)(fds, n, timeout, mask, room) : ppoll_chk_exact(fds, n, timeout, mask, room);
}

/* What is left is written to *timeout, as Linux does; pselect does not. */
static int with_rest(struct sp_waiting *w, struct timeval *timeout, int r)
{
	uint64_t at = timeout ? sp_wait_now() : 0;

	if (timeout)
		*timeout = at < w->until ? (struct timeval){ (time_t)((w->until - at) / SP_SECOND),
							     (suseconds_t)((w->until - at) % SP_SECOND / 1000) } :
					   (struct timeval){ 0 };
	return r;
}

static SP_COLD int select_exact(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout)
{
	struct sp_waiting w;

	sp_wait_begin_timeval(&w, timeout);
	return WAIT(w, NEXT(select)(n, in, out, except, timeout),
		    with_rest(&w, timeout, next.select(n, in, out, except, &(struct timeval){ 0 })),
		    with_rest(&w, timeout, next.pselect(n, in, out, except, LEFT(w), MASK(w))));
}

EXPORT int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout)
{
	return AS_EVER ? NEXT(select)(n, in, out, except, timeout) : select_exact(n, in, out, except, timeout);
}

static SP_COLD int pselect_exact(int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout,
				 const sigset_t *mask)
{
	struct sp_waiting w;

	sp_wait_begin_timespec(&w, timeout, mask);
	return WAIT(w, NEXT(pselect)(n, in, out, except, timeout, w.during),
		    next.pselect(n, in, out, except, &none, w.during),
		    next.pselect(n, in, out, except, LEFT(w), MASK(w)));
}

EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout, const sigset_t *mask)
{
	return AS_EVER ? NEXT(pselect)(n, in, out, except, timeout, mask) : pselect_exact(n, in, out, except, timeout, mask);
}

static SP_COLD int epoll_wait_exact(int fd, struct epoll_event *events, int n, int timeout)
{
	struct sp_waiting w;

	sp_wait_begin_ms(&w, timeout);
	return WAIT(w, NEXT(epoll_wait)(fd, events, n, timeout), next.epoll_wait(fd, events, n, 0),
		    next.epoll_pwait(fd, events, n, LEFT_MS(w), MASK(w)));
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
	return AS_EVER ? NEXT(epoll_wait)(fd, events, n, timeout) : epoll_wait_exact(fd, events, n, timeout);
}

static SP_COLD int epoll_pwait_exact(int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask)
{
	struct sp_waiting w;

	sp_wait_begin_ms(&w, timeout);
	w.during = sp_moves_let_in(mask, &w.copy);
	return WAIT(w, NEXT(epoll_pwait)(fd, events, n, timeout, w.during), next.epoll_pwait(fd, events, n, 0, w.during),
		    next.epoll_pwait(fd, events, n, LEFT_MS(w), MASK(w)));
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask)
{
	return AS_EVER ? NEXT(epoll_pwait)(fd, events, n, timeout, mask) : epoll_pwait_exact(fd, events, n, timeout, mask);
}

/* glibc has it since 2.35. */
static int before_glibc_2_35(int fd, struct epoll_event *events, int n, const struct timespec *timeout, const sigset_t *mask)
{
	(void)fd, (void)events, (void)n, (void)timeout, (void)mask;
	errno = ENOSYS;
	return -1;
}

static SP_COLD int epoll_pwait2_exact(int fd, struct epoll_event *events, int n, const struct timespec *timeout,
				      const sigset_t *mask)
{
	struct sp_waiting w;

	sp_wait_begin_timespec(&w, timeout, mask);
	return WAIT(w, next.epoll_pwait2(fd, events, n, timeout, w.during),
		    next.epoll_pwait2(fd, events, n, &none, w.during),
		    next.epoll_pwait2(fd, events, n, LEFT(w), MASK(w)));
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *timeout, const sigset_t *mask)
{
	if (SP_UNLIKELY(!NEXT(epoll_pwait2)))
		next.epoll_pwait2 = before_glibc_2_35;
	return AS_EVER ? next.epoll_pwait2(fd, events, n, timeout, mask) :
			 epoll_pwait2_exact(fd, events, n, timeout, mask);
}
