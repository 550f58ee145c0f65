/* lock.c: a spin lock with signals blocked; see lock.h. */
#include <signal.h>

#include "lock.h"
#include "sys.h"

/* Use the system call: pthread_sigmask does not block the two signals by which glibc cancels
 * threads, and an asynchronous cancellation must not end the thread here. */
void sp_signals_block(struct sp_lock_state *h)
{
	uint64_t all = UINT64_MAX;

	h->signals = 0;
	(void)sp_sys(SYS_rt_sigprocmask, SIG_BLOCK, &all, &h->signals, sizeof(all));
}

void sp_signals_restore(const struct sp_lock_state *h)
{
	(void)sp_sys(SYS_rt_sigprocmask, SIG_SETMASK, &h->signals, NULL, sizeof(h->signals));
}

static bool grab(struct sp_lock *l)
{
	return !__atomic_exchange_n(&l->taken, 1, __ATOMIC_ACQUIRE);
}

void sp_lock_take(struct sp_lock *l, struct sp_lock_state *h)
{
	sp_signals_block(h);
	while (!grab(l))
		(void)sp_sys(SYS_sched_yield);
}

bool sp_lock_try(struct sp_lock *l, struct sp_lock_state *h, unsigned ms)
{
	struct timespec delay = { 0, 100000 };

	sp_signals_block(h);
	for (unsigned tries = 0; !grab(l); tries++) {
		if (tries >= ms * 10) {
			sp_signals_restore(h);
			return false;
		}
		(void)sp_sys(SYS_nanosleep, &delay, NULL);
	}
	return true;
}

void sp_lock_give(struct sp_lock *l, const struct sp_lock_state *h)
{
	__atomic_store_n(&l->taken, 0, __ATOMIC_RELEASE);
	sp_signals_restore(h);
}

#define WRITE_SIGNALS	((uint64_t)1 << (SIGPIPE - 1) | (uint64_t)1 << (SIGXFSZ - 1))

/* Block SIGTTOU as well: a terminal with `stty tostop` then lets a background process write. */
void sp_quiet_begin(struct sp_quiet *q)
{
	uint64_t set = WRITE_SIGNALS | (uint64_t)1 << (SIGTTOU - 1);

	q->signals = q->pending = 0;
	(void)sp_sys(SYS_rt_sigprocmask, SIG_BLOCK, &set, &q->signals, sizeof(set));
	(void)sp_sys(SYS_rt_sigpending, &q->pending, sizeof(q->pending));
}

void sp_quiet_end(const struct sp_quiet *q)
{
	uint64_t now = 0, mine;
	struct timespec none = { 0, 0 };

	(void)sp_sys(SYS_rt_sigpending, &now, sizeof(now));
	mine = now & ~q->pending & WRITE_SIGNALS;
	while (mine && sp_sys(SYS_rt_sigtimedwait, &mine, NULL, &none, sizeof(mine)) > 0)
		;
	(void)sp_sys(SYS_rt_sigprocmask, SIG_SETMASK, &q->signals, NULL, sizeof(q->signals));
}

/* The least distance in bytes between a signal handler's frames and those that it interrupted,
 * since the kernel stores the registers between them. Frames of calls of one function usually
 * differ by less. */
#ifdef __SANITIZE_THREAD__	/* libtsan calls handlers later, without a signal frame */
#define SIGNAL_FRAME 64u
#else
#define SIGNAL_FRAME 512u
#endif

bool sp_interrupted(uintptr_t below, uintptr_t frame)
{
	uintptr_t top = sp_thread_pointer();
	stack_t stack;

	if (sp_sys(SYS_sigaltstack, NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK))
		return true;
	return frame + SIGNAL_FRAME < below || (below < top && top < frame);
}
