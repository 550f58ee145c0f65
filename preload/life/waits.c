/* waits.c: stands in front of poll, select, epoll_wait and msgsnd, for SSPAPI_ATTRIBUTION=exact.
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
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <time.h>

#include "../../core/sys.h"
#include "../book/moves.h"
#include "../book/watch.h"
#include "../papi/real.h"
#include "process.h"

#define EXPORT __attribute__((visibility("default")))
#define SECOND 1000000000u		/* ns */
#define LONGEST (1000000000ull)		/* s; who waits longer waits for ever */
#define FOR_EVER UINT64_MAX

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
	int (*msgsnd)(int, const void *, size_t, int);
} next;

static SP_COLD void find_all(void)
{
	static const char *const names[] = { "poll", "__poll_chk", "ppoll", "__ppoll_chk", "select", "pselect",
					     "epoll_wait", "epoll_pwait", "epoll_pwait2", "msgsnd" };
	void **to = (void **)&next;

	_Static_assert(sizeof(next) == SP_COUNT(names) * sizeof(*to), "one each");
	for (unsigned i = 0; i < SP_COUNT(names); i++)
		if (!to[i])
			to[i] = sp_real_next(names[i]);
}

/* Before anybody, in a handler perhaps, needs them: they are looked for under the loader's lock. */
__attribute__((constructor)) static void find(void)
{
	find_all();
}

#define NEXT(name) ({ \
	if (SP_UNLIKELY(!next.name)) \
		find_all(); \
	next.name; \
})

/* One test, and a jump to the real one, in a process that did not ask for exact. */
#define AS_EVER (SP_LIKELY(sp_get(&sp_watching) != SP_BY_EXACT))

struct wait {
	struct sp_wait sp;
	uint64_t until;			/* FOR_EVER, or a time of the monotonic clock */
	int error;
	const sigset_t *during;		/* the mask of the call itself; NULL: it sets none */
	sigset_t copy;
	struct timespec rest;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Waits for so long; s < 0: for ever. */
static void begin(struct wait *w, long long s, long long ns)
{
	w->sp.self = &w->sp;
	w->sp.alone = w->sp.unsure = w->sp.held = false;
	w->until = FOR_EVER;
	w->error = errno;
	w->during = NULL;
	if (s >= 0 && s < (long long)LONGEST && ns >= 0 && ns < (long long)(LONGEST * SECOND))
		w->until = now() + (uint64_t)s * SECOND + (uint64_t)ns;
	sp_order();
	sp_put(&sp_self.wait, &w->sp);
}

static void begin_ms(struct wait *w, int ms)
{
	begin(w, ms < 0 ? -1 : 0, ms * 1000000ll);
}

static void begin_timespec(struct wait *w, const struct timespec *t, const sigset_t *mask)
{
	begin(w, t ? t->tv_sec : -1, t ? t->tv_nsec : 0);
	w->during = sp_moves_let_in(mask, &w->copy);
}

static void begin_timeval(struct wait *w, const struct timeval *t)
{
	begin(w, t ? t->tv_sec : -1, t ? t->tv_usec * 1000ll : 0);
}

static void unblock(struct wait *w)
{
	if (w->sp.held)
		(void)sp_sys(SYS_rt_sigprocmask, SIG_SETMASK, &w->sp.mask.bits, NULL, sizeof(w->sp.mask.bits));
	w->sp.held = false;
}

/* At the end of each wait, and where the thread is cancelled in it. */
static void end(void *wait)
{
	struct wait *w = wait;

	sp_put(&sp_self.wait, NULL);
	sp_order();
	w->sp.self = NULL;
	unblock(w);
}

/* A signal that came after ours, and would have ended the call. */
static bool another_waits(const struct wait *w)
{
	uint64_t pending = 0, blocked = w->sp.mask.bits;

	if (w->during)
		memcpy(&blocked, w->during, sizeof(blocked));
	return sp_sys(SYS_rt_sigpending, &pending, sizeof(pending)) < 0 || sp_moves_ends(pending & ~blocked);
}

enum how { NO, NOW, REST };

/* It said r.  Is it to be made again, and how? */
static enum how again(struct wait *w, int r)
{
	bool alone = w->sp.alone, unsure = w->sp.unsure;
	uint64_t at;

