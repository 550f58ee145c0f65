/* masks.c: stands in front of sigprocmask and pthread_sigmask, for SSPAPI_ATTRIBUTION=exact.
 *
 * A thread that blocks all signals and waits for any (sigwait, signalfd, sigpending) would
 * be handed the one that says that it has moved: while it blocks it, none is made.
 */
#include <signal.h>

#include "../book/moves.h"
#include "../book/watch.h"
#include "../papi/real.h"
#include "process.h"

typedef int call(int, const sigset_t *, sigset_t *);

static call *next_sigprocmask, *next_pthread_sigmask;

static call *next(call **which, const char *name)
{
	if (!*which)
		*which = (call *)sp_real_next(name);
	return *which;
}

/* Before anybody, in a handler perhaps, needs them: they are looked for under the loader's lock. */
__attribute__((constructor)) static void find(void)
{
	next(&next_sigprocmask, "sigprocmask");
	next(&next_pthread_sigmask, "pthread_sigmask");
}

static int change(call *real, int how, const sigset_t *new, sigset_t *old)
{
	bool named, blocks, unblocks;
	int r;

	if (SP_LIKELY(sp_get(&sp_watching) != SP_BY_EXACT) || !new)
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
