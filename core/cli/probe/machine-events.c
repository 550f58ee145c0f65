/* machine-events.c: counts events of packages, devices and the machine (rapl, cuda, net ...)
 * with PAPI while a program runs.
 *
 * This is done in a child, since libpapi may be of any version, and crash. The command sends a
 * byte, 's' to start, 'r' to read and 'e' to stop; the child answers with its whole state. It ends
 * when the command closes the socket or dies.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../../base/sys.h"
#include "probe.h"
#include "libpapi.h"

#define SECONDS 10			/* for libpapi to answer */

/* One event set per component. */
struct sets {
	const struct sp_stat_plan *plan;
	uint32_t n;
	int set[SP_STAT_EVENTS];
	uint32_t of[SP_STAT_EVENTS];	/* set of each event of the plan */
	/* values at the start, where PAPI_start does not zero them */
	int64_t before[SP_STAT_EVENTS];
};

static int add(const struct sp_probe_papi *p, struct sets *s, uint32_t event)
{
	const struct sp_stat_event *e = &s->plan->event[event];
	uint32_t same = 0;
	int code, r;

	while (same < event && (!s->plan->event[same].is_machine_wide ||
				strcmp(s->plan->event[same].component, e->component) != 0))
		same++;
	s->of[event] = same < event ? s->of[same] : s->n++;
	if (same == event) {
		s->set[s->of[event]] = PAPI_NULL;
		r = p->PAPI_create_eventset(&s->set[s->of[event]]);
		if (r != PAPI_OK)
			return r;
	}
	r = p->PAPI_event_name_to_code((char *)e->name, &code);
	return r == PAPI_OK ? p->PAPI_add_event(s->set[s->of[event]], code) : r;
}

/* Values of a set are in the order in which its events were added. */
static int read_all(const struct sp_probe_papi *p, const struct sets *s, bool stop, int64_t *value)
{
	long long counted[SP_STAT_EVENTS];
	int r = PAPI_OK;

	for (uint32_t i = 0; r == PAPI_OK && i < s->n; i++) {
		r = stop ? p->PAPI_stop(s->set[i], counted) : p->PAPI_read(s->set[i], counted);
		for (uint32_t e = 0, k = 0; r == PAPI_OK && e < s->plan->n_events; e++)
			if (s->plan->event[e].is_machine_wide && s->of[e] == i)
				value[e] = (int64_t)((uint64_t)counted[k++] -
						     (uint64_t)s->before[e]);
	}
	return r;
}

static int start(struct sp_probe_papi *p, struct sets *s)
{
	bool any = false;
	int r = PAPI_OK;

	for (uint32_t e = 0; r == PAPI_OK && e < s->plan->n_events; e++)
		if (s->plan->event[e].is_machine_wide)
			r = add(p, s, e);
	for (uint32_t i = 0; r == PAPI_OK && i < s->n; i++)
		r = p->PAPI_start(s->set[i]);
	for (uint32_t e = 0; e < s->plan->n_events; e++)
		any = any || s->plan->event[e].keeps_on_start;
	if (any && r == PAPI_OK) {
		r = read_all(p, s, false, s->before);
		for (uint32_t e = 0; e < s->plan->n_events; e++)
			if (!s->plan->event[e].keeps_on_start)
				s->before[e] = 0;
	}
	return r;
}

/* Ignores terminal signals, which are for the program; keeps the alarm. */
static void be_quiet(void)
{
	int null = sp_open("/dev/null", O_RDWR, 0);
	sigset_t set;

	dup2(null, STDOUT_FILENO);	/* libraries may print */
	dup2(null, STDERR_FILENO);
	signal(SIGALRM, SIG_DFL);
	sigfillset(&set);
	sigdelset(&set, SIGALRM);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static _Noreturn void serve(const struct sp_stat_plan *plan, int requests)
{
	struct sp_stat_answer a = { 0 };
	struct sp_probe_papi p = { 0 };
	struct sets s = { .plan = plan };
	const char *bad;
	char what;
	int r;

	be_quiet();
	alarm(SECONDS);
	bad = sp_probe_load(&p, plan->papi);
	r = bad || sp_probe_init(&p, plan->papi) <= 0 ? PAPI_ENOINIT : PAPI_OK;
	alarm(0);
	while (read(requests, &what, 1) == 1) {
		alarm(SECONDS);
		if (r == PAPI_OK)
			r = what == 's' ? start(&p, &s)
					: read_all(&p, &s, what == 'e', a.value);
		if (r != PAPI_OK && !*a.wrong)
			snprintf(a.wrong, sizeof(a.wrong),
				 "not counted: PAPI does not %s it here (%s)",
				 what == 's'   ? "start"
				 : what == 'r' ? "read"
					       : "stop", bad ? bad : p.PAPI_strerror(r));
		if (send(requests, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			break;
		alarm(0);
	}
	_exit(0);
}

void sp_machine_events_begin(struct sp_machine_events *b, const struct sp_stat_plan *p)
{
	bool any = false;
	int both[2];

	for (uint32_t e = 0; e < p->n_events; e++)
		any = any || p->event[e].is_machine_wide;
	if (!any)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) < 0) {
		snprintf(b->answer.wrong, sizeof(b->answer.wrong), "not counted: socketpair: %s",
			 strerror(errno));
		return;
	}
	fflush(NULL);
	b->pid = fork();
	if (b->pid == 0) {
		close(both[0]);
		serve(p, both[1]);
	}
	close(both[1]);
	b->request = both[0];
}

void sp_machine_events_request(struct sp_machine_events *b, char what)
{
	if (!b->pid)
		return;
	if (b->pid > 0 && send(b->request, &what, 1, MSG_NOSIGNAL) == 1 &&
	    recv(b->request, &b->answer, sizeof(b->answer), MSG_WAITALL) == sizeof(b->answer))
		return;
	if (!*b->answer.wrong)
		snprintf(b->answer.wrong, sizeof(b->answer.wrong),
			 "not counted: PAPI does not answer");
}

void sp_machine_events_end(struct sp_machine_events *b)
{
	if (!b->pid)
		return;
	close(b->request);
	while (b->pid > 0 && waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
