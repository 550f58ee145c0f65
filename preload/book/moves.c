/* moves.c: see moves.h. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "../../core/out.h"
#include "../../core/sys.h"
#include "../life/bus.h"
#include "../life/process.h"
#include "../papi/real.h"
#include "moves.h"
#include "watch.h"
#include "where.h"

#ifdef SIGSTKFLT
#define NUMBER SIGSTKFLT
#else
#define NUMBER 0			/* no such signal here: exact is not to be had */
#endif

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif
#define HANDLER	4096u			/* bytes of stack of a handler of the application's, and of ours that reads nothing */
#define ALL	16384u			/* of ours that reads */

static int (*next_sigaction)(int, const struct sigaction *, struct sigaction *);
static uint32_t state;			/* of the signal */
enum { UNTRIED, OURS, THEIRS };
static bool masked;			/* a handler of the application blocks it while it runs */

/* ---- the signal ----------------------------------------------------------- */

static int real_sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
	if (!next_sigaction)
		next_sigaction = (int (*)(int, const struct sigaction *, struct sigaction *))sp_real_next("sigaction");
	return next_sigaction ? next_sigaction(number, new, old) : -1;
}

/* Is what was interrupted the end of a system call?  What lies before the start of a page is not
 * looked at: it may not be there (code that was made at run time). */
static bool after_call(const ucontext_t *u, bool unknown)
{
#if defined(__x86_64__)
	const unsigned char *ip = (const unsigned char *)u->uc_mcontext.gregs[REG_RIP];

	return ((uintptr_t)ip & 4095) < 2 ? unknown : ip[-2] == 0x0f && ip[-1] == 0x05;
#elif defined(__aarch64__)
	const uint32_t *pc = (const uint32_t *)u->uc_mcontext.pc;

	return ((uintptr_t)pc & 4095) < 4 ? unknown : pc[-1] == 0xd4000001;
#else
	(void)u;
	return unknown;
#endif
}

/* What a system call returned, if it was one. */
static int64_t returned(const ucontext_t *u)
{
#if defined(__x86_64__)
	return u->uc_mcontext.gregs[REG_RAX];
#elif defined(__aarch64__)
	return (int64_t)u->uc_mcontext.regs[0];
#else
	(void)u;
	return 0;
#endif
}

/* Has a system call just ended with EINTR, or with some of so many? */
static bool ended_call(const ucontext_t *u, size_t most)
{
	int64_t r = returned(u);

	return (r == -EINTR || (r > 0 && (uint64_t)r < most)) && after_call(u, true);
}

static uintptr_t stack_pointer(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
	return (uintptr_t)u->uc_mcontext.sp;
#else
	(void)u;
	return 0;
#endif
}

/* All but libc's own two (it waits for one in pthread_cancel, and for the other in setuid), SIGBUS
 * (a store into a live file that somebody cut, life/bus.h), and ours. */
#define OTHERS	(~(3ull << 31 | 1ull << (SIGBUS - 1) | 1ull << (NUMBER ? NUMBER - 1 : 0)))
#define NEAR	1024u			/* bytes of stack that libc's part of a call may take; less than a handler's frame */

/* A call of waits.c that our signal has ended: no other signal comes from now on.  A jump
 * out of a handler leaves sp_self.wait behind: what it points to must look like a wait, right
 * above the call. */
static void hold(ucontext_t *u)
{
	struct sp_wait *w = sp_get(&sp_self.wait);
	uint64_t blocked;

	if (!w || (uintptr_t)w - stack_pointer(u) > NEAR || w->self != w || !ended_call(u, w->most))
		return;
	if (sp_get(&masked)) {	/* where ours has waited for another's handler to end, it looks just like this */
		w->unsure = true;
		return;
	}
	w->alone = true;
	if (!w->held) {
		memcpy(&w->mask.bits, &u->uc_sigmask, sizeof(w->mask.bits));
		w->held = true;
	}
	blocked = w->mask.bits | OTHERS;
	memcpy(&u->uc_sigmask, &blocked, sizeof(blocked));
}

