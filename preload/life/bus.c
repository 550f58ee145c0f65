/* bus.c: see bus.h.  Stands in front of sigaction and signal, for SIGBUS and, with
 * SSPAPI_ATTRIBUTION=exact, for the signal of moves.h.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "../../core/sys.h"
#include "../book/moves.h"
#include "../book/watch.h"
#include "bus.h"
#include "process.h"
#include "../papi/real.h"

static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
static struct sigaction theirs;		/* the application's; SIG_DFL until it says otherwise */
static bool ours;			/* the kernel's is on_bus */

static int real_sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	if (!next_sigaction)
		next_sigaction = (int (*)(int, const struct sigaction *, struct sigaction *))sp_real_next("sigaction");
	return next_sigaction(number, new, old);
}

/* In the store: a page of ours in its place, and the instruction runs again. */
static bool mended(uintptr_t address)
{
	for (uint32_t i = 0; i < sp_acquire(&sp_store.region.pieces); i++) {
		const struct sp_piece *p = &sp_store.region.piece[i];
		uintptr_t page = address & ~((uintptr_t)SP_PAGE - 1);

		if (address - (uintptr_t)p->at >= p->bytes)
			continue;
		sp_store.region.torn = sp_store.region.truncated = true;
		return sp_sys(SYS_mmap, page, SP_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			      0) >= 0;
	}
	return false;
}

/* As the kernel would without us.  For SIG_DFL that is the end: the instruction runs
 * again, or the signal is sent again, without a handler. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	struct sigaction to = theirs, none = { .sa_handler = SIG_DFL };

	if (to.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (to.sa_handler == SIG_DFL || to.sa_handler == SIG_IGN) {
		real_sigaction(number, &none, NULL);
		ours = false;
		if (info->si_code <= 0)
			(void)raise(number);
		return;
	}
	if (to.sa_flags & (int)SA_RESETHAND)
		theirs.sa_handler = SIG_DFL;
	if (to.sa_flags & SA_SIGINFO)
		to.sa_sigaction(number, info, context);
	else
		to.sa_handler(number);
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	if (info->si_code > 0 && mended((uintptr_t)info->si_addr)) {
		errno = saved;
		return;
	}
	errno = saved;
	pass_on(number, info, context);
}

/* Our handler with the application's mask and flags, so that the kernel does with
 * both what it would do for the application's own. */
static int put_ours(void)
{
	struct sigaction a = theirs;

	a.sa_sigaction = on_bus;
	a.sa_flags = (a.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
	if (theirs.sa_handler == SIG_DFL || theirs.sa_handler == SIG_IGN)
		a.sa_flags |= SA_RESTART | SA_ONSTACK;
	return real_sigaction(SIGBUS, &a, NULL);
}

const struct sigaction *sp_bus_theirs(void)
{
	return ours ? &theirs : NULL;
}

void sp_bus_set_up(void)
{
	if (ours)
		return;			/* a child has its parent's handlers */
	if (real_sigaction(SIGBUS, NULL, &theirs) == 0)
		ours = put_ours() == 0;
}

void sp_bus_before_exec(void)
{
	if (ours && theirs.sa_handler == SIG_IGN)
		real_sigaction(SIGBUS, &theirs, NULL);
}

void sp_bus_after_exec(void)
{
	if (ours && theirs.sa_handler == SIG_IGN)
		put_ours();
}

__attribute__((visibility("default"))) int sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	bool hidden = SP_UNLIKELY(sp_get(&sp_watching) == SP_BY_EXACT) && sp_moves_asked(number, new);
	struct sigaction before = theirs;

	if (number != SIGBUS || !ours) {
		int rc = real_sigaction(number, new, old);

		if (hidden && rc == 0 && old)
			*old = (struct sigaction){ .sa_handler = SIG_DFL };
		return rc;
	}
	if (new) {
		theirs = *new;
		if (put_ours() < 0) {
			theirs = before;
			return -1;
		}
	}
	if (old)
		*old = before;
	return 0;
}

__attribute__((visibility("default"))) sighandler_t signal(int number, sighandler_t handler)
{
	static sighandler_t (*next_signal)(int, sighandler_t);
	struct sigaction new = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	if (SP_UNLIKELY(sp_get(&sp_watching) == SP_BY_EXACT) && handler != SIG_ERR)
		(void)sp_moves_asked(number, &new);
	if (number != SIGBUS || !ours) {
		if (!next_signal)
			next_signal = (sighandler_t (*)(int, sighandler_t))sp_real_next("signal");
		return next_signal(number, handler);
	}
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	sigemptyset(&new.sa_mask);
	sigaddset(&new.sa_mask, number);
	return sigaction(number, &new, &old) < 0 ? SIG_ERR : old.sa_handler;
}
