/* waits.c: stands in front of poll and select, for SSPAPI_ATTRIBUTION=exact.
 *
 * Where a thread has slept its time out in one of them and wakes up on another CPU, the
 * kernel finds our signal before it looks at the time, and says EINTR, whatever SA_RESTART
 * says.  The time is over, so the call is made again with none to wait: what it says then
 * is what it would have said.  Nothing is made again that could wait, so no signal of the
 * application's own that comes meanwhile is slept through.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <time.h>

#include "../book/watch.h"
#include "../papi/real.h"
#include "process.h"

#define EXPORT __attribute__((visibility("default")))
#define LONGEST (1000000000ull)		/* s; who waits longer waits for ever */

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room);

static struct {
	int (*poll)(struct pollfd *, nfds_t, int);
	int (*poll_chk)(struct pollfd *, nfds_t, int, size_t);
	int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	int (*ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
	int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
	int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
} next;

static void find_all(void)
{
	static const char *const names[] = { "poll", "__poll_chk", "ppoll", "__ppoll_chk", "select", "pselect" };
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

struct wait {
	uint64_t until;			/* 0: not to be minded */
	uint32_t moved;
	int error;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct wait begin(bool timed, uint64_t s, uint64_t ns)
{
	struct wait w = { .moved = sp_get(&sp_self.moved), .error = errno };

	if (SP_UNLIKELY(sp_get(&sp_watching) == SP_BY_EXACT) && sp_self.watch && timed && s < LONGEST && ns < LONGEST * 1000000000u)
		w.until = now() + s * 1000000000u + ns;
	return w;
}

/* Did it end for our signal, and its time is over? */
static bool again(const struct wait *w, int r)
{
	if (SP_LIKELY(!w->until) || r != -1 || errno != EINTR || sp_get(&sp_self.moved) == w->moved || now() < w->until)
		return false;
	errno = w->error;
	return true;
}

#define TIMED(t, part, unit) (t) != NULL, (t) ? (uint64_t)(t)->tv_sec : 0, (t) ? (uint64_t)(t)->part * (unit) : 0

EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	struct wait w = begin(timeout > 0, 0, (uint64_t)timeout * 1000000u);
	int r = NEXT(poll)(fds, n, timeout);

	return again(&w, r) ? next.poll(fds, n, 0) : r;
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	struct wait w = begin(timeout > 0, 0, (uint64_t)timeout * 1000000u);
	int r = NEXT(poll_chk)(fds, n, timeout, room);

	return again(&w, r) ? next.poll_chk(fds, n, 0, room) : r;
}

EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct wait w = begin(TIMED(timeout, tv_nsec, 1u));
	int r = NEXT(ppoll)(fds, n, timeout, mask);

	return again(&w, r) ? next.ppoll(fds, n, &(struct timespec){ 0 }, mask) : r;
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room)
{
	struct wait w = begin(TIMED(timeout, tv_nsec, 1u));
	int r = NEXT(ppoll_chk)(fds, n, timeout, mask, room);

	return again(&w, r) ? next.ppoll_chk(fds, n, &(struct timespec){ 0 }, mask, room) : r;
}

/* (The kernel has written to *timeout that nothing is left.) */
EXPORT int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout)
{
	struct wait w = begin(TIMED(timeout, tv_usec, 1000u));
	int r = NEXT(select)(n, in, out, except, timeout);

	return again(&w, r) ? next.select(n, in, out, except, &(struct timeval){ 0 }) : r;
}

EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout, const sigset_t *mask)
{
	struct wait w = begin(TIMED(timeout, tv_nsec, 1u));
	int r = NEXT(pselect)(n, in, out, except, timeout, mask);

	return again(&w, r) ? next.pselect(n, in, out, except, &(struct timespec){ 0 }, mask) : r;
}