/* For a thread that is canceled as it may be again: its own handlers run with its own mask. */
static void give_mask_back(void *context)
{
	uint64_t mask;

	memcpy(&mask, &((const ucontext_t *)context)->uc_sigmask, sizeof(mask));
	(void)sp_sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

/* Not canceled here, which may be the middle of anything: PAPI's read(2) is a place where a thread is.  The
 * state of cancellation is the thread's own memory: no system call, no lock. */
static void moved(void *context)
{
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	sp_watch_moved(context);
	pthread_cleanup_push(give_mask_back, context);
	pthread_setcancelstate(cancel, NULL);	/* where it may be at any time, now, too */
	pthread_cleanup_pop(0);
}

static void on_move(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	if (info->si_code <= 0) {	/* sent by hand: what it does without us */
		struct sigaction none = { .sa_handler = SIG_DFL };

		real_sigaction(number, &none, NULL);
		(void)raise(number);
	} else if (sp_get(&state) == OURS) {
		moved(context);
		hold(context);
	}
	errno = saved;
}

/* What SIGABRT's blocks does not matter: abort ends the process.  SIGSEGV's and the like go on in
 * many a runtime. */
static void look_at_mask(int number, const struct sigaction *a)
{
	if (NUMBER && number != NUMBER && number != SIGABRT && a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN &&
	    sigismember(&a->sa_mask, NUMBER) == 1)
		sp_put(&masked, true);
}

static void take_signal(void)
{
	struct sigaction a = { .sa_sigaction = on_move, .sa_flags = SA_RESTART | SA_SIGINFO }, old;

	/* All, also those of libc that sigfillset leaves out: on top of us a thread would be canceled with all
	 * others blocked.  But SIGBUS: a store into a live file that somebody cut (life/bus.h). */
	memset(&a.sa_mask, 0xff, sizeof(a.sa_mask));
	sigdelset(&a.sa_mask, SIGBUS);
	for (int i = 1; i < NSIG; i++)
		if (i == SIGBUS && sp_bus_theirs())
			look_at_mask(i, sp_bus_theirs());
		else if (real_sigaction(i, NULL, &old) == 0)
			look_at_mask(i, &old);
	if (!NUMBER || real_sigaction(NUMBER, NULL, &old) < 0 || (old.sa_flags & SA_SIGINFO) ||
	    old.sa_handler != SIG_DFL || real_sigaction(NUMBER, &a, NULL) < 0)
		sp_put(&state, THEIRS);
	else
		sp_put(&state, OURS);
}

bool sp_moves_signal(void)
{
	uint64_t blocked = 0;

	if (sp_get(&state) == UNTRIED)
		take_signal();
	if (sp_get(&state) != OURS)
		return false;
	if (sp_self.held)
		blocked = sp_self.held->signals;
	else if (sp_sys(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof(blocked)) < 0)
		return false;
	return !(blocked >> (NUMBER - 1) & 1);
}

bool sp_moves_asked(int number, const struct sigaction *new)
{
	struct sigaction none = { .sa_handler = SIG_DFL };

	bool lent = sp_process_is_borrowed();	/* what it asks for is its own, and ours the parent's */

	if (new && !lent)
		look_at_mask(number, new);
	if (SP_LIKELY(number != NUMBER) || sp_get(&state) != OURS)
		return false;
	if (new && !lent) {
		sp_put(&state, THEIRS);
		sp_watch_trouble(SP_TROUBLE_TAKEN);
		sp_watch_disarm_all();
		real_sigaction(NUMBER, &none, NULL);
	}
	return true;
}

bool sp_moves_in(const sigset_t *set)
{
	return sp_get(&state) == OURS && sigismember(set, NUMBER) == 1;
}

const sigset_t *sp_moves_let_in(const sigset_t *mask, sigset_t *copy)
{
	if (!mask || !sp_moves_in(mask) || !sp_watch_armed())
		return mask;
	*copy = *mask;
	sigdelset(copy, NUMBER);
	return copy;
}

bool sp_moves_ends(uint64_t pending)
{
	const uint64_t no_end = 1ull << (SIGCHLD - 1) | 1ull << (SIGURG - 1) | 1ull << (SIGWINCH - 1) |
				1ull << (SIGCONT - 1) | 1ull << (SIGTSTP - 1) | 1ull << (SIGTTIN - 1) | 1ull << (SIGTTOU - 1);
	struct sigaction a;

	for (int i = 1; pending; i++, pending >>= 1)
		if ((pending & 1) && real_sigaction(i, NULL, &a) == 0 && a.sa_handler != SIG_IGN &&
		    (a.sa_handler != SIG_DFL || !(no_end >> (i - 1) & 1)))
			return true;
	return false;
}

/* Is it one that sets the signal mask, or, interrupted by a handler, that had another one until now? */
static bool after_mask_call(const ucontext_t *u)
{
#if defined(__x86_64__)
	const greg_t *r = u->uc_mcontext.gregs;
	const uint64_t a[6] = { (uint64_t)r[REG_RDI], (uint64_t)r[REG_RSI], (uint64_t)r[REG_RDX],
				(uint64_t)r[REG_R10], (uint64_t)r[REG_R8], (uint64_t)r[REG_R9] };
	const uint64_t pointer = 4096;	/* or more */
	bool may;

	/* By what a call leaves of its arguments; more may look like it. */
	may = a[3] == 8 && a[0] <= SIG_SETMASK && a[1] >= pointer;		/* rt_sigprocmask(how, set, old, 8) */
	if (!may && returned(u) == -EINTR)
		may = (a[1] == 8 && a[0] >= pointer) ||				/* rt_sigsuspend(set, 8) */
		      (a[4] == 8 && a[3] >= pointer) ||				/* ppoll(fds, n, time, set, 8) */
		      ((a[5] == 8 || a[5] == 24) && a[4] >= pointer) ||		/* epoll_pwait, io_uring_enter */
		      (a[5] >= pointer && a[0] <= INT32_MAX && (!a[2] || a[2] >= pointer));	/* pselect6 */
	return may && after_call(u, true);
#elif defined(__aarch64__)
	uint64_t call = u->uc_mcontext.regs[8];
	bool may = call == SYS_rt_sigprocmask;

	if (!may && returned(u) == -EINTR)
		may = call == SYS_rt_sigsuspend || call == SYS_ppoll || call == SYS_pselect6 ||
		      call == SYS_epoll_pwait || call == 441 /* epoll_pwait2 */ || call == 426 /* io_uring_enter */ ||
		      call == 292 /* io_pgetevents */;
	return may && after_call(u, true);
#else
	(void)u;
	return true;
#endif
}

bool sp_moves_was_blocked(const void *context)
{
	const ucontext_t *u = context;

	return sp_get(&masked) || sigismember(&u->uc_sigmask, NUMBER) == 1 || after_mask_call(u);
}

bool sp_moves_stack_is_small(const stack_t *stack)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ), room = 2 * (frame ? frame : (size_t)MINSIGSTKSZ) + HANDLER;
	stack_t own;

	if (!stack && sp_sys(SYS_sigaltstack, NULL, &own) < 0)
		return false;
	stack = stack ? stack : &own;
	if (stack->ss_flags & (int)SS_AUTODISARM)	/* nobody tells how much is left of it */
		room += ALL;
	return !(stack->ss_flags & SS_DISABLE) && stack->ss_size < room;
}

