/* stat-run.c: starts the program to count, forwards signals to it, and waits for its end. */
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tool/cmd.h"
#include "stat-interval.h"

#define DRAIN_MS 5			/* while threads have rows; see SP_STAT_RING_PAGES */

/* Signals that the command forwards to the program. Others have their default effect on the
 * command. */
static const int forwarded[] = { SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
				 SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH };

static sigset_t caught_signals(void)
{
	struct sigaction is;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned i = 0; i < SP_COUNT(forwarded); i++)
		if (sigaction(forwarded[i], NULL, &is) == 0 &&
		    is.sa_handler != SIG_IGN) /* as under nohup */
			sigaddset(&set, forwarded[i]);
	return set;
}

/* Settings that the command was started with, restored in the program in each run. */
static struct {
	bool is_valid;
	struct rlimit files;
	sigset_t signals;
	struct sigaction on_child, on_pipe;
} saved;

/* Prepare the command: raise the number of descriptors to the hard limit; accept SIGCHLD, which
 * may be ignored by inheritance; ignore SIGPIPE, since a closed reader of -I or a killed child
 * must not end counting. */
static void prepare_command(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL }, ignored = { .sa_handler = SIG_IGN };
	sigset_t set = caught_signals();
	struct rlimit r;

	if (saved.is_valid)
		return;
	saved.is_valid = true;
	getrlimit(RLIMIT_NOFILE, &saved.files);
	r = saved.files;
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	sigprocmask(SIG_BLOCK, &set, &saved.signals);
	sigaction(SIGCHLD, &usual, &saved.on_child);
	sigaction(SIGPIPE, &ignored, &saved.on_pipe);
}

/* Restore the settings in the child, wait for the release, and exec. */
static _Noreturn void exec_program(int go, int failed, const struct sp_stat_counters *n,
				   pid_t command, char **argv)
{
	char byte = 0;
	int error;

	setrlimit(RLIMIT_NOFILE, &saved.files);
	sigaction(SIGCHLD, &saved.on_child, NULL);
	sigaction(SIGPIPE, &saved.on_pipe, NULL);
	sigprocmask(SIG_SETMASK, &saved.signals, NULL);
	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	if (byte == 't')
		sp_threads_enter(n, command);
	else if (byte != 'g')
		_exit(125);		/* the command ended or gave up */
	execvp(argv[0], argv);
	error = errno;
	if (write(failed, &error, sizeof(error)) != sizeof(error))
		_exit(125);
	_exit(error == ENOENT ? 127 : 126);
}

void sp_stat_release(void)
{
	const struct timespec at_once = { 0 };
	sigset_t set = caught_signals();

	while (sigtimedwait(&set, NULL, &at_once) > 0)
		;
	if (saved.is_valid)
		sigprocmask(SIG_SETMASK, &saved.signals, NULL);
}

/* SIGCHLD does not count. */
bool sp_stat_interrupted(int signals)
{
	struct signalfd_siginfo s;
	bool ends = false;

	while (read(signals, &s, sizeof(s)) == sizeof(s))
		ends = ends || s.ssi_signo == SIGINT || s.ssi_signo == SIGTERM ||
		       s.ssi_signo == SIGHUP || s.ssi_signo == SIGQUIT;
	return ends;
}

int sp_stat_fork(struct sp_stat_child *c, const struct sp_stat_counters *n, const char *verb,
		 char **argv)
{
	pid_t command = getpid();
	sigset_t set = caught_signals();
	int go[2], failed[2];

	prepare_command();
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);	/* before the fork */
	if (!argv)
		return 0;
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0)
		return sp_complain(125, verb, strerror(errno), "pipe");
	fflush(NULL);
	c->pid = c->signals < 0 ? -1 : fork();
	if (c->pid < 0)
		return sp_complain(125, verb, strerror(errno),
				   c->signals < 0 ? "signalfd" : "fork");
	if (c->pid == 0) {
		close(go[1]);
		exec_program(go[0], failed[1], n, command, argv);
	}
	close(go[0]);
	close(failed[1]);
	c->go = go[1];
	c->failed = failed[0];
	return 0;
}

