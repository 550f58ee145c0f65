/* sleeps.c: stands in front of what sleeps or waits for a signal, a semaphore or a message, for
 * SSPAPI_ATTRIBUTION=exact.
 *
 * A thread that moves while it sleeps there has our signal after it, and sees nothing of it.
 * One that moves between entering the call and sleeping (it is preempted, or waits for a page)
 * does not sleep at all: EINTR, whatever SA_RESTART says.  The call is made again, as in waits.c.
 */
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

#include "../../core/sys.h"
#include "waits.h"

int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until);

static struct {
	int (*clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);
	int (*nanosleep)(const struct timespec *, struct timespec *);
	int (*usleep)(useconds_t);
	unsigned (*sleep)(unsigned);
	int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	int (*pause)(void);
	int (*sigsuspend)(const sigset_t *);
	int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
	int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
	int (*sigwait)(const sigset_t *, int *);
	int (*sem_timedwait)(sem_t *, const struct timespec *);
	int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
	int (*semop)(int, struct sembuf *, size_t);
	int (*semtimedop)(int, struct sembuf *, size_t, const struct timespec *);
	int (*msgsnd)(int, const void *, size_t, int);
	ssize_t (*msgrcv)(int, void *, size_t, long, int);
} next;

static SP_COLD void find_all(void)
{
	static const char *const names[] = { "clock_nanosleep", "nanosleep", "usleep", "sleep", "ppoll", "pause",
					     "sigsuspend", "sigtimedwait", "sigwaitinfo", "sigwait", "sem_timedwait",
					     "sem_clockwait", "semop", "semtimedop", "msgsnd", "msgrcv" };

	_Static_assert(sizeof(next) == SP_COUNT(names) * sizeof(void *), "one each");
	sp_wait_find((void **)&next, names, SP_COUNT(names));
}

/* Before anybody, in a handler perhaps, needs them: they are looked for under the loader's lock. */
__attribute__((constructor)) static void find(void)
{
	find_all();
}

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * SP_SECOND + (uint64_t)t->tv_nsec;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / SP_SECOND), (long)(ns % SP_SECOND) };
}

/* Sleeps until w->until: 0, or EINTR.  ppoll sets the mask, but is late by 1/1000 of its time, 1/200 in a
 * process with a nice value: most of the time first. */
static int sleep_on(struct sp_waiting *w)
{
	uint64_t at, left;
	int r = 0;

	while (r == 0 && (at = sp_wait_now()) < w->until) {
		left = w->until - at;
		w->rest = timespec_of(left - left / 128);
		r = next.ppoll(NULL, 0, &w->rest, MASK(*w));
	}
	return r == 0 ? 0 : errno;
}

/* The kernel has said what is left, of a time that is not until.  Of clocks that do not run as the monotonic
 * one the call is made again. */
static int sleep_again(struct sp_waiting *w, clockid_t clock, int flags, const struct timespec *until,
		       struct timespec *left)
{
	uint64_t at;
	int r;

	if (clock != CLOCK_MONOTONIC && (clock != CLOCK_REALTIME || (flags & TIMER_ABSTIME))) {
		sp_wait_unblock(w);
		return next.clock_nanosleep(clock, flags, (flags & TIMER_ABSTIME) ? until : left, left);
	}
	if (w->until == SP_EVER)
		w->until = (flags & TIMER_ABSTIME) ? ns_of(until) : sp_wait_now() + ns_of(left);
	r = sleep_on(w);
	at = sp_wait_now();
	*left = timespec_of(at < w->until ? w->until - at : 0);
	return r;
}

static int sleep_exact(clockid_t clock, int flags, const struct timespec *request, struct timespec *left)
{
	struct sp_waiting w;
	struct timespec rest;
	int r;

	sp_wait_begin(&w, -1, 0);
	pthread_cleanup_push(sp_wait_end, &w);
	r = NEXT(clock_nanosleep)(clock, flags, request, &rest);
	while (r == EINTR && (errno = r, sp_wait_again(&w, -1) != SP_NOT))
		r = sleep_again(&w, clock, flags, request, &rest);
	pthread_cleanup_pop(1);
	errno = w.error;
	if (r == EINTR && left && !(flags & TIMER_ABSTIME))
		*left = rest;
	return r;
}

EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *left)
{
	return AS_EVER ? NEXT(clock_nanosleep)(clock, flags, request, left) : sleep_exact(clock, flags, request, left);
}

static SP_COLD int nanosleep_exact(const struct timespec *request, struct timespec *left)
{
	int r = sleep_exact(CLOCK_REALTIME, 0, request, left);

	if (r)
		errno = r;
	return r ? -1 : 0;
}

EXPORT int nanosleep(const struct timespec *request, struct timespec *left)
{
	return AS_EVER ? NEXT(nanosleep)(request, left) : nanosleep_exact(request, left);
}

static SP_COLD int usleep_exact(useconds_t us)
{
	return nanosleep_exact(&(struct timespec){ (time_t)(us / 1000000), (long)(us % 1000000) * 1000 }, NULL);
}

EXPORT int usleep(useconds_t us)
{
	return AS_EVER ? NEXT(usleep)(us) : usleep_exact(us);
}

/* What is left in whole seconds, as of glibc. */
static SP_COLD unsigned sleep_seconds_exact(unsigned s)
{
	struct timespec t = { (time_t)s, 0 };

	return nanosleep_exact(&t, &t) == 0 ? 0 : (unsigned)t.tv_sec;
}

EXPORT unsigned sleep(unsigned s)
{
	return AS_EVER ? NEXT(sleep)(s) : sleep_seconds_exact(s);
}

/* ---- for signals ------------------------------------------------------------ */