bool sp_moves_has_stack(const void *context, uintptr_t bytes)
{
	const ucontext_t *u = context;
	uintptr_t low = (uintptr_t)u->uc_stack.ss_sp, here = (uintptr_t)__builtin_frame_address(0);

	/* By what was interrupted: we may be past its end. */
	return stack_pointer(u) - low >= u->uc_stack.ss_size || (here >= low && here - low >= bytes);
}

/* ---- triggers --------------------------------------------------------------- */

/* Switched meanwhile, the kernel may have made room again: until it has not. */
static void fill(struct perf_event_mmap_page *p)
{
	uint64_t head;

	do {
		head = sp_acquire(&p->data_head);
		sp_publish(&p->data_tail, head + 1);
	} while (sp_acquire(&p->data_head) != head);
}

static void empty(struct perf_event_mmap_page *p)
{
	sp_publish(&p->data_tail, sp_acquire(&p->data_head));
}

static struct perf_event_mmap_page *trigger(const struct sp_moves *m, int cpu)
{
	return cpu >= 0 && cpu < m->n ? m->trigger[cpu] : NULL;
}

void sp_moves_arm(struct sp_moves *m)
{
	if (sp_get(&state) != OURS)
		return;
	do {
		m->present = sp_cpu_here();
		for (int i = 0; i < m->n; i++)
			if (m->trigger[i] && i != m->present)
				empty(m->trigger[i]);
		if (trigger(m, m->present))
			fill(trigger(m, m->present));
	} while (m->present != sp_cpu_here());
}

