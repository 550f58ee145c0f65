/* bus.c: see bus.h.  Stands in front of sigaction, signal and their elders, for SIGBUS: each of them sets
 * its disposition, or shows it; and of what blocks it, only to know.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "../../core/sys.h"
#include "bus.h"
#include "process.h"
#include "../papi/real.h"

static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
static struct sigaction theirs;		/* the application's; SIG_DFL until it says otherwise */
static bool ours;			/* the kernel's is on_bus */
static bool bus_interrupts;		/* siginterrupt(3) said so, while it was */
static uint32_t due;			/* threads that have blocked it since their last call of PAPI */

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

void sp_bus_set_up(void)
{
	due = 0;			/* in a child the parent's threads are not */
	sp_self.bus_blocked = false;
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

/* ---- blocked ---------------------------------------------------------------- */

static void leave_file(void)
{
	struct sp_held held;
	int saved = errno;

	sp_lock_take(&sp_store.lock, &held);
	if (*sp_store.region.path && !sp_store.region.left)
		(void)sp_region_leave_file(&sp_store.region);
	sp_lock_give(&sp_store.lock, &held);
	errno = saved;
}

static void settled(void)
{
	if (sp_self.bus_blocked)
		__atomic_fetch_sub(&due, 1, __ATOMIC_RELAXED);
	sp_self.bus_blocked = false;
}

/* Not by an address in the store. */
void sp_bus_check(void)
{
	uint64_t blocked = 0;

	settled();
	if (!ours || sp_store.region.left || !sp_process_is_ours())
		return;
	if (sp_sys(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof(blocked)) == 0 &&
	    (blocked & (uint64_t)1 << (SIGBUS - 1)))
		leave_file();
}

void sp_bus_checked(void)
{
	if (sp_self.bus_blocked || !sp_self.calls)
		sp_bus_check();
}

bool sp_bus_due(void)
{
	return sp_get(&due) != 0 && !sp_store.region.left;
}

/* The calling thread's mask was changed so.  One that helps a library, and never counts, may block what it likes. */
static void masked(int how, bool bus)
{
	bool now = how == SIG_SETMASK ? bus : how == SIG_BLOCK;

	if (!ours || sp_store.region.left || !sp_self.calls || (how != SIG_SETMASK && !bus) || now == sp_self.bus_blocked ||
	    sp_process_is_borrowed())
		return;
	if (!now) {
		settled();
		return;
	}
	sp_self.bus_blocked = true;
	__atomic_fetch_add(&due, 1, __ATOMIC_RELAXED);
	sp_publish(&sp_process.papi, NULL);
}

/* ---- what the application calls ------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))

static struct {
	sighandler_t (*signal)(int, sighandler_t);
	sighandler_t (*sysv_signal)(int, sighandler_t);
	sighandler_t (*sigset)(int, sighandler_t);
	int (*sigignore)(int);
	int (*siginterrupt)(int, int);
	int (*sigprocmask)(int, const sigset_t *, sigset_t *);
	int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
	int (*sighold)(int);
	int (*sigblock)(int);
	int (*sigsetmask)(int);
} next;

static void find_all(void)
{
	static const char *const names[] = { "signal", "__sysv_signal", "sigset", "sigignore", "siginterrupt", "sigprocmask",
					     "pthread_sigmask", "sighold", "sigblock", "sigsetmask" };
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

/* A child of vfork: what it sets is its own, and `theirs` its parent's. */
static int in_borrowed(const struct sigaction *new, struct sigaction *old)
{
	int rc = real_sigaction(SIGBUS, new, old);

	if (rc == 0 && old && (old->sa_flags & SA_SIGINFO) && old->sa_sigaction == on_bus)
		*old = theirs;
	return rc;
}

EXPORT int sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	struct sigaction before = theirs;

	if (number != SIGBUS || !ours)
		return real_sigaction(number, new, old);
	if (sp_process_is_borrowed())
		return in_borrowed(new, old);
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

/* signal and those like it: by `real`, which is libc's own, and for SIGBUS as it does it. */
static sighandler_t set(int number, const struct sigaction *new, sighandler_t (*real)(int, sighandler_t))
{
	struct sigaction old;

	if (number != SIGBUS || !ours || new->sa_handler == SIG_ERR)
		return real(number, new->sa_handler);
	return sigaction(number, new, &old) < 0 ? SIG_ERR : old.sa_handler;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	struct sigaction new = { .sa_handler = handler, .sa_flags = bus_interrupts ? 0 : SA_RESTART };

	if (number == SIGBUS)
		sigaddset(&new.sa_mask, number);
	return set(number, &new, NEXT(signal));
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) __THROW __attribute__((alias("signal")));
EXPORT sighandler_t ssignal(int number, sighandler_t handler) __THROW __attribute__((alias("signal")));

/* What signal is to a program in strict C. */
EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	struct sigaction new = { .sa_handler = handler, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };

	return set(number, &new, NEXT(sysv_signal));
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler) __THROW __attribute__((alias("__sysv_signal")));

EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
	struct sigaction new = { .sa_handler = handler };
	bool bus = number == SIGBUS && ours;
	sigset_t it, before;
	sighandler_t was;

	sigemptyset(&it);
	sigaddset(&it, number);
	if (handler != SIG_HOLD) {
		was = set(number, &new, NEXT(sigset));
		if (!bus || was == SIG_ERR)
			return was;
		return sigprocmask(SIG_UNBLOCK, &it, &before) < 0 ? SIG_ERR :
		       sigismember(&before, number) == 1 ? SIG_HOLD : was;
	}
	was = NEXT(sigset)(number, handler);
	if (number == SIGBUS)
		masked(SIG_BLOCK, true);
	return bus && was != SIG_ERR && was != SIG_HOLD ? theirs.sa_handler : was;
}

EXPORT int sigignore(int number)
{
	struct sigaction new = { .sa_handler = SIG_IGN };

	return number == SIGBUS && ours ? sigaction(number, &new, NULL) : NEXT(sigignore)(number);
}

EXPORT int siginterrupt(int number, int yes)
{
	int rc = NEXT(siginterrupt)(number, yes);

	if (rc == 0 && number == SIGBUS && ours && !sp_process_is_borrowed()) {
		theirs.sa_flags = yes ? theirs.sa_flags & ~SA_RESTART : theirs.sa_flags | SA_RESTART;
		bus_interrupts = yes;
	}
	return rc;
}

EXPORT int sigprocmask(int how, const sigset_t *new, sigset_t *old)
{
	bool bus = new && sigismember(new, SIGBUS) == 1;
	int rc = NEXT(sigprocmask)(how, new, old);

	if (new && rc == 0)
		masked(how, bus);
	return rc;
}

EXPORT int pthread_sigmask(int how, const sigset_t *new, sigset_t *old)
{
	bool bus = new && sigismember(new, SIGBUS) == 1;
	int rc = NEXT(pthread_sigmask)(how, new, old);

	if (new && rc == 0)
		masked(how, bus);
	return rc;
}

EXPORT int sighold(int number)
{
	int rc = NEXT(sighold)(number);

	if (rc == 0 && number == SIGBUS)
		masked(SIG_BLOCK, true);
	return rc;
}

EXPORT int sigblock(int mask)
{
	int was = NEXT(sigblock)(mask);

	masked(SIG_BLOCK, mask & 1 << (SIGBUS - 1));
	return was;
}

EXPORT int sigsetmask(int mask)
{
	int was = NEXT(sigsetmask)(mask);

	masked(SIG_SETMASK, mask & 1 << (SIGBUS - 1));
	return was;
}
