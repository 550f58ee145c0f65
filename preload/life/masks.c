/* masks.c: stands in front of sigprocmask, pthread_sigmask and their elders, for SSPAPI_ATTRIBUTION=exact.
 *
 * A thread that blocks all signals and waits for any (sigwait, signalfd, sigpending) would
 * be handed the one that says that it has moved: while it blocks it, none is made.
 */
#include <signal.h>
#include <string.h>

#include "../book/moves.h"
#include "../book/watch.h"
#include "../papi/real.h"
#include "process.h"

typedef int call(int, const sigset_t *, sigset_t *);
typedef int elder(int);			/* of System V, a signal; of BSD, a mask of the first 32 */

static call *next_sigprocmask, *next_pthread_sigmask;
static elder *next_sigblock, *next_sigsetmask, *next_sighold, *next_sigrelse;

static call *next(call **which, const char *name)
{
	if (!*which)
		*which = (call *)sp_real_next(name);
	return *which;
}

static elder *next_elder(elder **which, const char *name)
{
	if (!*which)
		*which = (elder *)sp_real_next(name);
	return *which;
}

/* Before anybody, in a handler perhaps, needs them: they are looked for under the loader's lock. */
__attribute__((constructor)) static void find(void)
{
	next(&next_sigprocmask, "sigprocmask");
	next(&next_pthread_sigmask, "pthread_sigmask");
	next_elder(&next_sigblock, "sigblock");
	next_elder(&next_sigsetmask, "sigsetmask");
	next_elder(&next_sighold, "sighold");
	next_elder(&next_sigrelse, "sigrelse");
}

/* One test, and a jump to the real one, in a process that did not ask for exact. */
#define AS_EVER (SP_LIKELY(sp_get(&sp_watching) != SP_BY_EXACT))

static int change(call *real, int how, const sigset_t *new, sigset_t *old)
{
	bool named, blocks, unblocks;
	int r;

	if (AS_EVER || !new)
		return real(how, new, old);
	named = sp_moves_in(new);
	blocks = named && (how == SIG_BLOCK || how == SIG_SETMASK);
	unblocks = (how == SIG_SETMASK && !named) || (how == SIG_UNBLOCK && named);
	if (blocks)
		sp_watch_blocked(true);
	r = real(how, new, old);
	if (unblocks)
		sp_watch_blocked(false);
	return r;
}

__attribute__((visibility("default"))) int sigprocmask(int how, const sigset_t *new, sigset_t *old)
{
	return change(next(&next_sigprocmask, "sigprocmask"), how, new, old);
}

__attribute__((visibility("default"))) int pthread_sigmask(int how, const sigset_t *new, sigset_t *old)
{
	return change(next(&next_pthread_sigmask, "pthread_sigmask"), how, new, old);
}

static SP_COLD int by_number(int how, int number)
{
	sigset_t set;

	sigemptyset(&set);
	return sigaddset(&set, number) ? -1 : change(next(&next_sigprocmask, "sigprocmask"), how, &set, NULL);
}

__attribute__((visibility("default"))) int sighold(int number)
{
	return AS_EVER ? next_elder(&next_sighold, "sighold")(number) : by_number(SIG_BLOCK, number);
}

__attribute__((visibility("default"))) int sigrelse(int number)
{
	return AS_EVER ? next_elder(&next_sigrelse, "sigrelse")(number) : by_number(SIG_UNBLOCK, number);
}

static SP_COLD int by_mask(int how, int mask)
{
	sigset_t set, old;
	unsigned long bits = (unsigned)mask;

	sigemptyset(&set);
	memcpy(&set, &bits, sizeof(bits));
	if (change(next(&next_sigprocmask, "sigprocmask"), how, &set, &old) < 0)
		return -1;
	memcpy(&bits, &old, sizeof(bits));
	return (int)bits;
}

__attribute__((visibility("default"))) int sigblock(int mask)
{
	return AS_EVER ? next_elder(&next_sigblock, "sigblock")(mask) : by_mask(SIG_BLOCK, mask);
}

__attribute__((visibility("default"))) int sigsetmask(int mask)
{
	return AS_EVER ? next_elder(&next_sigsetmask, "sigsetmask")(mask) : by_mask(SIG_SETMASK, mask);
}