void sp_moves_follow(struct sp_moves *m)
{
	do {
		int left = m->present;

		m->present = sp_cpu_here();
		if (trigger(m, m->present))
			fill(trigger(m, m->present));
		if (left != m->present && trigger(m, left))
			empty(trigger(m, left));
	} while (m->present != sp_cpu_here());
}

void sp_moves_disarm(struct sp_moves *m)
{
	for (int i = 0; i < m->n; i++)
		if (m->trigger[i])
			fill(m->trigger[i]);
	m->present = -1;
}

/* The CPUs that are online, "0-3,8"; the next range into *from and *to. */
static const char *next_range(const char *p, int *from, int *to)
{
	int n[2] = { -1, -1 };

	for (int i = 0; i < 2; i++) {
		if (*p < '0' || *p > '9')
			return NULL;
		for (n[i] = 0; *p >= '0' && *p <= '9' && n[i] < 65536; p++)
			n[i] = n[i] * 10 + (*p - '0');
		if (*p != '-')
			break;
		p++;
	}
	*from = n[0];
	*to = n[1] < 0 ? n[0] : n[1];
	return *p == ',' ? p + 1 : p;
}

static int open_range(struct sp_moves *m, int from, int to)
{
	int error = 0;

	for (int cpu = from; cpu <= to && cpu < m->n; cpu++) {
		m->trigger[cpu] = sp_switches_map(cpu, 1, NUMBER, &error);
		if (m->trigger[cpu] || error == ENODEV || error == ENXIO)	/* offline, perhaps just now */
			continue;
		return error == EINVAL && cpu ? 0 : -error;	/* past the last that there can be */
	}
	return 0;
}

int sp_moves_open(struct sp_moves *m)
{
	char online[4096];
	int from, to, n = 0, r = 0;

	/* In a sandbox without /sys: as many as the kernel has bits for, and it says which of them are not. */
	if (sp_read_file("/sys/devices/system/cpu/online", online, sizeof(online)) <= 0) {
		long bytes = sp_sys(SYS_sched_getaffinity, 0, sizeof(online), online);
		struct sp_out o;

		if (bytes <= 0)
			return -ENOENT;
		sp_out_init(&o, -1, online, sizeof(online) - 1);
		sp_out_text(&o, "0-");
		sp_out_u64(&o, (uint64_t)bytes * 8 - 1);
		online[o.used] = 0;
	}
	for (const char *p = online; (p = next_range(p, &from, &to)) != NULL;)
		n = to + 1 > n ? to + 1 : n;
	if (n > m->room) {
		sp_unmap(m->trigger, (size_t)m->room * sizeof(*m->trigger));
		m->trigger = sp_map((size_t)n * sizeof(*m->trigger));
		m->room = m->trigger ? n : 0;
	}
	if (!m->trigger)
		return -ENOMEM;
	m->n = n;
	m->present = -1;
	for (const char *p = online; r == 0 && (p = next_range(p, &from, &to)) != NULL;)
		r = open_range(m, from, to);
	if (r < 0)
		sp_moves_close(m);
	return r;
}

void sp_moves_close(struct sp_moves *m)
{
	for (int i = 0; i < m->n; i++)
		if (m->trigger[i]) {
			sp_switches_unmap(m->trigger[i], 1);
			m->trigger[i] = NULL;
		}
	m->n = 0;
}