void sp_stat_abandon(struct sp_stat_child *c)
{
	if (c->pid <= 0)
		return;
	close(c->go);
	close(c->failed);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Return whether to forward a signal. A terminal's signal reaches the whole process group,
 * except the hangup, which the kernel sends to the session leader. Signals sent to the command
 * are forwarded. */
static bool is_for_program(const struct signalfd_siginfo *s)
{
	return s->ssi_signo != SIGCHLD &&
	       (s->ssi_code <= 0 || (s->ssi_signo == SIGHUP && getsid(0) == getpid()));
}

static void forward_signals(struct sp_stat_child *c)
{
	struct signalfd_siginfo s;

	while (read(c->signals, &s, sizeof(s)) == sizeof(s)) {
		int n = (int)s.ssi_signo;

		c->interrupted = c->interrupted || n == SIGINT || n == SIGQUIT || n == SIGTERM ||
				 n == SIGHUP;
		if (is_for_program(&s) && !c->end_ns)
			kill(c->pid, n);
	}
}

static bool has_ended(struct sp_stat_child *c, struct sp_stat_counters *n)
{
	siginfo_t is = { 0 };
	int status;

	if (waitid(P_PID, (id_t)c->pid, &is, WEXITED | WNOHANG | WNOWAIT) < 0 || !is.si_pid)
		return false;
	if (!n->is_attached)
		sp_stat_io_end(n);	/* before it is gone */
	if (waitpid(c->pid, &status, 0) != c->pid)
		return false;
	c->end_ns = sp_now_ns();
	c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

int sp_stat_wait_ms(const struct sp_stat_counters *n)
{
	return n->has_rows || sp_boot_ns() < n->forks_until_ns ? DRAIN_MS
	       : n->long_lived				       ? (int)n->scan_ms
	       : n->io.n				       ? SP_STAT_IO_MS
							       : -1;
}

/* Enable the counters again until forks are complete. The kernel reads at a thread's start
 * whether its parent's counters are enabled, but adds it to the list of inheritors later.
 * Enabling in between misses it (seen: 756 of a thread's 761 faults). */
void sp_stat_service(struct sp_stat_counters *n, struct sp_stat_who *w)
{
	if (sp_boot_ns() < n->forks_until_ns)
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
	if (n->has_rows)
		sp_stat_drain(n, w);
	if (n->long_lived)
		sp_long_lived_scan(n, w);
	sp_stat_io_read(n);
}

void sp_stat_wait(struct sp_stat_child *c, struct sp_stat_counters *n, struct sp_stat_who *w,
		  struct sp_stat_interval *i)
{
	struct pollfd p = { .fd = c->signals, .events = POLLIN };

	c->start_ns = sp_now_ns();
	n->started = true;
	sp_stat_interval_begin(i, n, c->start_ns);
	if (!n->is_attached)		/* its io is not of the targets */
		sp_stat_io_begin(n, c->pid, 0, true);
	/* If the child was killed, its status shows it. */
	(void)!write(c->go, n->from_library ? "t" : "g", 1);
	close(c->go);
	while (!has_ended(c, n)) {
		if (n->from_library) {
			sp_threads_wait(n, sp_stat_interval_wait(i, DRAIN_MS));
			sp_threads_answer(n, w);
			sp_stat_drain(n, w);
			sp_stat_io_read(n);
		}
		/* Do not poll the rings: each event of each ended thread would wake the command. */
		while (!n->from_library &&
		       poll(&p, 1, sp_stat_interval_wait(i, sp_stat_wait_ms(n))) == 0) {
			sp_stat_service(n, w);
			sp_stat_interval_sample(i, n, false);
		}
		sp_stat_interval_sample(i, n, false);
		forward_signals(c);
	}
	forward_signals(c);
	if (read(c->failed, &c->error, sizeof(c->error)) != sizeof(c->error))
		c->error = 0;
	close(c->failed);
	close(c->signals);
}