static SP_COLD int pause_exact(void)
{
	struct sp_waiting w;

	sp_wait_begin(&w, -1, 0);
	return WAIT(w, NEXT(pause)(), -1, next.sigsuspend(MASK(w)));
}

EXPORT int pause(void)
{
	return AS_EVER ? NEXT(pause)() : pause_exact();
}

static SP_COLD int sigsuspend_exact(const sigset_t *mask)
{
	struct sp_waiting w;

	sp_wait_begin_timespec(&w, NULL, mask);
	return WAIT(w, NEXT(sigsuspend)(w.during), -1, next.sigsuspend(w.during));
}

EXPORT int sigsuspend(const sigset_t *mask)
{
	return AS_EVER ? NEXT(sigsuspend)(mask) : sigsuspend_exact(mask);
}

/* Who waits for ours, too, and does not block it, would be given it. */
static SP_COLD int sigtimedwait_exact(const sigset_t *set, siginfo_t *info, const struct timespec *longest)
{
	struct sp_waiting w;
	const sigset_t *const but_ours = sp_moves_let_in(set, &w.copy);

	sp_wait_begin_timespec(&w, longest, NULL);
	return WAIT(w, NEXT(sigtimedwait)(but_ours, info, longest),
		    next.sigtimedwait(but_ours, info, &(struct timespec){ 0 }),
		    (sp_wait_unblock(&w), next.sigtimedwait(but_ours, info, LEFT(w))));
}

EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *longest)
{
	return AS_EVER ? NEXT(sigtimedwait)(set, info, longest) : sigtimedwait_exact(set, info, longest);
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return AS_EVER ? NEXT(sigwaitinfo)(set, info) : sigtimedwait_exact(set, info, NULL);
}

static SP_COLD int sigwait_exact(const sigset_t *set, int *number)
{
	int error = errno, r;
	sigset_t copy;

	r = NEXT(sigwait)(sp_moves_let_in(set, &copy), number);	/* goes on after EINTR */
	errno = error;
	return r;
}

EXPORT int sigwait(const sigset_t *set, int *number)
{
	return AS_EVER ? NEXT(sigwait)(set, number) : sigwait_exact(set, number);
}

/* ---- for semaphores and messages ------------------------------------------------ */

static SP_COLD int sem_timedwait_exact(sem_t *s, const struct timespec *until)
{
	struct sp_waiting w;

	sp_wait_begin(&w, -1, 0);
	return WAIT(w, NEXT(sem_timedwait)(s, until), -1, (sp_wait_unblock(&w), next.sem_timedwait(s, until)));
}

EXPORT int sem_timedwait(sem_t *s, const struct timespec *until)
{
	return AS_EVER ? NEXT(sem_timedwait)(s, until) : sem_timedwait_exact(s, until);
}

/* glibc has it since 2.30. */
static int before_glibc_2_30(sem_t *s, clockid_t clock, const struct timespec *until)
{
	(void)s, (void)clock, (void)until;
	errno = ENOSYS;
	return -1;
}

static SP_COLD int sem_clockwait_exact(sem_t *s, clockid_t clock, const struct timespec *until)
{
	struct sp_waiting w;

	sp_wait_begin(&w, -1, 0);
	return WAIT(w, next.sem_clockwait(s, clock, until), -1,
		    (sp_wait_unblock(&w), next.sem_clockwait(s, clock, until)));
}

EXPORT int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
	if (SP_UNLIKELY(!NEXT(sem_clockwait)))
		next.sem_clockwait = before_glibc_2_30;
	return AS_EVER ? next.sem_clockwait(s, clock, until) : sem_clockwait_exact(s, clock, until);
}

static SP_COLD int semtimedop_exact(int id, struct sembuf *what, size_t n, const struct timespec *longest)
{
	struct sp_waiting w;

	sp_wait_begin_timespec(&w, longest, NULL);
	return WAIT(w, NEXT(semtimedop)(id, what, n, longest), next.semtimedop(id, what, n, &(struct timespec){ 0 }),
		    (sp_wait_unblock(&w), next.semtimedop(id, what, n, LEFT(w))));
}

EXPORT int semtimedop(int id, struct sembuf *what, size_t n, const struct timespec *longest)
{
	return AS_EVER ? NEXT(semtimedop)(id, what, n, longest) : semtimedop_exact(id, what, n, longest);
}

EXPORT int semop(int id, struct sembuf *what, size_t n)
{
	return AS_EVER ? NEXT(semop)(id, what, n) : semtimedop_exact(id, what, n, NULL);
}

/* Woken as there is room, it says EINTR before it looks. */
static SP_COLD int msgsnd_exact(int id, const void *message, size_t bytes, int flags)
{
	struct sp_waiting w;

	sp_wait_begin(&w, -1, 0);
	return WAIT(w, NEXT(msgsnd)(id, message, bytes, flags), -1,
		    (sp_wait_unblock(&w), next.msgsnd(id, message, bytes, flags)));
}

EXPORT int msgsnd(int id, const void *message, size_t bytes, int flags)
{
	return AS_EVER ? NEXT(msgsnd)(id, message, bytes, flags) : msgsnd_exact(id, message, bytes, flags);
}

static SP_COLD ssize_t msgrcv_exact(int id, void *message, size_t bytes, long type, int flags)
{
	struct sp_waiting w;

	sp_wait_begin(&w, -1, 0);
	return WAIT(w, (int)NEXT(msgrcv)(id, message, bytes, type, flags), -1,
		    (sp_wait_unblock(&w), (int)next.msgrcv(id, message, bytes, type, flags)));
}

EXPORT ssize_t msgrcv(int id, void *message, size_t bytes, long type, int flags)
{
	return AS_EVER ? NEXT(msgrcv)(id, message, bytes, type, flags) : msgrcv_exact(id, message, bytes, type, flags);
}