	w->sp.alone = w->sp.unsure = false;
	if (r != -1 || errno != EINTR || !(alone || unsure))
		return NO;
	at = w->until != FOR_EVER ? now() : 0;
	if (alone ? another_waits(w) : at < w->until)
		return NO;
	errno = w->error;
	if (at >= w->until)
		return NOW;
	w->rest = (struct timespec){ (time_t)((w->until - at) / SECOND), (long)((w->until - at) % SECOND) };
	return REST;
}

#define LEFT(w) ((w).until == FOR_EVER ? NULL : &(w).rest)
#define LEFT_MS(w) ((w).until == FOR_EVER ? -1 : (int)(((w).rest.tv_sec * 1000 + ((w).rest.tv_nsec + 999999) / 1000000)))
#define MASK(w) ((w).during ? (w).during : &(w).sp.mask.set)

/* first; and as long as it is to be made again, with_none or with_rest. */
#define WAIT(w, first, with_none, with_rest) ({ \
	int r_; \
	pthread_cleanup_push(end, &(w)); \
	r_ = (first); \
	for (enum how how_; (how_ = again(&(w), r_)) != NO;) \
		r_ = how_ == NOW ? (with_none) : (with_rest); \
	pthread_cleanup_pop(1); \
	r_; \
})

static const struct timespec none;

static SP_COLD int poll_exact(struct pollfd *fds, nfds_t n, int timeout)
{
	struct wait w;

	begin_ms(&w, timeout);
	return WAIT(w, NEXT(poll)(fds, n, timeout), next.poll(fds, n, 0), next.ppoll(fds, n, LEFT(w), MASK(w)));
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	return AS_EVER ? NEXT(poll)(fds, n, timeout) : poll_exact(fds, n, timeout);
}

static SP_COLD int poll_chk_exact(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	struct wait w;

	begin_ms(&w, timeout);
	return WAIT(w, NEXT(poll_chk)(fds, n, timeout, room), next.poll(fds, n, 0), next.ppoll(fds, n, LEFT(w), MASK(w)));
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	return AS_EVER ? NEXT(poll_chk)(fds, n, timeout, room) : poll_chk_exact(fds, n, timeout, room);
}

static SP_COLD int ppoll_exact(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct wait w;

	begin_timespec(&w, timeout, mask);
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
	struct wait w;

	begin_timespec(&w, timeout, mask);
	return WAIT(w, NEXT(ppoll_chk)(fds, n, timeout, w.during, room), next.ppoll(fds, n, &none, w.during),
		    next.ppoll(fds, n, LEFT(w), MASK(w)));
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room)
{
	return AS_EVER ? NEXT(ppoll_chk)(fds, n, timeout, mask, room) : ppoll_chk_exact(fds, n, timeout, mask, room);
}

/* What is left is written to *timeout, as Linux does; pselect does not. */
static int with_rest(struct wait *w, struct timeval *timeout, int r)
{
	uint64_t at = timeout ? now() : 0;

	if (timeout)
		*timeout = at < w->until ? (struct timeval){ (time_t)((w->until - at) / SECOND),
							     (suseconds_t)((w->until - at) % SECOND / 1000) } :
					   (struct timeval){ 0 };
	return r;
}

static SP_COLD int select_exact(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout)
{
	struct wait w;

	begin_timeval(&w, timeout);
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
	struct wait w;

	begin_timespec(&w, timeout, mask);
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
	struct wait w;

	begin_ms(&w, timeout);
	return WAIT(w, NEXT(epoll_wait)(fd, events, n, timeout), next.epoll_wait(fd, events, n, 0),
		    next.epoll_pwait(fd, events, n, LEFT_MS(w), MASK(w)));
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
	return AS_EVER ? NEXT(epoll_wait)(fd, events, n, timeout) : epoll_wait_exact(fd, events, n, timeout);
}

static SP_COLD int epoll_pwait_exact(int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask)
{
	struct wait w;

	begin_ms(&w, timeout);
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
	struct wait w;

	begin_timespec(&w, timeout, mask);
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

/* Woken as there is room, it says EINTR before it looks.  There is none that sets the mask;
 * a signal that comes right before a call is not seen by it without us either. */
static SP_COLD int msgsnd_exact(int id, const void *message, size_t bytes, int flags)
{
	struct wait w;

	begin(&w, -1, 0);
	return WAIT(w, NEXT(msgsnd)(id, message, bytes, flags), -1,
		    (unblock(&w), next.msgsnd(id, message, bytes, flags)));
}

EXPORT int msgsnd(int id, const void *message, size_t bytes, int flags)
{
	return AS_EVER ? NEXT(msgsnd)(id, message, bytes, flags) : msgsnd_exact(id, message, bytes, flags);
}
